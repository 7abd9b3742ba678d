//! The advice on an action of several steps: what is recorded of its steps counts, whether or not the playbook has them
//! made. What each step did upstream stands with its own call.

use super::advice::ResendReason;
use super::subject::Simulation;
use super::upstream_state::{Basis, EffectState, UpstreamState};
use playproof_engine::event::{Decision, EffectClaim, Outcome, StepsEnd};
use playproof_engine::ids::StepId;
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::{Plan, StepAct, unknown_steps};

/// What became of the steps of an action, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepsShown {
    /// Those that are done.
    pub completed: Vec<String>,
    /// The one that ended it.
    pub failed: Option<String>,
    /// Those that were not made.
    pub skipped: Vec<String>,
    /// Whether nothing is known of the one that ended it, and of those after it.
    pub is_unknown: bool,
    /// Those of them that may have acted, and would act again.
    pub unknown: Vec<String>,
    /// Those that have acted, or may have, whatever the playbook makes of them.
    pub acts: Vec<StepAct>,
    /// A step of an identical action before that has acted, or may have.
    pub before: Option<StepAct>,
}

impl StepsShown {
    /// The steps of the call that is explained.
    pub(super) fn of(plan: &Plan, simulation: &Simulation, end: &StepsEnd) -> StepsShown {
        let names = |ids: &[StepId]| ids.iter().map(|id| plan.names.step(end.action, *id).to_owned()).collect();
        let own = simulation.record.step_acts.iter().filter(|act| act.call == simulation.call).cloned();
        let (before, acts): (Vec<StepAct>, Vec<StepAct>) = own.partition(|act| act.before.is_some());
        let is_open = |name: &String| !acts.iter().any(|act| act.step == *name);
        let skipped: Vec<String> = names(&end.skipped);
        StepsShown {
            completed: names(&end.completed),
            failed: end.failed.map(|id| plan.names.step(end.action, id).to_owned()),
            skipped: skipped.into_iter().filter(is_open).collect(),
            is_unknown: end.is_unknown,
            unknown: unknown_steps(plan, end).map(str::to_owned).filter(is_open).collect(),
            acts,
            before: before.into_iter().next(),
        }
    }

    /// Whether the playbook has the step made, or asks for it.
    pub fn had_turn(&self, step: &str) -> bool {
        self.completed.iter().chain(&self.failed).any(|name| name == step)
    }

    fn known(&self, outcome: &Outcome) -> EffectState {
        match outcome.claim {
            _ if self.acts.iter().any(|act| act.is_proved) => EffectState::Done,
            EffectClaim::Applied => EffectState::Done,
            EffectClaim::NotApplied => EffectState::NotDone,
            EffectClaim::Unknown => EffectState::MaybeDone,
        }
    }
}

/// The state of the upstream after an action, and whether to make it again.
pub(super) fn advise(
    plan: &Plan,
    simulation: &Simulation,
    outcome: &Outcome,
    end: &StepsEnd,
) -> (UpstreamState, ResendReason) {
    let shown = StepsShown::of(plan, simulation, end);
    let action = plan.playbook.actions.get(end.action.index());
    let mut had_turn = end.completed.iter().chain(&end.failed);
    let reads = |id: &StepId| {
        let step = action.and_then(|action| action.steps.get(id.index()));
        step.is_some_and(|step| plan.facts(&step.tool).access == Access::Read)
    };
    let reason = if shown.acts.iter().any(|act| act.acts_again) {
        ResendReason::StepsMade
    } else if end.acts_again {
        ResendReason::StepsAct
    } else if shown.before.as_ref().is_some_and(|act| act.acts_again) {
        ResendReason::StepsBefore
    } else if !shown.unknown.is_empty() {
        ResendReason::StepsUnknown
    } else if shown.acts.is_empty() && had_turn.all(reads) {
        ResendReason::StepsRead
    } else if shown.acts.is_empty() && is_told_to(simulation) && !may_act_again(plan, simulation, end) {
        ResendReason::StepsSafe
    } else {
        ResendReason::Steps
    };
    (UpstreamState::new(shown.known(outcome), Basis::Steps(Box::new(shown))), reason)
}

/// Whether the agent is told that it may make the action again.
fn is_told_to(simulation: &Simulation) -> bool {
    simulation.record.told_of(simulation.call).is_some_and(|told| told.retriable)
}

/// Whether a step has acted, or may have, that is not idempotent: also one with a key, for its upstream may forget that.
fn may_act_again(plan: &Plan, simulation: &Simulation, end: &StepsEnd) -> bool {
    let action = plan.playbook.actions.get(end.action.index());
    simulation.record.events.iter().filter(|event| event.call == simulation.call).any(|event| match event.what {
        Decision::StepEnded { step, claim, .. } => {
            let step = action.and_then(|action| action.steps.get(step.index()));
            let facts = step.map_or(ToolFacts::ASSUMED, |step| step.facts(plan.facts(&step.tool)));
            claim != EffectClaim::NotApplied && facts.adds_effects()
        }
        _ => false,
    })
}
