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

/// The same as a Markdown table; the cells must be Markdown already.
pub fn markdown(header: &[String], rows: &[Vec<String>], aligns: &[Align]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let rule = |align: &Align| if *align == Align::Right { "---:".to_owned() } else { "---".to_owned() };
    let mut lines = vec![line(header), line(&aligns.iter().map(rule).collect::<Vec<_>>())];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn columns_are_aligned_and_no_line_ends_in_blanks() {
        let rows = [cells(&["calls", "1,234"]), cells(&["failed", "7"])];
        let table = render(&cells(&["", "standard"]), &rows, &[Align::Left, Align::Right], 80);
        assert_eq!(table, "        standard\ncalls      1,234\nfailed         7");
    }

    #[test]
    fn a_table_that_is_too_wide_wraps_its_cells() {
        let rows = [cells(&["a label that is long", "and a value that is even longer than that"])];
        let table = render(&[], &rows, &[Align::Left, Align::Left], 40);
        assert!(table.lines().count() > 1 && table.lines().all(|line| line.len() <= 40), "{table}");
    }

    #[test]
    fn markdown_tables_say_their_alignment() {
        let table = markdown(&cells(&["", "n"]), &[cells(&["`a|b`", "1"])], &[Align::Left, Align::Right]);
        assert_eq!(table, "|  | n |\n| --- | ---: |\n| `a\\|b` | 1 |");
    }
}
