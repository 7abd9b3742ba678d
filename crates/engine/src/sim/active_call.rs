//! One call of a recording while it is under way.

use std::sync::Arc;

use crate::call::RecordedCall;
use crate::dispatch::StepOf;
use crate::drive::{NamedCall, SharedIds};
use crate::event::{Decision, DecisionEvent, ErrorFacts, Outcome, Told};
use crate::evidence::{AgainstOneMore, told_by_events};
use crate::ids::{CallId, ErrorId, TokenId};
use crate::plan::DrivenCall;
use crate::plan::Plan;
use crate::playbook::ToolFacts;
use crate::time::Instant;
use crate::upstream::{MissingAnswerPolicy, Request, Upstream};

use super::record::{Errors, SimulationRecord};

/// One of them.
#[derive(Debug)]
pub(super) struct ActiveCall {
    pub number: u64,
    pub call: Arc<RecordedCall>,
    pub facts: ToolFacts,
    pub token: Option<TokenId>,
    pub shared: Option<SharedIds>,
    pub name: String,
    /// Whether another call had sent its token when it ended.
    pub token_spent: bool,
    /// The requests of the outage of its server, if this call makes them too many.
    pub amplified: Option<u32>,
    /// What is told of the call that it followed, which ended with a failure.
    pub leader_told: Option<Told>,
    pub start: Instant,
    /// Of which action it is a step.
    pub step: Option<StepOf>,
    /// Of an action: the first and the last error of its steps.
    pub step_errors: [Option<ErrorId>; 2],
    pub upstream: Upstream,
    pub record: Box<SimulationRecord>,
    pub errors: Errors,
}

/// What an event says of another call.
pub(super) struct Mentioned {
    pub name: String,
    /// The other call's last error, if the event has it.
    pub error: Option<Arc<ErrorFacts>>,
}

impl ActiveCall {
    /// The call for the machine.
    pub(super) fn scenario<'a>(&'a self, beyond: &'a MissingAnswerPolicy) -> DrivenCall<'a> {
        let alone = DrivenCall::recorded(&self.call, self.facts, beyond);
        let alone = DrivenCall { token: self.token, at: self.start, step: self.step, ..alone };
        match self.shared {
            Some(SharedIds { run, tool, server, key, transaction, once, args }) => {
                DrivenCall { run, tool, server, key, transaction, once, args, ..alone }
            }
            None => alone,
        }
    }

    /// What is told of the call, if it has ended with a failure.
    pub(super) fn told(&self, plan: &Plan) -> Option<Told> {
        let outcome = self.record.outcome()?;
        let call = DrivenCall::recorded(&self.call, self.facts, &MissingAnswerPolicy::Unanswered);
        let errors = |error| self.errors.facts(error);
        told_by_events(plan, &call, CallId(0), outcome, errors, AgainstOneMore::default, &self.record.events)
    }

    /// Converts a moment of the simulation to the time of the recording: the call may have started later than recorded.
    pub(super) fn recorded_time(&self, at: Instant) -> Instant {
        self.call.at.unwrap_or(Instant::ZERO).plus(at.since(self.start))
    }

    /// The same request, as if the call were simulated alone.
    pub(super) fn alone(&self, request: &Request) -> Request {
        let alone = DrivenCall::recorded(&self.call, self.facts, &MissingAnswerPolicy::Unanswered);
        let intent = alone.booked_intent(CallId(0));
        let DrivenCall { tool, key, args, .. } = alone;
        Request { call: CallId(0), at: self.recorded_time(request.at), tool, key, args, intent, ..*request }
    }

    /// The call as events know it.
    pub(super) fn named(&self) -> NamedCall<'_> {
        NamedCall { name: &self.name, tool: self.call.tool(), shared: self.shared, before: &self.record.events }
    }

    /// The id of a call outside the record.
    pub(super) fn other(&mut self, name: &str) -> CallId {
        let others = &mut self.record.others;
        let place = others.iter().position(|known| known == name).unwrap_or_else(|| {
            others.push(name.to_owned());
            others.len() - 1
        });
        CallId::at(place + 1) // behind the record's only call
    }

    /// Takes an event of the call, in the times of its recording. `leader` names the call that it mentions.
    pub(super) fn take(&mut self, event: DecisionEvent, leader: Option<Mentioned>) {
        let leader =
            leader.map(|Mentioned { name, error }| (self.other(&name), error.map(|error| self.errors.intern(error))));
        let what = match (event.what, leader) {
            (Decision::Joined { .. }, Some((leader, _))) => Decision::Joined { leader },
            (Decision::Queued { place, .. }, behind) => {
                Decision::Queued { place, behind: behind.map(|(behind, _)| behind) }
            }
            (Decision::TookOver { .. }, Some((leader, _))) => Decision::TookOver { leader },
            (Decision::ServedFromCache { age, .. }, Some((leader, _))) => Decision::ServedFromCache { leader, age },
            (Decision::Refused { why, error, retry_after, .. }, by) => {
                Decision::Refused { why, error, by: by.map(|(by, _)| by), retry_after }
            }
            (Decision::Outcome(outcome), by) if outcome.kind.shared_stop().is_some() => {
                let own = (outcome.stopped_by == Some(event.call)).then_some(CallId(0));
                Decision::Outcome(Outcome { stopped_by: own.or(by.map(|(by, _)| by)), ..outcome })
            }
            (Decision::Outcome(outcome), Some((leader, last_error))) => {
                Decision::Outcome(Outcome { kind: outcome.kind.with_leader(leader), last_error, ..outcome })
            }
            (what, _) => what,
        };
        let what = match what {
            Decision::RetryScheduled { attempt, delay, due, draw, told, left } => {
                Decision::RetryScheduled { attempt, delay, due: self.recorded_time(due), draw, told, left }
            }
            Decision::CircuitOpened { server, why, until } => {
                Decision::CircuitOpened { server, why, until: until.map(|until| self.recorded_time(until)) }
            }
            what => what,
        };
        self.record.events.push(DecisionEvent { at: self.recorded_time(event.at), call: CallId(0), what });
    }
}
