//! The lines of the upstream's book. The book itself is the upstream's.

use super::decision::Provenance;
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, ToolId};
use crate::time::Instant;

/// What the upstream did, or is not known to have done, for an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LedgerKind {
    /// It was there before the simulation began.
    Existing,
    /// It made the change.
    Applied,
    /// It took the change back.
    Reversed,
    /// A write failed, as recorded or modelled; whether it acted is not known.
    Unobserved,
}

impl LedgerKind {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            LedgerKind::Existing => "existing",
            LedgerKind::Applied => "applied",
            LedgerKind::Reversed => "reversed",
            LedgerKind::Unobserved => "unobserved",
        }
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
