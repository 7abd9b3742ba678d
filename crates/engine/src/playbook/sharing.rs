//! What the calls of one dispatcher share: idempotency keys, a budget of tool calls, permits. Decides nothing.

use crate::time::Duration;
use crate::words;

/// What a playbook lets the calls of one dispatcher share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Calls with the same idempotency key are one request.
    pub dedupe: Option<Dedupe>,
    /// The tool calls of a run.
    pub budget: Option<ToolCallBudget>,
    /// Attempts that are out at the same time.
    pub permits: Option<PermitLimits>,
}

impl Sharing {
    /// Nothing is shared.
    pub const NONE: Sharing = Sharing { dedupe: None, budget: None, permits: None };

    /// Whether anything is shared.
    pub const fn is_any(&self) -> bool {
        self.dedupe.is_some() || self.budget.is_some() || self.permits.is_some()
    }
}

/// `dedupe`: a key is registered before any wait, and bound to its tool and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedupe {
    /// How long the result of a key is kept after its call ended; zero: it is not kept.
    pub window: Duration,
    /// What becomes of a call whose key is in flight.
    pub in_flight: InFlightKey,
    /// After how long the first follower of a leader that has not ended takes over, where sending the request again can do
    /// no harm; none: only when it is lost.
    pub takeover: Option<Duration>,
    /// The shortest key, in bytes.
    pub min_key_len: u32,
    /// The longest key, in bytes.
    pub max_key_len: u32,
    /// The most keys that are kept, from 1; the oldest finished ones are forgotten first.
    pub most_keys: u32,
}

impl Dedupe {
    /// The rules for requests that are done once in a transaction: what they did is known until its commit.
    pub const ONCE: Dedupe = Dedupe {
        window: Duration::from_micros(u64::MAX),
        in_flight: InFlightKey::Join,
        takeover: None,
        min_key_len: 0,
        max_key_len: u32::MAX,
        most_keys: u32::MAX,
    };
}

words! {
    /// What becomes of a call whose key is in flight.
    pub enum InFlightKey {
        /// It waits for that call, and ends as it does.
        Join = "join",
        /// It is refused.
        Refuse = "refuse",
    }
}

/// `budget`: the tool calls of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCallBudget {
    /// How many.
    pub tool_calls: u32,
    /// What counts as one.
    pub counts: BudgetUnit,
}

words! {
    /// What takes one unit of a budget of tool calls.
    pub enum BudgetUnit {
        /// Each attempt, retries too.
        Attempts = "attempts",
        /// Each call, whatever its attempts.
        Calls = "calls",
    }
}

/// `permits`: at most so many attempts are out at the same time; the others wait in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitLimits {
    /// Attempts that are out, from 1.
    pub max_in_flight: u32,
    /// Calls that may wait for their first attempt; a further one is refused.
    pub queue: u32,
}
