//! Whether the records explain the lock: replayed from nothing they must give exactly its rows. Reads no file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::past::{Entry, History, Rows, Standing};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::golden::{Lock, LockedRow, RowChange};
use crate::yaml::shorten;

/// Something that the records do not explain, or that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The playbook whose rows it is about; none where it is about a file beside them.
    pub playbook: Option<String>,
    /// What is wrong, and where: a single diagnostic.
    pub report: Report,
}

impl Objection {
    pub(super) fn new(playbook: Option<&str>, source: &Arc<Source>, said: Diagnostic) -> Objection {
        Objection { playbook: playbook.map(str::to_owned), report: Report::one(Arc::clone(source), said) }
    }

    /// The stable id of what is wrong.
    pub fn id(&self) -> &'static str {
        self.report.diagnostics.first().map_or("", |said| said.id)
    }
}

/// Everything that is wrong: first in the records, oldest first, then in the lock, by playbook and row.
pub fn verify(history: &History, lock: &Lock, lock_source: &Arc<Source>) -> Vec<Objection> {
    let mut found = Vec::new();
    let rows = history.replay(|entry, n, before| found.extend(unfit(entry, n, before)));
    for (playbook, section) in &lock.playbooks {
        let known = rows.get(playbook.as_str());
        if known.is_none() {
            let said = Diagnostic::error("no_record", format!("no record speaks of the playbook `{playbook}`"));
            let label = match section.rows.len() {
                1 => "1 row that nothing explains".to_owned(),
                many => format!("{many} rows that nothing explains"),
            };
            let help = "`playproof accept` writes the record of what nobody has recorded yet";
            found.push(Objection::new(Some(playbook), lock_source, said.at(section.span.clone(), label).help(help)));
            continue;
        }
        for (name, row) in &section.rows {
            let standing = known.and_then(|known| known.get(name.as_str()));
            let said = match standing.and_then(|standing| Some((standing.text?, standing.entry))) {
                None => Some(unexplained(name, standing, row.span.clone())),
                Some((text, entry)) if text == row.text => other_reason(name, row, entry),
                // That the record says something else is said where the record stands.
                Some(_) => None,
            };
            found.extend(said.map(|said| Objection::new(Some(playbook), lock_source, said)));
        }
    }
    found.extend(not_in_the_lock(&rows, lock));
    found
}

/// That a record's text before is not what the record before it left.
fn unfit(entry: &Entry, n: usize, before: Option<Standing<'_>>) -> Option<Objection> {
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
    let said = Diagnostic::error("broken_chain", format!("the text before of `{}` does not fit", shorten(&row.name)))
        .at(places.before.clone(), label)
        .help(
            "a record is missing (restore it from git), was edited, or two branches changed the row: then let the \
             later record begin where the earlier one ended",
        );
    Some(Objection::new(Some(&entry.record.playbook), &entry.source, said))
}

fn unexplained(name: &str, standing: Option<&Standing<'_>>, span: Range<usize>) -> Diagnostic {
    let label = match standing {
        Some(standing) => format!("{} removed this row", standing.entry.name),
        None => "no record of this row".to_owned(),
    };
    Diagnostic::error("no_record", format!("nothing explains the row `{}`", shorten(name)))
        .at(span, label)
        .help("restore the record from git, or let `playproof accept` write one")
}

/// That lock and record do not give the same reason for a row.
fn other_reason(name: &str, row: &LockedRow, entry: &Entry) -> Option<Diagnostic> {
    if row.why == entry.record.reason {
        return None;
    }
    let said = format!("the row `{}` was approved for another reason", shorten(name));
    let label = format!("{} says: {}", entry.name, shorten(&entry.record.reason));
    let said = Diagnostic::error("other_reason", said).at(row.why_span.clone(), label);
    Some(said.help("one of the two was edited by hand: restore it from git"))
}

/// Rows that the records come to and the lock does not have so.
fn not_in_the_lock(rows: &Rows<'_>, lock: &Lock) -> Vec<Objection> {
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
            .help(
                "somebody edited the lock or the record, or a later record is missing: restore it from git, or approve",
            );
            found.push(Objection::new(Some(playbook), &standing.entry.source, said));
        }
    }
    found
}

/// That the lock has no rows of a playbook, where the last record says so; none where all were removed.
fn no_section(playbook: &str, known: &BTreeMap<&str, Standing<'_>>) -> Option<Objection> {
    let standing = known.values().filter(|standing| standing.text.is_some());
    let last = standing.max_by_key(|standing| (standing.entry.number, &standing.entry.name))?.entry;
    let said = Diagnostic::error("not_in_the_lock", format!("the lock has no rows of `{playbook}`"))
        .at(last.places.playbook.clone(), "not in the lock")
        .help("restore the lock from git, or approve: rows that no fixture uses are then recorded as removed");
    Some(Objection::new(Some(playbook), &last.source, said))
}

/// The first value in which two texts of a row differ, as the second has it.
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
