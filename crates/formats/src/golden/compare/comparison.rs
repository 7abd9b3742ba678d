//! The comparison of a run with its golden: what differs, worst first.

use super::divergence::{Divergence, DivergencePlace, EventPair, FirstChange};
use super::{ends, events};
use crate::golden::body::GoldenBody;
use playproof_engine::event::Class;

/// All divergences of a run from its golden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Worst first; within a class in the order of the golden. Empty: both mean the same.
    pub divergences: Vec<Divergence>,
    /// The events of both sides, call by call.
    pub pairs: Vec<EventPair>,
    /// The first decision that differs; if all are the same, the outcome that differs.
    pub first: Option<FirstChange>,
    /// Net effects: in the golden, in the run.
    pub effects: (u32, u32),
}

impl Comparison {
    /// The worst class; none if both mean the same.
    pub fn worst(&self) -> Option<Class> {
        self.divergences.first().map(|first| first.class)
    }

    /// Whether there is a divergence of this class.
    pub fn has(&self, class: Class) -> bool {
        self.divergences.iter().any(|divergence| divergence.class == class)
    }

    /// The classes that occur, worst first.
    pub fn classes(&self) -> Vec<Class> {
        Class::ALL.into_iter().filter(|class| self.has(*class)).collect()
    }

    /// The comparison in one line: `guard weakened: 1 effect becomes 3`.
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

/// Compares a run with its golden.
pub fn compare(expected: &GoldenBody, actual: &GoldenBody) -> Comparison {
    let mut divergences = ends::divergences(expected, actual);
    let pairs = events::pairs(expected, actual, &mut divergences);
    events::weakened_guards(expected, actual, &mut divergences);
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
