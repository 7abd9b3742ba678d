//! The canonical form of how a retry waits. What the list of waits and its short form of a server delay can say is written
//! so; keys with their default value are left out of the longer form.

use std::fmt;

use serde_json::{Map, Value, json};

use super::ends::end;
use playproof_engine::event::WishFaults;
use playproof_engine::playbook::{
    Backoff, Cap, Counter, DecorrelatedFrom, DelaySource, Family, Formula, Jitter, OverMax, Playbook, Retry,
    ServerDelay, ServerDelayMode,
};
use playproof_engine::time::Duration;

/// The keys of a retry that say how it waits.
pub(super) fn parts(playbook: &Playbook, retry: &Retry) -> Map<String, Value> {
    let mut parts = Map::new();
    match &retry.backoff {
        Backoff::Listed(list) => {
            let list: Vec<u64> = list.iter().map(|wait| wait.as_millis()).collect();
            parts.insert("backoff_ms".into(), json!(list));
        }
        Backoff::Formula(own) => {
            parts.insert("backoff".into(), formula(own));
        }
    }
    match short_form(&retry.server_delay) {
        Some(after) => {
            parts.insert("after".into(), json!(after));
            parts.insert("max_wait_ms".into(), json!(retry.server_delay.max.map(Duration::as_millis)));
        }
        None => {
            parts.insert("server_delay".into(), server_delay(playbook, &retry.server_delay));
        }
    }
    parts
}

/// The value of `after`, if the short form says it all.
fn short_form(delay: &ServerDelay) -> Option<&'static str> {
    let ServerDelay { mode, max: _, over_max, ignores_zero, stops_at } = delay;
    let is_plain = *over_max == OverMax::Stop && !ignores_zero && *stops_at == WishFaults::default();
    let word = match mode {
        ServerDelayMode::Ignore => "backoff",
        ServerDelayMode::AtLeast => "retry_after",
        _ => return None,
    };
    Some(word).filter(|_| is_plain)
}

pub(super) fn formula(formula: &Formula) -> Value {
    let Formula { family, max, cap, jitter, floor, whole_ms, counter } = formula;
    let mut parts = Map::new();
    let mut say = |key: &str, value: Value| {
        parts.insert(key.to_owned(), value);
    };
    say("kind", json!(family.word().as_str()));
    say("base_ms", json!(family.base().as_millis()));
    match *family {
        Family::Constant { .. } | Family::Fibonacci { .. } | Family::PollyV2 { .. } => {}
        Family::Linear { increment, .. } => say("increment_ms", json!(increment.as_millis())),
        Family::Exponential { multiplier, .. } => say("multiplier", decimal(multiplier)),
        Family::Polynomial { coef, exponent, .. } => {
            say("coef_ms", json!(coef.as_millis()));
            say("exponent", json!(exponent));
        }
        Family::Decorrelated { multiplier, from, .. } => {
            say("multiplier", decimal(multiplier));
            if from != DecorrelatedFrom::Previous {
                say("from", json!(from.as_str()));
            }
        }
    }
    if let Some(max) = max {
        say("max_ms", json!(max.as_millis()));
    }
    if *cap != Cap::BeforeJitter {
        say("cap", json!(cap.as_str()));
    }
    if *jitter != Jitter::None {
        say("jitter", self::jitter(jitter));
    }
    if *floor != Duration::ZERO {
        say("floor_ms", json!(floor.as_millis()));
    }
    if *whole_ms {
        say("round", json!("whole_ms"));
    }
    if *counter != Counter::Verdict {
        say("counter", json!(counter.as_str()));
    }
    Value::Object(parts)
}

fn jitter(jitter: &Jitter) -> Value {
    let parameters = match jitter {
        Jitter::None | Jitter::Full | Jitter::Equal | Jitter::Modulo => return json!(jitter.word().as_str()),
        Jitter::Proportional { low, high } => json!({ "low": decimal(*low), "high": decimal(*high) }),
        Jitter::Absolute { by } => json!({ "ms": by.as_millis() }),
        Jitter::Additive { by, per_retry } => {
            json!({ "ms": by.as_millis(), "ms_per_retry": per_retry.as_millis() })
        }
    };
    json!({ jitter.word().as_str(): parameters })
}

fn server_delay(playbook: &Playbook, delay: &ServerDelay) -> Value {
    let ServerDelay { mode, max, over_max, ignores_zero, stops_at } = delay;
    let mut parts = Map::new();
    parts.insert("mode".into(), json!(mode.word().as_str()));
    match mode {
        ServerDelayMode::Window { by } => {
            parts.insert("window_ms".into(), json!(by.as_millis()));
        }
        ServerDelayMode::LowerBoundJitter { spread } => {
            parts.insert("spread".into(), decimal(*spread));
        }
        ServerDelayMode::Ignore | ServerDelayMode::Exact | ServerDelayMode::AtMost | ServerDelayMode::AtLeast => {}
    }
    if let Some(max) = max {
        parts.insert("max_ms".into(), json!(max.as_millis()));
    }
    let over_max = match over_max {
        OverMax::Stop => None,
        OverMax::Cap => Some(json!("cap")),
        OverMax::Discard => Some(json!("discard")),
        OverMax::End(terminal) => Some(end(playbook, *terminal)),
    };
    if let Some(over_max) = over_max {
        parts.insert("over_max".into(), over_max);
    }
    if *ignores_zero {
        parts.insert("zero".into(), json!("ignore"));
    }
    let WishFaults { invalid, negative, multiple } = *stops_at;
    for (fault, stops) in [("invalid", invalid), ("negative", negative), ("multiple", multiple)] {
        if stops {
            parts.insert(fault.into(), json!("stop"));
        }
    }
    Value::Object(parts)
}

/// The headers that say how long to wait; their order matters.
pub(super) fn sources(sources: &[DelaySource]) -> Value {
    let source = |source: &DelaySource| {
        let DelaySource { header, format, float } = source;
        let mut parts = json!({ "header": header, "format": format.as_str() });
        if *float {
            parts["float"] = json!(true);
        }
        parts
    };
    sources.iter().map(source).collect()
}

/// A decimal number as a JSON number: its places are within what a float keeps.
pub(super) fn decimal(number: impl fmt::Display) -> Value {
    serde_json::from_str(&number.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{Loaded, parse, rows};

    fn playbook(retry: &str, limits: &str) -> String {
        format!(
            "format: playbook/1\nname: test\nqueues: [people]\ndefault_queue: people\nverdicts:\n  again: {{ means: m, \
             effect: unknown, then: {{ retry_with_backoff: {{ {retry} }} }} }}\nclassify:\n- {{ rule: r, when: {{ kind: a }}, \
             verdict: again }}\nlimits: {{ max_attempts: 4{limits} }}\n"
        )
    }

    fn load(retry: &str, limits: &str) -> Loaded {
        parse(Source::whole("t", playbook(retry, limits))).unwrap_or_else(|report| panic!("{report}"))
    }

    /// The canonical row of the verdict.
    fn row(retry: &str) -> String {
        let rows = rows(&load(retry, "").playbook);
        let row = rows.into_iter().find(|row| row.name == "verdict again").unwrap();
        let (_, retry) = row.text.split_once("\"retry_with_backoff\":").unwrap();
        retry.trim_end_matches('}').replace('"', "")
    }

    /// The errors with what each underlines.
    fn errors(retry: &str, limits: &str) -> Vec<String> {
        errors_of(&playbook(retry, limits))
    }

    #[test]
    fn what_the_short_form_can_say_has_the_row_that_it_always_had() {
        let short =
            "{after:backoff,backoff_ms:[200],max_retries:1,max_wait_ms:null,on_unsafe:{escalate_to_human:people";
        assert_eq!(row("backoff_ms: [200]"), short);
        assert_eq!(row("backoff_ms: [200], server_delay: { mode: ignore }"), short);
        let told = row("backoff_ms: [200], after: retry_after, max_wait_ms: 5");
        assert_eq!(told, row("backoff_ms: [200], server_delay: { mode: at_least, max_ms: 5, over_max: stop }"));
        assert!(told.starts_with("{after:retry_after,backoff_ms:[200],max_retries:1,max_wait_ms:5,"), "{told}");
    }

    #[test]
    fn defaults_are_no_part_of_a_row_and_everything_else_is() {
        let plain = row("backoff: { kind: exponential, base_ms: 100 }");
        assert!(plain.starts_with("{after:backoff,backoff:{base_ms:100,kind:exponential,multiplier:2},max_retries:3,"));
        let written = "multiplier: 2.0, cap: before_jitter, jitter: none, floor_ms: 0, round: none, counter: verdict";
        assert_eq!(row(&format!("backoff: {{ kind: exponential, base_ms: 100, {written} }}")), plain);
        let mut rows = vec![plain];
        for other in [
            "kind: constant, base_ms: 100",
            "kind: linear, base_ms: 100, increment_ms: 5",
            "kind: exponential, base_ms: 100, multiplier: 1.5",
            "kind: polynomial, base_ms: 100, coef_ms: 5, exponent: 2",
            "kind: fibonacci, base_ms: 100",
            "kind: decorrelated, base_ms: 100",
            "kind: decorrelated, base_ms: 100, from: base",
            "kind: polly_v2, base_ms: 100",
            "kind: exponential, base_ms: 100, max_ms: 900",
            "kind: exponential, base_ms: 100, max_ms: 900, cap: after_jitter",
            "kind: exponential, base_ms: 100, jitter: full",
            "kind: exponential, base_ms: 100, jitter: equal",
            "kind: exponential, base_ms: 100, jitter: modulo",
            "kind: exponential, base_ms: 100, jitter: { proportional: { low: 0.75, high: 1 } }",
            "kind: exponential, base_ms: 100, jitter: { absolute: { ms: 5 } }",
            "kind: exponential, base_ms: 100, jitter: { additive: { ms: 5, ms_per_retry: 1 } }",
            "kind: exponential, base_ms: 100, floor_ms: 50",
            "kind: exponential, base_ms: 100, round: whole_ms",
            "kind: exponential, base_ms: 100, counter: call",
        ] {
            rows.push(row(&format!("backoff: {{ {other} }}")));
        }
        for other in [
            "mode: exact",
            "mode: at_most, max_ms: 9",
            "mode: window, window_ms: 5000",
            "mode: lower_bound_jitter, spread: 0.5",
            "mode: exact, max_ms: 9, over_max: cap",
            "mode: exact, max_ms: 9, over_max: discard",
            "mode: exact, max_ms: 9, over_max: { escalate_to_human: { queue: people } }",
            "mode: exact, zero: ignore",
            "mode: exact, invalid: stop",
            "mode: exact, negative: stop",
            "mode: exact, multiple: stop",
            "mode: ignore",
            "mode: ignore, negative: stop",
            "mode: at_least",
            "mode: at_least, negative: stop",
        ] {
            rows.push(row(&format!("backoff_ms: [5], server_delay: {{ {other} }}")));
        }
        let written = rows.len();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), written, "two of them have one row");
    }

    #[test]
    fn headers_that_are_not_read_have_no_row() {
        let row = |limits: &str| {
            let rows = rows(&load("backoff_ms: [5]", limits).playbook);
            rows.into_iter().find(|row| row.name == "server_delay_sources").map(|row| row.text.replace('"', ""))
        };
        assert_eq!(row(""), None);
        let sources = " }\nserver_delay_sources:\n- { header: Retry-After, format: seconds, float: true }\n- { header: \
                       retry-after, format: http_date }\n#";
        let written = "[{float:true,format:seconds,header:retry-after},{format:http_date,header:retry-after}]";
        assert_eq!(row(sources).as_deref(), Some(written));
    }

    #[test]
    fn limits_that_are_not_written_have_no_row() {
        let names = |limits| {
            let rows = rows(&load("backoff_ms: [5]", limits).playbook);
            let limits = rows.into_iter().filter_map(|row| Some(row.name.strip_prefix("limit ")?.to_owned()));
            limits.collect::<Vec<_>>()
        };
        assert_eq!(names(""), ["deadline_ms", "max_attempts"]);
        let all = ", deadline_ms: 9, call_timeout_ms: 9, elapsed: truncate";
        assert_eq!(names(all), ["call_timeout_ms", "deadline_ms", "elapsed", "max_attempts"]);
        assert_eq!(names(", deadline_ms: 9, elapsed: next_start"), ["deadline_ms", "max_attempts"]);
    }

    #[test]
    fn every_wrong_wait_is_underlined() {
        for (retry, expected) in [
            ("max_retries: 2", "missing_key: { max_retries: 2 }"),
            ("backoff_ms: [1], backoff: { kind: constant, base_ms: 1 }", "several_chosen: backoff_ms|backoff"),
            ("backoff: { kind: exponental, base_ms: 1 }", "wrong_type: exponental"),
            ("backoff: { kind: constant }", "missing_key: { kind: constant }"),
            ("backoff: { kind: constant, base_ms: -1 }", "wrong_type: -1"),
            ("backoff: { kind: constant, base_ms: 1, multiplier: 2 }", "other_kind: multiplier"),
            ("backoff: { kind: exponential, base_ms: 1, increment_ms: 2 }", "other_kind: increment_ms"),
            ("backoff: { kind: exponential, base_ms: 1, multiplier: 0.5 }", "wrong_type: 0.5"),
            ("backoff: { kind: exponential, base_ms: 1, multiplier: 1.1234567 }", "wrong_type: 1.1234567"),
            ("backoff: { kind: exponential, base_ms: 1, multiplier: '2' }", "wrong_type: '2'"),
            ("backoff: { kind: exponential, base_ms: 1, multiplier: .inf }", "wrong_type: .inf"),
            ("backoff: { kind: linear, base_ms: 1 }", "missing_key: { kind: linear, base_ms: 1 }"),
            ("backoff: { kind: polynomial, base_ms: 1, coef_ms: 1, exponent: 11 }", "wrong_type: 11"),
            ("backoff: { kind: decorrelated, base_ms: 1, from: first }", "wrong_type: first"),
            ("backoff: { kind: polly_v2, base_ms: 1, jitter: full }", "other_kind: jitter"),
            ("backoff: { kind: constant, base_ms: 9, max_ms: 8 }", "max_below_base: 8|9"),
            ("backoff: { kind: constant, base_ms: 9, max_ms: 9, floor_ms: 10 }", "floor_above_max: 10"),
            ("backoff: { kind: constant, base_ms: 9, cap: never }", "wrong_type: never"),
            ("backoff: { kind: constant, base_ms: 9, jitter: some }", "wrong_type: some"),
            ("backoff: { kind: constant, base_ms: 9, jitter: proportional }", "wrong_type: proportional"),
            (
                "backoff: { kind: constant, base_ms: 9, jitter: { proportional: { low: 1 } } }",
                "missing_key: { low: 1 }",
            ),
            (
                "backoff: { kind: constant, base_ms: 9, jitter: { proportional: { low: 1, high: 11 } } }",
                "wrong_type: 11",
            ),
            ("backoff: { kind: constant, base_ms: 9, jitter: { full: {} } }", "unknown_key: full"),
            ("backoff: { kind: constant, base_ms: 9, round: up }", "wrong_type: up"),
            ("backoff: { kind: constant, base_ms: 9, counter: all }", "wrong_type: all"),
            ("backoff: { kind: constant, base_ms: 9, maximum_ms: 10 }", "unknown_key: maximum_ms"),
            ("backoff_ms: [1], server_delay: { max_ms: 5 }", "missing_key: { max_ms: 5 }"),
            ("backoff_ms: [1], server_delay: { mode: always }", "wrong_type: always"),
            ("backoff_ms: [1], server_delay: { mode: window }", "missing_key: { mode: window }"),
            ("backoff_ms: [1], server_delay: { mode: exact, negative: discard }", "wrong_type: discard"),
            ("backoff_ms: [1], server_delay: { mode: exact, window_ms: 5 }", "other_kind: window_ms"),
            ("backoff_ms: [1], server_delay: { mode: lower_bound_jitter, spread: 1.5 }", "wrong_type: 1.5"),
            ("backoff_ms: [1], server_delay: { mode: exact, over_max: cap }", "missing_key: over_max"),
            ("backoff_ms: [1], server_delay: { mode: at_most }", "missing_key: { mode: at_most }"),
            ("backoff_ms: [1], server_delay: { mode: at_most, max_ms: 5, over_max: stop }", "other_kind: over_max"),
            (
                "backoff_ms: [1], server_delay: { mode: exact, max_ms: 5, over_max: { escalate_to_human: { queue: q } } }",
                "dangling_name: q",
            ),
            (
                "backoff_ms: [1], server_delay: { mode: exact }, after: backoff",
                "two_server_delays: { mode: exact }|backoff",
            ),
        ] {
            assert_eq!(errors(retry, ""), [expected], "{retry}");
        }
        assert_eq!(errors("backoff_ms: [1]", ", elapsed: truncate"), ["missing_key: elapsed"]);
        assert_eq!(errors("backoff_ms: [1]", ", deadline_ms: 1, elapsed: cut"), ["wrong_type: cut"]);
        assert_eq!(errors("backoff_ms: [1]", ", call_timeout_ms: 5s"), ["wrong_type: 5s"]);
        assert_eq!(errors("backoff_ms: [1]", ", call_timeout_ms: 0"), ["wrong_type: 0"]);
    }
}
