//! Compares the rows of playbooks with the lock. Knows only a row's name and text.

use std::collections::BTreeMap;

use playproof_engine::playbook::Playbook;
use playproof_formats::golden::{Lock, RowChange, changes};
use playproof_formats::playbook::rows;

/// A playbook whose rows differ from the approved ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaybookRows {
    /// The playbook's name.
    pub playbook: String,
    /// Whether the lock has the playbook.
    pub is_locked: bool,
    /// Whether a fixture uses it; otherwise its section of the lock is unused.
    pub is_used: bool,
    /// The rows that differ, by name; none for an unused section.
    pub changes: Vec<RowChange>,
}

/// Every playbook whose rows differ from the approved ones, by name. Unused sections are found only if `playbooks` are
/// `all` that fixtures use.
pub fn row_changes(lock: Option<&Lock>, playbooks: &BTreeMap<String, &Playbook>, all: bool) -> Vec<PlaybookRows> {
    let mut found: Vec<PlaybookRows> = Vec::new();
    for (name, playbook) in playbooks {
        let rows = rows(playbook);
        let section = lock.and_then(|lock| lock.playbooks.get(name));
        let changes = changes(section, rows.iter().map(|row| (row.name.as_str(), row.text.as_str())));
        if !changes.is_empty() {
            found.push(PlaybookRows { playbook: name.clone(), is_locked: section.is_some(), is_used: true, changes });
        }
    }
    let left_over =
        lock.into_iter().flat_map(|lock| lock.playbooks.keys()).filter(|name| !playbooks.contains_key(*name));
    found.extend(left_over.filter(|_| all).map(|name| PlaybookRows {
        playbook: name.clone(),
        is_locked: true,
        is_used: false,
        changes: Vec::new(),
    }));
    found
}
