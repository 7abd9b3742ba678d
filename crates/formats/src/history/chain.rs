//! All records in their order, and the rows that result from them. Reads no file and does not know the lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::read::RecordPlaces;
use super::record::Record;
use crate::diagnostic::Source;
use crate::golden::{RowChange, row_changes};

/// A record and its file.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    /// The number in the file's name.
    pub number: u32,
    /// The file's name, without its folder.
    pub name: String,
    /// Its content.
    pub record: Record,
    /// The places of its parts.
    pub places: RecordPlaces,
    /// The file's text.
    pub source: Arc<Source>,
}

/// All records, oldest first: by number, then by name. Records with the same number come from different branches; if
/// they change different rows, any order has the same result.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<HistoryEntry>,
}

/// The state of a row after the records.
#[derive(Clone, Copy, Debug)]
pub struct RowState<'a> {
    /// Its text; none if it was removed.
    pub text: Option<&'a str>,
    /// The last record that changed it.
    pub entry: &'a HistoryEntry,
    /// The place of the row in that record.
    pub row: usize,
}

/// By playbook, then by row.
pub type RowStates<'a> = BTreeMap<&'a str, BTreeMap<&'a str, RowState<'a>>>;

impl History {
    /// The history of `entries`, which come in any order.
    pub fn new(mut entries: Vec<HistoryEntry>) -> History {
        entries.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
        History { entries }
    }

    /// The records, oldest first.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    /// Applies all records to an empty playbook. `each` gets every change with the state of the row before it.
    pub fn replay<'a>(&'a self, mut each: impl FnMut(&'a HistoryEntry, usize, Option<RowState<'a>>)) -> RowStates<'a> {
        let mut all = RowStates::new();
        for entry in &self.entries {
            let rows = all.entry(entry.record.playbook.as_str()).or_default();
            for (n, row) in entry.record.rows.iter().enumerate() {
                each(entry, n, rows.get(row.name.as_str()).copied());
                rows.insert(&row.name, RowState { text: row.after.as_deref(), entry, row: n });
            }
        }
        all
    }

    /// The changes from the result of the records to `rows`, all rows of a playbook: the content of the next record.
    pub fn changes<'r>(&self, playbook: &str, rows: impl IntoIterator<Item = (&'r str, &'r str)>) -> Vec<RowChange> {
        let replayed = self.replay(|_, _, _| {});
        let known = replayed.get(playbook).into_iter().flatten();
        row_changes(known.filter_map(|(name, standing)| Some((*name, standing.text?))), rows)
    }
}
