//! Findings: stable ids, severities, and who caused them.

use crate::ids::CallId;
use crate::words;

words! {
    /// The severity of a finding, worst first.
    pub enum FindingSeverity {
        /// Harm was done, or would be done.
        Unsafe = "unsafe",
        /// The facts are uncertain; a person should look.
        Doubt = "doubt",
        /// Worth knowing.
        Note = "note",
    }
}

words! {
    /// Who caused a finding.
    pub enum FindingBy {
        /// The agent or its harness did it.
        Recorded = "recorded",
        /// The dispatcher would do it under this playbook.
        Playbook = "playbook",
    }
}

words! {
    /// The findings; their ids never change.
    pub enum FindingId {
        /// One intent, more than one net effect (declared tool facts only).
        DuplicateEffect = "duplicate_effect",
        /// The claim contradicts the ledger.
        UntruthfulOutcome = "untruthful_outcome",
        /// A further attempt after a denial.
        RetriedAfterDenial = "retried_after_denial",
        /// A further attempt after the upstream said that it had processed the key.
        RetriedAfterConflict = "retried_after_conflict",
        /// A further attempt that the retry guard would stop.
        UnsafeRetry = "unsafe_retry",
        /// A tool that is declared or assumed a read has an effect in the ledger.
        ReadActed = "read_acted",
        /// A failure that no rule matches.
        Unclassified = "unclassified",
        /// An answer is missing.
        Undetermined = "undetermined",
        /// As `duplicate_effect`, on assumed tool facts.
        PossibleDuplicateEffect = "possible_duplicate_effect",
        /// One call repeated unchanged, implausibly often.
        RunawayLoop = "runaway_loop",
        /// A failed call that was sent again unchanged, with no write in between, and failed again.
        FutileRetry = "futile_retry",
        /// A recorded answer that came after the tool's timeout.
        OverTimeout = "over_timeout",
        /// A guard stopped an attempt that would have done no harm.
        GuardRedundant = "guard_redundant",
    }
}

impl FindingId {
    /// Its severity.
    pub const fn severity(self) -> FindingSeverity {
        match self {
            FindingId::DuplicateEffect
            | FindingId::UntruthfulOutcome
            | FindingId::RetriedAfterDenial
            | FindingId::RetriedAfterConflict
            | FindingId::UnsafeRetry
            | FindingId::ReadActed => FindingSeverity::Unsafe,
            FindingId::Unclassified
            | FindingId::Undetermined
            | FindingId::PossibleDuplicateEffect
            | FindingId::RunawayLoop => FindingSeverity::Doubt,
            FindingId::FutileRetry | FindingId::OverTimeout | FindingId::GuardRedundant => FindingSeverity::Note,
        }
    }
}

/// A finding about one call of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// Its id.
    pub id: FindingId,
    /// Who caused it.
    pub by: FindingBy,
    /// The call.
    pub call: CallId,
    /// The number of effects of the intent, attempts or repetitions; 1 if there is nothing to count.
    pub count: u32,
}
