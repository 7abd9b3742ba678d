//! The comparison as a value: divergences, aligned events, and the first change with what led to it.

use std::ops::Range;

use super::{ends, events, guards};
use crate::golden::body::{EventLine, GoldenBody};
use playproof_engine::event::Class;
use playproof_engine::time::Instant;

/// All in which a run differs from its golden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Worst first; those of one class in the order of the golden. Empty: the two mean the same.
    pub divergences: Vec<Divergence>,
    /// The events of both sides, call by call.
    pub pairs: Vec<EventPair>,
    /// The first decision that differs; where all are the same, the end of the call that differs.
    pub first: Option<FirstChange>,
    /// Effects that are there in the end: in the golden, in the run.
    pub effects: (u32, u32),
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How bad it is.
    pub class: Class,
    /// Where in the golden.
    pub place: DivergencePlace,
    /// What: `effect`, `delay_ms`, `event`.
    pub field: String,
    /// What the golden says; none where it says nothing.
    pub expected: Option<String>,
    /// What the run shows; none where it shows nothing.
    pub actual: Option<String>,
    /// Where it stands in the golden's body; none where the golden has no such line.
    pub span: Option<Range<usize>>,
}

/// The part of a golden in which a divergence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DivergencePlace {
    /// The end of a call, by name.
    Call(String),
    /// The ledger line of an intent, by name.
    Ledger(String),
    /// A finding at a call.
    Finding(String),
    /// An event of a call: the place of its pair in `pairs`.
    Event(String, usize),
    /// The golden as a whole.
    Whole,
}

/// One event of the golden beside its counterpart in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPair {
    /// As accepted; none for an event that the run alone has.
    pub expected: Option<EventLine>,
    /// As it happened; none for an event that the golden alone has.
    pub actual: Option<EventLine>,
    /// The worst in which the two differ; none if they do not.
    pub class: Option<Class>,
}

/// The first decision that differs, and what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstChange {
    /// For which call.
    pub call: String,
    /// In virtual time.
    pub at: Instant,
    /// What the golden says; none where the run alone decides something.
    pub golden: Option<String>,
    /// What the run decides; none where the golden alone does.
    pub run: Option<String>,
    /// What the golden had classified last.
    pub expected: Option<PrecedingVerdict>,
    /// What the run had classified last.
    pub actual: Option<PrecedingVerdict>,
}

/// The verdict that a decision followed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrecedingVerdict {
    /// The verdict.
    pub verdict: String,
    /// The rule that gave it; `otherwise` where none matched.
    pub rule: String,
}

impl Comparison {
    /// The worst class; none if the two mean the same.
    pub fn worst(&self) -> Option<Class> {
        self.divergences.first().map(|first| first.class)
    }

    /// Whether anything of this class differs.
    pub fn has(&self, class: Class) -> bool {
        self.divergences.iter().any(|divergence| divergence.class == class)
    }

    /// The classes that occur, worst first.
    pub fn classes(&self) -> Vec<Class> {
        Class::ALL.into_iter().filter(|class| self.has(*class)).collect()
    }

    /// What happened, in a line: `guard weakened: 1 effect becomes 3`.
    pub fn headline(&self) -> String {
        let what = match self.worst() {
            None => return "the same".to_owned(),
            Some(_) if self.has(Class::GuardWeakened) => Class::GuardWeakened,
            Some(worst) => worst,
        };
        let (before, after) = self.effects;
        let effects = if before == 1 { "effect becomes" } else { "effects become" };
        match before == after {
            true => what.words().to_owned(),
            false => format!("{what}: {before} {effects} {after}"),
        }
    }
}

/// Holds what a run shows against what was accepted.
pub fn compare(expected: &GoldenBody, actual: &GoldenBody) -> Comparison {
    let mut divergences = ends::divergences(expected, actual);
    let pairs = events::pairs(expected, actual, &mut divergences);
    guards::divergences(expected, actual, &mut divergences);
    if divergences.is_empty() && order(expected) != order(actual) {
        divergences.push(Divergence {
            class: Class::Cosmetic,
            place: DivergencePlace::Whole,
            field: "order".to_owned(),
            expected: Some("the same lines".to_owned()),
            actual: Some("in another order".to_owned()),
            span: None,
        });
    }
    divergences.sort_by_key(|divergence| divergence.class); // stable
    let first = events::first_change(&pairs).or_else(|| events::changed_end(&pairs, &divergences));
    Comparison { divergences, pairs, first, effects: (expected.net_effects(), actual.net_effects()) }
}

/// Every line without its time and place, in order.
fn order(body: &GoldenBody) -> Vec<(&str, String)> {
    let calls = body.calls.iter().map(|call| (call.name.as_str(), String::new()));
    let ledger = body.ledger.iter().map(|line| (line.intent.as_str(), line.words()));
    let findings = body.findings.iter().map(|finding| (finding.id.as_str(), finding.words()));
    let events = body.events.iter().map(|event| (event.call.as_str(), event.words()));
    calls.chain(ledger).chain(findings).chain(events).collect()
}
