//! The narrative of a call, step by step: each decision, with the rules tried and why the retry guard let an attempt
//! pass.

use super::subject::{Simulation, Subject};
use playproof_engine::classify::{RuleEvaluation, Signal, keyed_for};
use playproof_engine::event::{Decision, Status};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Access, GuardMode};
use playproof_engine::sim::Plan;
use playproof_engine::time::Duration;

/// One decision about the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarrativeStep {
    /// The time since the first decision.
    pub after: Duration,
    /// The decision.
    pub decision: Decision,
    /// The reason, if the decision does not contain it.
    pub detail: Detail,
}

/// The reason of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing more is known.
    Nothing,
    /// A failure was classified: every rule that was tried, in order.
    Tried(Vec<RuleEvaluation>),
    /// A retry was scheduled: why the retry guard let it pass.
    LetPass(LetPass),
}

/// Why the retry guard lets a further attempt pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetPass {
    /// The playbook has no retry guard.
    Off,
    /// The tool only reads.
    Read,
    /// The tool is idempotent.
    Idempotent,
    /// The call has an idempotency key.
    Keyed,
    /// No attempt of the call can have acted so far.
    NotApplied,
}

/// Every decision of one simulation, in order.
pub fn steps(subject: &Subject, plan: &Plan, simulation: &Simulation) -> Vec<NarrativeStep> {
    let (mut first, mut attempt, mut error) = (None, AttemptNo::FIRST, None);
    let mut steps = Vec::new();
    for (at, decision) in simulation.decisions() {
        let detail = match decision {
            Decision::AttemptStarted { attempt: started, .. } => {
                attempt = started;
                Detail::Nothing
            }
            Decision::AttemptFinished { attempt: finished, status, .. } => {
                attempt = finished;
                error = if let Status::Failed(error) = status { error } else { None };
                Detail::Nothing
            }
            Decision::FailureClassified { .. } => {
                let record = &simulation.record;
                let failed = error.and_then(|id| record.error(id));
                let keyed = keyed_for(failed, subject.recorded_key());
                let signal = |error, tool| Signal::new(error, tool, simulation.facts, keyed, attempt);
                let recorded = signal(failed, subject.recorded_tool());
                let shown = signal(error.and_then(|id| record.shown_error(id)), subject.tool());
                Detail::Tried(plan.classifier.explain(&recorded, &shown))
            }
            Decision::RetryScheduled { .. } => Detail::LetPass(let_pass(subject, plan, simulation)),
            _ => Detail::Nothing,
        };
        let after = at.since(*first.get_or_insert(at));
        steps.push(NarrativeStep { after, decision, detail });
    }
    steps
}

fn let_pass(subject: &Subject, plan: &Plan, simulation: &Simulation) -> LetPass {
    let facts = simulation.facts;
    match (plan.playbook.retry_guard(), facts.access, subject.key()) {
        (GuardMode::Off, ..) => LetPass::Off,
        (_, Access::Read, _) => LetPass::Read,
        _ if facts.idempotent => LetPass::Idempotent,
        (.., Some(_)) if !facts.ignores_keys => LetPass::Keyed,
        _ => LetPass::NotApplied,
    }
}
