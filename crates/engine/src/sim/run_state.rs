//! What a session keeps of a run.

use super::gate_account::GateAccount;
use super::pace::StartedCalls;

/// What a session keeps of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// The number of its call that was fed last.
    pub last: u64,
    pub pace: StartedCalls,
    pub gate: GateAccount,
}
