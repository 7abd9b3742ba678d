//! Changed rows of a playbook as a table that is also readable on a narrow screen: a line with the row's name, then what
//! changed in it.

use super::markup::Html;
use super::table::{Cell, Table};
use crate::check::row_cells;
use crate::proposal::row;
use playproof_formats::golden::RowChange;

/// The rows with their parts under the names of the two sides. A row that is new or gone has its whole text in one cell.
pub(super) fn changed_rows(changes: &[RowChange], sides: [&str; 2]) -> Html {
    let has_parts = changes.iter().any(|change| change.before.is_some() && change.after.is_some());
    let header = if has_parts { ["what", sides[0], sides[1]] } else { [""; 3] };
    let mut table = Table::new("", header.map(|name| (name, false)));
    for change in changes {
        match (&change.before, &change.after) {
            (Some(_), Some(_)) => {
                table.head(&change.name);
                for cells in row_cells(change) {
                    table.row("", &cells.into_iter().skip(1).map(Cell::Code).collect::<Vec<_>>());
                }
            }
            (before, after) => {
                table.head(&format!("{}, {}", change.name, change.became()));
                before.iter().chain(after).for_each(|text| table.whole(&row(text)));
            }
        }
    }
    table.finish()
}
