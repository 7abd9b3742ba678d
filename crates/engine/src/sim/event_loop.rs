//! The event loop: machine, classifier and queue on virtual time. It stops where an answer of the upstream is needed, and
//! continues with the answer that its caller gives. Answers nothing itself.

use std::sync::Arc;

use crate::classify::{Classification, FailedAttempt, Memo, reads_as_at_work, reads_as_refusal, server_says};
use crate::clock::{EventPriority, EventQueue};
use crate::dispatch::{
    CallFacts, ClassifiedFailure, GateFacts, Input, Machine, Output, OutputBuffer, RequestCheck, Response, ResponseMeta,
};
use crate::event::{Decision, DecisionEvent, Draw, EffectClaim, ErrorFacts, Provenance, RequestKind, ServerSays};
use crate::ids::{AttemptNo, CallId, ErrorId, StepId};
use crate::playbook::Access;
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, Request, UpstreamReply};

use super::plan::{GateJudgement, Plan};
use super::scenario::{LaterStart, ScenarioCall};

/// Gives the loop access to its calls.
pub(super) trait CallSource {
    /// Assigns this id to the next call in the order of starts; only calls without an id of their own.
    fn start(&mut self, id: CallId);

    /// The call with an assigned id.
    fn call(&self, id: CallId) -> ScenarioCall<'_>;

    /// The id of an error of a call.
    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId;

    /// The call of a step that an action asks for.
    fn step(&mut self, plan: &Plan, now: Instant, action: CallId, step: StepId) -> StepSource;

    /// An action has ended: the starts of its steps that had no turn, each with the id of its call if it has one.
    fn end_steps(&mut self, now: Instant, action: CallId) -> Vec<(Instant, Option<CallId>)>;

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
    /// Of a call with an id, or of the next one.
    Start(Option<CallId>),
    Cancel(CallId),
    Wake(CallId),
    NoStep(CallId),
    Arrives {
        call: CallId,
        asked: RequestKind,
        answer: Answer,
        over_timeout: bool,
    },
    TimesOut {
        call: CallId,
        asked: RequestKind,
        timeout: Duration,
        provenance: Provenance,
    },
    ArrivesLate {
        call: CallId,
        attempt: AttemptNo,
        reply: UpstreamReply,
    },
}

impl PendingEvent {
    const fn call(&self) -> Option<CallId> {
        match self {
            PendingEvent::Start(_) => None,
            PendingEvent::Cancel(call)
            | PendingEvent::Wake(call)
            | PendingEvent::NoStep(call)
            | PendingEvent::Arrives { call, .. }
            | PendingEvent::TimesOut { call, .. }
            | PendingEvent::ArrivesLate { call, .. } => Some(*call),
        }
    }
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
        self.push_with(EventPriority::Cancel, at, call, PendingEvent::Cancel(call));
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
                    Output::Wake { call, at } => self.push(at, call, PendingEvent::Wake(call)),
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
            if until.is_some_and(|until| self.queue.next_at().is_some_and(|at| at >= until)) {
                return LoopStep::Idle;
            }
            let Some((now, pending)) = self.queue.pop() else { return LoopStep::Idle };
            self.now = now;
            if let Some(count) = pending.call().and_then(|call| self.pending.get_mut(call.index())) {
                *count -= 1; // it was counted when it was pushed
                if let (0, Some(call)) = (*count, pending.call())
                    && self.machine.has_ended(call)
                {
                    self.quiet.push(call);
                }
            }
            if let PendingEvent::TimesOut { call, .. } = pending
                && self.machine.has_ended(call)
            {
                continue; // its caller went away: nobody waits for the answer
            }
            let input = InputBuilder { plan, memo, calls }.input(&self.machine, now, pending);
            if let Input::Call(call, _) = input
                && let Some(at) = calls.cancelled_at(call)
            {
                self.add_cancel(at, call);
            }
            let known = self.buffer.events.len();
            if let Input::Call(call, CallFacts { steps: 1.., .. }) = input {
                self.actions.push((call, now, known));
            }
            self.machine.handle_input(&plan.playbook, now, input, &mut self.buffer);
            if !self.later.is_empty() {
                self.start_later(known);
            }
            if plan.has_steps {
                self.skip_steps(calls, known);
            }
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
            return self.push(self.now, call, PendingEvent::Arrives { call, asked, answer, over_timeout: false });
        };
        let at = self.now.plus(answer.latency.unwrap_or_default());
        let late = answer.is_late(timeout);
        if matches!(answer.provenance, Provenance::Recorded | Provenance::Inferred) {
            return self.push(at, call, PendingEvent::Arrives { call, asked, answer, over_timeout: late });
        }
        let lost = answer.reply == UpstreamReply::Lost;
        if !late && !lost {
            return self.push(at, call, PendingEvent::Arrives { call, asked, answer, over_timeout: false });
        }
        let due = self.now.plus(timeout);
        self.push(due, call, PendingEvent::TimesOut { call, asked, timeout, provenance: answer.provenance });
        if let (RequestKind::Attempt(attempt), Some(_), false) = (asked, answer.latency, lost) {
            self.push(at, call, PendingEvent::ArrivesLate { call, attempt, reply: answer.reply });
        }
    }

    /// Takes an answer to an attempt that comes after its timeout, `latency` after the request.
    pub(super) fn answer_late(&mut self, request: &Request, (latency, reply): (Duration, UpstreamReply)) {
        if let &Request { call, asked: RequestKind::Attempt(attempt), .. } = request {
            self.push(self.now.plus(latency), call, PendingEvent::ArrivesLate { call, attempt, reply });
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
        self.push(self.now, action, PendingEvent::NoStep(action));
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
    fn push(&mut self, at: Instant, call: CallId, what: PendingEvent) {
        self.push_with(EventPriority::Other, at, call, what);
    }

    #[inline]
    fn push_with(&mut self, class: EventPriority, at: Instant, call: CallId, what: PendingEvent) {
        if self.pending.len() <= call.index() {
            self.pending.resize(call.index() + 1, 0);
        }
        self.pending[call.index()] += 1; // extended above
        self.queue.push(at, class, what);
    }
}

fn request(calls: &impl CallSource, at: Instant, id: CallId, asked: RequestKind, within: Duration) -> Request {
    let call = calls.call(id);
    let (ScenarioCall { tool, args, .. }, key) = (call, call.honoured_key());
    let (intent, writes) = (call.booked_intent(id), call.facts.access == Access::Write);
    Request { at, call: id, asked, tool, key, args, intent, writes, within }
}

/// Builds the machine's input for one event.
struct InputBuilder<'a, C> {
    plan: &'a Plan,
    memo: &'a mut Memo,
    calls: &'a mut C,
}

impl<C: CallSource> InputBuilder<'_, C> {
    fn input(&mut self, machine: &Machine, now: Instant, pending: PendingEvent) -> Input {
        match pending {
            PendingEvent::Start(id) => {
                let call = id.unwrap_or_else(|| {
                    let next = machine.next_call();
                    self.calls.start(next);
                    next
                });
                let request = if self.plan.checks_requests { self.checked(call) } else { RequestCheck::Fine };
                let gate = if self.plan.playbook.actions.is_empty() { GateFacts::Free } else { self.gated(call) };
                let was_refused = gate != GateFacts::Free && self.calls.call(call).was_refused();
                let facts = CallFacts { gate, was_refused, ..self.facts(call, now, request) };
                Input::Call(call, if self.plan.has_steps { self.with_steps(call, facts) } else { facts })
            }
            PendingEvent::Wake(call) => Input::Woken(call),
            PendingEvent::NoStep(call) => Input::NoStep(call),
            PendingEvent::Cancel(call) => Input::Cancelled(call),
            PendingEvent::Arrives { call, asked, answer, over_timeout } => {
                let response = self.response(call, asked, answer.reply);
                let meta = ResponseMeta { latency: answer.latency, provenance: answer.provenance, over_timeout };
                Input::Answered { call, asked, response, meta }
            }
            PendingEvent::TimesOut { call, asked, timeout, provenance } => {
                let response = self.timed_out(call, asked, timeout);
                let meta = ResponseMeta { latency: Some(timeout), provenance, over_timeout: false };
                Input::Answered { call, asked, response, meta }
            }
            PendingEvent::ArrivesLate { call, attempt, reply } => {
                let proves_end = match &reply {
                    UpstreamReply::Failed(error) => !error.as_deref().is_some_and(reads_as_at_work),
                    UpstreamReply::Ok => true,
                    UpstreamReply::Suspected(_) | UpstreamReply::Unfinished(_) | UpstreamReply::Lost => false,
                };
                let failed = match reply {
                    UpstreamReply::Failed(error)
                    | UpstreamReply::Suspected(error)
                    | UpstreamReply::Unfinished(error) => Some(self.intern(call, error)),
                    UpstreamReply::Ok | UpstreamReply::Lost => None,
                };
                Input::Late { call, attempt, failed, proves_end }
            }
        }
    }

    /// The facts of a call that starts now.
    fn facts(&self, id: CallId, now: Instant, request: RequestCheck) -> CallFacts {
        let call = self.calls.call(id);
        let facts = CallFacts { request, at: now, ..call.dispatched() };
        match self.plan.playbook.breakers.is_empty() {
            true => facts,
            false => CallFacts { breaker: self.plan.playbook.breaker_id(self.plan.server(call.tool_name)), ..facts },
        }
    }

    /// The facts of an action with steps, or of a step: the gate lets a step pass, and the registry asks each step.
    fn with_steps(&self, id: CallId, facts: CallFacts) -> CallFacts {
        let call = self.calls.call(id);
        match (facts.step, self.plan.steps(call.tool_name)) {
            (Some(_), _) => CallFacts { gate: GateFacts::Free, ..facts },
            (None, 0) => facts,
            (None, steps) => CallFacts { steps, request: RequestCheck::Fine, ..facts },
        }
    }

    /// What a call is to the graph.
    fn gated(&mut self, id: CallId) -> GateFacts {
        let call = self.calls.call(id);
        match self.plan.gate(call.tool_name, call.args_text()) {
            GateJudgement::Free => GateFacts::Free,
            GateJudgement::Unknown(error) => GateFacts::Unknown(self.calls.intern_error(id, Arc::new(error))),
            GateJudgement::Action(action, fault) => {
                let fault = fault.map(|fault| self.calls.intern_error(id, Arc::new(fault)));
                GateFacts::Action { id: action, fault }
            }
        }
    }

    /// What the registry says of a request.
    fn checked(&mut self, id: CallId) -> RequestCheck {
        let call = self.calls.call(id);
        let key_len = call.key_len();
        let Some((why, error)) = self.plan.objection(call.tool_name, &call.facts, call.args_text(), key_len) else {
            return RequestCheck::Fine;
        };
        RequestCheck::Refused(why, self.calls.intern_error(id, Arc::new(error)))
    }

    fn response(&mut self, call: CallId, asked: RequestKind, reply: UpstreamReply) -> Response {
        match (reply, asked) {
            (UpstreamReply::Ok, _) => Response::Ok,
            (UpstreamReply::Lost, _) => Response::Unanswered,
            (UpstreamReply::Suspected(error), _) => Response::Suspected(self.intern(call, error)),
            (UpstreamReply::Unfinished(error), _) => Response::Unfinished(self.intern(call, error)),
            (UpstreamReply::Failed(error), RequestKind::Attempt(attempt)) => self.failed(call, attempt, error),
            (UpstreamReply::Failed(error), RequestKind::Refresh(_)) => Response::Refused(self.intern(call, error)),
            (UpstreamReply::Failed(error), RequestKind::Reversal) => self.failed_reversal(call, error),
        }
    }

    /// A failed reversal that a dispatcher of ours recorded as a timeout had no answer. Another one did not happen if the upstream clearly refused it, or if the verdict of such a failure is
    /// `not_applied`. Reversals have no attempts: rules that test the attempt see the first.
    fn failed_reversal(&mut self, id: CallId, error: Option<Arc<ErrorFacts>>) -> Response {
        if self.calls.call(id).is_decided() && error.as_deref().is_some_and(ErrorFacts::is_own_timeout) {
            return Response::Unclear(None);
        }
        let said = self.classify(id, AttemptNo::FIRST, error.as_ref());
        let said = self.plan.playbook.verdict(said.verdict).effect;
        let refused = said == EffectClaim::NotApplied || error.as_deref().is_some_and(reads_as_refusal);
        match (refused, self.intern(id, error)) {
            (true, error) => Response::Refused(error),
            // The failure has no error object; an empty one tells it from a missing answer.
            (false, None) => Response::Unclear(self.intern(id, Some(Arc::default()))),
            (false, error) => Response::Unclear(error),
        }
    }

    fn timed_out(&mut self, call: CallId, asked: RequestKind, timeout: Duration) -> Response {
        let RequestKind::Attempt(attempt) = asked else { return Response::Unclear(None) };
        self.failed(call, attempt, Some(Arc::new(ErrorFacts::timeout(timeout))))
    }

    fn failed(&mut self, id: CallId, attempt: AttemptNo, error: Option<Arc<ErrorFacts>>) -> Response {
        let said = self.classify(id, attempt, error.as_ref());
        let says = error.as_deref().map(|error| self.says(id, attempt, error)).unwrap_or_default();
        let unanswered = error.as_deref().is_some_and(reads_as_at_work);
        let error = self.intern(id, error);
        let draw = if self.plan.draws { self.calls.call(id).draw(attempt, self.plan.seed) } else { Draw::ZERO };
        Response::Failed(ClassifiedFailure { verdict: said.verdict, rule: said.rule, error, says, draw, unanswered })
    }

    /// What the upstream says of waiting.
    fn says(&self, id: CallId, attempt: AttemptNo, error: &ErrorFacts) -> ServerSays {
        match self.plan.playbook.server_delay_sources.as_slice() {
            [] => error.retry_after.into(),
            sources => server_says(error, sources, self.calls.call(id).answered_at(attempt)),
        }
    }

    fn classify(&mut self, id: CallId, attempt: AttemptNo, error: Option<&Arc<ErrorFacts>>) -> Classification {
        let call = self.calls.call(id);
        let keyed = call.keyed_for(error.map(|error| &**error));
        let failed = FailedAttempt { error, tool: call.tool_name, facts: call.facts, keyed, attempt };
        self.memo.classify(&self.plan.classifier, &failed)
    }

    fn intern(&mut self, id: CallId, error: Option<Arc<ErrorFacts>>) -> Option<ErrorId> {
        error.map(|error| self.calls.intern_error(id, error))
    }
}
