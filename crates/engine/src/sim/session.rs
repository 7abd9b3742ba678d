//! Simulates the calls of one dispatcher together: they are fed in the order in which they close, run up to a watermark,
//! and given out as they end. Memory follows the active calls. Each call has its own recording as upstream, and its own
//! record, as if it were alone; calls share only the machine.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::call::RecordedCall;
use crate::classify::Memo;
use crate::event::{Decision, DecisionEvent, ErrorFacts};
use crate::ids::{CallId, ErrorId, Interner, TokenId};
use crate::playbook::ToolFacts;
use crate::time::Instant;
use crate::upstream::{Answer, MissingAnswerPolicy, Request, Upstream};

use super::event_loop::{CallSource, EventLoop};
use super::findings;
use super::plan::Plan;
use super::record::{CallTally, Errors, SimulationRecord};
use super::scenario::ScenarioCall;

/// The calls of one dispatcher under one playbook.
#[derive(Debug, Default)]
pub struct Session {
    event_loop: EventLoop,
    cast: SessionCalls,
    /// Calls that were fed and have no start yet: the first of them waits until all earlier calls are over.
    held: VecDeque<ActiveCall>,
    /// Whether the last started call has no time: the next call waits until it is over.
    apart: bool,
    /// No call starts before this moment any more.
    watermark: Instant,
    tokens: Interner,
    /// Calls with an outcome that still wait for a late answer.
    lingering: Vec<CallId>,
    /// Calls that were fed and have not ended.
    open: usize,
    ended: Vec<FinishedCall>,
}

/// A call that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct FinishedCall {
    /// The number with which it was fed.
    pub number: u64,
    /// The result of its simulation, in the times of its recording.
    pub record: SimulationRecord,
    /// Whether another call has sent its reversal token.
    pub token_spent: bool,
}

/// The started calls of a session.
#[derive(Debug, Default)]
struct SessionCalls {
    /// Calls that have a start in the future.
    coming: VecDeque<ActiveCall>,
    /// By `CallId`.
    live: Vec<Option<ActiveCall>>,
    beyond: MissingAnswerPolicy,
}

#[derive(Debug)]
struct ActiveCall {
    number: u64,
    call: Arc<RecordedCall>,
    facts: ToolFacts,
    token: Option<TokenId>,
    start: Instant,
    upstream: Upstream,
    record: SimulationRecord,
    errors: Errors,
}

impl CallSource for SessionCalls {
    fn start(&mut self, id: CallId) {
        if self.live.len() <= id.index() {
            self.live.resize_with(id.index() + 1, || None);
        }
        self.live[id.index()] = self.coming.pop_front(); // extended above
    }

    #[expect(clippy::expect_used, reason = "a call is removed when no event for it is left")]
    fn call(&self, id: CallId) -> ScenarioCall<'_> {
        let live = self.live[id.index()].as_ref().expect("an active call");
        live.scenario(&self.beyond)
    }

    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId {
        self.live_mut(id).errors.intern(error)
    }
}

impl SessionCalls {
    #[expect(clippy::expect_used, reason = "a call is removed when no event for it is left")]
    fn live_mut(&mut self, id: CallId) -> &mut ActiveCall {
        self.live[id.index()].as_mut().expect("an active call")
    }
}

impl ActiveCall {
    /// The call for the machine.
    fn scenario<'a>(&'a self, beyond: &'a MissingAnswerPolicy) -> ScenarioCall<'a> {
        let alone = ScenarioCall::recorded(&self.call, self.facts, beyond);
        ScenarioCall { token: self.token, at: self.start, ..alone }
    }

    /// Converts a moment of the simulation to the time of the recording: the call may have started later than recorded.
    fn recorded_time(&self, at: Instant) -> Instant {
        self.call.at.unwrap_or(Instant::ZERO).plus(at.since(self.start))
    }

    /// The same request, as if the call were simulated alone.
    fn alone(&self, request: &Request) -> Request {
        let intent = self.scenario(&MissingAnswerPolicy::Unanswered).booked_intent(CallId(0));
        Request { call: CallId(0), at: self.recorded_time(request.at), intent, ..*request }
    }

    fn take(&mut self, event: DecisionEvent) {
        let what = match event.what {
            Decision::RetryScheduled { attempt, delay, due, draw, told } => {
                Decision::RetryScheduled { attempt, delay, due: self.recorded_time(due), draw, told }
            }
            what => what,
        };
        self.record.events.push(DecisionEvent { at: self.recorded_time(event.at), call: CallId(0), what });
    }
}

impl Session {
    /// A session without calls; `beyond` supplies missing answers.
    pub fn new(beyond: &MissingAnswerPolicy) -> Session {
        Session { cast: SessionCalls { beyond: beyond.clone(), ..SessionCalls::default() }, ..Session::default() }
    }

    /// Feeds a call. It starts at its recorded time, but not before a call that was fed earlier; a call without a time
    /// overlaps with no other. `token_spent`: its token was sent before this session.
    pub fn feed(&mut self, number: u64, call: Arc<RecordedCall>, facts: ToolFacts, token_spent: bool) {
        let token = call.token().map(|token| TokenId(self.tokens.intern(token)));
        if let Some(token) = token.filter(|_| token_spent) {
            self.event_loop.machine.note_redeemed(token);
        }
        let upstream = Upstream::default(); // a recording has no key dialect
        let mut record = SimulationRecord::default();
        record.tallies.push(CallTally::default());
        let errors = Errors::default();
        self.open += 1;
        self.held.push_back(ActiveCall { number, call, facts, token, start: Instant::ZERO, upstream, record, errors });
        self.release();
    }

    /// Promises that no call before `at` will be fed; one that is fed nevertheless starts later.
    pub fn advance_to(&mut self, at: Instant) {
        self.watermark = self.watermark.max(at);
    }

    /// Simulates everything before the watermark, with answers from the recordings.
    pub fn advance(&mut self, plan: &Plan, memo: &mut Memo) {
        self.run(plan, memo, false);
    }

    /// Simulates all remaining events; calls that are fed later start later.
    pub fn finish(&mut self, plan: &Plan, memo: &mut Memo) {
        self.run(plan, memo, true);
        self.watermark = self.watermark.max(self.event_loop.now());
    }

    /// The calls that have ended since the last call of this method.
    pub fn take_ended(&mut self) -> impl Iterator<Item = FinishedCall> {
        std::mem::take(&mut self.ended).into_iter()
    }

    /// The tokens that were sent for redemption.
    pub fn spent_tokens(&self) -> impl Iterator<Item = &str> {
        let tokens = (0..).map_while(|n| Some((TokenId(n), self.tokens.name(n)?)));
        tokens.filter(|(token, _)| self.event_loop.machine.is_redeemed(*token)).map(|(_, name)| name)
    }

    /// Whether a fed call has not ended.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// The number of slots in use at the peak.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.cast.live.len()
    }

    /// Runs until an answer is needed; none: no event is left before the watermark, or none at all if `to_end`.
    pub fn next(&mut self, plan: &Plan, memo: &mut Memo, to_end: bool) -> Option<Request> {
        loop {
            self.release();
            let until = Some(self.watermark).filter(|_| !to_end && !self.apart && self.held.is_empty());
            let request = self.event_loop.next(plan, memo, &mut self.cast, until);
            self.note(plan);
            match request {
                Some(request) => {
                    self.cast.live_mut(request.call).record.tallies[0].sends += 1; // added when it was fed
                    return Some(request);
                }
                None if self.held.is_empty() => return None,
                None => {}
            }
        }
    }

    /// The recorded answer to a request of `next`.
    pub fn recorded_answer(&mut self, request: &Request) -> Option<Answer> {
        let SessionCalls { live, beyond, .. } = &mut self.cast;
        let live = live.get_mut(request.call.index())?.as_mut()?;
        let request = live.alone(request);
        let source = ScenarioCall::recorded(&live.call, live.facts, beyond).source;
        live.upstream.handle_request(&request, source)
    }

    /// Takes the answer to a request of `next`; none: the answer is missing.
    pub fn answer(&mut self, request: &Request, answer: Option<Answer>) {
        self.event_loop.answer(request, answer);
    }

    fn run(&mut self, plan: &Plan, memo: &mut Memo, to_end: bool) {
        while let Some(request) = self.next(plan, memo, to_end) {
            let answer = self.recorded_answer(&request);
            self.answer(&request, answer);
        }
    }

    /// Gives a start to the held calls that can start.
    fn release(&mut self) {
        while let Some(first) = self.held.front() {
            let apart = self.apart || first.call.at.is_none();
            if apart && !self.event_loop.is_idle() {
                return;
            }
            let earliest = if apart { self.event_loop.now() } else { Instant::ZERO };
            let Some(mut live) = self.held.pop_front() else { return };
            self.watermark = self.watermark.max(live.call.at.unwrap_or_default()).max(earliest);
            self.apart = live.call.at.is_none();
            live.start = self.watermark;
            self.event_loop.add_start(live.start);
            self.cast.coming.push_back(live);
        }
    }

    /// Distributes the events to their calls, and closes calls that have ended.
    fn note(&mut self, plan: &Plan) {
        let mut ended = std::mem::take(&mut self.lingering);
        for event in self.event_loop.buffer.events.drain(..) {
            if let Decision::Outcome(_) = event.what {
                ended.push(event.call);
            }
            self.cast.live_mut(event.call).take(event);
        }
        for call in ended {
            match self.event_loop.awaits(call) {
                true => self.lingering.push(call),
                false => self.close(plan, call),
            }
        }
    }

    fn close(&mut self, plan: &Plan, call: CallId) {
        let Some(outcome) = self.event_loop.machine.take_outcome(call) else { return };
        let Some(live) = self.cast.live.get_mut(call.index()).and_then(Option::take) else { return };
        self.open -= 1; // it was counted when it was fed
        let ActiveCall { number, call, facts, token, mut upstream, mut record, mut errors, .. } = live;
        record.outcomes.push(outcome);
        record.errors = errors.take();
        upstream.swap_ledger(&mut record.ledger);
        record.close();
        findings::derive(plan, &[ScenarioCall::recorded(&call, facts, &self.cast.beyond)], &mut record);
        record.compare_with_tape(&call);
        let sent_by_another = token.is_some_and(|token| self.event_loop.machine.is_redeemed(token))
            && !record.events.iter().any(|event| event.what.sent_reversal());
        self.ended.push(FinishedCall { number, record, token_spent: sent_by_another });
    }
}
