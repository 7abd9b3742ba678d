//! What goes into the machine and what comes out: small, closed, and never a raw result.

use crate::event::{Decision, DecisionEvent, Provenance, RequestKind};
use crate::ids::{ArgsId, AttemptNo, CallId, ErrorId, EvidenceId, KeyId, RuleId, TokenId, ToolId, VerdictId};
use crate::playbook::Access;
use crate::time::{Duration, Instant};

/// What the machine knows of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallFacts {
    /// The tool.
    pub tool: ToolId,
    /// Whether it changes the upstream.
    pub access: Access,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
    /// Whether each call is meant anew.
    pub repeatable: bool,
    /// The idempotency key.
    pub key: Option<KeyId>,
    /// The canonical arguments.
    pub args: ArgsId,
    /// The reversal token.
    pub token: Option<TokenId>,
    /// The evidence it came with.
    pub evidence: EvidenceId,
    /// When it was made.
    pub at: Instant,
}

impl CallFacts {
    /// Whether sending the call again cannot act twice, whatever became of it.
    pub const fn is_safe_to_resend(&self) -> bool {
        matches!(self.access, Access::Read) || self.idempotent || self.key.is_some()
    }
}

/// A failed attempt, classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassifiedFailure {
    /// What it means.
    pub verdict: VerdictId,
    /// The rule that said so.
    pub rule: Option<RuleId>,
    /// The error, if one came with the failure.
    pub error: Option<ErrorId>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
}

/// How a request of the machine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// Yes.
    Ok,
    /// An attempt failed.
    Failed(ClassifiedFailure),
    /// A refresh or a reversal was refused: it did not happen.
    Refused(Option<ErrorId>),
    /// A refresh or a reversal failed, and may have happened all the same; without an error nothing came back in time.
    Unclear(Option<ErrorId>),
    /// Nothing supplies an answer.
    Unanswered,
}

/// What is noted of an answer but decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseMeta {
    /// From request to answer.
    pub latency: Option<Duration>,
    /// Whence.
    pub provenance: Provenance,
    /// A recorded answer that took longer than the timeout allows.
    pub over_timeout: bool,
}

/// What the world tells the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A call is made; its number is `Machine::next_call`.
    Call(CallId, CallFacts),
    /// The answer to what was asked for the call.
    Answered {
        /// The call.
        call: CallId,
        /// What had been asked.
        asked: RequestKind,
        /// What came of it.
        response: Response,
        /// For the events only.
        meta: ResponseMeta,
    },
    /// An answer to an attempt that had timed out.
    Late {
        /// The call.
        call: CallId,
        /// The attempt.
        attempt: AttemptNo,
        /// The error, where it failed.
        failed: Option<Option<ErrorId>>,
    },
    /// The moment that the call asked to be woken at.
    Woken(CallId),
}

/// What the machine wants of the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Ask the upstream, and answer with `Input::Answered`.
    Ask {
        /// For this call.
        call: CallId,
        /// This.
        asked: RequestKind,
        /// With this evidence.
        evidence: EvidenceId,
    },
    /// Give `Input::Woken` at this moment.
    Wake {
        /// To this call.
        call: CallId,
        /// Then.
        at: Instant,
    },
}

/// What the machine tells the upstream: it is written here at once and copied no more, because a trace has millions of
/// events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputBuffer {
    /// What was decided or seen.
    pub events: Vec<DecisionEvent>,
    /// What is wanted.
    pub outputs: Vec<Output>,
}

impl OutputBuffer {
    #[inline]
    pub(super) fn emit(&mut self, at: Instant, call: CallId, what: Decision) {
        self.events.push(DecisionEvent { at, call, what });
    }
}
