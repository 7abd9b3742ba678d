//! The lines of the upstream's book. The book itself is the upstream's.

use super::decision::Provenance;
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, ToolId};
use crate::time::Instant;
use crate::words;

words! {
    /// What the upstream did, or is not known to have done, for an intent.
    pub enum LedgerKind {
        /// It made the change.
        Applied = "applied",
        /// It was there before the simulation began.
        Existing = "existing",
        /// It took the change back.
        Reversed = "reversed",
        /// A write failed, as recorded or modelled; whether it acted is not known.
        Unobserved = "unobserved",
    }
}

/// What a call wants done once, as the ledger books it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    /// A keyed call: tool and key.
    Keyed(ToolId, KeyId),
    /// An unkeyed write: tool and canonical arguments.
    Unkeyed(ToolId, ArgsId),
    /// A call of a repeatable tool: itself.
    Single(CallId),
}

/// One line of the simulated upstream's book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LedgerEntry {
    /// When it landed.
    pub at: Instant,
    /// What it was for.
    pub intent: Intent,
    /// What it was.
    pub kind: LedgerKind,
    /// The call that caused it; none for effects that existed before.
    pub call: Option<CallId>,
    /// The attempt that caused it; none for reversals and effects that existed before.
    pub attempt: Option<AttemptNo>,
    /// How the book knows.
    pub provenance: Provenance,
}

/// What the upstream's ledger holds of a call's intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntentBalance {
    /// Effects that exist: existing and applied, less reversed.
    pub effects: u32,
    /// Those of them that were there before.
    pub existing: u32,
    /// Effects that were made on an answer that was modelled, taken back or not.
    pub modelled: u32,
    /// Effects that were taken back.
    pub reversed: u32,
    /// Those of them that only an answer that was modelled took back.
    pub reversed_as_modelled: u32,
    /// Recorded failures of which nothing is known.
    pub unobserved: u32,
}

impl IntentBalance {
    /// What `ledger` holds of `intent`.
    pub fn of(ledger: &[LedgerEntry], intent: Intent) -> IntentBalance {
        let mut truth = IntentBalance::default();
        for entry in ledger.iter().filter(|entry| entry.intent == intent) {
            let modelled = u32::from(entry.provenance == Provenance::Modelled);
            match entry.kind {
                LedgerKind::Existing => {
                    truth.existing += 1;
                    truth.effects += 1;
                }
                LedgerKind::Applied => {
                    truth.effects += 1;
                    truth.modelled += modelled;
                }
                LedgerKind::Reversed => {
                    truth.reversed += 1;
                    truth.reversed_as_modelled += modelled;
                    truth.effects = truth.effects.saturating_sub(1);
                }
                LedgerKind::Unobserved => truth.unobserved += 1,
            }
        }
        truth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_of_an_intent_counts_what_is_there_and_what_was_taken_back() {
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
