//! What a run shows: stable ids, severities, and by whom.

use crate::ids::CallId;

/// How bad a finding is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingSeverity {
    /// Harm was done, or would be.
    Unsafe,
    /// It cannot be told, and someone should look.
    Doubt,
    /// Worth knowing.
    Note,
}

impl FindingSeverity {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingSeverity::Unsafe => "unsafe",
            FindingSeverity::Doubt => "doubt",
            FindingSeverity::Note => "note",
        }
    }
}

/// By whom a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingBy {
    /// The agent or its harness did it.
    Recorded,
    /// The dispatcher would do it under this playbook.
    Playbook,
}

impl FindingBy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingBy::Recorded => "recorded",
            FindingBy::Playbook => "playbook",
        }
    }
}

/// What a run can show; the ids never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingId {
    /// One intent, more than one net effect (declared tool facts only).
    DuplicateEffect,
    /// The claim contradicts the ledger.
    UntruthfulOutcome,
    /// A further attempt after a denial.
    RetriedAfterDenial,
    /// A further attempt after the upstream said that it had processed the key.
    RetriedAfterConflict,
    /// A further attempt that the retry guard would have stopped.
    UnsafeRetry,
    /// A failure whose meaning the playbook does not know.
    Unclassified,
    /// An answer was needed that nothing supplies.
    Undetermined,
    /// As `duplicate_effect`, on assumed tool facts.
    PossibleDuplicateEffect,
    /// One call, unchanged, more often than is plausible.
    RunawayLoop,
    /// A failed call sent again unchanged, nothing written between, that failed again.
    FutileRetry,
    /// A recorded answer that came after the tool's timeout.
    OverTimeout,
    /// A guard stopped what would have done no harm.
    GuardRedundant,
}

impl FindingId {
    /// Every id, in the order of severity.
    pub const ALL: [FindingId; 12] = [
        FindingId::DuplicateEffect,
        FindingId::UntruthfulOutcome,
        FindingId::RetriedAfterDenial,
        FindingId::RetriedAfterConflict,
        FindingId::UnsafeRetry,
        FindingId::Unclassified,
        FindingId::Undetermined,
        FindingId::PossibleDuplicateEffect,
        FindingId::RunawayLoop,
        FindingId::FutileRetry,
        FindingId::OverTimeout,
        FindingId::GuardRedundant,
    ];

    /// The stable id that files and `playproof help` use.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingId::DuplicateEffect => "duplicate_effect",
            FindingId::UntruthfulOutcome => "untruthful_outcome",
            FindingId::RetriedAfterDenial => "retried_after_denial",
            FindingId::RetriedAfterConflict => "retried_after_conflict",
            FindingId::UnsafeRetry => "unsafe_retry",
            FindingId::Unclassified => "unclassified",
            FindingId::Undetermined => "undetermined",
            FindingId::PossibleDuplicateEffect => "possible_duplicate_effect",
            FindingId::RunawayLoop => "runaway_loop",
            FindingId::FutileRetry => "futile_retry",
            FindingId::OverTimeout => "over_timeout",
            FindingId::GuardRedundant => "guard_redundant",
        }
    }

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
