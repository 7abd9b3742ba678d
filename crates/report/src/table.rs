//! Aligned columns, fitted to a width. Knows no values and no colour.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::style::Palette;
use super::text;

/// Blanks between columns.
const GAP: u16 = 2;

/// Characters behind which a name may be broken.
const JOINTS: [char; 6] = ['/', '-', '_', '.', ',', '{'];

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
    let rooms = rooms(header, rows, aligns.len(), width);
    let fitted = |cells: &[String]| -> Vec<String> {
        let rooms = rooms.iter().copied().chain(std::iter::repeat(width));
        cells.iter().zip(rooms).enumerate().map(|(at, (cell, room))| broken(cell, at == 0, room)).collect()
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    if !header.is_empty() {
        table.set_header(fitted(header));
    }
    table.add_rows(rows.iter().map(|row| fitted(row)));
    for (at, align) in aligns.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((0, GAP));
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

/// What each column has at most where not all fit beside each other: all what they need, or an equal share; the first,
/// which has the labels, also what the others leave once their names are broken.
fn rooms(header: &[String], rows: &[Vec<String>], columns: usize, width: usize) -> Vec<usize> {
    let gap = usize::from(GAP);
    let named = |at: usize| header.get(at).map_or("", String::as_str);
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| text::width(cell)).max().unwrap_or(0);
    let part = |at: usize| named(at).split_inclusive(JOINTS).map(text::width).max().unwrap_or(0);
    let wanted: Vec<usize> = (0..columns).map(|at| widest(at).max(text::width(named(at)))).collect();
    let Some((first, others)) = wanted.split_first() else { return wanted };
    if first + others.iter().map(|other| other + gap).sum::<usize>() <= width {
        return wanted;
    }
    let least = (1..columns).map(|at| widest(at).max(part(at)) + gap).sum::<usize>();
    let first = width.saturating_sub(least).max(share(&wanted, width + gap)).min(*first);
    let share = share(others, width.saturating_sub(first));
    std::iter::once(first).chain(others.iter().map(|wanted| share.min(*wanted))).collect()
}

/// What each column that wants more gets, so that all get what they want or as much as any other.
fn share(wanted: &[usize], width: usize) -> usize {
    let gap = usize::from(GAP);
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut left = width;
    for (n, one) in wanted.iter().enumerate() {
        let share = (left / (wanted.len() - n)).saturating_sub(gap);
        if *one > share {
            return share;
        }
        left = left.saturating_sub(one + gap);
    }
    width
}

/// A cell in lines of at most `room` columns where it can be broken between words, or behind what joins them; a label
/// keeps its indent in every line. What is longer still is left to the table.
fn broken(cell: &str, is_label: bool, room: usize) -> String {
    if text::width(cell) <= room {
        return cell.to_owned();
    }
    if is_label {
        let words = cell.trim_start();
        let indent = &cell[..cell.len() - words.len()];
        let lines = text::wrapped(words, room.saturating_sub(text::width(indent)));
        return lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n");
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text::wrapped(cell, room) {
        let mut line = String::new();
        for part in word.split_inclusive(JOINTS) {
            if !line.is_empty() && text::width(&line) + text::width(part) > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(part);
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// The same as a Markdown table; the cells must be Markdown already.
pub fn markdown(header: &[String], rows: &[Vec<String>], aligns: &[Align]) -> String {
    let rule = |align: &Align| if *align == Align::Right { "---:".to_owned() } else { "---".to_owned() };
    let mut lines = vec![markdown_row(header), markdown_row(&aligns.iter().map(rule).collect::<Vec<_>>())];
    lines.extend(rows.iter().map(|row| markdown_row(row)));
    lines.join("\n")
}

/// A row of a Markdown table; no cell can be left. A bar behind a backslash would end even a code span in one.
pub fn markdown_row<S: AsRef<str>>(cells: &[S]) -> String {
    let cell = |cell: &S| cell.as_ref().replace("\\|", "\\\\u{7c}").replace('|', "\\|").replace('\n', " ");
    format!("| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// The blanks before everything of a block but its title.
pub const INDENT: usize = 3;

/// Lines of a block: a label in a column of `column` characters, and behind it what is said.
pub fn labelled(label: &str, said: &str, column: usize, width: usize, palette: Palette) -> Vec<String> {
    let pieces = text::wrapped(said, width.saturating_sub(INDENT + column).max(20));
    let line = |(n, piece): (usize, String)| {
        let label = if n == 0 { label } else { "" };
        format!("{:INDENT$}{}{piece}", "", palette.faint(&format!("{label:column$}")))
    };
    pieces.into_iter().enumerate().map(line).collect()
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
    fn a_label_that_is_too_long_keeps_its_indent_and_names_are_broken_at_their_joints() {
        let rows = [cells(&["Effects", "", ""]), cells(&["  attempts of writes, effect not observed", "", "6"])];
        let aligns = [Align::Left, Align::Right, Align::Right];
        let table = render(&cells(&["", "recorded", "standard"]), &rows, &aligns, 50);
        assert_eq!(
            table,
            "                              recorded  standard\n\
             Effects\n  attempts of writes, effect                   6\n  not observed"
        );
        let rows = [cells(&["outcome", "exhausted, effect unknown", "escalated, effect unknown"])];
        let header = cells(&["", "study/retry-everything", "standard"]);
        let table = render(&header, &rows, &[Align::Left; 3], 50);
        assert!(table.starts_with("         study/retry-       standard\n         everything\n"), "{table}");
        let rows = [cells(&["ledger", r#"payments.issue_refund{"amount":4200,"order":"o_91"}"#])];
        let table = render(&[], &rows, &[Align::Left; 2], 32);
        assert_eq!(table, "ledger  payments.issue_refund{\n        \"amount\":4200,\n        \"order\":\"o_91\"}");
    }

    #[test]
    fn no_cell_of_a_markdown_table_can_be_left() {
        assert_eq!(markdown_row(&["a|b", "`c\\|d`", "e\nf"]), "| a\\|b | `c\\\\u{7c}d` | e f |");
    }

    #[test]
    fn markdown_tables_say_their_alignment() {
        let table = markdown(&cells(&["", "n"]), &[cells(&["`a|b`", "1"])], &[Align::Left, Align::Right]);
        assert_eq!(table, "|  | n |\n| --- | ---: |\n| `a\\|b` | 1 |");
    }
}
