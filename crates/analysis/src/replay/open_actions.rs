//! Actions that were sent while an earlier call of them was still open, as recorded. Playbooks only tell what an action is.

use playproof_engine::event::{Finding, FindingId};
use playproof_engine::evidence::{Moment, acts_again};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::id_hash;
use playproof_intake::hash;

use super::attempts::finding;
use super::bounded_map::BoundedMap;

/// The latest end of a call of an action, or of a step of it that acts again (none: one of them has no end), with the key of
/// that call.
type LatestEnd = (Option<Moment>, Option<u128>);

/// The actions of each run; they belong to one input.
#[derive(Debug, Default)]
pub(super) struct OpenActions {
    ends: BoundedMap<LatestEnd>,
    /// By the ids of calls of actions with steps: their actions and their keys.
    ids: BoundedMap<(u128, Option<u128>)>,
}

impl OpenActions {
    /// Takes the next closed call; calls of one run come in the order in which they were made.
    pub(super) fn take(&mut self, closed: &CompletedCall, facts: ToolFacts, plans: &[Plan]) -> Option<Finding> {
        let call = closed.raw();
        if let Some((parent, _)) = call.step() {
            self.take_step(closed, facts, id_hash(closed.hashes.run, parent));
        }
        let is_gated = |plan: &Plan| plan.playbook.graph.is_some() && plan.action(call.tool()).is_some();
        if !plans.iter().any(is_gated) || call.gate_refusal().is_some() {
            return None;
        }
        let made = Moment::new(call.at, call.place.line);
        let action = hash::joined([closed.hashes.run, closed.hashes.tool]);
        let key = call.key().map(|key| hash::bytes(key.as_bytes(), 0));
        let before = self.ends.get(&action).copied();
        if call.id().is_some()
            && call.step().is_none()
            && plans.iter().any(|plan| !plan.steps_of(call.tool()).is_empty())
        {
            self.ids.insert(closed.hashes.id, (action, key));
        }
        note_end(self.ends.entry(action, || (end_of(closed), key)), (end_of(closed), key));
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

    /// A step may be at work when its action has answered: a harness that gives up does not stop it.
    fn take_step(&mut self, closed: &CompletedCall, facts: ToolFacts, of: u128) {
        if acts_again(facts)
            && let Some((action, key)) = self.ids.get(&of).copied()
            && let Some(latest) = self.ends.get_mut(&action)
        {
            note_end(latest, (end_of(closed), key));
        }
    }
}

/// Keeps the later one of two ends; none is later than any.
fn note_end(latest: &mut LatestEnd, (end, key): LatestEnd) {
    match (latest.0, end) {
        (Some(known), Some(end)) if !end.is_after(known) => {}
        (None, _) => {}
        _ => *latest = (end, key),
    }
}

/// When its last answer came, a late one too; none: that is not recorded.
fn end_of(closed: &CompletedCall) -> Option<Moment> {
    let answers = closed.raw().answers.iter().map(|answer| Moment::new(answer.at, answer.place.line));
    answers.reduce(|latest, answer| if answer.is_after(latest) { answer } else { latest })
}
