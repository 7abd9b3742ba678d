//! A changed row of a playbook as JSON.

use serde::Serialize;

use playproof_formats::golden::RowChange;

/// The row, and what it said before and after; nothing where it was added or removed.
#[derive(Debug, Serialize)]
pub struct RowJson<'a> {
    row: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

impl<'a> From<&'a RowChange> for RowJson<'a> {
    fn from(change: &'a RowChange) -> RowJson<'a> {
        RowJson { row: &change.name, before: change.before.as_deref(), after: change.after.as_deref() }
    }
}
