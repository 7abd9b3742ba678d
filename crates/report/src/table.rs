//! Aligned columns, fitted to a width. Knows no values and no colour.

use super::text;

/// Blanks between columns.
const GAP: usize = 2;

/// What every column has at least.
const NARROWEST: usize = 6;

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

/// A table without lines: columns two blanks apart, wrapped where they do not fit into `width`. Cells must be free of control
/// characters and colour; `header` may be empty.
///
/// Every piece of a cell is painted: by its row (none for the header) and its column. A row of one cell is a
/// title over those after it, apart from those before it.
pub fn painted(
    header: &[String],
    rows: &[Vec<String>],
    aligns: &[Align],
    width: usize,
    paint: impl Fn(Option<usize>, usize, &str) -> String,
) -> String {
    let rooms = rooms(header, rows, aligns.len(), width);
    let fitted = |cells: &[String]| -> Vec<Vec<String>> {
        let is_title = cells.len() < aligns.len();
        let cell = |(at, (cell, room)): (usize, (&String, &usize))| match is_title {
            true => vec![cell.clone()],
            false => broken(cell, at == 0, (*room).max(NARROWEST)),
        };
        cells.iter().zip(&rooms).enumerate().map(cell).collect()
    };
    let header = (!header.iter().all(String::is_empty)).then(|| (None, fitted(header)));
    let rows = rows.iter().enumerate().map(|(n, row)| (Some(n), fitted(row)));
    let rows: Vec<(Option<usize>, Vec<Vec<String>>)> = header.into_iter().chain(rows).collect();
    let whole = rows.iter().map(|(_, cells)| cells).filter(|cells| cells.len() == aligns.len());
    let widths = whole.fold(vec![0; aligns.len()], |widths, cells| {
        let widest =
            |(width, cell): (usize, &Vec<String>)| cell.iter().map(|line| text::width(line)).fold(width, usize::max);
        widths.into_iter().zip(cells).map(widest).collect()
    });
    let mut lines = Vec::new();
    for (n, cells) in &rows {
        if cells.len() < aligns.len() && n.is_some_and(|n| n > 0) {
            lines.push(String::new());
        }
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
            let (mut line, mut blanks) = (String::new(), 0);
            for (column, ((cell, room), align)) in cells.iter().zip(&widths).zip(aligns).enumerate() {
                let said = cell.get(at).map_or("", String::as_str);
                let pad = room.saturating_sub(text::width(said));
                let (before, after) = if *align == Align::Right { (pad, 0) } else { (0, pad) };
                blanks += before;
                if !said.is_empty() {
                    line += &format!("{:blanks$}{}", "", paint(*n, column, said));
                    blanks = 0;
                }
                blanks += after + GAP;
            }
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// What each column has at most where not all fit beside each other: all what they need, or an equal share; the first,
/// which has the labels, also what the others leave once their names are broken.
fn rooms(header: &[String], rows: &[Vec<String>], columns: usize, width: usize) -> Vec<usize> {
    let named = |at: usize| header.get(at).map_or("", String::as_str);
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| text::width(cell)).max().unwrap_or(0);
    let part = |at: usize| named(at).split_inclusive(JOINTS).map(text::width).max().unwrap_or(0);
    let wanted: Vec<usize> = (0..columns).map(|at| widest(at).max(text::width(named(at)))).collect();
    let Some((first, others)) = wanted.split_first() else { return wanted };
    if first + others.iter().map(|other| other + GAP).sum::<usize>() <= width {
        return wanted;
    }
    let least = (1..columns).map(|at| widest(at).max(part(at)) + GAP).sum::<usize>();
    let first = width.saturating_sub(least).max(share(&wanted, width + GAP)).min(*first);
    let share = share(others, width.saturating_sub(first));
    std::iter::once(first).chain(others.iter().map(|wanted| share.min(*wanted))).collect()
}

/// What each column that wants more gets, so that all get what they want or as much as any other.
fn share(wanted: &[usize], width: usize) -> usize {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut left = width;
    for (n, one) in wanted.iter().enumerate() {
        let share = (left / (wanted.len() - n)).saturating_sub(GAP);
        if *one > share {
            return share;
        }
        left = left.saturating_sub(one + GAP);
    }
    width
}

/// A cell in lines of at most `room` columns, broken between words, or behind what joins them, or anywhere in what is longer
/// still; a label keeps its indent in every line.
fn broken(cell: &str, is_label: bool, room: usize) -> Vec<String> {
    if text::width(cell) <= room {
        return vec![cell.to_owned()];
    }
    if is_label {
        let words = cell.trim_start();
        let indent = &cell[..cell.len() - words.len()];
        let lines = text::broken(words, room.saturating_sub(text::width(indent)));
        return lines.iter().map(|line| format!("{indent}{line}")).collect();
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
    lines.iter().flat_map(|line| text::broken(line, room)).collect()
}

/// A row of a Markdown table; no cell can be left. A bar behind a backslash would end even a code span in one.
pub fn markdown_row<S: AsRef<str>>(cells: &[S]) -> String {
    let cell = |cell: &S| cell.as_ref().replace("\\|", "\\\\u{7c}").replace('|', "\\|").replace('\n', " ");
    format!("| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// The blanks before everything of a block but its title.
pub const INDENT: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn render(header: &[String], rows: &[Vec<String>], aligns: &[Align], width: usize) -> String {
        painted(header, rows, aligns, width, |_, _, said| said.to_owned())
    }

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
}
