//! What an event means to the machine: facts of the tool, what the gate and the registry say, the verdict of a failure,
//! what the upstream says of waiting. Each driver asks here, so that the same event means the same to all.

use std::sync::Arc;

use crate::classify::{Classification, FailedAttempt, Memo, reads_as_at_work, reads_as_refusal, server_says};
use crate::dispatch::{
    CallFacts, ClassifiedFailure, GateFacts, Input, Machine, OutputBuffer, RequestCheck, Response, ResponseMeta,
};
use crate::event::{Draw, EffectClaim, ErrorFacts, Provenance, RequestKind, ServerSays};
use crate::ids::{AttemptNo, CallId, ErrorId};
use crate::plan::{DrivenCall, GateJudgement, Plan};
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, UpstreamReply};

/// The calls of a driver.
pub trait Calls {
    /// The call with an id.
    fn call(&self, id: CallId) -> DrivenCall<'_>;

    /// The id of an error of a call.
    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId;
}

/// What happens to a call.
#[derive(Clone, Debug)]
pub enum Event {
    /// It is made.
    Made,
    /// An answer to a request comes.
    Answered {
        /// The request.
        asked: RequestKind,
        /// The answer.
        answer: Answer,
        /// A recorded answer that took longer than the timeout allows.
        over_timeout: bool,
    },
    /// No answer to a request came in time.
    TimedOut {
        /// The request.
        asked: RequestKind,
        /// How long it was waited for.
        timeout: Duration,
        /// Where the silence comes from.
        provenance: Provenance,
    },
    /// An answer to an attempt that had timed out comes.
    Late {
        /// The attempt.
        attempt: AttemptNo,
        /// The answer.
        reply: UpstreamReply,
    },
    /// The moment for which it asked has come.
    Woken,
    /// Nothing is known of the step that it asked for.
    NoStep,
    /// A person says whether it did what it is there for, after its end.
    Resolved(bool),
    /// Its caller goes away.
    Cancelled,
}

/// Gives events to a machine.
#[derive(Debug)]
pub struct Driver<'a, C> {
    /// The playbook.
    pub plan: &'a Plan,
    /// What the classifier said before.
    pub memo: &'a mut Memo,
    /// The calls.
    pub calls: &'a mut C,
}

impl<C: Calls> Driver<'_, C> {
    /// Gives the machine what happens to a call at a moment. None: nothing does.
    #[inline]
    pub fn handle(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        call: CallId,
        event: Event,
        out: &mut OutputBuffer,
    ) -> Option<Input> {
        if matches!(event, Event::TimedOut { .. }) && machine.has_ended(call) {
            return None; // its caller went away: nobody waits for the answer
        }
        let input = self.input(call, now, event);
        machine.handle_input(&self.plan.playbook, now, input, out);
        Some(input)
    }

    /// What an event is to the machine.
    fn input(&mut self, call: CallId, now: Instant, event: Event) -> Input {
        match event {
            Event::Made => {
                let request = if self.plan.checks_requests { self.checked(call) } else { RequestCheck::Fine };
                let gate = if self.plan.playbook.actions.is_empty() { GateFacts::Free } else { self.gated(call) };
                let was_refused = gate != GateFacts::Free && self.calls.call(call).was_refused();
                let facts = CallFacts { gate, was_refused, ..self.facts(call, now, request) };
                Input::Call(call, if self.plan.has_steps { self.with_steps(call, facts) } else { facts })
            }
            Event::Woken => Input::Woken(call),
            Event::NoStep => Input::NoStep(call),
            Event::Cancelled => Input::Cancelled(call),
            Event::Resolved(applied) => Input::Resolved { call, applied },
            Event::Answered { asked, answer, over_timeout } => {
                let response = self.response(call, asked, answer.reply);
                let meta = ResponseMeta { latency: answer.latency, provenance: answer.provenance, over_timeout };
                Input::Answered { call, asked, response, meta }
            }
            Event::TimedOut { asked, timeout, provenance } => {
                let response = self.timed_out(call, asked, timeout);
                let meta = ResponseMeta { latency: Some(timeout), provenance, over_timeout: false };
                Input::Answered { call, asked, response, meta }
            }
            Event::Late { attempt, reply } => {
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
        let sources = &self.plan.playbook.server_delay_sources;
        server_says(error, sources, self.calls.call(id).answered_at(attempt))
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
