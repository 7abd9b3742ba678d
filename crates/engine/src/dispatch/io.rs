//! The machine's inputs and outputs: a small, closed set, never a raw result.

use crate::event::{
    Act, AdmissionRefusal, Decision, DecisionEvent, Draw, KeyHistory, Provenance, RequestKind, ServerSays, Status,
    ValidNext,
};
use crate::ids::{
    ActionId, ArgsId, AttemptNo, BreakerId, CallId, ErrorId, EvidenceId, KeyId, RuleId, RunId, ServerId, StepId,
    TokenId, ToolId, TransactionId, VerdictId,
};
use crate::playbook::Access;
use crate::time::{Duration, Instant};

/// The facts of a call that the machine decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallFacts {
    /// The tool.
    pub tool: ToolId,
    /// Whether it changes the upstream.
    pub access: Access,
    /// Whether doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// Whether each call is a new intent.
    pub repeatable: bool,
    /// What its breaker and its retry budgets are kept for.
    pub server: ServerId,
    /// The breaker of that server.
    pub breaker: Option<BreakerId>,
    /// Whose tool calls are counted together.
    pub run: RunId,
    /// The idempotency key.
    pub key: Option<KeyId>,
    /// The transaction that it belongs to, if that matters.
    pub transaction: Option<TransactionId>,
    /// Within it, the request is done once: the key of the request.
    pub once: Option<KeyId>,
    /// What it does with its transaction; none: it is a call of a tool.
    pub act: Option<Act>,
    /// Whether the upstream pays no attention to keys: then a key makes nothing safe.
    pub ignores_keys: bool,
    /// Whether a request is never sent again, whatever is known of the attempts so far.
    pub never_retried: bool,
    /// Whether the key was used with other arguments before, or what was made under it reversed: an ok may be an earlier
    /// answer.
    pub key_is_reused: bool,
    /// How the requests of other calls under the key ended: it says whether "already processed" proves an effect.
    pub key_history: KeyHistory,
    /// The canonical arguments.
    pub args: ArgsId,
    /// The reversal token.
    pub token: Option<TokenId>,
    /// The evidence that the call came with.
    pub evidence: EvidenceId,
    /// When the call was made.
    pub at: Instant,
    /// The timeout of an attempt.
    pub timeout: Duration,
    /// How long its caller waits: no further attempt starts later.
    pub answer_within: Option<Duration>,
    /// What the call is to the graph.
    pub gate: GateFacts,
    /// The number of its steps; 0: its tool does it.
    pub steps: u16,
    /// Of a call that is a step: of which action.
    pub step: Option<StepOf>,
    /// Whether a gate refused it in its recording: nothing was sent, so an attempt without an answer is not at work.
    pub was_refused: bool,
    /// What the registry says of the request.
    pub request: RequestCheck,
}

/// What a call is to the graph. Arguments are judged outside the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GateFacts {
    /// Nothing orders it: there are no actions, or it goes by the graph.
    Free,
    /// No action has its tool, and the graph refuses such calls with this error.
    Unknown(ErrorId),
    /// An action.
    Action {
        /// Which.
        id: ActionId,
        /// The error of its caller, if its arguments do not fit.
        fault: Option<ErrorId>,
    },
}

/// A step of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepOf {
    /// The call of the action; none: it has ended.
    pub action: Option<CallId>,
    /// Which step.
    pub step: StepId,
}

/// What the registry says of a request. It is judged outside the machine, which sees no arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestCheck {
    /// Nothing against it.
    Fine,
    /// The call is refused, and its caller gets this error.
    Refused(AdmissionRefusal, ErrorId),
}

impl CallFacts {
    /// The key by which calls are one request to the dispatcher.
    pub fn shared_key(&self) -> Option<KeyId> {
        self.once.or(self.key)
    }

    /// Whether sending the call again can never act twice.
    pub const fn is_safe_to_resend(&self) -> bool {
        matches!(self.access, Access::Read) || self.idempotent || (self.key.is_some() && !self.ignores_keys)
    }

    /// The same; none: it is never sent again.
    pub const fn may_be_resent(&self) -> Option<bool> {
        if self.never_retried { None } else { Some(self.is_safe_to_resend()) }
    }
}

/// A failed attempt, classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassifiedFailure {
    /// What it means.
    pub verdict: VerdictId,
    /// The rule that matched.
    pub rule: Option<RuleId>,
    /// The error object, if the failure has one.
    pub error: Option<ErrorId>,
    /// What the upstream says of waiting.
    pub says: ServerSays,
    /// The number that came with the answer, for a wait that needs one.
    pub draw: Draw,
    /// Nothing came back: the attempt may still be at work.
    pub unanswered: bool,
}

/// How a request of the machine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// Success.
    Ok,
    /// An attempt failed, and was classified.
    Failed(ClassifiedFailure),
    /// A refresh or a reversal was refused: it did not happen.
    Refused(Option<ErrorId>),
    /// A refresh or a reversal failed, and may have happened; without an error, no answer came in time.
    Unclear(Option<ErrorId>),
    /// The answer suggests a failure and does not prove one.
    Suspected(Option<ErrorId>),
    /// The answer says that the work is not done yet.
    Unfinished(Option<ErrorId>),
    /// Nothing supplies an answer.
    Unanswered,
}

impl Response {
    /// How the request ended, for events.
    pub(super) const fn status(self) -> Status {
        match self {
            Response::Ok => Status::Ok,
            Response::Failed(failure) => Status::Failed(failure.error),
            Response::Refused(error) | Response::Unclear(error) => Status::Failed(error),
            Response::Suspected(error) => Status::Suspected(error),
            Response::Unfinished(error) => Status::Unfinished(error),
            Response::Unanswered => Status::Unanswered,
        }
    }

    /// Its error, if it has one.
    pub(super) const fn error(self) -> Option<ErrorId> {
        match self {
            Response::Failed(failure) => failure.error,
            Response::Refused(error)
            | Response::Unclear(error)
            | Response::Suspected(error)
            | Response::Unfinished(error) => error,
            Response::Ok | Response::Unanswered => None,
        }
    }
}

/// What is recorded of a response; it decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseMeta {
    /// From request to answer.
    pub latency: Option<Duration>,
    /// Where the answer comes from.
    pub provenance: Provenance,
    /// A recorded answer that took longer than the timeout allows.
    pub over_timeout: bool,
}

/// What happened, told to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A call is made; its id is free, such as `Machine::next_call`.
    Call(CallId, CallFacts),
    /// The response to a request for the call.
    Answered {
        /// The call.
        call: CallId,
        /// The request.
        asked: RequestKind,
        /// How it ended.
        response: Response,
        /// For events only.
        meta: ResponseMeta,
    },
    /// An answer to an attempt that had timed out.
    Late {
        /// The call.
        call: CallId,
        /// The attempt.
        attempt: AttemptNo,
        /// The error, if the attempt failed.
        failed: Option<Option<ErrorId>>,
        /// Whether the answer proves that the attempt is not at work any more.
        proves_end: bool,
    },
    /// A person says whether a call that has ended did what it is there for.
    Resolved {
        /// The call.
        call: CallId,
        /// Whether it did.
        applied: bool,
    },
    /// The moment at which the call asked to be woken.
    Woken(CallId),
    /// Nothing is known of the step that the call asked for.
    NoStep(CallId),
    /// The caller of the call goes away.
    Cancelled(CallId),
}

/// What the machine wants of the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send a request upstream, and answer with `Input::Answered`.
    Ask {
        /// The call that the request is for.
        call: CallId,
        /// The request.
        asked: RequestKind,
        /// The evidence that the request carries.
        evidence: EvidenceId,
        /// How long to wait for the answer.
        within: Duration,
    },
    /// Make the call of a step: give `Input::Call` for it, or `Input::NoStep`.
    Step {
        /// The call of the action.
        action: CallId,
        /// Which step.
        step: StepId,
    },
    /// Give `Input::Woken` at this moment.
    Wake {
        /// The call to wake.
        call: CallId,
        /// The moment.
        at: Instant,
    },
}

/// What the machine tells the upstream: it is written here at once and copied no more, because a trace has millions of
/// events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputBuffer {
    /// Decision events.
    pub events: Vec<DecisionEvent>,
    /// Requests to the driver.
    pub outputs: Vec<Output>,
    /// Under a graph: what is valid after each call that ended.
    pub valid_next: Vec<(CallId, ValidNext)>,
    /// Actions that only calls with this key may do, after a call that ended.
    pub bound: Vec<(CallId, ActionId, KeyId)>,
}

impl OutputBuffer {
    #[inline]
    pub(super) fn emit(&mut self, at: Instant, call: CallId, what: Decision) {
        self.events.push(DecisionEvent { at, call, what });
    }
}
