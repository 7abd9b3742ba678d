//! The advice on an action of several steps: what is recorded of its steps counts, whether or not the playbook has them
//! made. What each step did upstream stands with its own call.

use super::effect_state::EffectState;
use super::subject::Simulation;
use playproof_engine::event::{EffectClaim, Outcome, StepsEnd};
use playproof_engine::ids::StepId;
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

    pub(super) fn known(&self, outcome: &Outcome) -> EffectState {
        match outcome.claim {
            _ if self.acts.iter().any(|act| act.is_proved) => EffectState::Done,
            EffectClaim::Applied => EffectState::Done,
            EffectClaim::NotApplied => EffectState::NotDone,
            EffectClaim::Unknown => EffectState::MaybeDone,
        }
    }
}
