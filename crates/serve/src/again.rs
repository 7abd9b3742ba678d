//! Decides the lines of a journal again, and compares. The lines say when everything happened, so that wakes which came late
//! differ in nothing.

use std::collections::BTreeMap;

use playproof_engine::call::Recorder;
use playproof_engine::plan::Plan;
use playproof_protocol::chain::bare;
use playproof_report::decisions::ComparedDecisions;

use crate::decider::Decider;
use crate::entry::Entry;
use crate::journal::{Contents, Unusable, contents};
use crate::session::Session;
use crate::trace::Known;

/// What was decided of a call.
#[derive(Debug, PartialEq, Eq)]
struct WrittenDecision {
    id: String,
    /// As it stands in the line of a decision.
    event: String,
}

/// The decisions of a journal, with their lines, and those of today.
#[derive(Debug, Default)]
struct Both {
    recorded: Vec<(u64, WrittenDecision)>,
    decided: Vec<WrittenDecision>,
    known: Known,
}

/// The same of one call, as objects.
#[derive(Debug, Default)]
struct BothOfCall {
    recorded: Vec<(u64, String)>,
    decided: Vec<String>,
}

/// The decisions of a journal beside those of a plan; `place` gives the place of a line.
///
/// # Errors
/// A damaged line; a torn last line is dropped.
pub fn decided_again(bytes: &[u8], plan: Plan, place: impl Fn(u64) -> String) -> Result<ComparedDecisions, Unusable> {
    let bytes = &*bare(bytes);
    let contents = contents(bytes)?;
    let Decider { playbook, fingerprint, .. } = &contents.decider;
    let recorder =
        Recorder { playbook: (&**playbook).into(), fingerprint: (&**fingerprint).into(), seed: 0, keys: None };
    let mut compared = ComparedDecisions { recorder: Some(recorder), ..ComparedDecisions::default() };
    let both = Both::of(contents, plan);
    let mut calls: BTreeMap<&str, BothOfCall> = BTreeMap::new();
    for (line, decision) in &both.recorded {
        calls.entry(&decision.id).or_default().recorded.push((*line, decision.object()));
    }
    for decision in &both.decided {
        calls.entry(&decision.id).or_default().decided.push(decision.object());
    }
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls.sort_by_key(|(_, both)| both.recorded.first().map(|(line, _)| *line));
    for (id, BothOfCall { recorded, decided }) in calls {
        let lines: Vec<(u64, &str)> = recorded.iter().map(|(line, event)| (*line, &**event)).collect();
        let line = lines.first().map_or(1, |(line, _)| *line);
        let reference = both.known.reference(id).unwrap_or_else(|| id.to_owned());
        compared.compare((reference, line), &lines, &decided, &place);
    }
    Ok(compared)
}

impl Both {
    /// Takes the lines of a journal again, up to its last decision: behind that one decisions may be missing.
    fn of(Contents { decider, at, entries }: Contents<'_>, plan: Plan) -> Both {
        let mut session = Session::new(plan, decider, true);
        session.begin_at(at);
        let is_decision = |(_, entry): &(u64, Entry<'_>)| matches!(entry, Entry::Decision { .. });
        let end = entries.iter().rposition(is_decision).map_or(0, |last| last + 1);
        let mut both = Both::default();
        for (line, entry) in entries.into_iter().take(end) {
            both.known.learn(&entry);
            match session.read_again(&entry) {
                Some(records) => both
                    .decided
                    .extend(records.iter().filter_map(|record| WrittenDecision::of(Entry::parse(record).ok()?))),
                None => both.recorded.extend(WrittenDecision::of(entry).map(|decision| (line, decision))),
            }
        }
        if both.recorded.iter().zip(&both.decided).all(|((_, recorded), own)| recorded == own) {
            both.decided.truncate(both.recorded.len()); // the last lines have been torn
        }
        both
    }
}

impl WrittenDecision {
    fn of(entry: Entry<'_>) -> Option<WrittenDecision> {
        match entry {
            Entry::Decision { id, event } => Some(WrittenDecision { id, event: event.to_owned() }),
            Entry::Said(..) | Entry::Crash(_) | Entry::End(_) | Entry::Step(_) | Entry::Draw { .. } => None,
        }
    }

    fn object(&self) -> String {
        format!("{{{}", self.event.trim_start_matches(','))
    }
}
