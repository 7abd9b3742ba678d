//! The calls of a session that have started: what each is to the machine, and its events in the times of its recording.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dispatch::StepOf;
use crate::drive::Calls;
use crate::event::{Decision, DecisionEvent, ErrorFacts, Outcome, OutcomeKind};
use crate::ids::{CallId, ErrorId, StepId};
use crate::time::Instant;
use crate::upstream::MissingAnswerPolicy;

use super::active_call::{ActiveCall, Mentioned};
use super::event_loop::{CallSource, StepSource};
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
