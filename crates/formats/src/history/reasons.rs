//! Whether goldens say why dangerous changes were accepted, and whether the reasons of records are kept there and have
//! stayed what they were. Reads no file.
//!
//! A golden alone tells that its reasons are good, not that none is missing: for that it must be held against what it
//! was before.

use std::sync::Arc;

use super::chain::{History, HistoryEntry};
use super::read::parse;
use super::record::{Record, RecordKind};
use super::verify::Violation;
use crate::diagnostic::{Diagnostic, Source};
use crate::golden::{Class, GoldenFile, Reason, compare, parse_body};
use crate::yaml::shorten;

/// The reasons of a golden that explain nothing.
pub fn reasons(golden: &GoldenFile, source: &Arc<Source>) -> Vec<Violation> {
    let about = |reason: &Reason| Class::ALL.into_iter().find(|class| class.words() == reason.class);
    let said = |reason: &Reason| {
        if reason.why.trim().is_empty() {
            return Some(("empty_reason", "a reason in this golden says nothing".to_owned()));
        }
        let wanted = about(reason).is_some_and(Class::requires_reason);
        let said = || format!("no golden keeps a reason for `{}`", reason.class);
        (!wanted).then(|| ("odd_reason", said()))
    };
    let objection = |(id, said): (&'static str, String)| {
        let said = Diagnostic::error(id, said)
            .at(place(source, "reasons:"), "here")
            .help("`playproof accept --reason TEXT` writes reasons; restore the golden from git");
        Violation::new(None, source, said)
    };
    golden.reasons.iter().filter_map(said).map(objection).collect()
}

/// That a golden changed dangerously since `before` without a reason, or lost one. A golden that could not be read
/// before promised nothing.
pub fn reason_for(before: &GoldenFile, golden: &GoldenFile, source: &Arc<Source>) -> Option<Violation> {
    let object = |said: Diagnostic| Some(Violation::new(None, source, said));
    if !golden.reasons.starts_with(&before.reasons) {
        let said = Diagnostic::error("reason_gone", "a reason that was kept here is gone");
        return object(said.at(place(source, "info:"), "it had more to say").help("restore the golden from git"));
    }
    let read = |file: &GoldenFile| parse_body(Arc::clone(&file.body)).ok();
    let comparison = compare(&read(before)?, &read(golden)?);
    let class = comparison.worst().filter(|class| class.requires_reason())?;
    if golden.reasons.len() > before.reasons.len() {
        return None;
    }
    let said = Diagnostic::error("no_reason", format!("{class}, and nobody said why"))
        .at(place(source, "info:"), comparison.headline())
        .help("restore the golden from git, then let `playproof check` and `accept --reason TEXT` write it");
    object(said)
}

/// Goldens that a record says keep its reason, and that do not. One that is gone by now keeps nothing.
pub fn unkept(entry: &HistoryEntry, goldens: &[(GoldenFile, Arc<Source>)]) -> Vec<Violation> {
    let RecordKind::Proposal(taken) = &entry.record.kind else { return Vec::new() };
    let named = |id: &str| goldens.iter().find(|(golden, _)| format!("{}/{}", golden.playbook, golden.fixture) == id);
    let keeps = |golden: &GoldenFile| golden.reasons.iter().any(|reason| reason.why == entry.record.reason);
    let unkept = taken.explained.iter().zip(&entry.places.explained).filter_map(|(id, place)| {
        let (_, source) = named(id).filter(|(golden, _)| !keeps(golden))?;
        let said =
            Diagnostic::error("reason_not_kept", format!("the golden `{id}` does not keep this record's reason"))
                .at(place.clone(), "changed dangerously with it")
                .help(format!(
                    "record or golden was edited by hand: restore it from git; the golden is {}",
                    source.name
                ));
        Some(Violation::new(Some(&entry.record.playbook), &entry.source, said))
    });
    unkept.collect()
}

/// That a record that was there before is gone, or gives another reason by now: what was accepted does not change.
pub fn rewritten(history: &History, file: &str, text: &str) -> Option<Violation> {
    let then = Source::whole(file, text);
    // What could not be read before said nothing.
    let (before, places) = parse(Arc::clone(&then)).ok()?;
    let entry = history.entries().iter().find(|entry| entry.source.name == file);
    let is_same = |now: &Record| now.reason == before.reason && now.kind == before.kind;
    match entry {
        Some(entry) if is_same(&entry.record) => None,
        Some(entry) => {
            let said = Diagnostic::error("record_rewritten", "a record that was there says something else by now")
                .at(entry.places.reason.clone(), format!("it was: {}", shorten(&before.reason)))
                .help("restore it from git: a later reason is a record of its own");
            Some(Violation::new(Some(&before.playbook), &entry.source, said))
        }
        // Under another name it is still there.
        None if history.entries().iter().any(|entry| entry.record == before) => None,
        None => {
            let said = Diagnostic::error("record_gone", "a record that was there is gone")
                .at(places.reason, "what it said")
                .help("restore it from git");
            Some(Violation::new(Some(&before.playbook), &then, said))
        }
    }
}

/// The first place of a word in the source, or its start.
fn place(source: &Source, word: &str) -> std::ops::Range<usize> {
    source.text.find(word).map_or(0..0, |at| at..at + word.len())
}
