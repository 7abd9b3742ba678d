//! The entries of the upstream's ledger. The upstream owns the ledger itself.

use super::decision::Provenance;
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
    }
}

/// What a call wants done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    /// A keyed call: tool and key.
    Keyed(ToolId, KeyId),
    /// An unkeyed write: run, tool and canonical arguments.
    Unkeyed(RunId, ToolId, ArgsId),
    /// A call of a repeatable tool: itself.
    Single(CallId),
}

impl Intent {
    /// The tool; none for a call of a repeatable tool.
    pub const fn tool(self) -> Option<ToolId> {
        match self {
            Intent::Keyed(tool, _) | Intent::Unkeyed(_, tool, _) => Some(tool),
            Intent::Single(_) => None,
        }
    }
}

/// One entry of the simulated upstream's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    pub fn of(ledger: &[LedgerEntry], intent: Intent) -> IntentBalance {
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
            }
        }
        balance
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
        assert_eq!(IntentBalance::of(&ledger, intent), wanted);
        assert_eq!(IntentBalance::of(&[], intent), IntentBalance::default());
    }
}
