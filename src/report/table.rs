//! Aligned columns, fitted to a width. Knows no values and no colour.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table without lines: columns two blanks apart, wrapped where they do not fit into `width`.
///
/// Cells must be free of control characters and colour; `header` may be empty.
pub fn render(header: &[String], rows: &[Vec<String>], aligns: &[Align], width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    if !header.is_empty() {
        table.set_header(header);
    }
    table.add_rows(rows);
    for (at, align) in aligns.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((0, 2));
            if *align == Align::Right {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if at > 0 {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(6)));
            }
        }
    }
    table.trim_fmt()
}
