//! The calls of a session that have started: what each is to the machine, and its events in the times of its recording.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::call::RecordedCall;
use crate::dispatch::StepOf;
use crate::drive::{Calls, NamedCall, SharedIds};
use crate::event::{Decision, DecisionEvent, ErrorFacts, Outcome, OutcomeKind, Told};
use crate::evidence::{AgainstOneMore, told_by_events};
use crate::ids::{CallId, ErrorId, StepId, TokenId};
use crate::playbook::ToolFacts;
use crate::time::Instant;
use crate::upstream::{MissingAnswerPolicy, Request, Upstream};

use super::event_loop::{CallSource, StepSource};
use super::record::{Errors, SimulationRecord};
use super::recorded_actions::{Asked, Fed, RecordedActions, Turn};
use crate::plan::DrivenCall;
use crate::plan::Plan;

/// The started calls of a session.
#[derive(Debug, Default)]
pub(super) struct SessionCalls {
    /// Calls that have a start in the future, by it, by their lines, and in the order in which they got it.
    pub coming: BTreeMap<(Instant, u64, u64), Box<ActiveCall>>,
    /// The number of calls that have got a start.
    pub placed: u64,
    /// By `CallId`.
    pub live: Vec<Option<Box<ActiveCall>>>,
    pub actions: RecordedActions,
    pub beyond: MissingAnswerPolicy,
}

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

impl Calls for SessionCalls {
    #[expect(clippy::expect_used, reason = "a call is removed when no event for it is left")]
    fn call(&self, id: CallId) -> DrivenCall<'_> {
        let live = self.live[id.index()].as_ref().expect("an active call");
        live.scenario(&self.beyond)
    }

    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId {
        self.live_mut(id).errors.intern(error)
    }
}

impl CallSource for SessionCalls {
    fn start(&mut self, id: CallId) {
        if self.live.len() <= id.index() {
            self.live.resize_with(id.index() + 1, || None);
        }
        self.live[id.index()] = self.coming.pop_first().map(|(_, call)| call); // extended above
    }

    fn step(&mut self, plan: &Plan, now: Instant, action: CallId, step: StepId) -> StepSource {
        let Some(Some(live)) = self.live.get(action.index()) else { return StepSource::Missing };
        let ActiveCall { number, call, .. } = &**live;
        let Some(named) = plan.steps_of(call.tool()).get(step.index()) else { return StepSource::Missing };
        let (name, tool) = (Arc::clone(&named.name), Arc::clone(&named.tool));
        let turn = Turn { action, step, name, tool, since: now };
        match self.actions.ask(*number, turn) {
            Asked::Came(call, at) => StepSource::Starts(self.begin_step(call, Some(action), step, at), None),
            Asked::Awaited => StepSource::Awaited,
            Asked::Missing => StepSource::Missing,
        }
    }

    fn end_steps(&mut self, now: Instant, action: CallId) -> Vec<(Instant, Option<CallId>)> {
        let Some(Some(live)) = self.live.get(action.index()) else { return Vec::new() };
        let Some(rest) = self.actions.end(live.number) else { return Vec::new() };
        for coming in self.coming.values_mut() {
            if let Some(of) = coming.step.as_mut().filter(|of| of.action == Some(action)) {
                of.action = None; // another call may get the id
            }
        }
        rest.into_iter().map(|call| (self.begin_step(call, None, StepId(0), now), None)).collect()
    }

    fn cancelled_at(&self, id: CallId) -> Option<Instant> {
        let live = self.live.get(id.index())?.as_ref()?;
        let cancelled = live.call.cancelled_at()?;
        Some(live.start.plus(cancelled.since(live.call.at.unwrap_or_default())))
    }
}

impl SessionCalls {
    /// Takes a step of the action with this number; its start, if it has its turn or comes too late.
    pub(super) fn feed_step(&mut self, parent: u64, fed: Box<ActiveCall>, now: Instant) -> Option<Instant> {
        match self.actions.feed(parent, fed) {
            Fed::Kept => None,
            Fed::Starts(call, Turn { action, step, .. }, at) => {
                Some(self.begin_step(call, Some(action), step, at.max(now)))
            }
            Fed::TooLate(call) => Some(self.begin_step(call, None, StepId(0), now)),
        }
    }

    /// The same event. An end of a step leaves its errors to the action's record, whose end then names them. The error of a
    /// step that followed another call is that of the `leader`; an action that ends with such a step has one of its own.
    pub(super) fn with_step_errors(
        &mut self,
        plan: &Plan,
        event: DecisionEvent,
        leader: Option<&mut Mentioned>,
    ) -> DecisionEvent {
        let Decision::Outcome(outcome) = event.what else { return event };
        let follows = matches!(outcome.kind, OutcomeKind::Joined { .. });
        let live = self.live_mut(event.call);
        if let Some(StepOf { action: Some(action), .. }) = live.step {
            let of = |id: Option<ErrorId>| id.and_then(|id| live.errors.get(id));
            let errors = match leader.filter(|_| follows) {
                Some(leader) => [None, leader.error.clone()],
                None => [of(outcome.first_error), of(outcome.last_error)],
            };
            let Some(Some(action)) = self.live.get_mut(action.index()) else { return event };
            for error in errors.into_iter().flatten() {
                let id = action.errors.intern(error);
                let [first, last] = &mut action.step_errors;
                (*first, *last) = (first.or(Some(id)), Some(id));
            }
            return event;
        }
        let first_only = plan.playbook.studies(|study| study.final_error_first);
        let [first, last] = live.step_errors.map(|error| error.filter(|_| live.step.is_none()));
        let last = if first_only { first } else { last };
        if let Some(leader) = leader.filter(|_| follows && !plan.steps_of(live.call.tool()).is_empty()) {
            leader.error = last.and_then(|last| live.errors.get(last));
        }
        let Some((first, last)) = first.zip(last) else { return event };
        let (last_error, first_error) = (Some(last), Some(first).filter(|first| *first != last));
        DecisionEvent { what: Decision::Outcome(Outcome { last_error, first_error, ..outcome }), ..event }
    }

    /// Puts a call that has a start among those that come. Of equal starts, the call on the earlier line is the first, in
    /// whatever order the starts became known.
    pub(super) fn place(&mut self, call: Box<ActiveCall>) {
        self.coming.insert((call.start, call.call.place.line, self.placed), call);
        self.placed += 1;
    }

    /// Gives a start to a step, and returns it. Without an action, it is skipped.
    pub(super) fn begin_step(
        &mut self,
        mut call: Box<ActiveCall>,
        action: Option<CallId>,
        step: StepId,
        at: Instant,
    ) -> Instant {
        (call.start, call.step) = (at, Some(StepOf { action, step }));
        self.place(call);
        at
    }

    #[expect(clippy::expect_used, reason = "a call is removed when no event for it is left")]
    pub(super) fn live_mut(&mut self, id: CallId) -> &mut ActiveCall {
        self.live[id.index()].as_mut().expect("an active call")
    }
}

impl ActiveCall {
    /// The call for the machine.
    pub(super) fn scenario<'a>(&'a self, beyond: &'a MissingAnswerPolicy) -> DrivenCall<'a> {
        let alone = DrivenCall::recorded(&self.call, self.facts, beyond);
        let alone = DrivenCall { token: self.token, at: self.start, step: self.step, ..alone };
        match self.shared {
            Some(SharedIds { run, tool, server, key, args }) => DrivenCall { run, tool, server, key, args, ..alone },
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
