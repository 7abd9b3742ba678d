//! Everything behind the lock: the machine, what its callers wait for, results, timers and the recorder. Nothing waits here,
//! and no code of a user runs but the copying of a result.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use playproof_engine::call::Reply;
use playproof_engine::drive::{Dispatcher as Machine, InputFault, NewCall, Want};
use playproof_engine::event::{ErrorFacts, OutcomeKind, RequestKind};
use playproof_engine::ids::{AttemptNo, CallId, EvidenceId};
use playproof_engine::plan::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_protocol::answered;
use playproof_protocol::driver_lines::{self, Answer, Came};
use playproof_protocol::said::{Input, Said};

use crate::args::by_meaning;
use crate::clock::{Clock, of_std};
use crate::recorder::{self, Recorder};
use crate::request::{Attempt, Ended, Failure, Valid};
use crate::timers::{Due, Key, Timer, Timers};

/// The ended calls that are remembered, as `serve` does: their names are taken, and so is what is kept for their keys.
const ENDS_KEPT: usize = 1_000;

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
struct Slot<T> {
    waker: Option<Waker>,
    orders: VecDeque<Order>,
    request: Option<Request>,
    /// Its attempts that have timed out and may still be answered.
    unanswered: Vec<AttemptNo>,
    value: Option<T>,
    ended: Option<Ended<T>>,
    /// Whether its future has ended.
    is_over: bool,
    steps: Vec<CallId>,
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

/// Why a journal is not read.
pub(crate) enum Unread {
    /// Something else decided it: its head.
    Other(String),
    Damaged {
        line: u64,
        what: String,
    },
}

/// Where a head says when its journal begins.
const AT: &str = ",\"at_ms\":";

pub(crate) struct Core<T> {
    machine: Machine,
    /// By `CallId`.
    calls: Vec<Slot<T>>,
    timers: Timers,
    clock: Clock,
    now: Instant,
    recorder: Option<Recorder>,
    /// Calls that have ended, oldest first; no steps.
    ended: VecDeque<CallId>,
    /// The calls without a name so far.
    unnamed: u64,
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

    /// A name that no other call has: the given one, with a number behind it where that is taken.
    fn free_name(&mut self, given: &str) -> String {
        if !given.is_empty() && self.machine.find(given).is_none() {
            return given.to_owned();
        }
        let ink = if given.is_empty() { "call" } else { given };
        loop {
            self.unnamed += 1;
            let name = format!("{ink}~{}", self.unnamed);
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
    fn cancel(&mut self, call: CallId) {
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

    fn forget_run(&mut self, run: &str, own: Vec<CallId>) {
        self.ended.retain(|call| !own.contains(call));
        own.into_iter().for_each(|call| self.forget(call));
        self.machine.end_run(run);
    }

    /// The calls of a run, or of all, but for steps.
    fn calls_of(&self, run: Option<&str>) -> Vec<CallId> {
        let is_own = |(_, made): &(CallId, &NewCall)| run.is_none_or(|run| made.run == run);
        let own = self.machine.calls().filter(is_own).map(|(call, _)| call);
        own.filter(|call| self.machine.action_of(*call).is_none()).collect()
    }

    /// Reads a journal, of which every line is whole: everything is as it was. Gives what was decided and the journal has yet to
    /// say.
    pub(crate) fn read(&mut self, journal: &str) -> Result<VecDeque<String>, Unread> {
        let mut lines = (1..).zip(journal.lines());
        let begins = lines.next().map_or("", |(_, head)| head);
        let known = recorder::head(self.machine.plan());
        if begins.split_once(AT).map(|(head, _)| head) != known.split_once(AT).map(|(head, _)| head) {
            return Err(Unread::Other(begins.to_owned()));
        }
        let mut decided = VecDeque::new();
        for (line, text) in lines {
            self.read_line(text, &mut decided).map_err(|what| Unread::Damaged { line, what })?;
        }
        self.clock.begin_at(self.now);
        Ok(decided)
    }

    fn read_line(&mut self, text: &str, decided: &mut VecDeque<String>) -> Result<(), String> {
        let is = |kind: &str| text.strip_prefix("{\"type\":\"").is_some_and(|rest| rest.starts_with(kind));
        if is("end\"") {
            return Ok(()); // of an earlier file
        }
        if ["step\"", "draw\"", "decision\""].into_iter().any(is) {
            return match decided.pop_front() {
                Some(known) if known == text => Ok(()),
                Some(_) => Err("the playbook decides otherwise today".to_owned()),
                None => Err("nothing was said that it could follow from".to_owned()),
            };
        }
        let Said::Input(at, input) = Said::parse(text).map_err(|error| error.text)? else {
            return Err("it is no line of a journal".to_owned());
        };
        self.now = self.now.max(at);
        let now = self.now;
        let find = |machine: &Machine, name: &str| machine.find(name).ok_or(InputFault::UnknownCall);
        // What changed nothing then changes nothing now.
        let _: Result<(), InputFault> = match input {
            Input::Call(new) => self.machine.call(now, with_args_by_meaning(*new)).map(|call| {
                *self.slot(call) = Slot::default();
                self.unnamed += 1;
            }),
            Input::Answer(given) => answered::take(&mut self.machine, now, &given).map(|draw| {
                decided.extend(draw.map(|(attempt, draw)| driver_lines::draw(&given.id, attempt, draw)));
            }),
            Input::Wake(name) => find(&self.machine, &name).and_then(|call| self.machine.wake(now, call)),
            Input::Cancel(name) => find(&self.machine, &name).and_then(|call| self.machine.cancel(now, call)),
            Input::Resolve(name, said) => find(&self.machine, &name).and_then(|call| {
                self.machine.resolve(now, call, said.is_applied) // by another program that had this journal
            }),
            Input::EndRun(run) => {
                let own = self.calls_of(Some(&run));
                if own.iter().all(|call| self.machine.outcome(*call).is_some()) {
                    self.forget_run(&run, own);
                }
                Ok(())
            }
        };
        let (wants, events) = (self.machine.take_wants(), self.machine.take_events());
        if let Some(recorder) = &mut self.recorder {
            decided.extend(recorder.records(now, &self.machine, &wants, &events));
        }
        for want in wants {
            match want {
                Want::Step { call, action } => self.slot(action).steps.push(call),
                Want::End { call } if self.machine.action_of(call).is_none() => {
                    self.slot(call).is_over = true;
                    self.ended.push_back(call);
                }
                Want::End { .. } | Want::Send { .. } | Want::Wait { .. } => {}
            }
        }
        Ok(())
    }

    /// Writes what the journal has yet to say, and ends the calls that were open when their program died: what was out is
    /// answered with `interrupted`, and what waits is cancelled.
    pub(crate) fn go_on(&mut self, decided: VecDeque<String>) -> Vec<Ended<T>> {
        decided.iter().for_each(|record| self.said(|| record.clone()));
        let mut open = self.calls_of(None);
        open.retain(|call| self.machine.outcome(*call).is_none());
        open.sort_by_key(|call| (self.machine.made_at(*call), self.machine.made(*call).map(|made| made.name.clone())));
        let message = Some("the program that sent it has ended".into());
        let interrupted = ErrorFacts { kind: Some("interrupted".into()), message, ..ErrorFacts::default() };
        let reply = Reply::Failed(Some(Arc::new(interrupted)));
        let with_steps = open.iter().flat_map(|call| std::iter::once(*call).chain(self.slot_steps(*call)));
        let out: Vec<(CallId, RequestKind)> =
            with_steps.flat_map(|call| self.machine.asked(call).map(move |asked| (call, asked))).collect();
        for (call, asked) in out {
            let now = self.pass();
            self.say(now, call, asked, Came::Reply(reply.clone()), Duration::ZERO);
            let answered = self.machine.answer(now, call, asked, &reply);
            debug_assert!(answered.is_ok(), "it is out: {answered:?}");
            self.deliver();
        }
        let mut ended = Vec::new();
        for call in open {
            self.cancel(call);
            self.slot(call).is_over = true;
            ended.extend(self.slot(call).ended.take());
        }
        ended
    }

    fn slot_steps(&self, call: CallId) -> Vec<CallId> {
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
    fn pass(&mut self) -> Instant {
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
    fn say(&mut self, now: Instant, call: CallId, asked: RequestKind, came: Came, held: Duration) {
        if held > Duration::ZERO {
            let is_held = self.machine.hold(call, asked, held);
            debug_assert!(is_held.is_ok(), "it is out: {is_held:?}");
        }
        let Some(recorder) = &mut self.recorder else { return };
        let Some(made) = self.machine.made(call) else { return };
        let attempt: Option<AttemptNo> = match (asked, &came) {
            (RequestKind::Attempt(attempt), Came::Reply(_) | Came::Timeout | Came::Lost) => Some(attempt),
            _ => None,
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

    fn said(&mut self, line: impl FnOnce() -> String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.said(&line());
        }
    }

    /// Does what the machine wants: requests and waits of the futures that drive calls, results of calls that ended.
    fn deliver(&mut self) {
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
        let (name, is_kept) = (made.name.clone(), made.key.is_some());
        let value = match outcome.kind {
            OutcomeKind::Joined { .. } | OutcomeKind::Cached { .. } => {
                let leader = self.machine.mentioned(call).and_then(|leader| self.machine.find(leader));
                leader.and_then(|leader| self.slot(leader).value.clone())
            }
            kind if kind.is_success() && is_kept => self.slot(call).value.clone(),
            kind if kind.is_success() => self.slot(call).value.take(),
            _ => None,
        };
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

    fn slot(&mut self, call: CallId) -> &mut Slot<T> {
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

/// The same call, with its arguments as all drivers give them to the machine.
fn with_args_by_meaning(new: NewCall) -> NewCall {
    let args = if new.args.is_empty() { "{}".to_owned() } else { by_meaning(&new.args) };
    let steps = new.steps.iter().map(|(step, args)| (step.clone(), by_meaning(args))).collect();
    NewCall { args, steps, ..new }
}
