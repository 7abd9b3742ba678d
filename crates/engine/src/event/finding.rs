//! What a run shows: stable ids, severities, and by whom.

use crate::ids::CallId;
use crate::words;

words! {
    /// How bad a finding is, worst first.
    pub enum FindingSeverity {
        /// Harm was done, or would be.
        Unsafe = "unsafe",
        /// It cannot be told, and someone should look.
        Doubt = "doubt",
        /// Worth knowing.
        Note = "note",
    }
}

words! {
    /// By whom a finding is.
    pub enum FindingBy {
        /// The agent or its harness did it.
        Recorded = "recorded",
        /// The dispatcher would do it under this playbook.
        Playbook = "playbook",
    }
}

words! {
    /// What a run can show; the ids never change.
    pub enum FindingId {
        /// One intent, more than one net effect (declared tool facts only).
        DuplicateEffect = "duplicate_effect",
        /// The claim contradicts the ledger.
        UntruthfulOutcome = "untruthful_outcome",
        /// A further attempt after a denial.
        RetriedAfterDenial = "retried_after_denial",
        /// A further attempt after the upstream said that it had processed the key.
        RetriedAfterConflict = "retried_after_conflict",
        /// A further attempt that the retry guard would have stopped.
        UnsafeRetry = "unsafe_retry",
        /// A failure whose meaning the playbook does not know.
        Unclassified = "unclassified",
        /// An answer was needed that nothing supplies.
        Undetermined = "undetermined",
        /// As `duplicate_effect`, on assumed tool facts.
        PossibleDuplicateEffect = "possible_duplicate_effect",
        /// One call, unchanged, more often than is plausible.
        RunawayLoop = "runaway_loop",
        /// A failed call sent again unchanged, nothing written between, that failed again.
        FutileRetry = "futile_retry",
        /// A recorded answer that came after the tool's timeout.
        OverTimeout = "over_timeout",
        /// A guard stopped what would have done no harm.
        GuardRedundant = "guard_redundant",
    }
}

impl FindingId {
    /// How bad it is.
    pub const fn severity(self) -> FindingSeverity {
        match self {
            FindingId::DuplicateEffect
            | FindingId::UntruthfulOutcome
            | FindingId::RetriedAfterDenial
            | FindingId::RetriedAfterConflict
            | FindingId::UnsafeRetry => FindingSeverity::Unsafe,
            FindingId::Unclassified
            | FindingId::Undetermined
            | FindingId::PossibleDuplicateEffect
            | FindingId::RunawayLoop => FindingSeverity::Doubt,
            FindingId::FutileRetry | FindingId::OverTimeout | FindingId::GuardRedundant => FindingSeverity::Note,
        }
    }
}

/// Something that a simulation shows about one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// What.
    pub id: FindingId,
    /// By whom.
    pub by: FindingBy,
    /// At which call.
    pub call: CallId,
    /// How many: effects of the intent, attempts, repetitions; 1 where there is nothing to count.
    pub count: u32,
}
