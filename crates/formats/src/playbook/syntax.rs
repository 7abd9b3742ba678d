//! The keys, words and bounds of the playbook format, in one place for reading it and for its JSON Schema.
//! Reads nothing.

use playproof_engine::playbook::{
    Access, AfterRefresh, FamilyWord, GuardMode, HalfOpenWord, LimitKind, Ratio, RetryBudgetWord, ServerDelayMode,
};
use playproof_engine::time::Duration;

/// The JSON Schema of a playbook, for editors. Reading checks more.
pub const SCHEMA: &str = include_str!("../../../../schemas/playbook.json");

/// The JSON Schema of a tool facts file.
pub const TOOLS_SCHEMA: &str = include_str!("../../../../schemas/tools.json");

pub(super) const FORMAT: &str = "playbook/1";
pub(super) const TOOLS_FORMAT: &str = "tools/1";

pub(super) const PLAYBOOK: &[&str] = &[
    "format",
    "name",
    "verdicts",
    "classify",
    "otherwise",
    "default_queue",
    "queues",
    "tools",
    "registry",
    "actions",
    "graph",
    "dedupe",
    "budget",
    "permits",
    "breakers",
    "retry_budgets",
    "server_delay_sources",
    "limits",
    "study",
];
/// The parts that have one row each.
pub(super) const PARTS: [&str; 5] = ["registry", "dedupe", "budget", "permits", "server_delay_sources"];
pub(super) const DEDUPE: &[&str] =
    &["window_ms", "in_flight", "takeover_ms", "min_key_len", "max_key_len", "most_keys"];
pub(super) const BUDGET: &[&str] = &["tool_calls", "counts"];
pub(super) const PERMITS: &[&str] = &["max_in_flight", "queue"];
pub(super) const VERDICT: &[&str] = &["means", "effect", "breaker", "then", "tell"];
pub(super) const TELL: &[&str] = &["class", "boundary", "transient", "details"];
pub(super) const RULE: &[&str] = &["rule", "when", "verdict"];
pub(super) const MESSAGE: &[&str] = &["contains", "starts_with", "equals", "matches", "clause", "case"];
pub(super) const RETRY: &[&str] = &[
    "backoff_ms",
    "backoff",
    "max_retries",
    "after",
    "max_wait_ms",
    "server_delay",
    "retry_budget",
    "cost",
    "uncounted",
    "on_unsafe",
];
pub(super) const HEADER: &[&str] = &["name", "equals", "prefix", "range", "present", "invert"];
/// The tests of a header, of which one is written.
pub(super) const HEADER_OPS: [&str; 4] = ["equals", "prefix", "range", "present"];
pub(super) const SOURCE: &[&str] = &["header", "format", "float"];
pub(super) const BACKOFF: &[&str] = &[
    "kind",
    "base_ms",
    "increment_ms",
    "multiplier",
    "coef_ms",
    "exponent",
    "from",
    "max_ms",
    "cap",
    "jitter",
    "floor_ms",
    "round",
    "counter",
];
pub(super) const PROPORTIONAL: &[&str] = &["low", "high"];
pub(super) const ABSOLUTE: &[&str] = &["ms"];
pub(super) const ADDITIVE: &[&str] = &["ms", "ms_per_retry"];
pub(super) const SERVER_DELAY: &[&str] =
    &["mode", "window_ms", "spread", "max_ms", "over_max", "zero", "invalid", "negative", "multiple"];
pub(super) const REFRESH: &[&str] = &["then", "max_refreshes", "on_unsafe"];
pub(super) const ESCALATE: &[&str] = &["queue"];
pub(super) const REVERSAL: &[&str] = &["reason", "on_refused"];
pub(super) const DEPRECATE: &[&str] = &["reason", "replan"];
pub(super) const TOOL: &[&str] =
    &["access", "idempotent", "repeatable", "timeout_ms", "server", "keys", "key", "upstream_retries", "schema"];
pub(super) const ACTION: &[&str] = &["tool", "steps", "inputs"];
pub(super) const STEP: &[&str] = &["id", "tool", "idempotent"];
/// The most steps of an action.
pub(super) const MOST_STEPS: usize = 100;
pub(super) const GRAPH: &[&str] = &["entry", "next", "others", "stuck"];
pub(super) const STUCK: &[&str] = &["after", "queue"];
/// In a row of the graph: every action.
pub(super) const ANY_ACTION: &str = "*";
/// The most refusals in a row.
pub(super) const MOST_REFUSALS: u64 = 1_000;
pub(super) const REGISTRY: &[&str] = &["unknown_tools"];
pub(super) const BREAKER: &[&str] = &[
    "window",
    "min_calls",
    "failure_rate",
    "failure_count",
    "slow_call_ms",
    "slow_call_rate",
    "evaluate_on",
    "open_ms",
    "open_backoff",
    "open_boundary",
    "half_open",
];
pub(super) const BREAKER_WINDOW: &[&str] = &["calls", "time_ms", "buckets", "align"];
pub(super) const HALF_OPEN: &[&str] = &[
    "mode",
    "another_after_ms",
    "permits",
    "max_wait_ms",
    "on_max_wait",
    "capacity",
    "success_threshold",
    "failure_threshold",
];
pub(super) const RETRY_BUDGET: &[&str] = &[
    "kind",
    "capacity",
    "cost",
    "no_retry_credit",
    "refund",
    "success_credit",
    "refill_per_sec",
    "max_tokens",
    "token_ratio",
    "allow_above",
    "ttl_ms",
    "min_retries_per_sec",
    "retry_percent",
    "rounding",
    "budget_percent",
    "max_share",
    "min_retry_concurrency",
    "per",
    "on_empty",
];
pub(super) const TOOLS_FILE: &[&str] = &["format", "tools"];
pub(super) const LIMITS: &[&str] = &LimitKind::WORDS;
pub(super) const STUDY: &[&str] = &[
    "why",
    "reclassify",
    "retry_guard",
    "token_guard",
    "refused_reversal",
    "futile_refresh",
    "stale_evidence",
    "final_error",
    "dedupe",
    "cache",
    "permit",
];

pub(super) const UNKNOWN_TOOLS: [(&str, bool); 2] = [("allow", false), ("refuse", true)];
/// What a key is worth upstream: whether it is ignored.
pub(crate) const KEYS: [(&str, bool); 2] = [("honoured", false), ("ignored", true)];
/// Whether a call needs a key.
pub(crate) const KEY: [(&str, bool); 2] = [("optional", false), ("required", true)];
pub(super) const ACCESS: [(&str, Access); 2] = [("read", Access::Read), ("write", Access::Write)];
/// The short form of `server_delay`.
pub(super) const AFTER: [(&str, ServerDelayMode); 2] =
    [("backoff", ServerDelayMode::Ignore), ("retry_after", ServerDelayMode::AtLeast)];
pub(super) const ROUND: [(&str, bool); 2] = [("none", false), ("whole_ms", true)];
pub(super) const ZERO: [(&str, bool); 2] = [("use", false), ("ignore", true)];
/// What a fault of a wish does.
pub(super) const FAULT: [(&str, bool); 2] = [("ignore", false), ("stop", true)];
/// The keys of a backoff that only some families have.
pub(super) const FAMILY_KEYS: [(&str, &[FamilyWord]); 5] = [
    ("increment_ms", &[FamilyWord::Linear]),
    ("multiplier", &[FamilyWord::Exponential, FamilyWord::Decorrelated]),
    ("coef_ms", &[FamilyWord::Polynomial]),
    ("exponent", &[FamilyWord::Polynomial]),
    ("from", &[FamilyWord::Decorrelated]),
];
/// The keys of `half_open` that only some modes have.
pub(super) const HALF_OPEN_KEYS: [(&str, &[HalfOpenWord]); 7] = [
    ("another_after_ms", &[HalfOpenWord::SingleProbe]),
    ("permits", &[HalfOpenWord::EvaluateRate]),
    ("max_wait_ms", &[HalfOpenWord::EvaluateRate]),
    ("on_max_wait", &[HalfOpenWord::EvaluateRate]),
    ("capacity", &[HalfOpenWord::Thresholds]),
    ("success_threshold", &[HalfOpenWord::Thresholds]),
    ("failure_threshold", &[HalfOpenWord::Thresholds]),
];
/// The keys of a retry budget that only some kinds have.
pub(super) const BUDGET_KEYS: [(&str, &[RetryBudgetWord]); 16] = [
    ("capacity", &[RetryBudgetWord::TokenBucket]),
    ("cost", &[RetryBudgetWord::TokenBucket]),
    ("no_retry_credit", &[RetryBudgetWord::TokenBucket]),
    ("refund", &[RetryBudgetWord::TokenBucket]),
    ("success_credit", &[RetryBudgetWord::TokenBucket]),
    ("refill_per_sec", &[RetryBudgetWord::TokenBucket]),
    ("max_tokens", &[RetryBudgetWord::Throttle]),
    ("token_ratio", &[RetryBudgetWord::Throttle]),
    ("allow_above", &[RetryBudgetWord::Throttle]),
    ("ttl_ms", &[RetryBudgetWord::DepositWithdraw]),
    ("min_retries_per_sec", &[RetryBudgetWord::DepositWithdraw]),
    ("retry_percent", &[RetryBudgetWord::DepositWithdraw]),
    ("rounding", &[RetryBudgetWord::DepositWithdraw]),
    ("budget_percent", &[RetryBudgetWord::ConcurrencyRatio]),
    ("max_share", &[RetryBudgetWord::InflightShare]),
    ("min_retry_concurrency", &[RetryBudgetWord::ConcurrencyRatio, RetryBudgetWord::InflightShare]),
];
pub(super) const AFTER_REFRESH: [(&str, AfterRefresh); 2] =
    [("retry", AfterRefresh::Retry), ("abort", AfterRefresh::Abort)];
pub(super) const PRESENCE: [(&str, bool); 2] = [("present", true), ("absent", false)];
pub(super) const CASE_SENSITIVE: [(&str, bool); 2] = [("sensitive", true), ("insensitive", false)];
pub(super) const OFF: [(&str, GuardMode); 1] = [("off", GuardMode::Off)];

/// The default of `max_attempts`.
pub(super) const DEFAULT_MAX_ATTEMPTS: u32 = 6;
/// The bounds of the factor by which waits grow.
pub(super) const MULTIPLIER: (Ratio, Ratio) = (Ratio::ONE, Ratio(1_000 * Ratio::SCALE));
/// The bounds of the factors of a proportional jitter.
pub(super) const JITTER_FACTOR: (Ratio, Ratio) = (Ratio(0), Ratio(10 * Ratio::SCALE));
/// The bounds of the part that jitter adds to the upstream's wish.
pub(super) const SPREAD: (Ratio, Ratio) = (Ratio(0), Ratio::ONE);
/// The bounds of a part that opens a breaker: a part of 0 would open it at its first answer.
pub(super) const OPEN_RATE: (Ratio, Ratio) = (Ratio(1), Ratio::ONE);
/// The bounds of a part.
pub(super) const PART: (Ratio, Ratio) = (Ratio(0), Ratio::ONE);
/// The bounds of a part in percent.
pub(super) const PERCENT: (Ratio, Ratio) = (Ratio(0), Ratio(100 * Ratio::SCALE));
/// The bounds of the retries that a call pays for.
pub(super) const RETRIES_PER_CALL: (Ratio, Ratio) = (Ratio(0), Ratio(1_000 * Ratio::SCALE));
/// The most answers that a breaker keeps one by one; also the most probes and the most retries at once.
pub(super) const MOST_CALLS: u64 = 10_000;
/// The most buckets of a time window.
pub(super) const MOST_BUCKETS: u64 = 1_000;
/// The buckets of a time window that does not say how many.
pub(super) const DEFAULT_BUCKETS: u32 = 10;
/// The most tokens of a retry budget.
pub(super) const MOST_TOKENS: u32 = 1_000_000;
/// The part of its tokens above which a throttle allows retries, unless it says otherwise.
pub(super) const DEFAULT_ALLOW_ABOVE: Ratio = Ratio(Ratio::SCALE / 2);
/// The shortest time in which deposits are forgotten: the reserve counts whole seconds.
pub(super) const SHORTEST_TTL: Duration = Duration::from_millis(1_000);
/// The largest power of a polynomial.
pub(super) const MOST_EXPONENT: u64 = 10;
/// The most headers that say how long to wait.
pub(super) const MOST_SOURCES: usize = 100;
/// The most details that a verdict tells.
pub(super) const MOST_DETAILS: usize = 20;
/// The longest list of waits.
pub(super) const MOST_WAITS: usize = 100;
/// The most verdicts, rules or queues; the fingerprint compares every pair of rules.
pub(super) const MOST_NAMES: usize = 1_000;
/// The most rows of a tool facts file.
pub(super) const MOST_TOOLS: usize = 20_000;
/// The bounds of the length of a key in bytes, and their defaults.
pub(super) const LONGEST_KEY: u64 = 65_535;
pub(super) const SHORTEST_KEY: u32 = 1;
pub(super) const DEFAULT_LONGEST_KEY: u32 = 255;
/// The most keys that are kept.
pub(super) const MOST_KEYS: u64 = 10_000_000;
pub(super) const DEFAULT_MOST_KEYS: u32 = 100_000;
/// The most tool calls, attempts or waiting calls.
pub(super) const MOST_SHARED: u64 = 1_000_000;
pub(super) const DEFAULT_QUEUE: u32 = 10_000;
/// The longest wait or timeout, a day: a longer one is probably in the wrong unit.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(86_400_000);
/// The longest deadline, a week.
pub(super) const LONGEST_DEADLINE: Duration = Duration::from_millis(7 * 86_400_000);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::arguments;
    use crate::schema_check;
    use playproof_engine::event::{Boundary, CompensationWord, EffectClaim, FailureClass};
    use playproof_engine::playbook::{
        AfterMaxWait, BreakerMark, BucketAlign, BudgetScope, BudgetUnit, Cap, ConditionKind, ConditionSyntax, Counter,
        DecorrelatedFrom, DelayFormat, DepositRounding, ElapsedRule, EvaluateOn, InFlightKey, JitterWord,
        MOST_ATTEMPTS, OnEmptyBudget, OpenBoundary, Others, OverMaxWord, Refund, ServerDelayWord, Tell,
    };
    use playproof_engine::time::Duration;

    fn read(schema: &str) -> Value {
        serde_json::from_str(schema).unwrap()
    }

    fn words<T>(table: &[(&str, T)]) -> Value {
        table.iter().map(|(word, _)| *word).collect()
    }

    fn one_or_several(item: &Value) -> Value {
        json!([item, { "type": "array", "minItems": 1, "items": item }])
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema = read(SCHEMA);
        let ends = ["escalate_to_human", "deprecate_tool_call", "issue_reversal"];
        let jitter: Vec<&str> = JitterWord::WORDS
            .into_iter()
            .filter(|word| ["proportional", "absolute", "additive"].contains(word))
            .collect();
        let jitter_at = "/$defs/backoff/properties/jitter/anyOf/1";
        let breaker = "/properties/breakers/additionalProperties";
        let lists: [(&str, &[&str]); 39] = [
            ("", PLAYBOOK),
            ("/$defs/verdict", VERDICT),
            ("/$defs/tell", TELL),
            ("/$defs/rule", RULE),
            ("/$defs/when", &ConditionKind::WORDS),
            ("/$defs/message", MESSAGE),
            ("/$defs/header", HEADER),
            ("/$defs/compensation", &CompensationWord::WORDS),
            ("/$defs/instead", &ends),
            ("/$defs/end", &ends[..2]),
            ("/$defs/retry_with_backoff", RETRY),
            ("/$defs/backoff", BACKOFF),
            (jitter_at, &jitter),
            (&format!("{jitter_at}/properties/proportional"), PROPORTIONAL),
            (&format!("{jitter_at}/properties/absolute"), ABSOLUTE),
            (&format!("{jitter_at}/properties/additive"), ADDITIVE),
            ("/$defs/server_delay", SERVER_DELAY),
            ("/$defs/server_delay/properties/over_max/anyOf/1", &ends[..1]),
            ("/$defs/refresh_evidence", REFRESH),
            ("/$defs/escalate_to_human", ESCALATE),
            ("/$defs/issue_reversal", REVERSAL),
            ("/$defs/deprecate_tool_call", DEPRECATE),
            ("/$defs/tool", TOOL),
            ("/$defs/arguments", arguments::KEYS),
            (breaker, BREAKER),
            (&format!("{breaker}/properties/window"), BREAKER_WINDOW),
            (&format!("{breaker}/properties/half_open"), HALF_OPEN),
            ("/properties/retry_budgets/additionalProperties", RETRY_BUDGET),
            ("/properties/registry", REGISTRY),
            ("/properties/actions/additionalProperties", ACTION),
            ("/properties/actions/additionalProperties/properties/steps/items", STEP),
            ("/properties/graph", GRAPH),
            ("/properties/graph/properties/stuck", STUCK),
            ("/properties/dedupe", DEDUPE),
            ("/properties/budget", BUDGET),
            ("/properties/permits", PERMITS),
            ("/properties/server_delay_sources/items", SOURCE),
            ("/properties/limits", LIMITS),
            ("/properties/study", STUDY),
        ];
        schema_check::has_keys(&schema, &lists, &[]);
        // `properties` is also a keyword of the schema of arguments.
        assert_eq!(schema_check::key_lists(&schema), lists.len() + 1, "a list of keys that this test does not know");
        let tools = read(TOOLS_SCHEMA);
        schema_check::has_keys(
            &tools,
            &[("", TOOLS_FILE), ("/$defs/tool", TOOL), ("/$defs/arguments", arguments::KEYS)],
            &[],
        );
        assert_eq!(schema_check::key_lists(&tools), 4);
        for shared in ["tool", "arguments"] {
            assert_eq!(tools["$defs"][shared], schema["$defs"][shared]);
        }
    }

    #[test]
    fn the_schema_has_the_words_and_bounds_of_the_reader() {
        let schema = read(SCHEMA);
        let held = |at: &str, what: Value| assert_eq!(schema.pointer(at), Some(&what), "{at}");
        let bounds = |at: &str, least: u64, most: u64| {
            held(&format!("{at}/minimum"), json!(least));
            held(&format!("{at}/maximum"), json!(most));
        };
        let millis = |at: &str, longest: Duration| bounds(at, 0, longest.as_millis());
        held("/properties/format/const", json!(FORMAT));
        held("/properties/actions/additionalProperties/properties/steps/maxItems", json!(MOST_STEPS));
        held("/properties/graph/properties/others/enum", json!(Others::WORDS));
        held("/properties/graph/properties/next/additionalProperties/anyOf/0/const", json!(ANY_ACTION));
        bounds("/properties/graph/properties/stuck/properties/after", 1, MOST_REFUSALS);
        assert_eq!(read(TOOLS_SCHEMA)["properties"]["format"]["const"], TOOLS_FORMAT);
        held("/$defs/verdict/properties/effect/enum", words(&EffectClaim::TABLE));
        held("/$defs/tell/properties/class/enum", json!(FailureClass::WORDS));
        held("/$defs/tell/properties/boundary/enum", json!(Boundary::WORDS));
        held("/$defs/tell/properties/details/maxProperties", json!(MOST_DETAILS));
        held("/$defs/tell/properties/details/propertyNames/not/enum", json!(Tell::COMPUTED));
        held("/$defs/message/properties/case/enum", words(&CASE_SENSITIVE));
        held("/$defs/tool/properties/access/enum", words(&ACCESS));
        held("/$defs/retry_with_backoff/properties/after/enum", words(&AFTER));
        held("/$defs/refresh_evidence/properties/then/enum", words(&AFTER_REFRESH));
        bounds("/$defs/refresh_evidence/properties/max_refreshes", 1, MOST_ATTEMPTS);
        bounds("/$defs/retry_with_backoff/properties/max_retries", 1, MOST_ATTEMPTS);
        millis("/$defs/retry_with_backoff/properties/max_wait_ms", LONGEST_WAIT);
        millis("/$defs/retry_with_backoff/properties/backoff_ms/items", LONGEST_WAIT);
        held("/$defs/retry_with_backoff/properties/backoff_ms/maxItems", json!(MOST_WAITS));
        for key in BACKOFF.iter().filter(|key| key.ends_with("_ms")) {
            millis(&format!("/$defs/backoff/properties/{key}"), LONGEST_WAIT);
        }
        held("/$defs/backoff/properties/kind/enum", json!(FamilyWord::WORDS));
        held("/$defs/backoff/properties/from/enum", json!(DecorrelatedFrom::WORDS));
        held("/$defs/backoff/properties/cap/enum", json!(Cap::WORDS));
        held("/$defs/backoff/properties/jitter/anyOf/0/enum", json!(&JitterWord::WORDS[..4]));
        held("/$defs/backoff/properties/round/enum", words(&ROUND));
        held("/$defs/backoff/properties/counter/enum", json!(Counter::WORDS));
        bounds("/$defs/backoff/properties/multiplier", 1, 1_000);
        bounds("/$defs/backoff/properties/exponent", 1, MOST_EXPONENT);
        held("/$defs/server_delay/properties/mode/enum", json!(ServerDelayWord::WORDS));
        held("/$defs/server_delay/properties/over_max/anyOf/0/enum", json!(OverMaxWord::WORDS));
        held("/$defs/server_delay/properties/zero/enum", words(&ZERO));
        for fault in ["invalid", "negative", "multiple"] {
            held(&format!("/$defs/server_delay/properties/{fault}/enum"), words(&FAULT));
        }
        held("/properties/server_delay_sources/maxItems", json!(MOST_SOURCES));
        held("/properties/server_delay_sources/items/properties/format/enum", json!(DelayFormat::WORDS));
        millis("/$defs/server_delay/properties/window_ms", LONGEST_WAIT);
        millis("/$defs/server_delay/properties/max_ms", LONGEST_WAIT);
        held("/properties/limits/properties/elapsed/enum", json!(ElapsedRule::WORDS));
        bounds("/properties/limits/properties/call_timeout_ms", 1, LONGEST_DEADLINE.as_millis());
        millis("/$defs/tool/properties/timeout_ms", LONGEST_WAIT);
        bounds("/$defs/tool/properties/upstream_retries", 0, MOST_ATTEMPTS);
        held("/properties/registry/properties/unknown_tools/enum", words(&UNKNOWN_TOOLS));
        held("/$defs/tool/properties/keys/enum", words(&KEYS));
        held("/$defs/tool/properties/key/enum", words(&KEY));
        millis("/properties/dedupe/properties/window_ms", LONGEST_DEADLINE);
        held("/properties/dedupe/properties/in_flight/enum", words(&InFlightKey::TABLE));
        bounds("/properties/dedupe/properties/takeover_ms", 1, LONGEST_DEADLINE.as_millis());
        bounds("/properties/dedupe/properties/min_key_len", 1, LONGEST_KEY);
        bounds("/properties/dedupe/properties/max_key_len", 1, LONGEST_KEY);
        bounds("/properties/dedupe/properties/most_keys", 1, MOST_KEYS);
        bounds("/properties/budget/properties/tool_calls", 0, MOST_SHARED);
        held("/properties/budget/properties/counts/enum", words(&BudgetUnit::TABLE));
        bounds("/properties/permits/properties/max_in_flight", 1, MOST_SHARED);
        bounds("/properties/permits/properties/queue", 0, MOST_SHARED);
        bounds("/properties/limits/properties/max_attempts", 1, MOST_ATTEMPTS);
        millis("/properties/limits/properties/deadline_ms", LONGEST_DEADLINE);
        for guard in ["retry_guard", "token_guard"] {
            // Editors that read YAML 1.1 take `off` for `false`.
            held(&format!("/properties/study/properties/{guard}/enum"), json!([OFF[0].0, false]));
        }
        let default = format!("by default {DEFAULT_MAX_ATTEMPTS}.");
        let most = schema.pointer("/properties/limits/properties/max_attempts/description").unwrap();
        assert!(most.as_str().unwrap().ends_with(&default), "{most}");
    }

    #[test]
    fn the_schema_has_the_words_and_bounds_of_breakers_and_retry_budgets() {
        let schema = read(SCHEMA);
        let held = |at: &str, what: Value| assert_eq!(schema.pointer(at), Some(&what), "{at}");
        let from_to = |at: &str, least: Value, most: Value| {
            held(&format!("{at}/minimum"), least);
            held(&format!("{at}/maximum"), most);
        };
        let bounds = |at: &str, least: u64, most: u64| from_to(at, json!(least), json!(most));
        held("/$defs/verdict/properties/breaker/enum", json!(BreakerMark::WORDS));
        let breaker = |key: &str| format!("/properties/breakers/additionalProperties/properties/{key}");
        for rate in ["failure_rate", "slow_call_rate"] {
            from_to(&breaker(rate), json!(0.000_001), json!(1)); // OPEN_RATE
        }
        for count in ["min_calls", "failure_count", "window/properties/calls"] {
            bounds(&breaker(count), 1, MOST_CALLS);
        }
        for count in ["permits", "capacity", "success_threshold", "failure_threshold"] {
            bounds(&breaker(&format!("half_open/properties/{count}")), 1, MOST_CALLS);
        }
        for span in ["slow_call_ms", "half_open/properties/another_after_ms", "half_open/properties/max_wait_ms"] {
            bounds(&breaker(span), 0, LONGEST_WAIT.as_millis());
        }
        bounds(&breaker("open_ms"), 0, LONGEST_DEADLINE.as_millis());
        bounds(&breaker("window/properties/time_ms"), 1, LONGEST_WAIT.as_millis());
        bounds(&breaker("window/properties/buckets"), 1, MOST_BUCKETS);
        held(&breaker("window/properties/align/enum"), json!(BucketAlign::WORDS));
        held(&breaker("evaluate_on/enum"), json!(EvaluateOn::WORDS));
        held(&breaker("open_boundary/enum"), json!(OpenBoundary::WORDS));
        held(&breaker("half_open/properties/mode/enum"), json!(HalfOpenWord::WORDS));
        held(&breaker("half_open/properties/on_max_wait/enum"), json!(AfterMaxWait::WORDS));
        let budget = |key: &str| format!("/properties/retry_budgets/additionalProperties/properties/{key}");
        let tokens =
            ["capacity", "cost", "no_retry_credit", "success_credit", "refill_per_sec", "max_tokens", "token_ratio"];
        for key in tokens {
            bounds(&budget(key), 0, MOST_TOKENS.into());
        }
        bounds("/$defs/retry_with_backoff/properties/cost", 0, MOST_TOKENS.into());
        for (key, most) in [("allow_above", 1), ("max_share", 1), ("budget_percent", 100), ("retry_percent", 1_000)] {
            bounds(&budget(key), 0, most);
        }
        for key in ["min_retries_per_sec", "min_retry_concurrency"] {
            bounds(&budget(key), 0, MOST_CALLS);
        }
        bounds(&budget("ttl_ms"), SHORTEST_TTL.as_millis(), LONGEST_WAIT.as_millis());
        held(&budget("kind/enum"), json!(RetryBudgetWord::WORDS));
        held(&budget("refund/enum"), json!(Refund::WORDS));
        held(&budget("rounding/enum"), json!(DepositRounding::WORDS));
        held(&budget("per/enum"), json!(BudgetScope::WORDS));
        held(&budget("on_empty/enum"), json!(OnEmptyBudget::WORDS));
    }

    #[test]
    fn the_schema_takes_each_condition_in_the_form_in_which_it_is_read() {
        let schema = read(SCHEMA);
        let text = json!({ "type": "string", "minLength": 1 });
        for ask in ConditionKind::ALL {
            let condition = &schema["$defs"]["when"]["properties"][ask.as_str()];
            let (key, wanted) = match ask.form() {
                ConditionSyntax::Texts | ConditionSyntax::Globs => ("anyOf", one_or_several(&text)),
                ConditionSyntax::Ranges(first, last) => {
                    let number = json!({ "type": "integer", "minimum": first, "maximum": last });
                    let range = json!({ "type": "string", "pattern": "^\\s*\\d+\\s*-\\s*\\d+\\s*$" });
                    ("anyOf", one_or_several(&json!({ "anyOf": [number, range] })))
                }
                ConditionSyntax::Messages => ("$ref", json!("#/$defs/message")),
                ConditionSyntax::Access => ("enum", words(&ACCESS)),
                ConditionSyntax::Headers => ("anyOf", one_or_several(&json!({ "$ref": "#/$defs/header" }))),
                ConditionSyntax::Bool | ConditionSyntax::Said => ("type", json!("boolean")),
                ConditionSyntax::Presence => ("enum", words(&PRESENCE)),
                ConditionSyntax::Absence => ("const", json!("absent")),
            };
            assert_eq!(condition[key], wanted, "{ask:?}");
            assert!(key == "$ref" || condition["description"].is_string(), "{ask:?}");
        }
    }

    #[test]
    fn every_reference_of_a_schema_is_defined() {
        for text in [SCHEMA, TOOLS_SCHEMA] {
            let schema = read(text);
            for reference in text.split("#/$defs/").skip(1) {
                let name = reference.split('"').next().unwrap_or_default();
                assert!(schema["$defs"].get(name).is_some(), "{name}");
            }
        }
    }
}
