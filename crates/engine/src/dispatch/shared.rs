//! What the calls of one machine share: keys, what runs have used, permits. Only a playbook that shares something has it.

use std::collections::BTreeMap;

use super::keys::Keys;
use super::permits::Permits;
use crate::ids::{CallId, RunId};

/// The shared state of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Shared {
    pub keys: Keys,
    pub budget: Budget,
    pub permits: Permits,
    /// Keyed calls that have just ended, and whose followers do not know it yet. Empty between inputs.
    pub ended: Vec<CallId>,
}

/// The tool calls that each run has used or reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    used: BTreeMap<RunId, u32>,
}

impl Budget {
    /// Reserves one tool call of `limit`; false: none is left.
    pub(super) fn reserve(&mut self, run: RunId, limit: u32) -> bool {
        let used = self.used.entry(run).or_default();
        let has_left = *used < limit;
        *used += u32::from(has_left);
        has_left
    }

    /// Gives back a reserved tool call that was not sent.
    pub(super) fn give_back(&mut self, run: RunId) {
        if let Some(used) = self.used.get_mut(&run) {
            *used = used.saturating_sub(1);
        }
    }

    /// Forgets a run that makes no more calls.
    pub(super) fn forget(&mut self, run: RunId) {
        self.used.remove(&run);
    }
}
