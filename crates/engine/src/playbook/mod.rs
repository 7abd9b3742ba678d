//! Validated playbooks: the conditions of rules, the compensations of verdicts, tool facts.

mod breaker;
pub mod clause;
mod facts;
mod graph;
mod guess;
mod header;
mod model;
pub mod pattern;
mod request;
mod retry_budget;
mod same_if;
#[cfg(test)]
pub(crate) mod sample;
mod sharing;
mod tell;
mod terminal;
mod waiting;
mod when;

pub use breaker::{
    AfterMaxWait, BreakerMark, BreakerRules, BreakerWindow, BucketAlign, EvaluateOn, HalfOpen, HalfOpenWord,
    OpenBoundary, OpenPeriod, OpenThresholds, ProbeThreshold, SlowCalls, TimeWindow,
};
pub use facts::{Access, DEFAULT_TIMEOUT, OmittedFacts, ToolFacts, ToolRow, Tools};
pub use graph::{Action, Graph, Others, Step, Stuck};
pub use guess::seems_to_read;
pub use header::{HeaderOp, HeaderTest, joined};
pub use model::{
    AfterRefresh, Compensation, DEFAULT_BREAKER, GuardMode, LimitKind, LimitValue, Limits, Playbook, Refresh, Retry,
    Reversal, Rule, Study, UNCLASSIFIED, UnsafePolicy, Verdict,
};
pub use request::ArgumentSchema;
pub use retry_budget::{
    BudgetScope, DepositRounding, OnEmptyBudget, Refund, RetryBudget, RetryBudgetKind, RetryBudgetWord, TokenBucket,
    Tokens,
};
pub use same_if::SameIf;
pub use sharing::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, Sharing, ToolCallBudget};
pub use tell::Tell;
pub use terminal::Terminal;
pub use waiting::{
    Backoff, Cap, Counter, DecorrelatedFrom, DelayFormat, DelaySource, ElapsedRule, Family, FamilyWord, Formula,
    Jitter, JitterWord, OverMax, OverMaxWord, Ratio, ServerDelay, ServerDelayMode, ServerDelayWord,
};
pub use when::{
    ConditionKind, ConditionSubject, ConditionSyntax, ConditionTest, MOST_ATTEMPTS, MOST_STATUS, MessageOp,
    MessageTest, NumberRange, When,
};
