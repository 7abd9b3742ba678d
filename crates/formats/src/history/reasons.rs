//! Checks that goldens keep the reasons of dangerous changes, and that the reasons of records did not change. Reads no
//! file.
//!
//! A golden alone shows whether its reasons are valid, not whether one is missing: that needs a comparison with its
//! earlier version.

use std::sync::Arc;

use super::chain::{History, HistoryEntry};
use super::read::parse;
use super::record::RecordKind;
use super::verify::Violation;
use crate::diagnostic::{Diagnostic, Source};
use crate::golden::{Class, GoldenFile, Reason, compare, parse_body};
use crate::text::is_blank;
use crate::yaml::shorten;

/// The invalid reasons of a golden.
pub fn reasons(golden: &GoldenFile, source: &Arc<Source>) -> Vec<Violation> {
    let about = |reason: &Reason| Class::ALL.into_iter().find(|class| class.words() == reason.class);
    let said = |reason: &Reason| {
        if is_blank(&reason.why) {
            return Some(("empty_reason", "a reason in this golden is empty".to_owned()));
        }
        let wanted = about(reason).is_some_and(Class::requires_reason);
        let said = || format!("a golden keeps no reason for `{}`", reason.class);
        (!wanted).then(|| ("odd_reason", said()))
    };
    let objection = |(id, said): (&'static str, String)| {
        let said = Diagnostic::error(id, said)
            .at(place(source, "reasons:"), "here")
            .help("restore the golden from git; only `playproof accept --reason TEXT` writes reasons");
        Violation::new(None, source, said)
    };
    golden.reasons.iter().filter_map(said).map(objection).collect()
}

/// A violation if a golden changed dangerously since `before` without a new reason, or lost a reason. An earlier version
/// that cannot be read is ignored.
pub fn reason_for(before: &GoldenFile, golden: &GoldenFile, source: &Arc<Source>) -> Option<Violation> {
    let object = |said: Diagnostic| Some(Violation::new(None, source, said));
    if !golden.reasons.starts_with(&before.reasons) {
        let said = Diagnostic::error("reason_gone", "a reason was removed from this golden");
        return object(said.at(place(source, "info:"), "it had more reasons").help("restore the golden from git"));
    }
    let read = |file: &GoldenFile| parse_body(Arc::clone(&file.body)).ok();
    let comparison = compare(&read(before)?, &read(golden)?);
    let class = comparison.worst().filter(|class| class.requires_reason())?;
    if golden.reasons.len() > before.reasons.len() {
        return None;
    }
    let said = Diagnostic::error("no_reason", format!("{class}, but there is no reason for it"))
        .at(place(source, "info:"), comparison.headline())
        .help("restore the golden from git, then run `playproof check` and `playproof accept --reason TEXT`");
    object(said)
}

/// Goldens that should keep a record's reason and do not. A golden that no longer exists is ignored.
pub fn unkept(entry: &HistoryEntry, goldens: &[(GoldenFile, Arc<Source>)]) -> Vec<Violation> {
    let RecordKind::Proposal(taken) = &entry.record.kind else { return Vec::new() };
    let named = |id: &str| goldens.iter().find(|(golden, _)| format!("{}/{}", golden.playbook, golden.fixture) == id);
    let keeps = |golden: &GoldenFile| golden.reasons.iter().any(|reason| reason.why == entry.record.reason);
    let unkept = taken.explained.iter().zip(&entry.places.explained).filter_map(|(id, place)| {
        let (_, source) = named(id).filter(|(golden, _)| !keeps(golden))?;
        let said =
            Diagnostic::error("reason_not_kept", format!("the golden `{id}` does not keep this record's reason"))
                .at(place.clone(), "this change was dangerous")
                .help(format!(
                    "the record or the golden was edited by hand: restore it from git; the golden is {}",
                    source.name
                ));
        Some(Violation::new(Some(&entry.record.playbook), &entry.source, said))
    });
    unkept.collect()
}

/// A violation if an earlier record was removed, or is not the same text: accepted records never change.
pub fn rewritten(history: &History, file: &str, text: &str) -> Option<Violation> {
    let then = Source::whole(file, text);
    // An earlier version that cannot be read is ignored.
    let (before, places) = parse(Arc::clone(&then)).ok()?;
    let entry = history.entries().iter().find(|entry| entry.source.name == file);
    match entry {
        Some(entry) if entry.source.text == text => None,
        Some(entry) => {
            let (place, was) = match entry.record.reason == before.reason {
                true => first_change(&entry.source.text, text),
                false => (entry.places.reason.clone(), format!("the reason was: {}", shorten(&before.reason))),
            };
            let said = Diagnostic::error("record_rewritten", "this record was changed after it was accepted")
                .at(place, was)
                .help("restore it from git: a later change or reason needs its own record");
            Some(Violation::new(Some(&before.playbook), &entry.source, said))
        }
        // The record was only renamed.
        None if history.entries().iter().any(|entry| entry.source.text == text) => None,
        None => {
            let said = Diagnostic::error("record_gone", "a record was removed")
                .at(places.reason, "the removed record")
                .help("restore it from git");
            Some(Violation::new(Some(&before.playbook), &then, said))
        }
    }
}

/// The first line that is not as it was, and what it was.
fn first_change(now: &str, before: &str) -> (std::ops::Range<usize>, String) {
    let mut at = 0;
    let mut then = before.split_inclusive('\n');
    for line in now.split_inclusive('\n') {
        match then.next() {
            Some(was) if was == line => at += line.len(),
            Some(was) => return (at..at + line.trim_end().len(), format!("it was: {}", shorten(was.trim()))),
            None => return (at..at + line.trim_end().len(), "it was not here".to_owned()),
        }
    }
    (at..at, then.next().map_or_else(String::new, |was| format!("it was: {}", shorten(was.trim()))))
}

/// The first place of a word in the source, or the start of the source.
fn place(source: &Source, word: &str) -> std::ops::Range<usize> {
    source.text.find(word).map_or(0..0, |at| at..at + word.len())
}
