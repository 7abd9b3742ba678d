//! Whether the records explain the lock: replayed from nothing they must give exactly its rows. Reads no file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::past::{Entry, History, Rows, Standing};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::golden::{Lock, RowChange};
use crate::yaml::shorten;

/// Something that the records do not explain, or that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The playbook that it is about.
    pub playbook: String,
    /// What is wrong, and where: a single diagnostic.
    pub report: Report,
}

impl Objection {
    fn new(playbook: &str, source: &Arc<Source>, said: Diagnostic) -> Objection {
        Objection { playbook: playbook.to_owned(), report: Report::one(Arc::clone(source), said) }
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
            let help = "`playproof approve` writes the record of what nobody has recorded yet";
            found.push(Objection::new(playbook, lock_source, said.at(section.span.clone(), label).help(help)));
            continue;
        }
        for (name, row) in &section.rows {
            let standing = known.and_then(|known| known.get(name.as_str()));
            let objection = match standing {
                Some(standing) if standing.text == Some(&row.text) => continue,
                Some(Standing { text: Some(_), .. }) => continue, // said where the record stands, below
                Some(_) | None => unexplained(name, standing, lock_source, row.span.clone()),
            };
            found.push(Objection { playbook: playbook.clone(), ..objection });
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
    Some(Objection::new(&entry.record.playbook, &entry.source, said))
}

fn unexplained(
    name: &str,
    standing: Option<&Standing<'_>>,
    source: &Arc<Source>,
    span: std::ops::Range<usize>,
) -> Objection {
    let label = match standing {
        Some(standing) => format!("{} removed this row", standing.entry.name),
        None => "no record of this row".to_owned(),
    };
    let said = Diagnostic::error("no_record", format!("nothing explains the row `{}`", shorten(name)))
        .at(span, label)
        .help("restore the record from git, or let `playproof approve` write one");
    Objection::new("", source, said)
}

/// Rows that the records come to and the lock does not have so.
fn not_in_the_lock(rows: &Rows<'_>, lock: &Lock) -> Vec<Objection> {
    let mut found = Vec::new();
    for (playbook, known) in rows {
        let section = lock.playbooks.get(*playbook);
        for (name, standing) in known {
            let Some(text) = standing.text else { continue };
            let locked = section.and_then(|section| section.rows.get(*name));
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
            found.push(Objection::new(playbook, &standing.entry.source, said));
        }
    }
    found
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
