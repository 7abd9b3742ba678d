//! Every key of playbooks, tool facts and fixtures with every kind of wrong value: an error with a place, and nothing else.
//! The schemas say what is wrong, and documents in which everything is right say where.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::playbook::tools;
use playproof_formats::schema::inlined;
use playproof_formats::{fixture, playbook};

/// Which reader a document is for.
#[derive(Clone, Copy)]
pub enum File {
    Playbook,
    Tools,
    Fixture,
}

impl File {
    fn schema(self) -> Value {
        let text = match self {
            File::Playbook => include_str!("../schemas/playbook.json"),
            File::Tools => include_str!("../schemas/tools.json"),
            File::Fixture => include_str!("../schemas/fixture.json"),
        };
        serde_json::from_str(&inlined(text)).expect("a schema")
    }

    fn read(self, text: &str) -> Result<(), Box<Report>> {
        let source = Source::whole("it", text);
        let read = match self {
            File::Playbook => playbook::parse(source).map(drop),
            File::Tools => tools::parse(source).map(drop),
            File::Fixture => fixture::parse(source).map(drop),
        };
        read.map_err(Box::new)
    }
}

/// A playbook with every kind of thing, in which `more` replaces what is at these pointers.
fn playbook_with(more: &[(&str, Value)]) -> Value {
    let mut it = json!({
        "format": "playbook/1",
        "name": "it",
        "verdicts": {
            "down": { "means": "m", "effect": "unknown", "breaker": "failure", "then": { "retry_with_backoff": {
                "backoff": {
                    "kind": "exponential", "base_ms": 10, "multiplier": 2.5, "max_ms": 1000, "cap": "after_jitter",
                    "jitter": { "proportional": { "low": 0.5, "high": 1.5 } },
                    "floor_ms": 1, "round": "whole_ms", "counter": "call",
                },
                "max_retries": 2, "retry_budget": "own", "cost": 2, "uncounted": false,
                "on_unsafe": { "escalate_to_human": { "queue": "people" } },
                "server_delay": {
                    "mode": "window", "window_ms": 5, "max_ms": 100, "over_max": { "escalate_to_human": { "queue": "people" } },
                    "invalid": "stop", "negative": "stop", "zero": "ignore", "multiple": "stop",
                },
            } } },
        },
        "classify": [{ "rule": "down", "when": { "kind": "down", "should_retry": true }, "verdict": "down" }],
        "server_delay_sources": [{ "header": "retry-after", "format": "seconds", "float": true }],
        "default_queue": "people",
        "queues": ["people"],
        "limits": { "max_attempts": 3, "deadline_ms": 60000, "call_timeout_ms": 90000, "elapsed": "truncate" },
        "registry": { "unknown_tools": "refuse" },
        "dedupe": { "window_ms": 100, "in_flight": "join", "takeover_ms": 90, "min_key_len": 2, "max_key_len": 20, "most_keys": 10 },
        "budget": { "tool_calls": 20, "counts": "calls" },
        "permits": { "max_in_flight": 2, "queue": 3 },
        "breakers": { "default": {
            "window": { "time_ms": 10000, "buckets": 10, "align": "epoch" }, "min_calls": 3, "failure_rate": 0.5, "failure_count": 3,
            "slow_call_ms": 100, "slow_call_rate": 0.5, "evaluate_on": "any", "open_ms": 100, "open_boundary": ">",
            "half_open": { "mode": "single_probe", "another_after_ms": 10 },
        } },
        "retry_budgets": { "own": {
            "kind": "token_bucket", "capacity": 10, "cost": 2, "no_retry_credit": 1, "refund": "none", "success_credit": 0.5,
            "refill_per_sec": 0.5, "per": "dispatcher", "on_empty": "wait_and_stop",
        } },
        "tools": { "pay": tool() },
    });
    set_all(&mut it, more);
    it
}

fn tool() -> Value {
    json!({
        "access": "write", "idempotent": true, "repeatable": false, "timeout_ms": 5000, "server": "payments", "keys": "ignored",
        "key": "required", "upstream_retries": 2, "same_if": ["a"], "same_across": "runs", "once": "transaction",
        "schema": {
            "type": "object", "title": "t", "description": "d", "default": {}, "examples": [{}], "required": ["a"], "additionalProperties": false,
            "properties": {
                "a": { "type": ["string", "null"], "minLength": 1, "maxLength": 3, "pattern": "^a" },
                "b": { "type": "integer", "minimum": 1, "maximum": 3 },
                "c": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "enum": [1] } },
                "d": { "const": 1 },
            },
        },
    })
}

fn fixture_with(more: &[(&str, Value)]) -> Value {
    let mut it = json!({
        "format": "fixture/1", "title": "t", "seed": 7, "keys": "ietf", "playbooks": ["it"],
        "tools": { "pay": { "access": "write", "idempotent": false, "repeatable": false, "timeout_ms": 100, "server": "s", "keys": "honoured", "key": "optional", "same_if": ["x"], "same_across": "run", "once": "transaction" } },
        "calls": {
            "a": { "tool": "pay", "args": { "x": 1 }, "idempotency_key": "k", "reversal_token": "t", "evidence_refs": ["e"],
                   "at_ms": 5, "cancel_at_ms": 40, "timeout_ms": 10, "run": "r1", "draws": [0.5, 1] },
            "b": { "tool": "pay", "after": ["a"], "after_ms": 10, "run": "r1" },
            "c": { "tool": "pay", "times": 3, "every_ms": 5, "run": "r2" },
            "d": { "act": "state", "name": "order.status", "transaction": "order" },
        },
        "upstream": { "a": [{ "error": { "kind": "down", "message": "m", "status": 503, "code": "c", "retry_after_ms": 5,
                                          "should_retry": true, "headers": { "x": ["1", "2"] } }, "latency_ms": 3, "applied": true }] },
        "outages": { "pay": [{ "from_ms": 1, "to_ms": 5, "answer": { "ok": {}, "latency_ms": 2 } }] },
        "crash": { "at_ms": 1, "restart_ms": 2 },
        "before": [{ "tool": "pay", "args": { "x": 2 }, "key": "before" }],
        "expect": { "it": {
            "a": { "outcome": "refused", "why": "circuit_open", "effect": "not_applied", "attempts": 0 },
            "c": { "outcomes": { "refused": 2, "cached": 1 } },
            "peak_in_flight": 1, "sends": 1, "effects": 1, "circuits": { "s": "open" }, "retry_budgets": { "own": { "s": 3 }, "all": 2 },
        } },
    });
    set_all(&mut it, more);
    it
}

fn set_all(it: &mut Value, more: &[(&str, Value)]) {
    for (at, value) in more {
        *it.pointer_mut(at).unwrap_or_else(|| panic!("nothing at {at}")) = value.clone();
    }
}

const BACKOFF: &str = "/verdicts/down/then/retry_with_backoff/backoff";
const SERVER_DELAY: &str = "/verdicts/down/then/retry_with_backoff/server_delay";
const BREAKER: &str = "/breakers/default";
const HALF_OPEN: &str = "/breakers/default/half_open";
const RETRY_BUDGET: &str = "/retry_budgets/own";

/// The documents, each with the place whose keys it is an example of.
pub fn documents() -> Vec<(File, Value, &'static str)> {
    let base = |kind: &str, more: Value| {
        let mut it = json!({ "kind": kind, "base_ms": 10, "max_ms": 1000 });
        let (Value::Object(it), Value::Object(more)) = (&mut it, more) else { panic!("two maps") };
        it.extend(more);
        Value::Object(it.clone())
    };
    let uncosted = ("/verdicts/down/then/retry_with_backoff/cost", Value::Null);
    let mut playbooks = vec![(playbook_with(&[]), "")];
    playbooks.extend(
        [
            base("linear", json!({ "increment_ms": 5, "jitter": { "absolute": { "ms": 3 } } })),
            base(
                "polynomial",
                json!({ "coef_ms": 5, "exponent": 2, "jitter": { "additive": { "ms": 3, "ms_per_retry": 2 } } }),
            ),
            base("decorrelated", json!({ "multiplier": 3, "from": "base" })),
        ]
        .map(|backoff| (playbook_with(&[(BACKOFF, backoff)]), BACKOFF)),
    );
    let spread = json!({ "mode": "lower_bound_jitter", "spread": 0.5, "over_max": "cap", "max_ms": 9 });
    playbooks.push((playbook_with(&[(SERVER_DELAY, spread)]), SERVER_DELAY));
    playbooks.extend(
        [
            json!({ "mode": "evaluate_rate", "permits": 3, "max_wait_ms": 10, "on_max_wait": "closed" }),
            json!({ "mode": "thresholds", "capacity": 3, "success_threshold": 2 }),
            json!({ "mode": "thresholds", "capacity": 3, "failure_threshold": 2 }),
        ]
        .map(|half_open| (playbook_with(&[(HALF_OPEN, half_open)]), HALF_OPEN)),
    );
    let open_backoff = json!({ "kind": "exponential", "base_ms": 10, "max_ms": 100 });
    let breaker = json!({ "window": { "calls": 5 }, "failure_count": 2, "open_backoff": open_backoff });
    playbooks.push((playbook_with(&[(BREAKER, breaker)]), BREAKER));
    playbooks.extend(
        [
            json!({ "kind": "throttle", "max_tokens": 10, "token_ratio": 0.1, "allow_above": 0.5 }),
            json!({ "kind": "deposit_withdraw", "ttl_ms": 10000, "min_retries_per_sec": 1, "retry_percent": 0.2, "rounding": "tower" }),
            json!({ "kind": "concurrency_ratio", "budget_percent": 20, "min_retry_concurrency": 3 }),
            json!({ "kind": "inflight_share", "max_share": 0.2, "min_retry_concurrency": 3 }),
        ]
        .map(|budget| (playbook_with(&[(RETRY_BUDGET, budget), uncosted.clone()]), RETRY_BUDGET)),
    );
    let files = playbooks.into_iter().map(|(it, place)| (File::Playbook, without_nulls(it), place));
    let tools = json!({ "format": "tools/1", "tools": { "pay": tool() } });
    let after = fixture_with(&[("/crash", json!({ "after": "a" }))]);
    let fixtures = [(File::Fixture, fixture_with(&[]), ""), (File::Fixture, after, "/crash")];
    files.chain([(File::Tools, tools, "")]).chain(fixtures).collect()
}

/// The same without the keys that were set to nothing.
fn without_nulls(it: Value) -> Value {
    match it {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// The part of a schema behind its reference.
fn resolved<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    match part.get("$ref").and_then(Value::as_str) {
        Some(name) => resolved(schema, schema.pointer(name.trim_start_matches('#')).expect("a definition")),
        None => part,
    }
}

/// Whether a value fits a part of a schema, as far as its own type, words, bounds and alternatives say.
fn fits(schema: &Value, part: &Value, value: &Value) -> bool {
    let part = resolved(schema, part);
    let all = |key: &str| part.get(key).and_then(Value::as_array);
    let type_fits = |name: &Value| match name.as_str().unwrap_or_default() {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    let bound = |key: &str| part.get(key).and_then(Value::as_f64);
    let number = value.as_f64();
    let least = |key: &str, size: Option<usize>| {
        size.zip(bound(key)).is_none_or(|(size, least)| u32::try_from(size).is_ok_and(|size| f64::from(size) >= least))
    };
    part.get("type")
        .is_none_or(|types| types.as_array().map_or_else(|| type_fits(types), |types| types.iter().any(type_fits)))
        && all("enum").is_none_or(|words| words.contains(value))
        && part.get("const").is_none_or(|word| word == value)
        && all("anyOf")
            .or(all("oneOf")
                .filter(|any| any.iter().all(|one| one.get("required").is_none() || one.get("type").is_some())))
            .is_none_or(|any| any.iter().any(|one| fits(schema, one, value)))
        && number.zip(bound("minimum")).is_none_or(|(number, least)| number >= least)
        && number.zip(bound("maximum")).is_none_or(|(number, most)| number <= most)
        && least("minLength", value.as_str().map(str::len))
        && least("minItems", value.as_array().map(Vec::len))
        && least("minProperties", value.as_object().map(Map::len))
        && value.as_object().is_none_or(|fields| {
            let required = all("required").into_iter().flatten().filter_map(Value::as_str);
            required.into_iter().all(|key| fields.contains_key(key))
        })
}

/// The part of a schema for a value at a place below `part`, if one says anything about it.
fn below<'s>(schema: &'s Value, part: &'s Value, key: &str) -> Option<&'s Value> {
    let part = resolved(schema, part);
    let own = part.get("properties").and_then(|fields| fields.get(key));
    let further = part.get("additionalProperties").filter(|further| further.is_object());
    let item = part.get("items").filter(|_| key.parse::<usize>().is_ok());
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|any| part.get(any)?.as_array()).flatten();
    let found = own.or(further).or(item);
    found.or_else(|| alternatives.into_iter().find_map(|one| below(schema, one, key)))
}

/// Visits every value of a document with its part of the schema.
fn visit<'s>(schema: &'s Value, part: &'s Value, value: &Value, at: &str, seen: &mut dyn FnMut(&str, &'s Value)) {
    seen(at, part);
    let fields: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in fields {
        if let Some(part) = below(schema, part, &key) {
            visit(schema, part, value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), seen);
        }
    }
}

fn wrong_values() -> Vec<Value> {
    vec![
        json!("no such word"),
        json!(""),
        json!(7),
        json!(0),
        json!(-1),
        json!(-0.5),
        json!(1.5),
        json!(0.000_000_000_1),
        json!(1e300),
        json!(u64::MAX),
        json!([]),
        json!(["x", 7]),
        json!([[]]),
        json!({}),
        json!({ "no_such_key": 1 }),
        json!(null),
        json!(true),
        json!("1e3"),
        json!("\u{0}"),
    ]
}

/// What is wrong with how a text is refused.
fn accepted(file: File, text: &str) -> Option<&'static str> {
    match file.read(text) {
        Ok(()) => Some("is accepted"),
        Err(report) if report.diagnostics.is_empty() => Some("is refused without an error"),
        Err(report) => {
            let in_text = |span: &std::ops::Range<usize>| span.start <= span.end && span.end <= text.len();
            let placed = |labels: &[playproof_formats::diagnostic::Label]| {
                labels.first().is_some_and(|label| in_text(&label.span))
            };
            let all = report.diagnostics.iter().all(|one| placed(&one.labels));
            (!all).then_some("is refused without a place")
        }
    }
}

#[test]
fn every_wrong_value_of_every_key_is_refused_with_a_place() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (file, document, below_it) in documents() {
        let schema = file.schema();
        file.read(&document.to_string()).unwrap_or_else(|report| panic!("{report}\n{document}"));
        let mut places = Vec::new();
        visit(&schema, &schema, &document, "", &mut |at, part| {
            if at.starts_with(below_it) {
                places.push((at.to_owned(), part));
            }
        });
        for (at, part) in places.iter().filter(|(at, _)| !at.is_empty()) {
            let names_type = at.contains("/schema/") && at.contains("/type");
            for value in wrong_values().into_iter().filter(|value| !fits(&schema, part, value)) {
                if names_type && value.is_null() {
                    continue; // `null` is the name of a type, also where YAML reads it as nothing
                }
                let mut changed = document.clone();
                *changed.pointer_mut(at).expect("a place") = value.clone();
                tried += 1;
                if let Some(how) = accepted(file, &changed.to_string()) {
                    wrong.push(format!("{at}: {value} {how}"));
                }
            }
        }
        for (at, _) in places.iter().filter(|(at, _)| document.pointer(at).is_some_and(Value::is_object)) {
            let fields = document.pointer(at).and_then(Value::as_object).expect("a map");
            let is_closed = |part: &Value| resolved(&schema, part).get("additionalProperties") == Some(&json!(false));
            let part = places.iter().find(|(place, _)| place == at).expect("a part").1;
            if is_closed(part) {
                let mut changed = document.clone();
                let fields = changed.pointer_mut(at).and_then(Value::as_object_mut).expect("a map");
                fields.insert("no_such_key".to_owned(), json!(1));
                tried += 1;
                wrong.extend(accepted(file, &changed.to_string()).map(|how| format!("{at}: an unknown key {how}")));
            }
            // A key twice: the second one has a name that the text then changes.
            for key in fields.keys().filter(|key| below(&schema, part, key).is_some()) {
                let mut changed = document.clone();
                let fields = changed.pointer_mut(at).and_then(Value::as_object_mut).expect("a map");
                fields.insert("twice?".to_owned(), fields[key].clone());
                tried += 1;
                let text = changed.to_string().replace("twice?", key);
                wrong.extend(accepted(file, &text).map(|how| format!("{at}: `{key}` twice {how}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 4_000, "{tried}");
}

/// Keys of the schemas that this file has no example of: they are older than shared state, or of graphs and steps.
const ELSEWHERE: [&str; 100] = [
    "/actions",
    "/actions/inputs",
    "/actions/steps",
    "/actions/steps/id",
    "/actions/steps/idempotent",
    "/actions/steps/tool",
    "/actions/tool",
    "/extends",
    "/graph",
    "/graph/entry",
    "/graph/next",
    "/graph/others",
    "/graph/stuck",
    "/graph/stuck/after",
    "/graph/stuck/queue",
    "/otherwise",
    "/study",
    "/study/cache",
    "/study/client_keys",
    "/study/dedupe",
    "/study/failed_refresh",
    "/study/final_error",
    "/study/futile_refresh",
    "/study/permit",
    "/study/reclassify",
    "/study/refused_reversal",
    "/study/retry_guard",
    "/study/stale_evidence",
    "/study/token_guard",
    "/study/why",
    "answer/timeout",
    "call/action",
    "call/steps",
    "call/steps/args",
    "compensation/deprecate_tool_call",
    "compensation/escalate_to_human",
    "compensation/issue_reversal",
    "compensation/refresh_evidence",
    "deprecate_tool_call/reason",
    "deprecate_tool_call/replan",
    "end/deprecate_tool_call",
    "end/escalate_to_human",
    "expect/findings",
    "expect_call/completed_steps",
    "expect_call/leader",
    "expect_call/next",
    "expect_call/not_verdicts",
    "expect_call/queue",
    "expect_call/retriable",
    "expect_call/skipped",
    "expect_call/step",
    "expect_call/stop",
    "expect_call/told",
    "expect_call/verdicts",
    "expect_call/withheld",
    "header/equals",
    "header/invert",
    "header/name",
    "header/prefix",
    "header/present",
    "header/range",
    "instead/deprecate_tool_call",
    "instead/issue_reversal",
    "issue_reversal/on_refused",
    "issue_reversal/reason",
    "message/case",
    "message/clause",
    "message/contains",
    "message/equals",
    "message/matches",
    "message/starts_with",
    "refresh_evidence/max_refreshes",
    "refresh_evidence/on_unsafe",
    "refresh_evidence/then",
    "retry_with_backoff/after",
    "retry_with_backoff/backoff_ms",
    "retry_with_backoff/max_wait_ms",
    "script/attempts",
    "script/refresh",
    "script/reversal",
    "script/steps",
    "step_script/attempts",
    "step_script/refresh",
    "tell/boundary",
    "tell/class",
    "tell/details",
    "tell/transient",
    "tool/retry",
    "verdict/tell",
    "when/access",
    "when/attempt",
    "when/code",
    "when/error",
    "when/header",
    "when/idempotent",
    "when/keyed",
    "when/message",
    "when/retry_after",
    "when/status",
    "when/tool",
];

#[test]
fn every_key_of_the_schemas_has_an_example() {
    let mut seen: BTreeSet<*const Value> = BTreeSet::new();
    let schemas: Vec<(File, Value, Vec<Value>)> = {
        let all = documents();
        [File::Playbook, File::Tools, File::Fixture]
            .map(|file| {
                let of =
                    all.iter().filter(|(other, ..)| *other as u8 == file as u8).map(|(_, it, _)| it.clone()).collect();
                (file, file.schema(), of)
            })
            .into()
    };
    let mut lacking = BTreeSet::new();
    for (_, schema, documents) in &schemas {
        for document in documents {
            visit(schema, schema, document, "", &mut |_, part| {
                seen.insert(std::ptr::from_ref(part));
            });
        }
        keys(schema, "", &mut |name, part| {
            if !seen.contains(&std::ptr::from_ref(part)) {
                lacking.insert(name.to_owned());
            }
        });
    }
    let known: BTreeSet<String> = ELSEWHERE.iter().map(|key| (*key).to_owned()).collect();
    assert_eq!(lacking, known);
}

/// Every key of a schema, with the name of its list.
fn keys<'s>(part: &'s Value, list: &str, seen: &mut dyn FnMut(&str, &'s Value)) {
    for (key, below) in part.as_object().into_iter().flatten() {
        if key == "properties" {
            for (name, value) in below.as_object().into_iter().flatten() {
                let name = format!("{list}/{name}");
                seen(&name, value);
                keys(value, &name, seen);
            }
        } else if key == "$defs" {
            for (name, value) in below.as_object().into_iter().flatten() {
                keys(value, name, seen);
            }
        } else {
            match below {
                Value::Object(_) => keys(below, list, seen),
                Value::Array(items) => items.iter().for_each(|item| keys(item, list, seen)),
                _ => {}
            }
        }
    }
}
