//! Verifies that the records explain the lock: applied in order, they must result in exactly its rows. Reads no file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::chain::{History, HistoryEntry, RowState, RowStates};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::golden::{Lock, LockedRow, RowChange};
use crate::yaml::shorten;

/// A contradiction between records, lock and goldens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The playbook of the rows; none if it is about another file.
    pub playbook: Option<String>,
    /// A single diagnostic.
    pub report: Report,
}

impl Violation {
    pub(super) fn new(playbook: Option<&str>, source: &Arc<Source>, said: Diagnostic) -> Violation {
        Violation { playbook: playbook.map(str::to_owned), report: Report::one(Arc::clone(source), said) }
    }

    /// The stable id of the diagnostic.
    pub fn id(&self) -> &'static str {
        self.report.diagnostics.first().map_or("", |said| said.id)
    }
}

/// All violations: in the records, oldest first, then in the lock, by playbook and row.
pub fn verify(history: &History, lock: &Lock, lock_source: &Arc<Source>) -> Vec<Violation> {
    let mut found = Vec::new();
    let rows = history.replay(|entry, n, before| found.extend(unfit(entry, n, before)));
    for (playbook, section) in &lock.playbooks {
        let known = rows.get(playbook.as_str());
        if known.is_none() {
            let said = Diagnostic::error("no_record", format!("no record has the playbook `{playbook}`"));
            let label = match section.rows.len() {
                1 => "1 row without a record".to_owned(),
                many => format!("{many} rows without a record"),
            };
            let help = "`playproof accept` writes the missing record";
            found.push(Violation::new(Some(playbook), lock_source, said.at(section.span.clone(), label).help(help)));
            continue;
        }
        for (name, row) in &section.rows {
            let standing = known.and_then(|known| known.get(name.as_str()));
            let said = match standing.and_then(|standing| Some((standing.text?, standing.entry))) {
                None => Some(unexplained(name, standing, row.span.clone())),
                Some((text, entry)) if text == row.text => other_reason(name, row, entry),
                // A different text is reported at its record, by `not_in_the_lock`.
                Some(_) => None,
            };
            found.extend(said.map(|said| Violation::new(Some(playbook), lock_source, said)));
        }
    }
    found.extend(not_in_the_lock(&rows, lock));
    found
}

/// A violation if a row's text before differs from the text after the earlier record.
fn unfit(entry: &HistoryEntry, n: usize, before: Option<RowState<'_>>) -> Option<Violation> {
    let (row, places) = (entry.record.rows.get(n)?, entry.places.rows.get(n)?);
    let left = before.and_then(|before| before.text);
    if left == row.before.as_deref() {
        return None;
    }
    let by = before.map(|before| before.entry.name.as_str());
    let label = match (left, by) {
        (Some(left), Some(by)) => format!("{by} left {}", differing(row.before.as_deref(), left)),
        (None, Some(by)) => format!("{by} removed this row"),
        _ => "no earlier record has this row".to_owned(),
    };
    let said = Diagnostic::error(
        "broken_chain",
        format!("the text before of `{}` differs from the earlier record", shorten(&row.name)),
    )
    .at(places.before.clone(), label)
    .help(
        "if a record is missing or was edited, restore it from git; if two branches changed the row, make the later \
             record begin where the earlier one ended",
    );
    Some(Violation::new(Some(&entry.record.playbook), &entry.source, said))
}

fn unexplained(name: &str, standing: Option<&RowState<'_>>, span: Range<usize>) -> Diagnostic {
    let label = match standing {
        Some(standing) => format!("{} removed this row", standing.entry.name),
        None => "no record has this row".to_owned(),
    };
    Diagnostic::error("no_record", format!("no record explains the row `{}`", shorten(name)))
        .at(span, label)
        .help("restore the record from git, or write one with `playproof accept`")
}

/// An error if lock and record have different reasons for a row.
fn other_reason(name: &str, row: &LockedRow, entry: &HistoryEntry) -> Option<Diagnostic> {
    if row.why == entry.record.reason {
        return None;
    }
    let said = format!("the row `{}` was approved for another reason", shorten(name));
    let label = format!("{} says: {}", entry.name, shorten(&entry.record.reason));
    let said = Diagnostic::error("other_reason", said).at(row.why_span.clone(), label);
    Some(said.help("the lock or the record was edited by hand: restore it from git"))
}

/// Rows of the records that the lock does not have, or has with a different text.
fn not_in_the_lock(rows: &RowStates<'_>, lock: &Lock) -> Vec<Violation> {
    let mut found = Vec::new();
    for (playbook, known) in rows {
        let Some(section) = lock.playbooks.get(*playbook) else {
            found.extend(no_section(playbook, known));
            continue;
        };
        for (name, standing) in known {
            let Some(text) = standing.text else { continue };
            let locked = section.rows.get(*name);
            let said = match locked {
                Some(locked) if locked.text == text => continue,
                Some(locked) => format!("the lock has {}", differing(Some(text), &locked.text)),
                None => "the lock has no such row".to_owned(),
            };
            let Some(places) = standing.entry.places.rows.get(standing.row) else { continue };
            let said = Diagnostic::error(
                "not_in_the_lock",
                format!("the row `{}` of `{playbook}` is not what this record made it", shorten(name)),
            )
            .at(places.after.clone(), said)
            .help("the lock or the record was edited, or a later record is missing: restore it from git, or approve");
            found.push(Violation::new(Some(playbook), &standing.entry.source, said));
        }
    }
    found
}

/// A violation at the last record if the lock has no rows of a playbook; none if all rows were removed.
fn no_section(playbook: &str, known: &BTreeMap<&str, RowState<'_>>) -> Option<Violation> {
    let standing = known.values().filter(|standing| standing.text.is_some());
    let last = standing.max_by_key(|standing| (standing.entry.number, &standing.entry.name))?.entry;
    let said = Diagnostic::error("not_in_the_lock", format!("the lock has no rows of `{playbook}`"))
        .at(last.places.playbook.clone(), "not in the lock")
        .help("restore the lock from git, or approve: then rows that no fixture uses are recorded as removed");
    Some(Violation::new(Some(playbook), &last.source, said))
}

/// The first value in which two texts of a row differ, from the second text.
fn differing(one: Option<&str>, other: &str) -> String {
    let change = RowChange { name: String::new(), before: one.map(str::to_owned), after: Some(other.to_owned()) };
    let parts: BTreeMap<String, Option<String>> =
        change.parts().into_iter().map(|part| (part.path, part.after)).collect();
    match parts.into_iter().next() {
        Some((path, Some(value))) if !path.is_empty() => format!("{path}: {}", shorten(&value)),
        Some((path, None)) if !path.is_empty() => format!("no {path}"),
        _ => shorten(other),
    }
}
