//! The retry guard: whether a call may be sent once more. The dispatcher asks it before each further attempt, and what an
//! agent is told rests on it too.

use crate::event::{EffectClaim, SuppressionReason};
use crate::playbook::GuardMode;

/// Why the retry guard stops a further attempt; none: it passes.
///
/// `is_safe`: sending the call again can never act twice; none: it is never sent again. `claim`: what the attempts so far did.
pub const fn retry_guard(mode: GuardMode, is_safe: Option<bool>, claim: EffectClaim) -> Option<SuppressionReason> {
    let Some(is_safe) = is_safe else { return Some(SuppressionReason::Never) };
    match (mode, claim) {
        (GuardMode::Off, _) => None,
        (GuardMode::Stops, _) => Some(SuppressionReason::MayHaveActed),
        (GuardMode::Checked, _) if is_safe => None,
        (GuardMode::Checked, EffectClaim::NotApplied) => None,
        (GuardMode::Checked, EffectClaim::Unknown) => Some(SuppressionReason::MayHaveActed),
        (GuardMode::Checked, EffectClaim::Applied) => Some(SuppressionReason::HasActed),
    }
}
