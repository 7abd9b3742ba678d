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
