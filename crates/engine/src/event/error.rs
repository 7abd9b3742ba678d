//! What came with a failed answer.

use crate::time::Duration;

/// What came with a failed answer, as the adapter reported it.
#[derive(Clone, Debug, Default, Eq, Hash)]
#[cfg_attr(not(test), derive(PartialEq))]
#[cfg_attr(test, expect(clippy::derived_hash_with_manual_eq, reason = "equal all the same, and counted"))]
pub struct ErrorFacts {
    /// The adapter's name for what went wrong.
    pub kind: Option<Box<str>>,
    /// For people.
    pub message: Option<Box<str>>,
    /// The transport's status number.
    pub status: Option<u16>,
    /// The upstream's own error name.
    pub code: Option<Box<str>>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
}

#[cfg(test)]
impl PartialEq for ErrorFacts {
    fn eq(&self, other: &ErrorFacts) -> bool {
        crate::ids::comparisons::count();
        let all = |error: &ErrorFacts| {
            let ErrorFacts { kind, message, status, code, retry_after } = error.clone();
            (kind, message, status, code, retry_after)
        };
        all(self) == all(other)
    }
}
