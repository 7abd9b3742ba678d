//! How a call ends: its kind, and what is claimed of its effect.

use super::decision::RequestKind;
use super::reason::{AdmissionRefusal, DeprecationReason, StopReason};
use crate::ids::{ErrorId, QueueId, ReasonId};
use crate::words;

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
