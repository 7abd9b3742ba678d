//! The rows in which two playbooks differ in more than what they say to people.

use playproof_engine::playbook::Playbook;
use playproof_formats::golden::{PartChange, RowChange, row_changes};
use playproof_formats::playbook::{PlaybookRow, rows};

/// Every row that differs, sorted by name.
pub(super) fn changed(base: &Playbook, candidate: &Playbook) -> Vec<RowChange> {
    let (base, candidate) = (rows(base), rows(candidate));
    let mut changed = row_changes(base.iter().map(text), candidate.iter().map(text));
    changed.retain(|change| !parts(change).is_empty());
    changed
}

/// The parts of a row that differ, without those that decide nothing: what it `means`, and which row it comes `after`.
pub fn parts(change: &RowChange) -> Vec<PartChange> {
    let mut parts = change.parts();
    parts.retain(|part| part.path != "means" && part.path != "after");
    parts
}

fn text(row: &PlaybookRow) -> (&str, &str) {
    (&row.name, &row.text)
}
