//! Decides the lines of a journal again, and compares. The lines say when everything happened, so that wakes which came late
//! differ in nothing.

use std::collections::BTreeMap;

use playproof_engine::call::Recorder;
use playproof_engine::plan::Plan;
use playproof_report::decisions::ComparedDecisions;

use crate::journal::{Contents, Entry, Unusable, contents};
use crate::session::Session;
use crate::trace::Known;

/// The decisions about a call: those of the journal, with their lines, and those of today.
#[derive(Debug, Default)]
struct OfCall {
    recorded: Vec<(u64, String)>,
    decided: Vec<String>,
}

/// The decisions of a journal beside those of a plan; `place` gives the place of a line.
///
/// # Errors
/// A damaged line; a torn last line is dropped.
pub fn decided_again(bytes: &[u8], plan: Plan, place: impl Fn(u64) -> String) -> Result<ComparedDecisions, Unusable> {
    let Contents { decider, at, entries } = contents(bytes)?;
    let mut compared = ComparedDecisions {
        recorder: Some(Recorder {
            playbook: (&*decider.playbook).into(),
            fingerprint: (&*decider.fingerprint).into(),
            seed: 0,
            keys: None,
        }),
        ..ComparedDecisions::default()
    };
    let mut session = Session::new(plan, decider, true);
    session.begin_at(at);
    let last = entries.iter().rposition(|(_, entry)| matches!(entry, Entry::Decision { .. })).map_or(0, |at| at + 1);
    let (mut known, mut recorded, mut decided) = (Known::default(), Vec::new(), Vec::new());
    // Decisions may be missing behind the last one: they follow from the lines.
    for (number, entry) in entries.iter().take(last) {
        known.learn(entry);
        match entry {
            Entry::Said(said) => {
                session.answer(said.clone());
                decided.extend(session.take_records());
            }
            Entry::Decision { id, event } => recorded.push((*number, id.clone(), (*event).to_owned())),
            Entry::End(_) | Entry::Step(_) | Entry::Draw { .. } => {}
        }
    }
    let decision = |text: &String| match Entry::parse(text) {
        Ok(Entry::Decision { id, event }) => Some((id, event.to_owned())),
        _ => None,
    };
    let mut decided: Vec<(String, String)> = decided.iter().filter_map(decision).collect();
    let is_same = |((_, id, event), own): (&(u64, String, String), &(String, String))| (id, event) == (&own.0, &own.1);
    if recorded.len() <= decided.len() && recorded.iter().zip(&decided).all(is_same) {
        decided.truncate(recorded.len()); // the last lines have been torn
    }
    let mut calls: BTreeMap<&str, OfCall> = BTreeMap::new();
    let object = |event: &str| format!("{{{}", event.trim_start_matches(','));
    for (number, id, event) in &recorded {
        calls.entry(id).or_default().recorded.push((*number, object(event)));
    }
    for (id, event) in &decided {
        calls.entry(id).or_default().decided.push(object(event));
    }
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls.sort_by_key(|(_, of)| of.recorded.first().map(|(line, _)| *line));
    for (id, OfCall { recorded, decided }) in calls {
        let lines: Vec<(u64, &str)> = recorded.iter().map(|(line, event)| (*line, &**event)).collect();
        let line = lines.first().map_or(1, |(line, _)| *line);
        compared.compare((known.reference(id).unwrap_or_else(|| id.to_owned()), line), &lines, &decided, &place);
    }
    Ok(compared)
}
