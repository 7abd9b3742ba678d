//! What ends a call without another request to the upstream.

use crate::ids::{QueueId, ReasonId};

/// What ends a call without another request to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terminal {
    /// Hand the call to people.
    Escalate(QueueId),
    /// Give the call up.
    Deprecate(ReasonId),
}
