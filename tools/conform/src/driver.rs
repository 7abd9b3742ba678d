//! Drives one machine by hand: it carries inputs in and decisions out. Decides nothing.

use std::sync::Arc;

use super::unmet::Unmet;
use playproof_engine::classify::{Signal, server_says};
use playproof_engine::dispatch::{
    CallFacts, ClassifiedFailure, GateFacts, Input, Machine, Output, OutputBuffer, RequestCheck, Response, ResponseMeta,
};
use playproof_engine::event::{
    AdmissionRefusal, Decision, Draw, ErrorFacts, KeyHistory, Outcome, Provenance, RequestKind,
};
use playproof_engine::ids::{ArgsId, AttemptNo, CallId, ErrorId, EvidenceId, KeyId, RunId, ServerId, ToolId};
use playproof_engine::playbook::DEFAULT_BREAKER;
use playproof_engine::sim::Plan;
use playproof_engine::time::{Duration, Instant};

/// A machine with its playbook and its clock.
#[derive(Clone)]
pub(super) struct Driver {
    pub plan: Arc<Plan>,
    pub machine: Machine,
    pub now: Instant,
}

/// What an input led to.
#[derive(Default)]
pub(super) struct Told {
    pub decisions: Vec<Decision>,
    /// The attempt that is sent now, and how long it may take.
    pub sent: Option<(AttemptNo, Duration)>,
    /// When the call asks to be woken.
    pub wake: Option<Instant>,
}

/// A call to make.
#[derive(Clone, Copy)]
pub(super) struct NewCall<'a> {
    pub tool: &'a str,
    pub key: Option<KeyId>,
    pub key_len: Option<usize>,
    pub args: ArgsId,
    /// Arguments that do not fit what the tool takes.
    pub unfit: bool,
    pub server: ServerId,
}

impl<'a> NewCall<'a> {
    /// A call without a key.
    pub fn of(tool: &'a str) -> NewCall<'a> {
        NewCall { tool, key: None, key_len: None, args: ArgsId(0), unfit: false, server: ServerId(0) }
    }
}

/// The attempt that is answered, and what is drawn with the answer.
pub(super) struct Answer {
    pub call: CallId,
    pub attempt: AttemptNo,
    pub took: Duration,
    pub draw: Draw,
    /// When it came, for waits until a date; none: now.
    pub dated: Option<Instant>,
}

impl Answer {
    /// An answer that comes at once and draws nothing.
    pub const fn to(call: CallId, attempt: AttemptNo) -> Answer {
        Answer { call, attempt, took: Duration::ZERO, draw: Draw::ZERO, dated: None }
    }
}

impl Driver {
    pub fn new(plan: Plan) -> Driver {
        Driver { plan: Arc::new(plan), machine: Machine::default(), now: Instant::ZERO }
    }

    /// Makes a call now.
    pub fn call(&mut self, new: NewCall<'_>) -> (CallId, Told) {
        let call = self.machine.next_call();
        let tool = self.plan.facts(new.tool);
        let unfit = new.unfit.then_some(AdmissionRefusal::Schema);
        let refusal = unfit.or_else(|| self.plan.objection(new.tool, &tool, None, new.key_len).map(|(why, _)| why));
        let facts = CallFacts {
            transaction: None,
            once: None,
            act: None,
            tool: ToolId(0),
            access: tool.access,
            idempotent: tool.idempotent,
            repeatable: tool.repeatable,
            server: new.server,
            answer_within: None,
            breaker: self.plan.playbook.breaker_id(DEFAULT_BREAKER),
            run: RunId(0),
            key: new.key,
            ignores_keys: tool.ignores_keys,
            never_retried: tool.never_retried,
            key_is_reused: false,
            key_history: KeyHistory::Unknown,
            args: new.args,
            token: None,
            evidence: EvidenceId(0),
            at: self.now,
            timeout: tool.timeout,
            gate: GateFacts::Free,
            steps: 0,
            step: None,
            was_refused: false,
            request: refusal.map_or(RequestCheck::Fine, |why| RequestCheck::Refused(why, ErrorId(0))),
        };
        (call, self.input(call, Input::Call(call, facts)))
    }

    /// Wakes a call at `now`.
    pub fn wake(&mut self, call: CallId) -> Told {
        self.input(call, Input::Woken(call))
    }

    /// Answers an attempt with a success.
    pub fn succeed(&mut self, to: &Answer) -> Told {
        self.answer(to, Response::Ok)
    }

    /// Answers an attempt with an error, which the playbook's rules classify.
    pub fn fail(&mut self, to: &Answer, tool: &str, error: &ErrorFacts) -> Told {
        let facts = self.plan.facts(tool);
        let said = self.plan.classifier.classify(&Signal::new(Some(error), tool, facts, false, to.attempt));
        let dated = to.dated.or(Some(self.now));
        let says = server_says(error, &self.plan.playbook.server_delay_sources, dated);
        let failure = ClassifiedFailure {
            verdict: said.verdict,
            rule: said.rule,
            error: Some(ErrorId(0)),
            says,
            draw: to.draw,
            unanswered: false,
        };
        self.answer(to, Response::Failed(failure))
    }

    fn answer(&mut self, to: &Answer, response: Response) -> Told {
        let meta = ResponseMeta { latency: Some(to.took), provenance: Provenance::Scripted, over_timeout: false };
        let asked = RequestKind::Attempt(to.attempt);
        self.input(to.call, Input::Answered { call: to.call, asked, response, meta })
    }

    fn input(&mut self, call: CallId, input: Input) -> Told {
        let mut out = OutputBuffer::default();
        self.machine.handle_input(&self.plan.playbook, self.now, input, &mut out);
        let mut told = Told { decisions: out.events.into_iter().map(|event| event.what).collect(), ..Told::default() };
        for output in out.outputs {
            match output {
                Output::Ask { call: of, asked: RequestKind::Attempt(attempt), within, .. } if of == call => {
                    told.sent = Some((attempt, within));
                }
                Output::Wake { call: of, at } if of == call => told.wake = Some(at),
                Output::Ask { .. } | Output::Wake { .. } | Output::Step { .. } => {}
            }
        }
        told
    }
}

impl Told {
    /// How the call ended, if it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.decisions.iter().find_map(|decision| match decision {
            Decision::Outcome(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// Whether the failure was one that is sent again without being counted.
    pub fn is_uncounted(&self, plan: &Plan) -> bool {
        self.decisions.iter().any(|decision| match decision {
            Decision::FailureClassified { verdict, .. } => {
                plan.playbook.verdict(*verdict).then.retry().is_some_and(|retry| retry.uncounted)
            }
            _ => false,
        })
    }
}

/// The error of what a machine does not do here.
pub(super) fn nothing_sent() -> Unmet {
    Unmet::failed("no request is sent")
}
