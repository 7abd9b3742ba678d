//! Recorded steps that were sent after another step of their action had failed. Playbooks only tell which calls are steps.

use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::{Finding, FindingId};
use playproof_engine::evidence::Moment;
use playproof_engine::sim::Plan;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::id_hash;

use super::attempts::finding;
use super::bounded_map::BoundedMap;

/// By the id of an action's call: its step that failed, and when. They belong to one input.
#[derive(Debug, Default)]
pub(super) struct StepOrder(BoundedMap<(Box<str>, Moment)>);

/// Whether a call is one of an action with steps.
pub fn has_steps(call: &RecordedCall, plan: Option<&Plan>) -> bool {
    plan.is_some_and(|plan| plan.has_steps && call.step().is_none() && !plan.steps_of(call.tool()).is_empty())
}

impl StepOrder {
    /// Takes the next closed call; calls of one run come in the order in which they were made. Another call of the step that
    /// failed is another try of it.
    pub(super) fn take(&mut self, closed: &CompletedCall, plans: &[Plan]) -> Option<Finding> {
        let call = closed.raw();
        let (parent, step) = call.step()?;
        let has_it = |plan: &Plan| {
            let mut steps = plan.playbook.actions.iter().flat_map(|action| &action.steps);
            plan.has_steps && steps.any(|of| *of.name == *step)
        };
        if !plans.iter().any(has_it) {
            return None;
        }
        let action = id_hash(closed.hashes.run, parent);
        let made = Moment::new(call.at, call.place.line);
        let known = self.0.get(&action);
        let is_after = known.is_some_and(|(failed, end)| **failed != *step && made.is_after(*end));
        let found = is_after.then(|| finding(FindingId::RanAfterFailedStep, 1));
        match call.attempts().last() {
            Some((_, last)) if matches!(last.reply, Reply::Failed(_)) => {
                let end = Moment::new(last.at, last.place.line);
                self.0.entry(action, || (step.into(), end));
            }
            Some((_, last)) if last.reply == Reply::Ok && known.is_some_and(|(failed, _)| **failed == *step) => {
                self.0.remove(&action);
            }
            _ => {}
        }
        found
    }
}
