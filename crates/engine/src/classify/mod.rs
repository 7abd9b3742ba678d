//! From a failure to its verdict.

mod condition;
mod http_date;
mod memo;
mod reading;
mod rules;
mod server;
mod signal;
#[cfg(test)]
mod tests;

pub use condition::{ConditionEvaluation, RuleEvaluation};
pub use memo::{FailedAttempt, KnownFailures, Memo};
pub use reading::{
    PROCESSED, keyed_for, knows_key, reads_as_at_work, reads_as_denial, reads_as_outage, reads_as_processed,
    reads_as_refusal, reads_as_reused_key, reads_as_stale, reads_as_unanswered,
};
pub use rules::{AskedTraits, Classification, Classifier};
pub use server::{asked_wait, server_says};
pub use signal::Signal;
