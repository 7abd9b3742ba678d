//! The calls of one dispatcher, simulated together as they come: fed one by one in the order in which they close, run
//! to a watermark that follows them, and given out as they end. Memory follows the calls that are alive. Each call has
//! its own recording for an upstream, and its own record, as if it were alone; what calls share is the machine.

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
    /// Calls that were fed and have no start yet: the first of them waits until all before it is over.
    held: VecDeque<ActiveCall>,
    /// The last call that got a start has no time: what comes next waits until it is over.
    apart: bool,
    /// Before this moment nothing starts any more.
    watermark: Instant,
    tokens: Interner,
    /// Calls that have an outcome, while a late answer to them is still to come.
    lingering: Vec<CallId>,
    /// Calls that were fed and have not ended.
    open: usize,
    ended: Vec<FinishedCall>,
}

/// A call that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct FinishedCall {
    /// What it was fed as.
    pub number: u64,
    /// What its simulation left behind, in the times of its recording.
    pub record: SimulationRecord,
    /// Another call has sent its reversal token.
    pub token_spent: bool,
}

/// The calls that are there.
#[derive(Debug, Default)]
struct SessionCalls {
    /// Those that have a start and were not made yet.
    coming: VecDeque<ActiveCall>,
    /// By call number.
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
        self.live[id.index()] = self.coming.pop_front(); // made above
    }

    #[expect(clippy::expect_used, reason = "a call leaves when nothing is left to happen to it")]
    fn call(&self, id: CallId) -> ScenarioCall<'_> {
        let live = self.live[id.index()].as_ref().expect("a live call");
        live.scenario(&self.beyond)
    }

    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId {
        self.live_mut(id).errors.intern(error)
    }
}

impl SessionCalls {
    #[expect(clippy::expect_used, reason = "a call leaves when nothing is left to happen to it")]
    fn live_mut(&mut self, id: CallId) -> &mut ActiveCall {
        self.live[id.index()].as_mut().expect("a live call")
    }
}

impl ActiveCall {
    /// The call as the machine meets it.
    fn scenario<'a>(&'a self, beyond: &'a MissingAnswerPolicy) -> ScenarioCall<'a> {
        let alone = ScenarioCall::recorded(&self.call, self.facts, beyond);
        ScenarioCall { token: self.token, at: self.start, ..alone }
    }

    /// A moment of the simulation in the time of the recording: the call may have started later than it was made.
    fn recorded_time(&self, at: Instant) -> Instant {
        self.call.at.unwrap_or(Instant::ZERO).plus(at.since(self.start))
    }

    /// The request as the only call of a recording makes it.
    fn alone(&self, request: &Request) -> Request {
        let intent = self.scenario(&MissingAnswerPolicy::Unanswered).intent(CallId(0));
        Request { call: CallId(0), at: self.recorded_time(request.at), intent, ..*request }
    }

    fn take(&mut self, event: DecisionEvent) {
        let what = match event.what {
            Decision::RetryScheduled { attempt, delay, due } => {
                Decision::RetryScheduled { attempt, delay, due: self.recorded_time(due) }
            }
            what => what,
        };
        self.record.events.push(DecisionEvent { at: self.recorded_time(event.at), call: CallId(0), what });
    }
}

impl Session {
    /// A session without calls; `beyond` answers where a recording ends.
    pub fn new(beyond: &MissingAnswerPolicy) -> Session {
        Session { cast: SessionCalls { beyond: beyond.clone(), ..SessionCalls::default() }, ..Session::default() }
    }

    /// Feeds a call. It starts when it was made, but not before a call that was fed earlier started; a call without a
    /// time overlaps with none. `token_spent`: its token was sent before this session.
    pub fn feed(&mut self, number: u64, call: Arc<RecordedCall>, facts: ToolFacts, token_spent: bool) {
        let token = call.token().map(|token| TokenId(self.tokens.intern(token)));
        if let Some(token) = token.filter(|_| token_spent) {
            self.event_loop.machine.note_redeemed(token);
        }
        let upstream = Upstream::default(); // a recording honours no keys
        let mut record = SimulationRecord::default();
        record.tallies.push(CallTally::default());
        let errors = Errors::default();
        self.open += 1;
        self.held.push_back(ActiveCall { number, call, facts, token, start: Instant::ZERO, upstream, record, errors });
        self.release();
    }

    /// Nothing will be fed that was made before `at`, or if it is, it starts later.
    pub fn advance_to(&mut self, at: Instant) {
        self.watermark = self.watermark.max(at);
    }

    /// Simulates all that happens before the watermark, answered by the recordings.
    pub fn advance(&mut self, plan: &Plan, memo: &mut Memo) {
        self.run(plan, memo, false);
    }

    /// Simulates the rest; calls that are fed later start later.
    pub fn finish(&mut self, plan: &Plan, memo: &mut Memo) {
        self.run(plan, memo, true);
        self.watermark = self.watermark.max(self.event_loop.now());
    }

    /// The calls that have ended since this was asked last.
    pub fn take_ended(&mut self) -> impl Iterator<Item = FinishedCall> {
        std::mem::take(&mut self.ended).into_iter()
    }

    /// The tokens that were sent for redemption.
    pub fn spent_tokens(&self) -> impl Iterator<Item = &str> {
        let tokens = (0..).map_while(|n| Some((TokenId(n), self.tokens.name(n)?)));
        tokens.filter(|(token, _)| self.event_loop.machine.is_redeemed(*token)).map(|(_, name)| name)
    }

    /// Whether a call was fed that has not ended.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Slots that its calls have taken.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.cast.live.len()
    }

    /// Goes on until an answer is needed; none: nothing is left to happen before the watermark, or at all if `to_end`.
    pub fn next(&mut self, plan: &Plan, memo: &mut Memo, to_end: bool) -> Option<Request> {
        loop {
            self.release();
            let until = Some(self.watermark).filter(|_| !to_end && !self.apart && self.held.is_empty());
            let request = self.event_loop.next(plan, memo, &mut self.cast, until);
            self.note(plan);
            match request {
                Some(request) => {
                    self.cast.live_mut(request.call).record.tallies[0].sends += 1; // made when it was fed
                    return Some(request);
                }
                None if self.held.is_empty() => return None,
                None => {}
            }
        }
    }

    /// What the recording answers to a request that `next` gave.
    pub fn recorded_answer(&mut self, request: &Request) -> Option<Answer> {
        let SessionCalls { live, beyond, .. } = &mut self.cast;
        let live = live.get_mut(request.call.index())?.as_mut()?;
        let request = live.alone(request);
        let source = ScenarioCall::recorded(&live.call, live.facts, beyond).source;
        live.upstream.handle_request(&request, source)
    }

    /// Takes the answer to a request that `next` gave; none: nothing supplies one.
    pub fn answer(&mut self, request: &Request, answer: Option<Answer>) {
        self.event_loop.answer(request, answer);
    }

    fn run(&mut self, plan: &Plan, memo: &mut Memo, to_end: bool) {
        while let Some(request) = self.next(plan, memo, to_end) {
            let answer = self.recorded_answer(&request);
            self.answer(&request, answer);
        }
    }

    /// Gives a start to the calls that can have one.
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

    /// Hands the events out to their calls, and closes those that have ended.
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
