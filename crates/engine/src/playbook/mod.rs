//! Playbooks in which nothing is invalid: what a rule can ask, what a verdict leads to, what is known of tools.

mod facts;
mod model;
pub mod pattern;
#[cfg(test)]
pub(crate) mod sample;
mod when;

pub use facts::{Access, DEFAULT_TIMEOUT, ToolFacts, ToolRow, Tools, Unsaid};
pub use model::{
    After, AfterRefresh, Compensation, Final, Guard, Limits, OnUnsafe, Playbook, Refresh, Retry, Reversal, Rule, Study,
    UNCLASSIFIED, Verdict,
};
pub use when::{About, Ask, Between, Form, MOST_ATTEMPTS, MOST_STATUS, MessageOp, MessageTest, Test, When};
