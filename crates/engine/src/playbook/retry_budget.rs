//! How many retries the calls of a server or of a dispatcher may have together. A model; `dispatch::retry_balance` keeps its
//! state.

use std::fmt;

use super::waiting::Ratio;
use crate::decimal;
use crate::ids::ServerId;
use crate::time::Duration;
use crate::words;

/// A budget that several calls share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBudget {
    /// How it fills and empties.
    pub kind: RetryBudgetKind,
    /// Which calls share it.
    pub per: BudgetScope,
    /// What an empty one does.
    pub on_empty: OnEmptyBudget,
}

impl RetryBudget {
    /// Whether each server has one of its own.
    pub fn is_of_server(&self) -> bool {
        self.per == BudgetScope::Server
    }

    /// The server whose calls share it; none: all calls do.
    pub fn scope(&self, server: ServerId) -> Option<ServerId> {
        self.is_of_server().then_some(server)
    }
}

/// How a retry budget fills and empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryBudgetKind {
    /// Tokens that retries take and successes give back (the retry quota of AWS).
    TokenBucket(TokenBucket),
    /// Tokens that failures take and successes add; retries are allowed above a part (gRPC A6).
    Throttle {
        /// The most tokens, with which it starts.
        max_tokens: Tokens,
        /// What a success adds.
        token_ratio: Tokens,
        /// Retries are allowed while there are more than this part of the most tokens.
        allow_above: Ratio,
    },
    /// Calls deposit, retries withdraw, and both are forgotten after a time (Finagle, tower).
    DepositWithdraw {
        /// How long a deposit or a withdrawal counts.
        ttl: Duration,
        /// Retries in each second that need no deposit.
        min_retries_per_sec: u32,
        /// Retries for each call.
        retry_percent: Ratio,
        /// How `retry_percent` becomes whole numbers.
        rounding: DepositRounding,
    },
    /// Retries at once as a part of the requests at once (Envoy).
    ConcurrencyRatio {
        /// The part, in percent.
        budget_percent: Ratio,
        /// Retries at once that are always allowed.
        min_retry_concurrency: u32,
    },
    /// The same, where the part is reached only above it (Failsafe).
    InflightShare {
        /// The part.
        max_share: Ratio,
        /// Retries at once that are always allowed.
        min_retry_concurrency: u32,
    },
}

/// A bucket of whole tokens; it starts full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// The most tokens.
    pub capacity: Tokens,
    /// What a retry takes, unless its verdict says otherwise.
    pub cost: Tokens,
    /// What the success of a first attempt adds.
    pub no_retry_credit: Tokens,
    /// What the success of a retry gives back.
    pub refund: Refund,
    /// What each success saves up; it becomes whole tokens as soon as they fit.
    pub success_credit: Tokens,
    /// What each second saves up, in the same way.
    pub refill_per_sec: Tokens,
}

words! {
    /// The kinds of retry budgets.
    pub enum RetryBudgetWord {
        TokenBucket = "token_bucket",
        Throttle = "throttle",
        DepositWithdraw = "deposit_withdraw",
        ConcurrencyRatio = "concurrency_ratio",
        InflightShare = "inflight_share",
    }
}

impl RetryBudgetKind {
    /// Whether something of it can be left: it has tokens, or deposits.
    pub const fn has_tokens(&self) -> bool {
        !matches!(self, RetryBudgetKind::ConcurrencyRatio { .. } | RetryBudgetKind::InflightShare { .. })
    }

    /// Its name.
    pub const fn word(&self) -> RetryBudgetWord {
        match self {
            RetryBudgetKind::TokenBucket(_) => RetryBudgetWord::TokenBucket,
            RetryBudgetKind::Throttle { .. } => RetryBudgetWord::Throttle,
            RetryBudgetKind::DepositWithdraw { .. } => RetryBudgetWord::DepositWithdraw,
            RetryBudgetKind::ConcurrencyRatio { .. } => RetryBudgetWord::ConcurrencyRatio,
            RetryBudgetKind::InflightShare { .. } => RetryBudgetWord::InflightShare,
        }
    }
}

words! {
    /// What the success of a retry gives back to a token bucket.
    pub enum Refund {
        /// What the last retry of the call took.
        LastCost = "last_cost",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// How `retry_percent` becomes whole deposits and withdrawals.
    pub enum DepositRounding {
        /// A call deposits 1000.
        Finagle = "finagle",
        /// A call deposits 1 up to 100 percent, and 1000 above: a part from a half to one acts as one.
        Tower = "tower",
    }
}

words! {
    /// Which calls share a retry budget.
    pub enum BudgetScope {
        /// Those of one server.
        Server = "server",
        /// All of the dispatcher.
        Dispatcher = "dispatcher",
    }
}

words! {
    /// What an empty retry budget does to a call.
    pub enum OnEmptyBudget {
        /// The call ends at once.
        Stop = "stop",
        /// The call waits as if it retried, and then ends (long polling in AWS SDKs).
        WaitAndStop = "wait_and_stop",
    }
}

/// Tokens of a retry budget, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Tokens(u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Tokens = Tokens(0);

    /// One token.
    pub const ONE: Tokens = Tokens::whole(1);

    const SCALE: u64 = 1_000;

    /// The decimal places of thousandths.
    const PLACES: u32 = 3;

    /// So many whole tokens.
    pub const fn whole(tokens: u32) -> Tokens {
        Tokens(tokens as u64 * Tokens::SCALE)
    }

    /// So many thousandths of a token.
    pub const fn from_thousandths(thousandths: u64) -> Tokens {
        Tokens(thousandths)
    }

    /// The tokens in thousandths.
    pub const fn thousandths(self) -> u64 {
        self.0
    }

    /// The sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_add(other.0))
    }

    /// The difference; zero if `other` is more.
    #[must_use]
    pub const fn minus(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_sub(other.0))
    }

    /// Without the part of a token.
    #[must_use]
    pub const fn floor(self) -> Tokens {
        Tokens(self.0 - self.0 % Tokens::SCALE)
    }

    /// Parses a decimal number with at most three places.
    pub fn parse(text: &str) -> Option<Tokens> {
        decimal::parse(text, Tokens::PLACES).map(Tokens)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0, Tokens::PLACES)
    }
}
