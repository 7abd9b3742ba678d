//! Simulates the calls of one dispatcher together: they are fed in the order in which they close, run up to a watermark,
//! and given out as they end. Memory follows the active calls. Each call has its own recording as upstream, and its own
//! record, as if it were alone; calls share only the machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::classify::Memo;
use crate::drive::{Mention, Names, SharedBy, SharedIds};
use crate::event::{AdmissionRefusal, Decision, DecisionEvent, Finding, FindingBy, FindingId, Outcome, OutcomeKind};
use crate::ids::{CallId, Interner, RunId, ServerId, TokenId};
use crate::time::Instant;
use crate::upstream::{Answer, MissingAnswerPolicy, Request, Upstream};

use super::active_call::{ActiveCall, Mentioned};
use super::active_calls::SessionCalls;
use super::acts::{GateAct, GateStep};
use super::amplification::{self, Outage};
use super::event_loop::{EventLoop, LoopStep, LoopStop};
use super::findings;
use super::pace::{Pace, RecordedMoment, StartedCalls};
use super::record::{CallTally, Errors, SimulationRecord};
use super::recorded_actions::RecordedActions;
use super::run_state::RunState;
use super::session_call::{SessionCall, SharedHashes};
use super::{step_acts, told};
use crate::evidence::RequestBooks;
use crate::plan::DrivenCall;
use crate::plan::Plan;

/// The calls of one dispatcher under one playbook.
#[derive(Debug, Default)]
pub struct Session {
    pub(super) event_loop: EventLoop,
    pub(super) cast: SessionCalls,
    /// Calls that were fed and have no start yet, by run: the first of a run waits until others are over.
    held: BTreeMap<Option<RunId>, VecDeque<Box<ActiveCall>>>,
    /// The runs whose first held call waits for the end of calls that ended at the very moment at which it was made.
    tied: BTreeMap<Instant, BTreeSet<Option<RunId>>>,
    /// Whether the last started call has no time: the next call waits until it is over.
    apart: bool,
    /// No call starts before this moment any more.
    watermark: Instant,
    tokens: Interner,
    pub(super) names: Names<RunState>,
    pace: Pace,
    /// The calls of all runs, for the recorded pace.
    started: StartedCalls,
    /// Whether its calls may be of several runs: what happens in one of them then moves no start in another.
    joins_runs: bool,
    /// Whether a call has no time: then each waits for the one before it.
    untimed: bool,
    /// Calls that were fed and have not ended.
    open: usize,
    /// The calls that were fed last, with their runs.
    pub(super) fed: VecDeque<(u64, RunId)>,
    outages: BTreeMap<ServerId, Outage>,
    ended: Vec<FinishedCall>,
    /// Calls that have just ended, with their ends; empty between two steps.
    over: Vec<(CallId, Instant)>,
    /// How often a run was asked for calls that can start.
    #[cfg(test)]
    pub(super) releases: u64,
}

/// A call that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct FinishedCall {
    /// The number with which it was fed.
    pub number: u64,
    /// The result of its simulation, in the times of its recording.
    pub record: Box<SimulationRecord>,
    /// Whether another call has sent its reversal token.
    pub token_spent: bool,
}

impl Session {
    /// A session without calls; `beyond` supplies missing answers.
    pub fn new(beyond: &MissingAnswerPolicy, pace: Pace) -> Session {
        let actions = RecordedActions::new(pace);
        let cast = SessionCalls { beyond: beyond.clone(), actions, ..SessionCalls::default() };
        Session { cast, pace, ..Session::default() }
    }

    /// The same for calls of several runs.
    #[must_use]
    pub fn of_several_runs(self) -> Session {
        Session { joins_runs: true, ..self }
    }

    /// Feeds a call. By its pace it starts at its recorded time or later, and not before a call that was fed earlier; a call
    /// without a time overlaps with no other.
    pub fn feed(&mut self, fed: SessionCall) {
        let SessionCall { number, call, facts, token_spent, shared, tie } = fed;
        self.forget_idle_runs(number);
        let token = call.token().map(|token| TokenId(self.tokens.intern(token)));
        if let Some(token) = token.filter(|_| token_spent) {
            self.event_loop.machine.note_redeemed(token);
        }
        let mut name = String::new();
        let mut in_run = 0;
        let shared = shared.map(|hashes| {
            in_run = hashes.run;
            let SharedHashes { run, tool, server, key, transaction, args, compares_args, name: own } = hashes;
            name = own;
            self.names.take(SharedBy { run, tool, server: &server, key, transaction, args, compares_args })
        });
        let mut record = Box::<SimulationRecord>::default();
        record.tallies = vec![CallTally::default()];
        self.open += 1;
        let run = shared.map(|shared| shared.run);
        if let Some((id, run)) = run.and_then(|id| Some((id, self.names.runs.get_mut(id.0)?))) {
            run.kept.last = number;
            self.fed.push_back((number, id));
        }
        self.untimed |= call.at.is_none();
        let fed = Box::new(ActiveCall {
            number,
            call,
            facts,
            token,
            shared,
            name,
            token_spent: false,
            amplified: None,
            leader_told: None,
            start: Instant::ZERO,
            step: None,
            step_errors: [None; 2],
            upstream: Upstream::default(), // a recording has no key dialect
            record,
            errors: Errors::default(),
        });
        if let Some(fed) = self.tied(fed, tie, in_run) {
            // At recorded times, a call of another run may follow this one and be fed before this one has started.
            if let (Pace::Recorded, Some(started)) = (self.pace, self.started_calls(run)) {
                started.note_start(fed.number, fed.call.end());
            }
            self.held.entry(run).or_default().push_back(fed);
            self.release(run);
        }
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
        self.end_waits_for_steps(); // before the rest runs: a step that is missing ends its action when it is asked for
        self.run(plan, memo, true);
        self.close_complete(plan);
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
            let may_start = !self.apart && (self.held.is_empty() || (self.joins_runs && !self.untimed));
            let until = Some(self.watermark).filter(|_| !to_end && may_start);
            // The end of a call may let another one start.
            let step = self.event_loop.next(plan, memo, &mut self.cast, until, LoopStop::AtEnd);
            self.note(plan);
            match step {
                LoopStep::Asks(request) => {
                    self.cast.live_mut(request.call).record.tallies[0].sends += 1; // added when it was fed
                    return Some(request);
                }
                LoopStep::Idle if self.held.is_empty() || until.is_some() => return None,
                LoopStep::Idle => {
                    self.release_all();
                    if self.event_loop.is_idle() {
                        return None; // an action waits for a step that may yet be fed
                    }
                }
                LoopStep::Ended => {}
            }
        }
    }

    /// The recorded answer to a request of `next`.
    pub fn recorded_answer(&mut self, plan: &Plan, request: &Request) -> Option<Answer> {
        let SessionCalls { live, beyond, .. } = &mut self.cast;
        let live = live.get_mut(request.call.index())?.as_mut()?;
        let request = live.alone(request);
        let source = DrivenCall::recorded(&live.call, live.facts, beyond).under(plan).source;
        live.upstream.handle_request(&request, source)
    }

    /// Takes the answer to a request of `next`; none: the answer is missing.
    pub fn answer(&mut self, request: &Request, answer: Option<Answer>) {
        self.event_loop.answer(request, answer);
    }

    fn run(&mut self, plan: &Plan, memo: &mut Memo, to_end: bool) {
        while let Some(request) = self.next(plan, memo, to_end) {
            let answer = self.recorded_answer(plan, &request);
            let live = self.cast.live_mut(request.call);
            let at = live.recorded_time(request.at);
            let call = DrivenCall::recorded(&live.call, live.facts, &MissingAnswerPolicy::Unanswered);
            let (is_out, late) = (call.is_cancelled_after(at), call.late_answer(request.asked));
            if answer.is_some() || !is_out {
                self.answer(&request, answer);
            }
            if let Some(late) = late {
                self.event_loop.answer_late(&request, late);
            }
        }
    }

    /// Gives a start to the held calls that can start.
    fn release_all(&mut self) {
        let runs: Vec<Option<RunId>> = self.held.keys().copied().collect();
        runs.into_iter().for_each(|run| self.release(run));
    }

    /// Gives a start to the held calls of a run that can start.
    fn release(&mut self, run: Option<RunId>) {
        #[cfg(test)]
        {
            self.releases += 1;
        }
        while let Some(first) = self.held.get(&run).and_then(VecDeque::front) {
            let made = first.call.at;
            let apart = self.apart || made.is_none();
            if apart && !self.event_loop.is_idle() {
                return;
            }
            let made = (made.unwrap_or_default(), first.call.place.line);
            let Some(start) = self.paced(run, made) else {
                if self.pace == Pace::Recorded {
                    self.tied.entry(made.0).or_default().insert(run);
                }
                return;
            };
            let now = self.event_loop.now();
            let earliest = if apart || self.joins_runs { now } else { Instant::ZERO };
            let Some(mut live) = self.held.get_mut(&run).and_then(VecDeque::pop_front) else { return };
            live.start = start.max(earliest);
            if !self.joins_runs {
                self.watermark = self.watermark.max(live.start);
                live.start = self.watermark;
            }
            self.apart = live.call.at.is_none();
            if let (Pace::Causal, Some(started)) = (self.pace, self.started_calls(run)) {
                started.note_start(live.number, live.call.end());
            }
            self.event_loop.add_start(live.start, None);
            self.cast.place(live);
        }
        self.held.remove(&run);
    }

    /// The start of a call by its pace; none: a call that it followed has not ended.
    fn paced(&mut self, run: Option<RunId>, made: RecordedMoment) -> Option<Instant> {
        let pace = self.pace;
        match (pace, self.started_calls(run)) {
            (_, None) => Some(made.0),
            (Pace::Causal, Some(started)) => started.start(made),
            (Pace::Recorded, Some(started)) => (!started.is_at_an_end(made)).then_some(made.0),
        }
    }

    /// The calls that the start of a call of this run may depend on.
    pub(super) fn started_calls(&mut self, run: Option<RunId>) -> Option<&mut StartedCalls> {
        match (run?, self.pace) {
            (_, Pace::Recorded) => Some(&mut self.started),
            (run, Pace::Causal) => self.names.runs.get_mut(run.0).map(|run| &mut run.kept.pace),
        }
    }

    /// Distributes the events to their calls, and closes calls that have ended.
    fn note(&mut self, plan: &Plan) {
        self.event_loop.actions.clear();
        let mut ended = std::mem::take(&mut self.event_loop.quiet);
        let mut events = std::mem::take(&mut self.event_loop.buffer.events);
        let mut over = std::mem::take(&mut self.over);
        for (call, valid) in self.event_loop.buffer.valid_next.drain(..) {
            self.cast.live_mut(call).record.valid_next = vec![Some(valid)];
        }
        for (call, action, key) in self.event_loop.buffer.bound.drain(..) {
            let key = self.names.keys.name(key.0);
            self.cast.live_mut(call).record.bound.extend(key.map(|key| (action, key)));
        }
        let is_ordered = plan.playbook.graph.is_some();
        for event in events.drain(..) {
            let mut mentioned = self.note_names(plan, &event);
            self.note_told(plan, &event);
            let event = self.with_server(event);
            let event =
                if plan.has_steps { self.cast.with_step_errors(plan, event, mentioned.as_mut()) } else { event };
            self.cast.live_mut(event.call).take(event, mentioned);
            if let Decision::Outcome(_) = event.what {
                self.cast.live_mut(event.call).token_spent = self.is_spent_by_another(event.call);
                self.note_server(plan, event.call, event.at);
                ended.push(event.call);
                over.push((event.call, event.at));
                if is_ordered {
                    self.note_gate(plan, event.call);
                }
            }
        }
        self.event_loop.buffer.events = events; // its allocation
        for (call, at) in over.drain(..) {
            self.note_end(call, at);
        }
        for call in ended.drain(..) {
            if !self.event_loop.awaits(call) {
                self.close_or_keep(plan, call); // else when no event for it is left
            }
        }
        self.close_complete(plan);
        (self.event_loop.quiet, self.over) = (ended, over); // as above
    }

    /// Keeps what the gate did to a call that has ended.
    fn note_gate(&mut self, plan: &Plan, call: CallId) {
        let Session { cast, names, .. } = self;
        let ActiveCall { call, record, step, shared: Some(shared), .. } = cast.live_mut(call) else { return };
        let is_gated = step.is_none() && plan.judges(call.tool());
        if let (true, Some(outcome), Some(run)) = (is_gated, record.outcome(), names.runs.get_mut(shared.run.0)) {
            record.compare_with_tape(call);
            record.gate = Some(run.kept.gate.take(call, record, &outcome));
        }
    }

    /// Notes what a call that ends now shows of its server.
    fn note_server(&mut self, plan: &Plan, call: CallId, at: Instant) {
        let live = self.cast.live_mut(call);
        if let Some(shared) = live.shared {
            let outage = self.outages.entry(shared.server).or_default();
            live.amplified = outage.take(amplification::of_call(plan, &live.record, CallId(0), at));
        }
    }

    /// Lets calls start that waited for the end of this one; an answer that comes later moves no call.
    fn note_end(&mut self, call: CallId, at: Instant) {
        let Some(Some(live)) = self.cast.live.get(call.index()) else { return };
        let (number, Some(SharedIds { run, .. })) = (live.number, live.shared) else { return };
        match self.pace {
            Pace::Causal => {
                if let Some(run) = self.names.runs.get_mut(run.0) {
                    run.kept.pace.note_end(number, at);
                }
                self.release(Some(run));
            }
            Pace::Recorded => {
                let recorded = self.started.forget(number);
                let tied = recorded.and_then(|(at, _)| self.tied.remove(&at)).unwrap_or_default();
                tied.into_iter().for_each(|run| self.release(run));
            }
        }
    }

    /// Keeps the names that later events mention, and gives the other call that this one mentions.
    fn note_names(&mut self, plan: &Plan, event: &DecisionEvent) -> Option<Mentioned> {
        let Session { names, cast, event_loop, .. } = self;
        let own = cast.live.get(event.call.index())?.as_ref()?.named();
        names.note(plan, &event_loop.machine, event, own);
        match names.mentioned(plan, event, own)? {
            Mention::Open(call, error) => {
                let live = cast.live.get(call.index())?.as_ref()?;
                let error = error.and_then(|error| live.errors.get(error));
                Some(Mentioned { name: live.name.clone(), error })
            }
            Mention::Left(name) => Some(Mentioned { name: name.to_owned(), error: None }),
        }
    }

    /// Whether another call has sent the token of a call that ends now.
    fn is_spent_by_another(&self, call: CallId) -> bool {
        let Some(Some(live)) = self.cast.live.get(call.index()) else { return false };
        let sends = |event: &DecisionEvent| event.what.sent_reversal();
        live.token.is_some_and(|token| self.event_loop.machine.is_redeemed(token))
            && !live.record.events.iter().any(sends)
    }

    /// Keeps what is told of a call for one that ends as it did: it may have left when that one is closed.
    fn note_told(&mut self, plan: &Plan, event: &DecisionEvent) {
        let Decision::Outcome(Outcome { kind: OutcomeKind::Joined { leader, .. }, .. }) = event.what else { return };
        let told = self.cast.live.get(leader.index()).and_then(Option::as_ref).and_then(|live| live.told(plan));
        self.cast.live_mut(event.call).leader_told = told;
    }

    /// The same event, whose server has the number that it has in the call's own record.
    fn with_server(&mut self, event: DecisionEvent) -> DecisionEvent {
        let Some((server, change)) = event.what.circuit() else { return event };
        let name = self.names.servers.name(server.0).unwrap_or_default().to_owned();
        let servers = &mut self.cast.live_mut(event.call).record.servers;
        let place = servers.iter().position(|known| *known == name).unwrap_or_else(|| {
            servers.push(name);
            servers.len() - 1
        });
        let server = ServerId(u32::try_from(place).unwrap_or(u32::MAX));
        DecisionEvent { what: change.event(server), ..event }
    }

    pub(super) fn close(&mut self, plan: &Plan, call: CallId) {
        if self.event_loop.machine.take_outcome(call).is_none() {
            return;
        }
        let Some(live) = self.cast.live.get_mut(call.index()).and_then(Option::take) else { return };
        self.open -= 1; // it was counted when it was fed
        let outcome = live.record.outcome();
        self.forget(&live);
        let ActiveCall {
            number,
            call,
            facts,
            token_spent,
            step,
            amplified,
            leader_told,
            mut upstream,
            mut record,
            mut errors,
            ..
        } = *live;
        record.outcomes.extend(outcome);
        record.errors = errors.take();
        upstream.swap_ledger(&mut record.ledger);
        record.close();
        let alone = [DrivenCall { step, ..DrivenCall::recorded(&call, facts, &self.cast.beyond) }];
        if alone[0].has_steps(plan) {
            step_acts::add(plan, self.cast.actions.close(plan, number, &record), &mut record);
        }
        findings::derive(plan, &alone, &mut record);
        if let Some(requests) = amplified {
            record.findings.push(amplification::found(FindingBy::Playbook, CallId(0), requests));
            Finding::settle(&mut record.findings);
        }
        told::derive(plan, &alone, &mut record, leader_told, &RequestBooks::default());
        if !alone[0].has_steps(plan) {
            record.compare_with_tape(&call); // each step is compared with its own
        }
        if let Some(GateStep { did: GateAct::First(why), .. }) = record.gate
            && why != AdmissionRefusal::ValidationFailed
        {
            record.findings.push(Finding::new(FindingId::OutOfOrder, FindingBy::Recorded, CallId(0), 1));
            Finding::settle(&mut record.findings);
        }
        self.ended.push(FinishedCall { number, record, token_spent });
    }
}
