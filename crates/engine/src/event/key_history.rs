//! How the requests under an idempotency key ended before a call, and what "already processed" then proves (ADR 0037).

use super::EffectClaim;

/// How the requests of other calls under a key ended, as far as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyHistory {
    /// None is recorded.
    #[default]
    Unknown,
    /// The upstream refused all of them; it may have said later that it had processed the key.
    Refused,
    /// One may have acted.
    MayHaveActed,
}

impl KeyHistory {
    /// The effect that a failure of a call with the key claims, where its verdict says `said` and the requests of the call
    /// before claim `own`; none: there was none. That a key of which only refusals are recorded was processed proves
    /// nothing: the upstream may keep refusals, too.
    #[must_use]
    pub const fn weigh(self, said: EffectClaim, own: Option<EffectClaim>) -> EffectClaim {
        let only_refusals = match self {
            KeyHistory::Refused => true,
            KeyHistory::Unknown => matches!(own, Some(EffectClaim::NotApplied)),
            KeyHistory::MayHaveActed => false,
        };
        match said {
            EffectClaim::Applied if only_refusals => EffectClaim::Unknown,
            said => said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processed_key_proves_nothing_where_only_refusals_are_known() {
        use EffectClaim::{Applied, NotApplied, Unknown};
        for (history, own, claim) in [
            (KeyHistory::Unknown, None, Applied),
            (KeyHistory::Unknown, Some(NotApplied), Unknown),
            (KeyHistory::Unknown, Some(Unknown), Applied),
            (KeyHistory::MayHaveActed, Some(NotApplied), Applied),
            (KeyHistory::Refused, None, Unknown),
            (KeyHistory::Refused, Some(Unknown), Unknown),
        ] {
            assert_eq!(history.weigh(Applied, own), claim, "{history:?} {own:?}");
            assert_eq!(history.weigh(NotApplied, own), NotApplied);
            assert_eq!(history.weigh(Unknown, own), Unknown);
        }
    }
}
