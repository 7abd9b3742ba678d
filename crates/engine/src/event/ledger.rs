//! The entries of the upstream's ledger, and how upstreams answer repeated keys. `upstream` owns the ledger itself.

use super::outcome::EffectClaim;
use super::request::Provenance;
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, RunId, ToolId};
use crate::time::Instant;
use crate::words;

words! {
    /// What the upstream did for an intent, as far as it is known.
    pub enum LedgerKind {
        /// It made the change.
        Applied = "applied",
        /// It was there before the simulation began.
        Existing = "existing",
        /// It reversed the change.
        Reversed = "reversed",
        /// A recorded or modelled write failed; whether it acted is unknown.
        Unobserved = "unobserved",
        /// A write of state waited for the commit of its transaction.
        Staged = "staged",
        /// It was committed.
        Committed = "committed",
        /// It was discarded.
        Discarded = "discarded",
    }
}

/// What a call wants done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Intent {
    /// A keyed call: tool and key.
    Keyed(ToolId, KeyId),
    /// An unkeyed write: run, tool and canonical arguments.
    Unkeyed(RunId, ToolId, ArgsId),
    /// A call of a repeatable tool: itself.
    Single(CallId),
    /// State by its name.
    State(ToolId),
}

impl Intent {
    /// The tool; none for a call of a repeatable tool.
    pub const fn tool(self) -> Option<ToolId> {
        match self {
            Intent::Keyed(tool, _) | Intent::Unkeyed(_, tool, _) | Intent::State(tool) => Some(tool),
            Intent::Single(_) => None,
        }
    }
}

/// One entry of the simulated upstream's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct LedgerEntry {
    /// When it landed.
    pub at: Instant,
    /// The intent of the effect.
    pub intent: Intent,
    /// What happened.
    pub kind: LedgerKind,
    /// The call that caused it; none for effects that existed before.
    pub call: Option<CallId>,
    /// The attempt that caused it; none for reversals and effects that existed before.
    pub attempt: Option<AttemptNo>,
    /// Where the knowledge comes from.
    pub provenance: Provenance,
}

/// What the upstream's ledger holds for one intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntentBalance {
    /// Effects that exist: existing and applied, less reversed.
    pub effects: u32,
    /// Existing effects.
    pub existing: u32,
    /// Effects of modelled answers, reversed or not.
    pub modelled: u32,
    /// Reversed effects.
    pub reversed: u32,
    /// Effects reversed by modelled answers only.
    pub reversed_as_modelled: u32,
    /// Recorded failures whose effect is unknown.
    pub unobserved: u32,
}

impl IntentBalance {
    /// What `ledger` holds for `intent`.
    pub fn count(ledger: &[LedgerEntry], intent: Intent) -> IntentBalance {
        let mut balance = IntentBalance::default();
        for entry in ledger.iter().filter(|entry| entry.intent == intent) {
            let modelled = u32::from(entry.provenance == Provenance::Modelled);
            match entry.kind {
                LedgerKind::Existing => {
                    balance.existing += 1;
                    balance.effects += 1;
                }
                LedgerKind::Applied => {
                    balance.effects += 1;
                    balance.modelled += modelled;
                }
                LedgerKind::Reversed => {
                    balance.reversed += 1;
                    balance.reversed_as_modelled += modelled;
                    balance.effects = balance.effects.saturating_sub(1);
                }
                LedgerKind::Unobserved => balance.unobserved += 1,
                LedgerKind::Staged | LedgerKind::Committed | LedgerKind::Discarded => {}
            }
        }
        balance
    }
}

words! {
    /// The key dialects of upstreams: how they answer a repeated key.
    #[derive(Default)]
    pub enum KeyDialect {
        /// Repeats the first `ok`.
        Replay = "replay",
        /// As `Replay`; 409 while a request is in flight, whatever it ends with; 422 for other arguments.
        Ietf = "ietf",
        /// Answers 409: the key was processed.
        Conflict = "conflict",
        /// Forgets a key if its answer was lost, and acts again.
        Lossy = "lossy",
        /// Ignores keys.
        #[default]
        None = "none",
    }
}

impl KeyDialect {
    /// Whether the answer to a key that has acted may be the first `ok` again, without another effect.
    pub const fn repeats_its_ok(self) -> bool {
        match self {
            KeyDialect::Replay | KeyDialect::Ietf | KeyDialect::Lossy => true,
            KeyDialect::Conflict | KeyDialect::None => false,
        }
    }
}

/// How the requests of other calls under a key ended, as far as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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
    fn the_balance_of_an_intent_counts_existing_and_reversed_effects() {
        let intent = Intent::Single(CallId(0));
        let entry =
            |kind, provenance| LedgerEntry { at: Instant::ZERO, intent, kind, call: None, attempt: None, provenance };
        let ledger = [
            entry(LedgerKind::Existing, Provenance::Scripted),
            entry(LedgerKind::Applied, Provenance::Modelled),
            entry(LedgerKind::Unobserved, Provenance::Recorded),
            entry(LedgerKind::Reversed, Provenance::Scripted),
            LedgerEntry { intent: Intent::Single(CallId(1)), ..entry(LedgerKind::Applied, Provenance::Recorded) },
        ];
        let wanted =
            IntentBalance { effects: 1, existing: 1, modelled: 1, reversed: 1, reversed_as_modelled: 0, unobserved: 1 };
        assert_eq!(IntentBalance::count(&ledger, intent), wanted);
        assert_eq!(IntentBalance::count(&[], intent), IntentBalance::default());
    }

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
