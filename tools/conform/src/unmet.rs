//! Why a case is not passed.

use super::result::CaseResult;

/// Why a case is not passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmet {
    /// `Failed` or `Unsupported`.
    pub result: CaseResult,
    /// For people.
    pub why: String,
}

impl Unmet {
    /// The engine does something else.
    pub fn failed(why: impl Into<String>) -> Unmet {
        Unmet { result: CaseResult::Failed, why: why.into() }
    }

    /// A playbook cannot say it, or the engine does not show it.
    pub fn unsupported(why: impl Into<String>) -> Unmet {
        Unmet { result: CaseResult::Unsupported, why: why.into() }
    }
}
