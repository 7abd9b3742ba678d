//! The goldens and the lock of a project that is about to be: made by the code of `check`, `accept` and `approve`, in
//! memory.

use std::sync::Arc;

use super::starter::PLAYBOOK;
use crate::exit::Failure;
use crate::pending;
use playproof_analysis::check::{Case, Id, check_one};
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::golden::{Lock, changes};
use playproof_formats::history::{Kind, Record, next_number};
use playproof_formats::playbook;
use playproof_formats::playbook::{Loaded, rows};
use playproof_formats::shell::Command;

/// Why the first rows are approved.
const WHY: &str = "the beginning";

/// The golden of each fixture (its name, its file) under the playbook, with the fixture's name; none for a fixture
/// that runs under others alone, or that the playbook contradicts.
///
/// # Errors
/// Everything that is wrong in a fixture.
pub fn goldens(plan: &Plan, fixtures: &[(String, Arc<Source>)]) -> Result<Vec<(String, String)>, Failure> {
    let mut simulator = Simulator::new();
    let mut goldens = Vec::new();
    for (name, source) in fixtures {
        let fixture = fixture::parse(Arc::clone(source))?;
        if !fixture.playbooks.is_empty() && !fixture.playbooks.iter().any(|one| one == PLAYBOOK) {
            continue;
        }
        let id = Id { playbook: PLAYBOOK.to_owned(), fixture: name.clone() };
        let result = check_one(&mut simulator, &Case { id, fixture: &fixture, plan, golden: None });
        goldens.extend(pending::pending(&result).map(|golden| (name.clone(), golden.render())));
    }
    Ok(goldens)
}

/// The lock in which every row of the playbook is approved.
pub fn lock(loaded: &Loaded) -> String {
    let mut lock = Lock::default();
    let rows = rows(&loaded.playbook);
    lock.approve(PLAYBOOK, rows.iter().map(|row| (&*row.name, &*row.text)), WHY);
    lock.render()
}

/// The record of that approval, with the name of its file, for a history that is empty.
pub fn record(loaded: &Loaded) -> (String, String) {
    let rows = rows(&loaded.playbook);
    let rows = changes(None, rows.iter().map(|row| (&*row.name, &*row.text)));
    let record = Record { kind: Kind::Approval, playbook: PLAYBOOK.to_owned(), reason: WHY.to_owned(), rows };
    (record.file_name(next_number([])), record.render())
}

/// The playbook as read.
///
/// # Errors
/// Everything that is wrong in it.
pub fn load(source: Arc<Source>) -> Result<Loaded, Failure> {
    let next = Command::new("playproof lint").path(&source.name);
    playbook::parse(source).map_err(|report| Failure::from(report).next(next))
}
