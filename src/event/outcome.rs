//! How a call ends: its kind, and what is claimed of its effect.

use super::decision::Asked;
use super::reason::{DeprecatedWhy, StopReason, TurnedAway};
use crate::ids::{ErrorId, QueueId, ReasonId};

/// What is claimed of a call's effect on the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectClaim {
    /// The upstream made the change.
    Applied,
    /// The upstream did not make the change.
    NotApplied,
    /// The upstream may have made the change.
    Unknown,
}

impl EffectClaim {
    /// The word of the files: `applied`, `not_applied`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            EffectClaim::Applied => "applied",
            EffectClaim::NotApplied => "not_applied",
            EffectClaim::Unknown => "unknown",
        }
    }

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

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutcomeKind {
    /// Nothing failed.
    Succeeded,
    /// A later attempt succeeded.
    SucceededAfterCompensation,
    /// Given up here; the planner reconciles.
    Deprecated(DeprecatedWhy),
    /// A human decides, from this queue.
    Escalated(QueueId),
    /// The reversal token was redeemed, for this reason.
    Reversed(ReasonId),
    /// A limit was hit.
    Exhausted(StopReason),
    /// Admission said no; nothing was sent.
    Refused(TurnedAway),
    /// An answer was needed that nothing supplies.
    Undetermined(Asked),
}

impl OutcomeKind {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            OutcomeKind::Succeeded => "succeeded",
            OutcomeKind::SucceededAfterCompensation => "succeeded_after_compensation",
            OutcomeKind::Deprecated(_) => "deprecated",
            OutcomeKind::Escalated(_) => "escalated",
            OutcomeKind::Reversed(_) => "reversed",
            OutcomeKind::Exhausted(_) => "exhausted",
            OutcomeKind::Refused(_) => "refused",
            OutcomeKind::Undetermined(_) => "undetermined",
        }
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
