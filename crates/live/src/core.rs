//! Everything behind the lock: the machine, what its callers wait for, results, timers and the recorder. Nothing waits here,
//! and no code of a user runs but the copying of a result.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use playproof_engine::call::Reply;
use playproof_engine::drive::{Dispatcher as Machine, NewCall, Want};
use playproof_engine::event::{ErrorFacts, OutcomeKind, RequestKind};
use playproof_engine::ids::{AttemptNo, CallId, EvidenceId};
use playproof_engine::plan::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_protocol::driver_lines::{self, Answer};
use playproof_protocol::protocol::ENDS_KEPT;
use playproof_protocol::said::Came;

use crate::args::with_args_by_meaning;
use crate::clock::{Clock, of_std};
use crate::recorder::Recorder;
use crate::request::{Attempt, Ended, Failure, LostState, Valid};
use crate::timers::{Due, Key, Timer, Timers};

/// What the future of a call does next.
pub(crate) enum Next<T> {
    /// It makes a request.
    Send(CallId, Attempt),
    /// It drops the request that is out.
    Stop,
    /// It ends.
    End(Ended<T>),
    /// It waits, until then at the latest.
    Wait(Option<tokio::time::Instant>),
}

/// What the future of a call is to do, in order.
enum Order {
    Send(CallId),
    Stop,
}

/// A request that is out.
struct Request {
    asked: RequestKind,
    evidence: EvidenceId,
    sent: Instant,
    within: Duration,
    /// None: its time was over before its future could make it.
    timer: Option<Key>,
    is_made: bool,
    /// How long it stood still until it was made, if that was longer than its time.
    held: Duration,
}

/// What is kept of a call.
pub(crate) struct Slot<T> {
    waker: Option<Waker>,
    orders: VecDeque<Order>,
    request: Option<Request>,
    /// Its attempts that have timed out and may still be answered.
    unanswered: Vec<AttemptNo>,
    value: Option<T>,
    pub(crate) ended: Option<Ended<T>>,
    /// Whether its future has ended.
    pub(crate) is_over: bool,
    pub(crate) steps: Vec<CallId>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot {
            waker: None,
            orders: VecDeque::new(),
            request: None,
            unanswered: Vec::new(),
            value: None,
            ended: None,
            is_over: false,
            steps: Vec::new(),
        }
    }
}

/// What is done when the lock is free again: futures are woken, results dropped.
pub(crate) struct Afterwards<T> {
    pub(crate) woken: Vec<Waker>,
    dropped: Vec<T>,
}

pub(crate) struct Core<T> {
    pub(crate) machine: Machine,
    /// By `CallId`.
    calls: Vec<Slot<T>>,
    timers: Timers,
    pub(crate) clock: Clock,
    pub(crate) now: Instant,
    pub(crate) recorder: Option<Recorder>,
    /// The state that was lost with the program before this one.
    pub(crate) lost: Vec<LostState>,
    /// Calls that have ended, oldest first; no steps.
    pub(crate) ended: VecDeque<CallId>,
    /// The calls without a name so far.
    pub(crate) unnamed: u64,
    afterwards: Afterwards<T>,
}

impl<T: Clone> Core<T> {
    /// One that has no recorder yet.
    pub(crate) fn new(plan: Plan, slowness: u32) -> Core<T> {
        Core {
            machine: Machine::new(plan),
            calls: Vec::new(),
            timers: Timers::default(),
            clock: Clock::new(slowness),
            now: Instant::ZERO,
            recorder: None,
            lost: Vec::new(),
            ended: VecDeque::new(),
            unnamed: 0,
            afterwards: Afterwards { woken: Vec::new(), dropped: Vec::new() },
        }
    }

    /// What follows is written.
    pub(crate) fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// A journal begins.
    pub(crate) fn begin(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(self.machine.plan());
        }
    }

    pub(crate) fn take_afterwards(&mut self) -> Afterwards<T> {
        let Afterwards { woken, dropped } = &mut self.afterwards;
        Afterwards { woken: std::mem::take(woken), dropped: std::mem::take(dropped) }
    }

    pub(crate) fn lost_lines(&self) -> u64 {
        self.recorder.as_ref().map_or(0, Recorder::lost)
    }

    pub(crate) fn open_calls(&self) -> usize {
        self.machine.calls().filter(|(call, _)| self.machine.outcome(*call).is_none()).count()
    }

    /// A call is made.
    #[expect(clippy::expect_used, reason = "its name is free")]
    pub(crate) fn call(&mut self, new: NewCall) -> CallId {
        let new = NewCall { name: self.free_name(&new.name), ..with_args_by_meaning(new) };
        let now = self.pass();
        self.said(|| driver_lines::call(now, &new));
        let call = self.machine.call(now, new).expect("a free name");
        *self.slot(call) = Slot::default();
        self.deliver();
        call
    }

    /// Something is done with a transaction: how it ended, which it does at once.
    pub(crate) fn act(&mut self, new: NewCall) -> OutcomeKind {
        let call = self.call(new);
        let slot = self.slot(call);
        slot.is_over = true;
        slot.ended.take().map_or(OutcomeKind::Succeeded, |ended| ended.outcome.kind)
    }

    /// The program that had the state of transactions is gone.
    pub(crate) fn lose_state(&mut self) -> bool {
        let Some(lost) = self.machine.lose_state(self.now) else { return false };
        let of = |made: &NewCall| LostState {
            run: made.run.clone(),
            transaction: made.transaction.clone().unwrap_or_default(),
            name: made.tool.clone(),
        };
        self.lost = lost.iter().filter_map(|call| self.machine.made(*call)).map(of).collect();
        true
    }

    /// A name that no other call has: the given one, with a number behind it where that is taken.
    fn free_name(&mut self, given: &str) -> String {
        if !given.is_empty() && self.machine.find(given).is_none() {
            return given.to_owned();
        }
        let stem = if given.is_empty() { "call" } else { given };
        loop {
            self.unnamed += 1;
            let name = format!("{stem}~{}", self.unnamed);
            if self.machine.find(&name).is_none() {
                return name;
            }
        }
    }

    /// A request of a call is answered.
    pub(crate) fn answered(&mut self, call: CallId, asked: RequestKind, result: Result<T, Failure>) {
        let now = self.pass();
        let (reply, value) = match result {
            Ok(value) => (Some(Reply::Ok), Some(value)),
            Err(failure) => (failure.reply(), None),
        };
        let Some(request) = self.slot(call).request.take_if(|request| request.asked == asked && request.is_made) else {
            self.afterwards.dropped.extend(value);
            if let (RequestKind::Attempt(attempt), Some(reply)) = (asked, reply) {
                self.take_late(now, call, attempt, &reply);
            }
            return;
        };
        request.timer.and_then(|key| self.timers.take(key));
        let came = reply.clone().map_or(Came::Lost, Came::Reply);
        self.say(now, call, asked, came, request.held);
        match asked {
            RequestKind::Attempt(_) => self.slot(call).value = value,
            RequestKind::Refresh(_) | RequestKind::Reversal => self.afterwards.dropped.extend(value),
        }
        let taken = match reply {
            Some(reply) => self.machine.answer(now, call, asked, &reply),
            None => self.machine.give_up(now, call, asked),
        };
        debug_assert!(taken.is_ok(), "it was out: {taken:?}");
        self.deliver();
    }

    /// An attempt is answered whose request nobody waits for any more: whether that is so.
    pub(crate) fn late(&mut self, name: &str, attempt: AttemptNo, result: Result<(), Failure>) -> bool {
        let now = self.pass();
        let reply = result.map_or_else(Failure::reply, |()| Some(Reply::Ok));
        let Some((call, reply)) = self.machine.find(name).zip(reply) else { return false };
        self.take_late(now, call, attempt, &reply)
    }

    fn take_late(&mut self, now: Instant, call: CallId, attempt: AttemptNo, reply: &Reply) -> bool {
        let asked = RequestKind::Attempt(attempt);
        let was_left = self.machine.within(call, asked).is_some() && self.machine.outcome(call).is_some();
        let unanswered = &mut self.slot(call).unanswered;
        let known = unanswered.len();
        unanswered.retain(|other| *other != attempt);
        if !was_left && unanswered.len() == known {
            return false;
        }
        self.say(now, call, asked, Came::Late(reply.clone()), Duration::ZERO);
        if was_left {
            let timed_out = self.machine.time_out(now, call, asked); // its caller went away before it could
            debug_assert!(timed_out.is_ok(), "it is out: {timed_out:?}");
        }
        let late = self.machine.late(now, call, attempt, reply);
        debug_assert!(late.is_ok(), "it was sent, and is not out: {late:?}");
        self.deliver();
        true
    }

    /// The future of a call was dropped.
    pub(crate) fn gone(&mut self, call: CallId) {
        self.slot(call).is_over = true;
        if self.slot(call).ended.is_none() {
            self.cancel(call);
        }
        let ended = self.slot(call).ended.take(); // nobody hears so
        self.afterwards.dropped.extend(ended.and_then(|ended| ended.value));
    }

    /// The caller of a call goes away.
    pub(crate) fn cancel(&mut self, call: CallId) {
        let now = self.pass();
        self.answer_unmade(now, call);
        if self.machine.outcome(call).is_none() {
            self.said_of("cancel", now, call);
            let cancelled = self.machine.cancel(now, call);
            debug_assert!(cancelled.is_ok(), "it is open: {cancelled:?}");
            self.deliver();
        }
    }

    /// A request of a call, or of a step of it, that was asked for and not made, will not be.
    fn answer_unmade(&mut self, now: Instant, call: CallId) {
        let own = std::iter::once(call).chain(self.slot_steps(call));
        for call in own {
            let unmade = self.slot(call).request.take_if(|request| !request.is_made);
            let Some(Request { asked, timer, .. }) = unmade else { continue };
            timer.and_then(|key| self.timers.take(key));
            let message = Some("its caller went away before it was sent".into());
            let reply = Reply::Failed(Some(Arc::new(ErrorFacts {
                kind: Some("not_sent".into()),
                message,
                ..ErrorFacts::default()
            })));
            self.say(now, call, asked, Came::Reply(reply.clone()), Duration::ZERO);
            let answered = self.machine.answer(now, call, asked, &reply);
            debug_assert!(answered.is_ok(), "it is out: {answered:?}");
            self.deliver();
        }
    }

    /// A run makes no more calls: whether none is open.
    pub(crate) fn end_run(&mut self, run: &str) -> bool {
        let now = self.pass();
        let own = self.calls_of(Some(run));
        if own.iter().any(|call| self.calls.get(call.index()).is_none_or(|slot| !slot.is_over)) {
            return false;
        }
        self.said(|| driver_lines::end_run(now, run));
        self.forget_run(run, own);
        self.deliver();
        true
    }

    pub(crate) fn forget_run(&mut self, run: &str, own: Vec<CallId>) {
        self.ended.retain(|call| !own.contains(call));
        own.into_iter().for_each(|call| self.forget(call));
        self.machine.end_run(run);
    }

    /// The calls of a run, or of all, but for steps.
    pub(crate) fn calls_of(&self, run: Option<&str>) -> Vec<CallId> {
        let is_own = |(_, made): &(CallId, &NewCall)| run.is_none_or(|run| made.run == run);
        let own = self.machine.calls().filter(is_own).map(|(call, _)| call);
        own.filter(|call| self.machine.action_of(*call).is_none()).collect()
    }

    pub(crate) fn slot_steps(&self, call: CallId) -> Vec<CallId> {
        self.calls.get(call.index()).map(|slot| slot.steps.clone()).unwrap_or_default()
    }

    /// What the future of a call does next.
    pub(crate) fn next(&mut self, call: CallId, waker: &Waker) -> Next<T> {
        let now = self.clock.now();
        self.fire_before(now);
        while let Some(order) = self.slot(call).orders.pop_front() {
            match order {
                Order::Send(of) => {
                    if let Some(attempt) = self.make(of, call) {
                        return Next::Send(of, attempt);
                    }
                }
                Order::Stop => return Next::Stop,
            }
        }
        let slot = self.slot(call);
        if let Some(ended) = slot.ended.take() {
            slot.is_over = true;
            return Next::End(ended);
        }
        if !slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            slot.waker = Some(waker.clone());
        }
        Next::Wait(self.timers.first_of(call).map(|(at, _)| self.clock.on_tokio(at)))
    }

    /// A request is made now by the future of `owner`.
    fn make(&mut self, call: CallId, owner: CallId) -> Option<Attempt> {
        let now = self.clock.now().max(self.now);
        let request = self.calls.get_mut(call.index())?.request.as_mut()?;
        request.is_made = true;
        if request.timer.is_none() {
            request.held = now.since(request.sent);
            let timer = Timer { owner, call, due: Due::Timeout(request.asked) };
            request.timer = Some(self.timers.set(now.plus(request.within), timer));
        }
        let deadline = request.sent.plus(request.held).plus(request.within);
        let made = self.machine.made(call)?;
        Some(Attempt {
            name: made.name.clone(),
            tool: made.tool.clone(),
            args: made.args.clone(),
            key: made.key.clone(),
            token: made.token.clone(),
            asked: request.asked,
            evidence: request.evidence.0,
            within: of_std(request.within),
            deadline: self.clock.on_tokio(deadline),
        })
    }

    /// The moment has come for which the future of a call waits.
    pub(crate) fn fire_own(&mut self, call: CallId, due: tokio::time::Instant) {
        let Some(mine) = self.timers.first_of(call).filter(|(at, _)| self.clock.on_tokio(*at) <= due) else { return };
        while let Some(key) = self.timers.first().filter(|key| *key <= mine) {
            self.fire(key);
        }
    }

    /// Time passes up to now: what was due before happens first, each at its own moment.
    pub(crate) fn pass(&mut self) -> Instant {
        let now = self.clock.now();
        self.fire_before(now);
        self.now = self.now.max(now);
        self.now
    }

    fn fire_before(&mut self, now: Instant) {
        while let Some(key) = self.timers.first().filter(|(at, _)| *at < now) {
            self.fire(key);
        }
    }

    fn fire(&mut self, key: Key) {
        let Some(Timer { owner, call, due }) = self.timers.take(key) else { return };
        self.now = self.now.max(key.0);
        let now = self.now;
        match due {
            Due::Wake => {
                if self.machine.waits(call).iter().any(|due| *due <= now) {
                    self.said_of("wake", now, call);
                    let woken = self.machine.wake(now, call);
                    debug_assert!(woken.is_ok(), "it asked for this moment: {woken:?}");
                    self.deliver();
                }
            }
            Due::Timeout(asked) => {
                let slot = self.slot(call);
                if let Some(request) = slot.request.as_mut().filter(|request| !request.is_made) {
                    request.timer = None; // its time begins when its future makes it
                    return;
                }
                let Some(request) = slot.request.take() else { return };
                self.say(now, call, asked, Came::Timeout, request.held);
                if let RequestKind::Attempt(attempt) = asked {
                    self.slot(call).unanswered.push(attempt);
                }
                self.slot(owner).orders.push_back(Order::Stop);
                self.wake(owner);
                let timed_out = self.machine.time_out(now, call, asked);
                debug_assert!(timed_out.is_ok(), "it is out: {timed_out:?}");
                self.deliver();
            }
        }
    }

    /// Says what came of a request, with the draw of the wait that follows.
    pub(crate) fn say(&mut self, now: Instant, call: CallId, asked: RequestKind, came: Came, held: Duration) {
        if held > Duration::ZERO {
            let is_held = self.machine.hold(call, asked, held);
            debug_assert!(is_held.is_ok(), "it is out: {is_held:?}");
        }
        let Some(recorder) = &mut self.recorder else { return };
        let Some(made) = self.machine.made(call) else { return };
        let attempt: Option<AttemptNo> = match (asked, &came) {
            (RequestKind::Attempt(attempt), Came::Reply(_) | Came::Timeout | Came::Lost) => Some(attempt),
            (RequestKind::Attempt(_), Came::Late(_)) | (RequestKind::Refresh(_) | RequestKind::Reversal, _) => None,
        };
        let draw = attempt.and_then(|attempt| Some((attempt, self.machine.draw(call, attempt)?)));
        let said = Answer { name: &made.name, asked, came, draw: draw.map(|(_, draw)| draw), held };
        recorder.said(&driver_lines::answer(now, &said));
        if let Some((attempt, draw)) = draw {
            recorder.draw(&made.name, attempt, draw);
        }
    }

    fn said_of(&mut self, kind: &str, now: Instant, call: CallId) {
        if let Some((recorder, made)) = self.recorder.as_mut().zip(self.machine.made(call)) {
            recorder.said(&driver_lines::bare(kind, now, &made.name));
        }
    }

    pub(crate) fn said(&mut self, line: impl FnOnce() -> String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.said(&line());
        }
    }

    /// Does what the machine wants: requests and waits of the futures that drive calls, results of calls that ended.
    pub(crate) fn deliver(&mut self) {
        let (wants, events) = (self.machine.take_wants(), self.machine.take_events());
        if let Some(recorder) = &mut self.recorder {
            recorder.decided(self.now, &self.machine, &wants, &events);
        }
        for want in wants {
            match want {
                Want::Send { call, asked, evidence, within } => {
                    let (owner, sent) = (self.owner(call), self.now);
                    let timer =
                        Some(self.timers.set(sent.plus(within), Timer { owner, call, due: Due::Timeout(asked) }));
                    let (is_made, held) = (false, Duration::ZERO);
                    self.slot(call).request = Some(Request { asked, evidence, sent, within, timer, is_made, held });
                    self.slot(owner).orders.push_back(Order::Send(call));
                    self.wake(owner);
                }
                Want::Wait { call, until } => {
                    let owner = self.owner(call);
                    self.timers.set(until, Timer { owner, call, due: Due::Wake });
                    self.wake(owner);
                }
                Want::Step { call, action } => {
                    *self.slot(call) = Slot::default();
                    self.slot(action).steps.push(call);
                }
                Want::End { call } => self.end(call),
            }
        }
    }

    /// A call has ended.
    fn end(&mut self, call: CallId) {
        let Some((made, outcome)) = self.machine.made(call).zip(self.machine.outcome(call)) else { return };
        let name = made.name.clone();
        let value = self.take_value(call, outcome.kind);
        if let Some(action) = self.machine.action_of(call) {
            self.slot(action).value = value; // that of its last step counts
            return;
        }
        let names = &self.machine.plan().names;
        let named = |actions: &[_]| actions.iter().map(|action| names.action(*action).to_owned()).collect();
        let told = self.machine.told(call);
        let error = told.and_then(|told| told.error).or(outcome.last_error);
        let valid = self.machine.valid_next(call);
        let ended = Ended {
            name,
            value,
            outcome,
            told,
            error: error.and_then(|id| self.machine.error(id)).cloned(),
            queue: match outcome.kind {
                OutcomeKind::Escalated(queue) => Some(names.queue(queue).to_owned()),
                _ => None,
            },
            valid_next: valid.map(|valid| Valid { next: named(&valid.next), withheld: named(&valid.withheld) }),
        };
        self.timers.take_all_of(call);
        let slot = self.slot(call);
        slot.orders.clear();
        slot.ended = Some(ended);
        self.wake(call);
        self.ended.push_back(call);
        self.forget_old();
    }

    /// The result of a call that has ended, if there is one: its own, or that of the call whose result it gets. It stays where
    /// calls with the same key may get it.
    fn take_value(&mut self, call: CallId, ended: OutcomeKind) -> Option<T> {
        match ended {
            OutcomeKind::Joined { .. } | OutcomeKind::Cached { .. } => {
                let leader = self.machine.mentioned(call).and_then(|leader| self.machine.find(leader));
                leader.and_then(|leader| self.slot(leader).value.clone())
            }
            kind if !kind.is_success() => None,
            _ if self.machine.made(call).is_some_and(|made| made.key.is_some()) => self.slot(call).value.clone(),
            _ if self.machine.keeps_result_of(call) => self.slot(call).value.clone(),
            _ => self.slot(call).value.take(),
        }
    }

    /// Forgets the oldest ends, but for those that a future has yet to hear, or whose result a later call may get.
    fn forget_old(&mut self) {
        for _ in 0..2 {
            let Some(oldest) = (self.ended.len() > ENDS_KEPT).then(|| self.ended.pop_front()).flatten() else { return };
            if self.slot(oldest).is_over && !self.machine.keeps_result_of(oldest) {
                self.forget(oldest);
            } else {
                self.ended.push_back(oldest);
            }
        }
    }

    fn forget(&mut self, call: CallId) {
        let forgotten = self.machine.forget(call);
        debug_assert!(forgotten.is_ok(), "it has ended: {forgotten:?}");
        let slot = std::mem::take(self.slot(call));
        self.afterwards.dropped.extend(slot.value);
        for step in slot.steps {
            let slot = std::mem::take(self.slot(step));
            self.afterwards.dropped.extend(slot.value);
        }
    }

    /// The call whose future drives a call: of a step, its action.
    fn owner(&self, call: CallId) -> CallId {
        self.machine.action_of(call).unwrap_or(call)
    }

    pub(crate) fn slot(&mut self, call: CallId) -> &mut Slot<T> {
        if self.calls.len() <= call.index() {
            self.calls.resize_with(call.index() + 1, Slot::default);
        }
        &mut self.calls[call.index()] // just extended
    }

    fn wake(&mut self, call: CallId) {
        let waker = self.slot(call).waker.take();
        self.afterwards.woken.extend(waker);
    }
}
