//! What came with a failed answer.

use crate::time::Duration;

/// What came with a failed answer, as the adapter reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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
