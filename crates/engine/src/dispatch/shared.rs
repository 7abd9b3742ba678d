//! What the calls of one machine share: keys, what runs have used, permits. Only a playbook that shares something has it.

use std::collections::BTreeMap;

use super::breaker::Breaker;
use super::gate::Gate;
use super::keys::Keys;
use super::permits::Permits;
use super::retry_balance::RetryBalance;
use super::transactions::Transactions;
use crate::ids::{CallId, RetryBudgetId, RunId, ServerId};
use crate::time::Instant;

/// The shared state of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Shared {
    pub keys: Keys,
    pub budget: Budget,
    pub permits: Permits,
    /// Only of servers with a breaker.
    pub servers: BTreeMap<ServerId, Server>,
    /// Only under a graph.
    pub gate: Gate,
    /// Only where calls have to do with transactions.
    pub transactions: Transactions,
    /// What retry budgets have left, by server or for all of them.
    pub balances: BTreeMap<RetryBalanceKey, SharedBalance>,
    /// Keyed calls that have just ended, and whose followers do not know it yet. Empty between inputs.
    pub ended: Vec<CallId>,
}

/// What the calls of one server share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Server {
    pub breaker: Breaker,
    /// The call whose answer opened the breaker last.
    pub opened_by: Option<CallId>,
}

/// A retry budget of a server, or of all.
pub type RetryBalanceKey = (RetryBudgetId, Option<ServerId>);

/// What a retry budget has left, and who took the last of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SharedBalance {
    pub balance: RetryBalance,
    /// The last retry that took from it; of a throttle, the failure after which it allowed no retry.
    pub spent_by: Option<SpentBy>,
}

/// A call that spent a retry budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpentBy {
    pub call: CallId,
    pub at: Instant,
}

/// The tool calls that each run has used or reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    used: BTreeMap<RunId, Used>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Used {
    tool_calls: u32,
    /// The call that took the last one.
    by: Option<CallId>,
}

impl Budget {
    /// Reserves one tool call of `limit` for a call.
    ///
    /// # Errors
    /// None is left; the call that took the last one.
    pub(super) fn reserve(&mut self, run: RunId, call: CallId, limit: u32) -> Result<(), Option<CallId>> {
        let used = self.used.entry(run).or_default();
        if used.tool_calls >= limit {
            return Err(used.by);
        }
        *used = Used { tool_calls: used.tool_calls + 1, by: Some(call) };
        Ok(())
    }

    /// Gives back a reserved tool call that was not sent.
    pub(super) fn give_back(&mut self, run: RunId) {
        if let Some(used) = self.used.get_mut(&run) {
            used.tool_calls = used.tool_calls.saturating_sub(1);
        }
    }

    /// Whether a run has used something.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.used.contains_key(&run)
    }

    /// Forgets a run that makes no more calls.
    pub(super) fn forget(&mut self, run: RunId) {
        self.used.remove(&run);
    }
}
