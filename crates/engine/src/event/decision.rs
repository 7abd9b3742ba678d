//! What the dispatcher decided or saw, one event at a time, and how a call ended.

use std::fmt;

use super::reason::{AdmissionRefusal, DeprecationReason, ReversalRefusal, StopReason, SuppressionReason};
use crate::ids::{AttemptNo, CallId, ErrorId, EvidenceId, QueueId, ReasonId, RuleId, VerdictId};
use crate::time::{Duration, Instant};
use crate::words;

words! {
    /// Where an answer came from.
    pub enum Provenance {
        /// The trace holds it.
        Recorded = "recorded",
        /// An identical later call of the trace, read as this call's next attempt.
        Inferred = "inferred",
        /// A fixture's script says it.
        Scripted = "scripted",
        /// The key dialect or `--beyond-tape` made it.
        Modelled = "modelled",
        /// There is none.
        Unanswered = "unanswered",
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The upstream said yes.
    Ok,
    /// It failed; the error is in the record's table, unless none came with the failure.
    Failed(Option<ErrorId>),
    /// Nothing came back and no later answer is known.
    Unanswered,
}

/// What the dispatcher asks of the upstream for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// The call itself, for the numbered time.
    Attempt(AttemptNo),
    /// A new snapshot of the call's evidence.
    Refresh(EvidenceId),
    /// The redemption of the call's reversal token.
    Reversal,
}

impl RequestKind {
    /// The one that is displayed so.
    pub fn parse(text: &str) -> Option<RequestKind> {
        match text.split_once(' ')? {
            ("attempt", number) => Some(RequestKind::Attempt(AttemptNo::new(number.parse().ok()?))),
            ("refresh", number) => Some(RequestKind::Refresh(EvidenceId(number.parse().ok()?))),
            ("the", "reversal") => Some(RequestKind::Reversal),
            _ => None,
        }
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestKind::Attempt(attempt) => write!(f, "attempt {attempt}"),
            RequestKind::Refresh(evidence) => write!(f, "refresh {}", evidence.0),
            RequestKind::Reversal => f.write_str("the reversal"),
        }
    }
}

/// One thing that the dispatcher decided or saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionEvent {
    /// When, in virtual time.
    pub at: Instant,
    /// For which call.
    pub call: CallId,
    /// What.
    pub what: Decision,
}

/// The kinds of decision events (DESIGN.md section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Admission refused the call: no attempt is made.
    Refused {
        /// Why.
        why: AdmissionRefusal,
    },
    /// An attempt was sent.
    AttemptStarted {
        /// Its number.
        attempt: AttemptNo,
        /// The evidence it carries.
        evidence: EvidenceId,
    },
    /// An attempt ended.
    AttemptFinished {
        /// Its number.
        attempt: AttemptNo,
        /// How.
        status: Status,
        /// Start to end; none where the recording does not tell.
        latency: Option<Duration>,
        /// Whence the answer.
        provenance: Provenance,
        /// A recorded answer that took longer than the attempt's timeout allows.
        over_timeout: bool,
    },
    /// An answer came after its attempt had timed out; no decision changes.
    LateAnswer {
        /// The attempt it answers.
        attempt: AttemptNo,
        /// What it said.
        status: Status,
    },
    /// A failure got its verdict.
    FailureClassified {
        /// What it means.
        verdict: VerdictId,
        /// The rule that said so; none: no rule matched.
        rule: Option<RuleId>,
        /// A study playbook that obeys the first failure only did not act on this one.
        ignored: bool,
    },
    /// A further attempt will be sent.
    RetryScheduled {
        /// Its number.
        attempt: AttemptNo,
        /// The wait before it.
        delay: Duration,
        /// When it starts.
        due: Instant,
    },
    /// The retry guard stopped a further attempt.
    RetrySuppressed {
        /// Why.
        why: SuppressionReason,
    },
    /// The upstream was asked for a new evidence snapshot, and this came of it.
    EvidenceRefreshed {
        /// The snapshot asked for.
        evidence: EvidenceId,
        /// Whether it was taken.
        status: Status,
        /// Whence the answer.
        provenance: Provenance,
    },
    /// The call was handed to a human.
    Escalated {
        /// Where it waits.
        queue: QueueId,
    },
    /// The reversal was refused.
    ReversalRefused {
        /// Why.
        why: ReversalRefusal,
    },
    /// The reversal token was redeemed.
    ReversalRedeemed {
        /// The playbook's reason.
        reason: ReasonId,
        /// Whence the answer.
        provenance: Provenance,
    },
    /// The local attempt was given up.
    Deprecated {
        /// Why.
        why: DeprecationReason,
    },
    /// The call ended.
    Outcome(Outcome),
}

words! {
    /// What is claimed of a call's effect on the upstream.
    pub enum EffectClaim {
        /// The upstream made the change.
        Applied = "applied",
        /// The upstream did not make the change.
        NotApplied = "not_applied",
        /// The upstream may have made the change.
        Unknown = "unknown",
    }
}

impl EffectClaim {
    /// The claim over two attempts of one call: applied if one is, unknown if one may be,
    /// not applied only if neither can be (DESIGN.md section 2, *End*).
    #[must_use]
    pub const fn and(self, other: EffectClaim) -> EffectClaim {
        match (self, other) {
            (EffectClaim::Applied, _) | (_, EffectClaim::Applied) => EffectClaim::Applied,
            (EffectClaim::Unknown, _) | (_, EffectClaim::Unknown) => EffectClaim::Unknown,
            (EffectClaim::NotApplied, EffectClaim::NotApplied) => EffectClaim::NotApplied,
        }
    }
}

words! {
    /// How a call ended, without its particulars.
    pub enum OutcomeWord {
        /// Nothing failed.
        Succeeded = "succeeded",
        /// A later attempt succeeded.
        SucceededAfterCompensation = "succeeded_after_compensation",
        /// Given up here; the planner reconciles.
        Deprecated = "deprecated",
        /// A human decides.
        Escalated = "escalated",
        /// The reversal token was redeemed.
        Reversed = "reversed",
        /// A limit was hit.
        Exhausted = "exhausted",
        /// Admission said no; nothing was sent.
        Refused = "refused",
        /// An answer was needed that nothing supplies.
        Undetermined = "undetermined",
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutcomeKind {
    /// Nothing failed.
    Succeeded,
    /// A later attempt succeeded.
    SucceededAfterCompensation,
    /// Given up here; the planner reconciles.
    Deprecated(DeprecationReason),
    /// A human decides, from this queue.
    Escalated(QueueId),
    /// The reversal token was redeemed, for this reason.
    Reversed(ReasonId),
    /// A limit was hit.
    Exhausted(StopReason),
    /// Admission said no; nothing was sent.
    Refused(AdmissionRefusal),
    /// An answer was needed that nothing supplies.
    Undetermined(RequestKind),
}

impl OutcomeKind {
    /// Which of the outcomes it is.
    pub const fn word(self) -> OutcomeWord {
        match self {
            OutcomeKind::Succeeded => OutcomeWord::Succeeded,
            OutcomeKind::SucceededAfterCompensation => OutcomeWord::SucceededAfterCompensation,
            OutcomeKind::Deprecated(_) => OutcomeWord::Deprecated,
            OutcomeKind::Escalated(_) => OutcomeWord::Escalated,
            OutcomeKind::Reversed(_) => OutcomeWord::Reversed,
            OutcomeKind::Exhausted(_) => OutcomeWord::Exhausted,
            OutcomeKind::Refused(_) => OutcomeWord::Refused,
            OutcomeKind::Undetermined(_) => OutcomeWord::Undetermined,
        }
    }

    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        self.word().as_str()
    }
}

/// How a call ended, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Which way.
    pub kind: OutcomeKind,
    /// The net effect claimed.
    pub claim: EffectClaim,
    /// Attempts started; none where the call was refused.
    pub attempts: u32,
    /// The last error, if any attempt failed with one.
    pub last_error: Option<ErrorId>,
    /// The first error, where it is another one than the last.
    pub first_error: Option<ErrorId>,
}
