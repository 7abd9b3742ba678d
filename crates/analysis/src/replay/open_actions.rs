//! Actions that were sent while an earlier call of them was still open, as recorded. Playbooks only tell what an action is.
//! Memory is bounded: beyond 65,536 actions of runs, all are forgotten.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_engine::event::{Finding, FindingId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::{Moment, Plan};
use playproof_trace::call::CompletedCall;
use playproof_trace::hash;

use super::attempts::finding;

/// The most actions of runs that are kept; all are forgotten beyond that.
const MOST: usize = 65_536;

/// The latest end of each action of each run (none: a call of it has none), with the key of that call; they belong to one
/// input.
#[derive(Debug, Default)]
pub(super) struct OpenActions(HashMap<u128, (Option<Moment>, Option<u128>), FixedState>);

impl OpenActions {
    /// Begins another input.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the next closed call; calls of one run come in the order in which they were made.
    pub(super) fn take(&mut self, closed: &CompletedCall, facts: ToolFacts, plans: &[Plan]) -> Option<Finding> {
        let call = closed.raw();
        let is_gated = |plan: &Plan| plan.playbook.graph.is_some() && plan.action(call.tool()).is_some();
        if !plans.iter().any(is_gated) || call.gate_refusal().is_some() {
            return None;
        }
        let made = Moment { at: call.at, place: call.place.line };
        let action = hash::joined([closed.hashes.run, closed.hashes.tool]);
        let key = call.key().map(|key| hash::bytes(key.as_bytes(), 0));
        let before = self.0.get(&action).copied();
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let end = end_of(closed);
        let latest = self.0.entry(action).or_insert((end, key));
        match (latest.0, end) {
            (Some(known), Some(end)) if !end.is_after(known) => {}
            (None, _) => {}
            _ => *latest = (end, key),
        }
        let (ended, key_before) = before?;
        let is_repeated = key.is_some() && key == key_before && !facts.ignores_keys;
        let is_safe = facts.access == Access::Read || facts.idempotent || facts.repeatable || is_repeated;
        if is_safe || ended.is_some_and(|ended| !ended.is_after(made)) {
            return None;
        }
        let found = finding(FindingId::SentWhileRunning, 1);
        let is_proved = facts.declared && call.run().is_some() && ended.is_some();
        Some(if is_proved { found } else { found.in_doubt() })
    }
}

/// When its last answer came, a late one too; none: that is not recorded.
fn end_of(closed: &CompletedCall) -> Option<Moment> {
    let answers = closed.raw().answers.iter().map(|answer| Moment { at: answer.at, place: answer.place.line });
    answers.reduce(|latest, answer| if answer.is_after(latest) { answer } else { latest })
}
