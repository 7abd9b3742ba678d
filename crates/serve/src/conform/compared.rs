//! What a dispatcher does with a fixture, beside what a playbook does.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::{Decision, Draw, OutcomeKind, OutcomeWord, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::AttemptNo;
use playproof_engine::plan::Plan;
use playproof_engine::sim::{Recording, Scenario, SimulationRecord};
use playproof_engine::time::Instant;
use playproof_report::json::event_objects;

use super::driver::{Broken, Driven, Driver};
use super::ends::{SaidEnd, Uncompared, uncompared};

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Moments do not count.
    pub ignores_waits: bool,
    /// Only the effects upstream count.
    pub only_effects: bool,
}

/// A fixture under a playbook and by a dispatcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The first decision that differs.
    pub difference: Option<Difference>,
    /// The effects upstream under the playbook.
    pub effects: u32,
    /// Those that the dispatcher caused.
    pub effects_caused: u32,
    /// What the dispatcher's ends do not say.
    pub uncompared: Uncompared,
    /// Of each call whose events differ: its name, and both; empty where the dispatcher tells none.
    pub events: BTreeMap<String, (Vec<String>, Vec<String>)>,
}

/// A decision that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The call.
    pub call: String,
    /// What the playbook does; none: nothing more.
    pub playbook: Option<String>,
    /// What the dispatcher does; none: nothing more.
    pub dispatcher: Option<String>,
}

/// Drives a dispatcher over a fixture, and compares it with a playbook. `ask` says a line and gives its answer.
///
/// # Errors
/// The dispatcher does not answer, or not by the protocol.
pub fn compare(
    plan: &Plan,
    fixture: &Fixture,
    how: Comparison,
    ask: impl FnMut(&str) -> Result<String, String>,
) -> Result<Compared, Broken> {
    let scenario = Scenario::of_fixture(fixture, plan);
    let Recording { record, .. } = Recording::of_fixture(plan, fixture, &scenario);
    let names: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    let Expected { decided, draws } = Expected::of(&record, &names);
    let all: Vec<usize> = (0..fixture.calls.len()).collect();
    let (driven, ended) = Driver::new(plan, fixture, &scenario, &draws, ask).run(&all);
    ended?;
    let effects = record.ledger.net().values().map(|net| net.effects).sum();
    let difference = match how.only_effects {
        true => (effects != driven.effects).then(|| Difference {
            call: "all calls".to_owned(),
            playbook: Some(format!("{effects} effects")),
            dispatcher: Some(format!("{} effects", driven.effects)),
        }),
        false => first_difference(&decided, &driven, how.ignores_waits)
            .or_else(|| first_false(&record, plan, &names, &driven.ends)),
    };
    let mut events: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    if !driven.events.is_empty() {
        for (call, own) in events_of(&record, plan, &names) {
            events.entry(call).or_default().0 = own;
        }
        for (call, told) in &driven.events {
            events.entry(call.clone()).or_default().1 = told.iter().map(ToString::to_string).collect();
        }
        events.retain(|_, (own, told)| own != told);
    }
    let uncompared = uncompared(&driven.ends);
    Ok(Compared { difference, effects, effects_caused: driven.effects, uncompared, events })
}

/// What a playbook does: of each call its requests and its end, and the draws of its waits.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub decided: BTreeMap<String, Vec<(Instant, String)>>,
    pub draws: BTreeMap<(String, AttemptNo), Draw>,
}

impl Expected {
    pub(super) fn of(record: &SimulationRecord, names: &[String]) -> Expected {
        let mut expected = Expected::default();
        for event in &record.events {
            let name = names.get(event.call.index()).cloned().unwrap_or_default();
            let what = match event.what {
                Decision::AttemptStarted { attempt, .. } => format!("send {attempt}"),
                Decision::Outcome(outcome) => format!("done {}", outcome.kind.as_str()),
                Decision::RetryScheduled { attempt, draw: Some(draw), .. } => {
                    expected.draws.insert((name, AttemptNo::new(attempt.get().saturating_sub(1))), draw);
                    continue;
                }
                _ => continue,
            };
            expected.decided.entry(name).or_default().push((event.at, what));
        }
        expected
    }
}

/// The events of each simulated call, as objects without its name.
pub(super) fn events_of(record: &SimulationRecord, plan: &Plan, names: &[String]) -> BTreeMap<String, Vec<String>> {
    let transcript = record.transcript(&plan.names, names, &unnamed);
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (event, object) in record.events.iter().zip(event_objects(&transcript)) {
        let object: serde_json::Value = serde_json::from_str(&object).unwrap_or_default(); // of our own
        let name = names.get(event.call.index()).cloned().unwrap_or_default();
        events.entry(name).or_default().push(object.to_string());
    }
    events
}

/// The first end whose claim or queue is not the playbook's.
fn first_false(
    record: &SimulationRecord,
    plan: &Plan,
    names: &[String],
    said: &BTreeMap<String, SaidEnd>,
) -> Option<Difference> {
    record.outcomes.iter().zip(names).find_map(|(outcome, name)| {
        let end = said.get(name)?;
        let queue = match outcome.kind {
            OutcomeKind::Escalated(queue) => Some(plan.names.queue(queue)),
            _ => None,
        };
        let difference = |key: &str, own: &str, theirs: &str| Difference {
            call: name.clone(),
            playbook: Some(format!("done {}, {key} {own}", outcome.kind.as_str())),
            dispatcher: Some(format!("done {}, {key} {theirs}", end.outcome.as_deref().unwrap_or("without a word"))),
        };
        let of_effect = end.effect.filter(|effect| *effect != outcome.claim);
        let of_queue = end.queue.as_deref().zip(queue).filter(|(theirs, own)| theirs != own);
        of_effect
            .map(|effect| difference("effect", outcome.claim.as_str(), effect.as_str()))
            .or_else(|| of_queue.map(|(theirs, own)| difference("queue", own, theirs)))
    })
}

/// The first decision of the first call that differs.
fn first_difference(
    expected: &BTreeMap<String, Vec<(Instant, String)>>,
    driven: &Driven,
    ignores_waits: bool,
) -> Option<Difference> {
    let calls: BTreeSet<&String> = expected.keys().chain(driven.decided.keys()).collect();
    let shown = |(at, what): &(Instant, String)| match ignores_waits {
        true => what.clone(),
        false => format!("{what} at {} ms", at.since(Instant::ZERO)),
    };
    let sends = |all: Option<&Vec<(Instant, String)>>| -> Vec<(Instant, String)> {
        let is_compared = |what: &str| what.starts_with("send ") || what.starts_with("done ");
        all.into_iter().flatten().filter(|(_, what)| is_compared(what)).cloned().collect()
    };
    calls.into_iter().find_map(|call| {
        let (own, theirs) = (sends(expected.get(call)), sends(driven.decided.get(call)));
        (0..own.len().max(theirs.len())).find_map(|n| {
            let (own, theirs) = (own.get(n), theirs.get(n));
            let is_same = own.zip(theirs).is_some_and(|(own, theirs)| is_same(own, theirs, ignores_waits));
            (!is_same).then(|| Difference {
                call: call.clone(),
                playbook: own.map(shown),
                dispatcher: theirs.map(shown),
            })
        })
    })
}

/// Whether two decisions are the same. An end in a word of the dispatcher's own is any end.
fn is_same(own: &(Instant, String), theirs: &(Instant, String), ignores_waits: bool) -> bool {
    let word = |what: &str| what.strip_prefix("done ").map(OutcomeWord::parse);
    let is_same_what = own.1 == theirs.1 || (word(&own.1).is_some() && word(&theirs.1) == Some(None));
    is_same_what && (ignores_waits || own.0 == theirs.0)
}
