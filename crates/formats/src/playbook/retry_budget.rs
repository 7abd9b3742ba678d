//! The canonical form of a retry budget, and of what a retry says of it. Keys with their default value are left out.

use serde_json::{Map, Value, json};

use super::waiting::decimal;
use playproof_engine::playbook::{
    BudgetScope, DepositRounding, OnEmptyBudget, Playbook, Ratio, Refund, Retry, RetryBudget, RetryBudgetKind,
    TokenBucket, Tokens,
};

pub(super) fn canonical(budget: &RetryBudget) -> Value {
    let RetryBudget { kind, per, on_empty } = budget;
    let mut parts = self::kind(kind);
    parts.insert("kind".into(), json!(kind.word().as_str()));
    if *per != BudgetScope::Server {
        parts.insert("per".into(), json!(per.as_str()));
    }
    if *on_empty != OnEmptyBudget::Stop {
        parts.insert("on_empty".into(), json!(on_empty.as_str()));
    }
    Value::Object(parts)
}

fn kind(kind: &RetryBudgetKind) -> Map<String, Value> {
    let mut parts = Map::new();
    let mut say = |key: &str, value: Value| {
        parts.insert(key.to_owned(), value);
    };
    match kind {
        RetryBudgetKind::TokenBucket(bucket) => {
            let TokenBucket { capacity, cost, no_retry_credit, refund, success_credit, refill_per_sec } = bucket;
            say("capacity", decimal(capacity));
            say("cost", decimal(cost));
            let credits = [
                ("no_retry_credit", no_retry_credit),
                ("success_credit", success_credit),
                ("refill_per_sec", refill_per_sec),
            ];
            for (key, credit) in credits.into_iter().filter(|(_, credit)| **credit != Tokens::ZERO) {
                say(key, decimal(credit));
            }
            if *refund != Refund::LastCost {
                say("refund", json!(refund.as_str()));
            }
        }
        RetryBudgetKind::Throttle { max_tokens, token_ratio, allow_above } => {
            say("max_tokens", decimal(max_tokens));
            say("token_ratio", decimal(token_ratio));
            if *allow_above != Ratio(Ratio::SCALE / 2) {
                say("allow_above", decimal(allow_above));
            }
        }
        RetryBudgetKind::DepositWithdraw { ttl, min_retries_per_sec, retry_percent, rounding } => {
            say("ttl_ms", json!(ttl.as_millis()));
            say("min_retries_per_sec", json!(min_retries_per_sec));
            say("retry_percent", decimal(retry_percent));
            if *rounding != DepositRounding::Finagle {
                say("rounding", json!(rounding.as_str()));
            }
        }
        RetryBudgetKind::ConcurrencyRatio { budget_percent, min_retry_concurrency } => {
            say("budget_percent", decimal(budget_percent));
            say("min_retry_concurrency", json!(min_retry_concurrency));
        }
        RetryBudgetKind::InflightShare { max_share, min_retry_concurrency } => {
            say("max_share", decimal(max_share));
            say("min_retry_concurrency", json!(min_retry_concurrency));
        }
    }
    parts
}

/// The keys of a retry that are about its budget, where they are written.
pub(super) fn payment(playbook: &Playbook, retry: &Retry) -> Map<String, Value> {
    let mut parts = Map::new();
    if let Some((name, _)) = retry.retry_budget.and_then(|id| playbook.retry_budgets.get(id.index())) {
        parts.insert("retry_budget".into(), json!(&**name));
    }
    if let Some(cost) = retry.cost {
        parts.insert("cost".into(), decimal(cost));
    }
    if retry.uncounted {
        parts.insert("uncounted".into(), json!(true));
    }
    parts
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{parse, rows};

    const TOKENS: &str = "kind: token_bucket, capacity: 500, cost: 14";

    fn playbook(budgets: &str, retry: &str) -> String {
        format!(
            "format: playbook/1\nname: test\nqueues: [people]\ndefault_queue: people\nretry_budgets: {budgets}\nverdicts:\n  \
             again: {{ means: m, effect: unknown, then: {{ retry_with_backoff: {{ backoff_ms: [5]{retry} }} }} }}\n\
             classify:\n- {{ rule: r, when: {{ kind: a }}, verdict: again }}\n"
        )
    }

    /// The canonical row of this name.
    fn row(name: &str, text: String) -> String {
        let loaded = parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}"));
        let row = rows(&loaded.playbook).into_iter().find(|row| row.name == name).unwrap();
        row.text.replace('"', "")
    }

    fn budget_row(budget: &str) -> String {
        row("retry_budget b", playbook(&format!("{{ b: {{ {budget} }} }}"), ""))
    }

    /// The errors with what each underlines.
    fn errors(budgets: &str, retry: &str) -> Vec<String> {
        errors_of(&playbook(budgets, retry))
    }

    #[test]
    fn defaults_are_no_part_of_a_row_and_everything_else_is() {
        let plain = budget_row(TOKENS);
        assert_eq!(plain, "{capacity:500,cost:14,kind:token_bucket}");
        let written = "no_retry_credit: 0, refund: last_cost, success_credit: 0.0, refill_per_sec: 0, per: server, \
                       on_empty: stop";
        assert_eq!(budget_row(&format!("{TOKENS}, {written}")), plain);
        let throttle = budget_row("kind: throttle, max_tokens: 10, token_ratio: 0.1");
        assert_eq!(throttle, "{kind:throttle,max_tokens:10,token_ratio:0.1}");
        assert_eq!(throttle, budget_row("kind: throttle, max_tokens: 10, token_ratio: 0.1, allow_above: 0.5"));
        let deposits = "kind: deposit_withdraw, ttl_ms: 10000, min_retries_per_sec: 10, retry_percent: 0.2";
        assert_eq!(budget_row(deposits), budget_row(&format!("{deposits}, rounding: finagle")));
        let mut rows = vec![plain, throttle, budget_row(deposits)];
        for other in [
            "kind: token_bucket, capacity: 501, cost: 14",
            "kind: token_bucket, capacity: 500, cost: 14.001",
            &format!("{TOKENS}, no_retry_credit: 1"),
            &format!("{TOKENS}, refund: none"),
            &format!("{TOKENS}, success_credit: 1"),
            &format!("{TOKENS}, refill_per_sec: 1"),
            &format!("{TOKENS}, per: dispatcher"),
            &format!("{TOKENS}, on_empty: wait_and_stop"),
            "kind: throttle, max_tokens: 11, token_ratio: 0.1",
            "kind: throttle, max_tokens: 10, token_ratio: 0.2",
            "kind: throttle, max_tokens: 10, token_ratio: 0.1, allow_above: 0.6",
            "kind: deposit_withdraw, ttl_ms: 10001, min_retries_per_sec: 10, retry_percent: 0.2",
            "kind: deposit_withdraw, ttl_ms: 10000, min_retries_per_sec: 11, retry_percent: 0.2",
            "kind: deposit_withdraw, ttl_ms: 10000, min_retries_per_sec: 10, retry_percent: 0.3",
            &format!("{deposits}, rounding: tower"),
            "kind: concurrency_ratio, budget_percent: 20, min_retry_concurrency: 3",
            "kind: concurrency_ratio, budget_percent: 20.5, min_retry_concurrency: 3",
            "kind: concurrency_ratio, budget_percent: 20, min_retry_concurrency: 4",
            "kind: inflight_share, max_share: 0.2, min_retry_concurrency: 3",
            "kind: inflight_share, max_share: 0.3, min_retry_concurrency: 3",
        ] {
            rows.push(budget_row(other));
        }
        let written = rows.len();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), written, "two of them have one row");
    }

    #[test]
    fn a_retry_without_a_budget_has_the_row_that_it_always_had() {
        let verdict = |retry| row("verdict again", playbook(&format!("{{ b: {{ {TOKENS} }} }}"), retry));
        let plain = verdict("");
        assert!(!["retry_budget", "cost", "uncounted"].iter().any(|key| plain.contains(key)), "{plain}");
        assert_eq!(verdict(", uncounted: false"), plain);
        assert!(verdict(", retry_budget: b").contains("retry_budget:b"));
        assert!(verdict(", retry_budget: b, cost: 2.5").contains("cost:2.5,"));
        assert!(verdict(", uncounted: true").contains("uncounted:true"));
    }

    #[test]
    fn every_wrong_budget_is_underlined() {
        for (budget, expected) in [
            ("capacity: 1", "missing_key: { capacity: 1 }"),
            ("kind: bucket", "wrong_type: bucket"),
            ("kind: token_bucket, capacity: 1", "missing_key: { kind: token_bucket, capacity: 1 }"),
            ("kind: token_bucket, capacity: -1, cost: 1", "wrong_type: -1"),
            ("kind: token_bucket, capacity: 1000000.1, cost: 1", "wrong_type: 1000000.1"),
            ("kind: token_bucket, capacity: 1, cost: 0.0001", "wrong_type: 0.0001"),
            ("kind: token_bucket, capacity: 1, cost: .nan", "wrong_type: .nan"),
            ("kind: token_bucket, capacity: 1, cost: 1, refund: all", "wrong_type: all"),
            ("kind: token_bucket, capacity: 1, cost: 1, max_tokens: 1", "other_kind: max_tokens"),
            ("kind: token_bucket, capacity: 1, cost: 1, per: call", "wrong_type: call"),
            ("kind: token_bucket, capacity: 1, cost: 1, on_empty: wait", "wrong_type: wait"),
            ("kind: token_bucket, capacity: 1, cost: 1, refil_per_sec: 1", "unknown_key: refil_per_sec"),
            ("kind: throttle, max_tokens: 1", "missing_key: { kind: throttle, max_tokens: 1 }"),
            ("kind: throttle, max_tokens: 1, token_ratio: 1, allow_above: 1.5", "wrong_type: 1.5"),
            ("kind: throttle, max_tokens: 1, token_ratio: 1, cost: 1", "other_kind: cost"),
            ("kind: deposit_withdraw, ttl_ms: 999, min_retries_per_sec: 1, retry_percent: 0.2", "wrong_type: 999"),
            ("kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 1, retry_percent: 1001", "wrong_type: 1001"),
            ("kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 0.5, retry_percent: 1", "wrong_type: 0.5"),
            (
                "kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 1, retry_percent: 1, rounding: up",
                "wrong_type: up",
            ),
            ("kind: concurrency_ratio, budget_percent: 101, min_retry_concurrency: 1", "wrong_type: 101"),
            (
                "kind: concurrency_ratio, budget_percent: 20",
                "missing_key: { kind: concurrency_ratio, budget_percent: 20 }",
            ),
            ("kind: inflight_share, max_share: 20, min_retry_concurrency: 1", "wrong_type: 20"),
            ("kind: inflight_share, max_share: 0.2, min_retry_concurrency: many", "wrong_type: many"),
        ] {
            assert_eq!(errors(&format!("{{ b: {{ {budget} }} }}"), ""), [expected], "{budget}");
        }
        assert_eq!(errors("[]", ""), ["wrong_type: []"]);
        assert_eq!(errors(&format!("{{ a/b: {{ {TOKENS} }} }}"), ""), ["bad_name: a/b"]);
    }

    #[test]
    fn every_wrong_payment_is_underlined() {
        let budgets = format!("{{ b: {{ {TOKENS} }}, t: {{ kind: throttle, max_tokens: 1, token_ratio: 1 }} }}");
        for (retry, expected) in [
            (", retry_budget: c", "dangling_name: c"),
            (", cost: 1", "missing_key: cost"),
            (", retry_budget: b, cost: many", "wrong_type: many"),
            (", retry_budget: t, cost: 1", "other_kind: cost"),
            (", uncounted: 1", "wrong_type: 1"),
        ] {
            assert_eq!(errors(&budgets, retry), [expected], "{retry}");
        }
        assert_eq!(errors("{}", ", retry_budget: b"), ["dangling_name: b"]);
    }
}
