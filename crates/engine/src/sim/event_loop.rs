//! The event loop: a driver and a queue on virtual time. It stops where an answer of the upstream is needed, and continues
//! with the answer that its caller gives. Answers nothing itself.

use crate::classify::Memo;
use crate::clock::{EventPriority, EventQueue};
use crate::dispatch::{CallFacts, Input, Machine, Output, OutputBuffer};
use crate::drive::{Calls, Driver, Event};
use crate::event::{Death, Decision, DecisionEvent, Provenance, RequestKind};
use crate::ids::{CallId, StepId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::Access;
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, Request, UpstreamReply};

use super::crash::{Crash, CrashAt, Journal, survives};
use super::scenario::LaterStart;

/// Gives the loop access to its calls.
pub(super) trait CallSource: Calls {
    /// Assigns this id to the next call in the order of starts; only calls without an id of their own.
    fn start(&mut self, id: CallId);

    /// The call of a step that an action asks for.
    fn step(&mut self, plan: &Plan, now: Instant, action: CallId, step: StepId) -> StepSource;

    /// An action has ended: the starts of its steps that had no turn, each with the id of its call if it has one.
    fn end_steps(&mut self, now: Instant, action: CallId) -> Vec<(Instant, Option<CallId>)>;

    /// The steps of an action, of which none has had its turn from now on: it is made again.
    fn steps_again(&mut self, _: CallId) -> Vec<CallId> {
        Vec::new()
    }

    /// When the caller of a call that starts now goes away; only callers that were not added before.
    fn cancelled_at(&self, _: CallId) -> Option<Instant> {
        None
    }
}

/// Where the call of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepSource {
    /// It starts then; it gets the next id if it has none.
    Starts(Instant, Option<CallId>),
    /// It may come later; its start is added then.
    Awaited,
    /// There is none.
    Missing,
}

/// A future event.
#[derive(Clone, Debug)]
enum PendingEvent {
    /// The start of a call with an id, or of the next one.
    Start(Option<CallId>),
    Of(CallId, Event),
}

/// Where the loop stops beside the needed answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopStop {
    AtNone,
    /// After the end of a call whose events nobody has taken.
    AtEnd,
}

/// Why the loop stopped.
#[derive(Debug)]
pub(super) enum LoopStep {
    Asks(Request),
    Ended,
    Idle,
}

/// The state of the loop between two answers.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLoop {
    pub machine: Machine,
    /// The caller takes the decision events.
    pub buffer: OutputBuffer,
    queue: EventQueue<PendingEvent>,
    now: Instant,
    /// Outputs of the last input that were handled.
    handled: usize,
    /// The number of queued events, by call.
    pending: Vec<u32>,
    /// Calls that start when others have ended.
    later: Vec<LaterStart>,
    /// Calls that had ended before their last event; the caller takes them.
    pub quiet: Vec<CallId>,
    /// The crash that is to come, and what was read before it.
    pub journal: Journal,
    /// When each action with steps was made, and how many events there were before.
    pub actions: Vec<(CallId, Instant, usize)>,
}

impl EventLoop {
    /// Resets the state and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.machine.clear();
        self.buffer.events.clear();
        self.buffer.outputs.clear();
        self.buffer.valid_next.clear();
        self.buffer.bound.clear();
        self.queue.clear();
        self.now = Instant::ZERO;
        self.handled = 0;
        self.pending.clear();
        self.later.clear();
        self.quiet.clear();
        self.actions.clear();
        self.journal = Journal::default();
    }

    /// Adds the start of a call, which gets the next id if it has none. Calls with the same start time start in the order
    /// in which they were added.
    #[inline]
    pub(super) fn add_start(&mut self, at: Instant, id: Option<CallId>) {
        self.queue.push(at, EventPriority::Start, PendingEvent::Start(id));
    }

    /// Adds a call that starts when others have ended.
    pub(super) fn add_later_start(&mut self, later: LaterStart) {
        self.later.push(later);
    }

    /// Adds the moment at which the caller of a call goes away.
    pub(super) fn add_cancel(&mut self, at: Instant, call: CallId) {
        self.push_with(EventPriority::Cancel, at, call, Event::Cancelled);
    }

    /// The time of the last event.
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Whether no event is left.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.next_at().is_none()
    }

    /// Whether an event for a call is left.
    pub(super) fn awaits(&self, call: CallId) -> bool {
        self.pending.get(call.index()).is_some_and(|pending| *pending > 0)
    }

    /// Runs until an answer is needed, no event is left before `until`, or a call ends, if it is to `stop` there.
    pub(super) fn next(
        &mut self,
        plan: &Plan,
        memo: &mut Memo,
        calls: &mut impl CallSource,
        until: Option<Instant>,
        stop: LoopStop,
    ) -> LoopStep {
        loop {
            while let Some(&output) = self.buffer.outputs.get(self.handled) {
                self.handled += 1;
                match output {
                    Output::Wake { call, at } => self.push(at.max(self.now), call, Event::Woken),
                    Output::Step { action, step } => self.find_step(plan, calls, action, step),
                    Output::Ask { call, asked, within, .. } => {
                        return LoopStep::Asks(request(calls, self.now, call, asked, within));
                    }
                }
            }
            self.buffer.outputs.clear();
            self.handled = 0;
            if stop == LoopStop::AtEnd
                && self.buffer.events.iter().any(|event| matches!(event.what, Decision::Outcome(_)))
            {
                return LoopStep::Ended;
            }
            if let Some(crash) = self.journal.crash_now(&self.machine, true, self.queue.next_at()) {
                self.die(plan, memo, calls, &crash);
            }
            if until.is_some_and(|until| self.queue.next_at().is_some_and(|at| at >= until)) {
                return LoopStep::Idle;
            }
            let Some((now, pending)) = self.queue.pop() else { return LoopStep::Idle };
            self.now = now;
            let (call, event) = match pending {
                PendingEvent::Start(id) => (self.begin(calls, id), Event::Made),
                PendingEvent::Of(call, event) => {
                    self.note_taken(call);
                    (call, event)
                }
            };
            self.journal.taken = self.journal.taken.saturating_add(1);
            if self.journal.crash.is_some() {
                self.journal.inputs.push((now, call, event.clone()));
            }
            let known = self.buffer.events.len();
            let input = Driver { plan, memo, calls }.handle(&mut self.machine, now, call, event, &mut self.buffer);
            if let Some(Input::Call(call, CallFacts { steps: 1.., .. })) = input {
                self.actions.push((call, now, known));
            }
            if !self.later.is_empty() {
                self.start_later(known);
            }
            if plan.has_steps {
                self.skip_steps(calls, known);
            }
            if let Some(crash) = self.journal.crash_now(&self.machine, false, None) {
                self.die(plan, memo, calls, &crash);
            }
        }
    }

    /// The dispatcher dies, and is there again after its restart: the machine is that which its inputs give, what was out is
    /// answered with `interrupted`, and what waited waits at least until then. What is asked for and has not left is sent then.
    fn die(&mut self, plan: &Plan, memo: &mut Memo, calls: &mut impl CallSource, crash: &Crash) {
        if let CrashAt::Time(at) = crash.when {
            self.now = self.now.max(at);
        }
        let back = self.now.plus(crash.restart);
        self.journal.death = Some(Death { at: self.now, back });
        if crash.forgets {
            return self.forget(calls, back);
        }
        let mut machine = Machine::default();
        let mut known = OutputBuffer::default();
        for (at, call, event) in std::mem::take(&mut self.journal.inputs) {
            Driver { plan, memo, calls }.handle(&mut machine, at, call, event, &mut known);
        }
        debug_assert!(machine == self.machine, "the inputs give the machine");
        self.machine = machine;
        self.machine.lose_state(back, &mut self.buffer);
        let under_way: Vec<(Instant, PendingEvent)> = std::iter::from_fn(|| self.queue.pop()).collect();
        self.pending.fill(0);
        for (due, pending) in under_way {
            match pending {
                PendingEvent::Start(id) => self.add_start(due.max(back), id),
                PendingEvent::Of(call, event) => match survives(due, event, back) {
                    Some((at, Event::Cancelled)) => self.add_cancel(at, call),
                    Some((at, event)) => self.push(at, call, event),
                    None => {}
                },
            }
        }
        self.now = back;
    }

    /// The dispatcher is there again and knows nothing: who waits for a call makes it again, with all of its steps.
    fn forget(&mut self, calls: &mut impl CallSource, back: Instant) {
        self.journal.inputs.clear();
        self.journal.has_forgotten = true;
        // What was asked for and has not left is forgotten, too.
        self.buffer.outputs.clear();
        self.handled = 0;
        let open = self.machine.forget();
        for step in open.iter().flat_map(|action| calls.steps_again(*action)) {
            self.machine.take_outcome(step);
        }
        let is_new = |calls: &dyn Calls, id: CallId| {
            let action = calls.call(id).step.and_then(|step| step.action);
            !action.is_some_and(|action| open.contains(&action))
        };
        let under_way: Vec<(Instant, PendingEvent)> = std::iter::from_fn(|| self.queue.pop()).collect();
        self.pending.fill(0);
        for call in open.iter().copied().filter(|call| is_new(calls, *call)) {
            self.add_start(back, Some(call));
        }
        for (due, pending) in under_way {
            match pending {
                PendingEvent::Start(Some(id)) if !is_new(calls, id) => {}
                PendingEvent::Start(id) => self.add_start(due.max(back), id),
                PendingEvent::Of(call, Event::Cancelled) => self.add_cancel(due.max(back), call),
                PendingEvent::Of(..) => {}
            }
        }
        self.now = back;
    }

    /// The call that starts now, which gets the next id if it has none.
    fn begin(&mut self, calls: &mut impl CallSource, id: Option<CallId>) -> CallId {
        let call = id.unwrap_or_else(|| {
            let next = self.machine.next_call();
            calls.start(next);
            next
        });
        if let Some(at) = calls.cancelled_at(call) {
            self.add_cancel(at, call);
        }
        call
    }

    /// Notes that an event of a call is taken from the queue.
    fn note_taken(&mut self, call: CallId) {
        let Some(count) = self.pending.get_mut(call.index()) else { return };
        *count -= 1; // it was counted when it was pushed
        if *count == 0 && self.machine.has_ended(call) {
            self.quiet.push(call);
        }
    }

    /// Takes the answer to a request of `next`; none: the answer is missing. A recorded answer is never cut short; any
    /// other answer that is later than the timeout, or lost, ends the request at its timeout.
    pub(super) fn answer(&mut self, request: &Request, answer: Option<Answer>) {
        let &Request { call, asked, within: timeout, .. } = request;
        let Some(answer) = answer else {
            let answer = Answer {
                reply: UpstreamReply::Lost,
                latency: Some(Duration::ZERO),
                provenance: Provenance::Unanswered,
            };
            return self.push(self.now, call, Event::Answered { asked, answer, over_timeout: false });
        };
        let at = self.now.plus(answer.latency.unwrap_or_default());
        let late = answer.is_late(timeout);
        if matches!(answer.provenance, Provenance::Recorded | Provenance::Inferred) {
            return self.push(at, call, Event::Answered { asked, answer, over_timeout: late });
        }
        let lost = answer.reply == UpstreamReply::Lost;
        if !late && !lost {
            return self.push(at, call, Event::Answered { asked, answer, over_timeout: false });
        }
        let due = self.now.plus(timeout);
        self.push(due, call, Event::TimedOut { asked, timeout, provenance: answer.provenance });
        if let (RequestKind::Attempt(attempt), Some(_), false) = (asked, answer.latency, lost) {
            self.push(at, call, Event::Late { attempt, reply: answer.reply });
        }
    }

    /// Takes an answer to an attempt that comes after its timeout, `latency` after the request.
    pub(super) fn answer_late(&mut self, request: &Request, (latency, reply): (Duration, UpstreamReply)) {
        if let &Request { call, asked: RequestKind::Attempt(attempt), .. } = request {
            self.push(self.now.plus(latency), call, Event::Late { attempt, reply });
        }
    }

    /// Starts the calls whose last predecessor is among the ends from event `known` on.
    fn start_later(&mut self, known: usize) {
        let events = self.buffer.events.iter().skip(known);
        for ended in events.filter(|event| matches!(event.what, Decision::Outcome(_))) {
            self.later.retain_mut(|later| {
                let is_last = later.after.remove(&ended.call) && later.after.is_empty();
                if is_last {
                    let at = ended.at.plus(later.delay).max(later.earliest);
                    self.queue.push(at, EventPriority::Start, PendingEvent::Start(Some(later.call)));
                }
                !is_last
            });
        }
    }

    /// Starts the step that an action asks for, if it is there.
    fn find_step(&mut self, plan: &Plan, calls: &mut impl CallSource, action: CallId, step: StepId) {
        match calls.step(plan, self.now, action, step) {
            StepSource::Starts(at, id) => self.add_start(at, id),
            StepSource::Awaited => {}
            StepSource::Missing => self.add_no_step(action),
        }
    }

    /// Adds that nothing is known of the step that an action asks for.
    pub(super) fn add_no_step(&mut self, action: CallId) {
        self.push(self.now, action, Event::NoStep);
    }

    /// Starts the steps that had no turn in the actions whose ends are among the events from `known` on: they are skipped.
    fn skip_steps(&mut self, calls: &mut impl CallSource, known: usize) {
        let ends = |event: &&DecisionEvent| matches!(event.what, Decision::Outcome(_));
        let ended: Vec<CallId> = self.buffer.events.iter().skip(known).filter(ends).map(|event| event.call).collect();
        for action in ended {
            for (at, id) in calls.end_steps(self.now, action) {
                self.add_start(at, id);
            }
        }
    }

    #[inline]
    fn push(&mut self, at: Instant, call: CallId, event: Event) {
        self.push_with(EventPriority::Other, at, call, event);
    }

    #[inline]
    fn push_with(&mut self, class: EventPriority, at: Instant, call: CallId, event: Event) {
        if self.pending.len() <= call.index() {
            self.pending.resize(call.index() + 1, 0);
        }
        self.pending[call.index()] += 1; // extended above
        self.queue.push(at, class, PendingEvent::Of(call, event));
    }
}

fn request(calls: &impl CallSource, at: Instant, id: CallId, asked: RequestKind, within: Duration) -> Request {
    let call = calls.call(id);
    let (DrivenCall { tool, args, .. }, key) = (call, call.honoured_key());
    let (intent, writes) = (call.booked_intent(id), call.facts.access == Access::Write);
    Request { at, call: id, asked, tool, key, args, intent, writes, within }
}
