//! The canonical form of a breaker. Keys with their default value are left out.

use serde_json::{Map, Value, json};

use super::waiting::{decimal, formula};
use playproof_engine::playbook::{
    AfterMaxWait, BreakerRules, BreakerWindow, EvaluateOn, HalfOpen, OpenBoundary, OpenPeriod, OpenThresholds,
    ProbeThreshold, SlowCalls, TimeWindow,
};
use playproof_engine::time::Duration;

pub(super) fn canonical(rules: &BreakerRules) -> Value {
    let BreakerRules { window, min_calls, opens_at, evaluate_on, open, boundary, half_open } = rules;
    let OpenThresholds { failure_rate, failure_count, slow } = opens_at;
    let mut parts = Map::new();
    let mut say = |key: &str, value: Value| {
        parts.insert(key.to_owned(), value);
    };
    say("window", self::window(window));
    say("min_calls", json!(min_calls));
    if let Some(rate) = failure_rate {
        say("failure_rate", decimal(rate));
    }
    if let Some(count) = failure_count {
        say("failure_count", json!(count));
    }
    if let Some(SlowCalls { over, rate }) = slow {
        say("slow_call_ms", json!(over.as_millis()));
        say("slow_call_rate", decimal(rate));
    }
    if *evaluate_on != EvaluateOn::Failure {
        say("evaluate_on", json!(evaluate_on.as_str()));
    }
    match open {
        OpenPeriod::Fixed(period) => say("open_ms", json!(period.as_millis())),
        OpenPeriod::Growing(growing) => say("open_backoff", formula(growing)),
    }
    if *boundary != OpenBoundary::AtEnd {
        say("open_boundary", json!(boundary.as_str()));
    }
    if *half_open != (HalfOpen::SingleProbe { another_after: None }) {
        say("half_open", self::half_open(half_open));
    }
    Value::Object(parts)
}

fn window(window: &BreakerWindow) -> Value {
    match window {
        BreakerWindow::Calls(calls) => json!({ "calls": calls }),
        BreakerWindow::Time(TimeWindow { span, buckets, align }) => {
            json!({ "time_ms": span.as_millis(), "buckets": buckets, "align": align.as_str() })
        }
    }
}

fn half_open(half_open: &HalfOpen) -> Value {
    let mut parts = Map::new();
    let mut say = |key: &str, value: Value| {
        parts.insert(key.to_owned(), value);
    };
    say("mode", json!(half_open.word().as_str()));
    match half_open {
        HalfOpen::SingleProbe { another_after } => {
            if let Some(wait) = another_after {
                say("another_after_ms", json!(wait.as_millis()));
            }
        }
        HalfOpen::EvaluateRate { permits, max_wait, on_max_wait } => {
            say("permits", json!(permits));
            if let Some(max_wait) = max_wait.map(Duration::as_millis) {
                say("max_wait_ms", json!(max_wait));
            }
            if *on_max_wait != AfterMaxWait::Open {
                say("on_max_wait", json!(on_max_wait.as_str()));
            }
        }
        HalfOpen::Thresholds { capacity, decides } => {
            say("capacity", json!(capacity));
            match decides {
                ProbeThreshold::Successes(needed) => say("success_threshold", json!(needed)),
                ProbeThreshold::Failures(needed) => say("failure_threshold", json!(needed)),
            }
        }
    }
    Value::Object(parts)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{parse, rows};

    const RATE: &str = "min_calls: 5, failure_rate: 0.5, open_ms: 9";

    fn playbook(breakers: &str, verdict: &str) -> String {
        format!(
            "format: playbook/1\nname: test\nqueues: [people]\ndefault_queue: people\nbreakers: {breakers}\nverdicts:\n  \
             down: {{ means: m, effect: unknown, {verdict}then: {{ escalate_to_human: {{ queue: people }} }} }}\n\
             classify:\n- {{ rule: r, when: {{ kind: a }}, verdict: down }}\n"
        )
    }

    /// The canonical rows of a kind.
    fn rows_of(kind: &str, text: String) -> Vec<String> {
        let loaded = parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}"));
        let rows = rows(&loaded.playbook).into_iter();
        rows.filter(|row| row.name.starts_with(kind)).map(|row| format!("{} {}", row.name, row.text)).collect()
    }

    fn row(breaker: &str) -> String {
        let rows = rows_of("breaker", playbook(&format!("{{ default: {{ {breaker} }} }}"), ""));
        let [row] = &rows[..] else { panic!("{rows:?}") };
        row.replace('"', "")
    }

    /// The errors with what each underlines.
    fn errors(breakers: &str, verdict: &str) -> Vec<String> {
        errors_of(&playbook(breakers, verdict))
    }

    #[test]
    fn defaults_are_no_part_of_a_row_and_everything_else_is() {
        let plain = row("window: { calls: 5 }, failure_count: 3, open_ms: 9");
        assert_eq!(plain, "breaker default {failure_count:3,min_calls:1,open_ms:9,window:{calls:5}}");
        let written = "min_calls: 1, evaluate_on: failure, open_boundary: '>=', half_open: { mode: single_probe }";
        assert_eq!(row(&format!("window: {{ calls: 5 }}, failure_count: 3, open_ms: 9, {written}")), plain);
        let time = row(&format!("window: {{ time_ms: 100 }}, {RATE}"));
        assert_eq!(time, row(&format!("window: {{ time_ms: 100, buckets: 10, align: first_event }}, {RATE}")));
        let mut rows = vec![plain, time];
        for other in [
            "window: { calls: 6 }, failure_count: 3, open_ms: 9",
            "window: { time_ms: 101 }, failure_count: 3, open_ms: 9",
            "window: { time_ms: 100, buckets: 5 }, failure_count: 3, open_ms: 9",
            "window: { time_ms: 100, align: epoch }, failure_count: 3, open_ms: 9",
            "window: { calls: 5 }, failure_count: 4, open_ms: 9",
            "window: { calls: 5 }, failure_count: 5, open_ms: 9",
            "window: { calls: 5 }, failure_count: 3, open_ms: 10",
            "window: { calls: 5 }, failure_count: 3, min_calls: 2, open_ms: 9",
            "window: { calls: 5 }, failure_count: 3, min_calls: 2, failure_rate: 0.5, open_ms: 9",
            "window: { calls: 5 }, failure_count: 3, evaluate_on: any, open_ms: 9",
            "window: { calls: 5 }, failure_count: 3, open_boundary: '>', open_ms: 9",
            "window: { calls: 5 }, failure_count: 3, open_backoff: { kind: linear, base_ms: 9, increment_ms: 1 }",
            "window: { calls: 5 }, slow_call_ms: 7, slow_call_rate: 0.25, min_calls: 2, open_ms: 9",
        ] {
            rows.push(row(other));
        }
        for half_open in [
            "mode: single_probe, another_after_ms: 5",
            "mode: evaluate_rate, permits: 4",
            "mode: evaluate_rate, permits: 5",
            "mode: evaluate_rate, permits: 4, max_wait_ms: 5",
            "mode: evaluate_rate, permits: 4, max_wait_ms: 5, on_max_wait: closed",
            "mode: thresholds, capacity: 4, success_threshold: 3",
            "mode: thresholds, capacity: 4, success_threshold: 4",
            "mode: thresholds, capacity: 5, success_threshold: 3",
            "mode: thresholds, capacity: 4, failure_threshold: 3",
        ] {
            rows.push(row(&format!("window: {{ calls: 5 }}, {RATE}, half_open: {{ {half_open} }}")));
        }
        let written = rows.len();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), written, "two of them have one row");
    }

    #[test]
    fn a_verdict_that_marks_nothing_has_the_row_that_it_always_had() {
        let row = |verdict| rows_of("verdict down", playbook("{}", verdict));
        assert!(!row("")[0].contains("breaker"));
        assert_eq!(row(""), row("breaker: ignored, "));
        assert!(row("breaker: failure, ")[0].contains("\"breaker\":\"failure\""));
        assert_ne!(row("breaker: failure, "), row("breaker: success, "));
    }

    #[test]
    fn every_wrong_breaker_is_underlined() {
        let window = "window: { calls: 5 }";
        for (breaker, expected) in [
            (RATE.to_owned(), "missing_key: { min_calls: 5, failure_rate: 0.5, open_ms: 9 }"),
            (format!("window: {{}}, {RATE}"), "missing_key: {}"),
            (format!("window: {{ calls: 5, time_ms: 9 }}, {RATE}"), "several_chosen: calls|time_ms"),
            (format!("window: {{ calls: 0 }}, {RATE}"), "wrong_type: 0"),
            (format!("window: {{ calls: 10001 }}, {RATE}"), "wrong_type: 10001"),
            (format!("window: {{ time_ms: 0 }}, {RATE}"), "wrong_type: 0"),
            (format!("window: {{ time_ms: 5s }}, {RATE}"), "wrong_type: 5s"),
            (format!("window: {{ time_ms: 9 }}, {RATE}"), "short_buckets: 9"),
            (format!("window: {{ time_ms: 9, buckets: 12 }}, {RATE}"), "short_buckets: 12"),
            (format!("window: {{ time_ms: 9, buckets: 0 }}, {RATE}"), "wrong_type: 0"),
            (format!("window: {{ time_ms: 90, align: clock }}, {RATE}"), "wrong_type: clock"),
            (format!("window: {{ calls: 9, buckets: 3 }}, {RATE}"), "missing_key: buckets"),
            (format!("window: {{ calls: 9, align: epoch }}, {RATE}"), "missing_key: align"),
            (format!("{window}, open_ms: 9"), "missing_key: { window: { calls: 5 }, open_ms: 9 }"),
            (format!("{window}, min_calls: 5, open_ms: 9, failure_rate: 0"), "wrong_type: 0"),
            (format!("{window}, min_calls: 5, open_ms: 9, failure_rate: 1.1"), "wrong_type: 1.1"),
            (format!("{window}, min_calls: 5, open_ms: 9, failure_rate: 50%"), "wrong_type: 50%"),
            (format!("{window}, open_ms: 9, failure_rate: 0.5"), "missing_key: failure_rate"),
            (format!("{window}, open_ms: 9, failure_count: 6"), "above_window: 6"),
            (format!("{window}, open_ms: 9, failure_count: 0"), "wrong_type: 0"),
            (format!("{window}, open_ms: 9, failure_count: 1, slow_call_ms: 7"), "missing_key: slow_call_ms"),
            (format!("{window}, min_calls: 1, open_ms: 9, slow_call_rate: 0.5"), "missing_key: slow_call_rate"),
            (format!("{window}, {RATE}, min_call: 5"), "unknown_key: min_call"),
            (format!("{window}, min_calls: 0, failure_rate: 0.5, open_ms: 9"), "wrong_type: 0"),
            (format!("{window}, {RATE}, evaluate_on: success"), "wrong_type: success"),
            (format!("{window}, {RATE}, open_boundary: '<'"), "wrong_type: '<'"),
            (format!("{window}, failure_count: 1"), "missing_key: { window: { calls: 5 }, failure_count: 1 }"),
            (
                format!("{window}, {RATE}, open_backoff: {{ kind: constant, base_ms: 9 }}"),
                "several_chosen: open_ms|open_backoff",
            ),
            (
                format!("{window}, failure_count: 1, open_backoff: {{ kind: polly_v2, base_ms: 9 }}"),
                "drawn_open_period: polly_v2",
            ),
            (
                format!("{window}, failure_count: 1, open_backoff: {{ kind: constant, base_ms: 9, jitter: full }}"),
                "drawn_open_period: full",
            ),
            (
                format!("{window}, failure_count: 1, open_backoff: {{ kind: constant, base_ms: 9, counter: call }}"),
                "drawn_open_period: call",
            ),
        ] {
            assert_eq!(errors(&format!("{{ default: {{ {breaker} }} }}"), ""), [expected], "{breaker}");
        }
        assert_eq!(errors("[]", ""), ["wrong_type: []"]);
        assert_eq!(
            errors("{ 'a b': { window: { calls: 5 }, failure_count: 1, open_ms: 9 } }", ""),
            ["bad_name: 'a b'"]
        );
        assert_eq!(errors("{}", "breaker: open, "), ["wrong_type: open"]);
    }

    #[test]
    fn every_wrong_half_open_state_is_underlined() {
        let window = "window: { calls: 5 }";
        let half_open = |text: &str| format!("{window}, {RATE}, half_open: {{ {text} }}");
        for (breaker, expected) in [
            (half_open(""), "missing_key: {  }"),
            (half_open("mode: all"), "wrong_type: all"),
            (half_open("mode: single_probe, permits: 1"), "other_kind: permits"),
            (half_open("mode: evaluate_rate"), "missing_key: { mode: evaluate_rate }"),
            (half_open("mode: evaluate_rate, permits: 6"), "above_window: 6"),
            (half_open("mode: evaluate_rate, permits: 5, capacity: 1"), "other_kind: capacity"),
            (half_open("mode: evaluate_rate, permits: 5, on_max_wait: open"), "missing_key: on_max_wait"),
            (
                format!("{window}, failure_count: 1, open_ms: 9, half_open: {{ mode: evaluate_rate, permits: 1 }}"),
                "no_rate: evaluate_rate",
            ),
            (
                half_open("mode: thresholds, success_threshold: 1"),
                "missing_key: { mode: thresholds, success_threshold: 1 }",
            ),
            (half_open("mode: thresholds, capacity: 1"), "missing_key: { mode: thresholds, capacity: 1 }"),
            (half_open("mode: thresholds, capacity: 1, success_threshold: 2"), "above_capacity: 2"),
            (
                half_open("mode: thresholds, capacity: 3, success_threshold: 2, failure_threshold: 1"),
                "several_chosen: success_threshold|failure_threshold",
            ),
        ] {
            assert_eq!(errors(&format!("{{ default: {{ {breaker} }} }}"), ""), [expected], "{breaker}");
        }
    }
}
