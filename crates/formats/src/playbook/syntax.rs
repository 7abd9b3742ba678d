//! The keys, words and bounds of the playbook format, in one place for reading it and for its JSON Schema.
//! Reads nothing.

use playproof_engine::playbook::{Access, AfterRefresh, GuardMode, RetryTiming};
use playproof_engine::time::Duration;

pub(super) const FORMAT: &str = "playbook/1";
pub(super) const TOOLS_FORMAT: &str = "tools/1";

pub(super) const PLAYBOOK: &[&str] =
    &["format", "name", "verdicts", "classify", "otherwise", "default_queue", "queues", "tools", "limits", "study"];
pub(super) const VERDICT: &[&str] = &["means", "effect", "then"];
pub(super) const RULE: &[&str] = &["rule", "when", "verdict"];
pub(super) const MESSAGE: &[&str] = &["contains", "starts_with", "equals", "matches", "case"];
pub(super) const RETRY: &[&str] = &["backoff_ms", "max_retries", "after", "max_wait_ms", "on_unsafe"];
pub(super) const REFRESH: &[&str] = &["then", "max_refreshes", "on_unsafe"];
pub(super) const ESCALATE: &[&str] = &["queue"];
pub(super) const REVERSAL: &[&str] = &["reason", "on_refused"];
pub(super) const DEPRECATE: &[&str] = &["reason", "replan"];
pub(super) const TOOL: &[&str] = &["access", "idempotent", "repeatable", "timeout_ms"];
pub(super) const TOOLS_FILE: &[&str] = &["format", "tools"];
pub(super) const LIMITS: &[&str] = &["max_attempts", "deadline_ms"];
pub(super) const STUDY: &[&str] = &[
    "why",
    "reclassify",
    "retry_guard",
    "token_guard",
    "refused_reversal",
    "futile_refresh",
    "stale_evidence",
    "final_error",
];

pub(super) const ACCESS: [(&str, Access); 2] = [("read", Access::Read), ("write", Access::Write)];
pub(super) const AFTER: [(&str, RetryTiming); 2] =
    [("backoff", RetryTiming::Backoff), ("retry_after", RetryTiming::RetryAfter)];
pub(super) const AFTER_REFRESH: [(&str, AfterRefresh); 2] =
    [("retry", AfterRefresh::Retry), ("abort", AfterRefresh::Abort)];
pub(super) const PRESENCE: [(&str, bool); 2] = [("present", true), ("absent", false)];
pub(super) const CASE_SENSITIVE: [(&str, bool); 2] = [("sensitive", true), ("insensitive", false)];
pub(super) const OFF: [(&str, GuardMode); 1] = [("off", GuardMode::Off)];

/// Attempts of a call where `limits` does not say: the first and five more.
pub(super) const DEFAULT_MAX_ATTEMPTS: u32 = 6;
/// A longer list of waits is a mistake.
pub(super) const MOST_WAITS: usize = 100;
/// Verdicts, rules, queues; the fingerprint compares every pair of rules.
pub(super) const MOST_NAMES: usize = 1_000;
/// Rows of a tool facts file.
pub(super) const MOST_TOOLS: usize = 20_000;
/// A day: a longer wait or timeout is a wrong unit.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(86_400_000);
/// A week.
pub(super) const LONGEST_DEADLINE: Duration = Duration::from_millis(7 * 86_400_000);
