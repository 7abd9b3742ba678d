//! Playbooks in which nothing is invalid: what a rule can ask, what a verdict leads to, what is known of tools.

mod facts;
mod model;
pub mod pattern;
#[cfg(test)]
pub(crate) mod sample;
mod when;

pub use facts::{Access, DEFAULT_TIMEOUT, OmittedFacts, ToolFacts, ToolRow, Tools};
pub use model::{
    AfterRefresh, Compensation, GuardMode, Limits, Playbook, Refresh, Retry, RetryTiming, Reversal, Rule, Study,
    Terminal, UNCLASSIFIED, UnsafePolicy, Verdict,
};
pub use when::{
    ConditionKind, ConditionSubject, ConditionSyntax, ConditionTest, MOST_ATTEMPTS, MOST_STATUS, MessageOp,
    MessageTest, NumberRange, When,
};
