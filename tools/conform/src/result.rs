//! The results of cases, and their counts.

use super::case::CaseKind;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseResult {
    /// Every step shows what is expected.
    Passed,
    /// A step shows something else.
    Failed,
    /// A playbook cannot say it, or the engine does not show it.
    Unsupported,
}

impl CaseResult {
    /// Its word in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            CaseResult::Passed => "passed",
            CaseResult::Failed => "failed",
            CaseResult::Unsupported => "unsupported",
        }
    }
}

/// A case and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOutcome {
    /// The system whose behaviour the case pins.
    pub suite: String,
    /// Its name.
    pub id: String,
    /// What it is about.
    pub kind: CaseKind,
    /// How it ended.
    pub result: CaseResult,
    /// Why it is not passed.
    pub why: Option<String>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseCounts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that are not supported.
    pub unsupported: u64,
}

impl CaseCounts {
    /// The counts of these results.
    pub fn of(results: impl IntoIterator<Item = CaseResult>) -> CaseCounts {
        let mut counts = CaseCounts::default();
        for result in results {
            match result {
                CaseResult::Passed => counts.passed += 1,
                CaseResult::Failed => counts.failed += 1,
                CaseResult::Unsupported => counts.unsupported += 1,
            }
        }
        counts
    }

    /// All cases.
    pub const fn all(self) -> u64 {
        self.passed + self.failed + self.unsupported
    }

    /// Whether at least so many percent passed; what is not supported did not.
    pub const fn reach(self, permille: u64) -> bool {
        self.passed * 1_000 >= permille * self.all()
    }
}
