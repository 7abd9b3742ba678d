//! Runs the published cases, and files that are wrong.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::amount::Amount;
use super::*;

const SUITES: [&str; 5] = [
    include_str!("../cases/aws-spec-2.1.json"),
    include_str!("../cases/envoy.json"),
    include_str!("../cases/grpc.json"),
    include_str!("../cases/idempotency.json"),
    include_str!("../cases/resilience4j.json"),
];

fn suites() -> impl Iterator<Item = CaseFile> {
    SUITES.into_iter().map(|text| read_cases(text).unwrap_or_else(|error| panic!("{error}")))
}

fn result(suite: &str, case: &Case) -> CaseResult {
    run_cases(&CaseFile { suite: suite.to_owned(), cases: vec![case.clone()] })[0].result
}

/// The keys of exact expectations.
fn exact(expect: &Map<String, Value>) -> Vec<String> {
    let is_exact = |key: &&String| {
        let is_bound =
            key.starts_with("min_") || key.starts_with("max_") || key.ends_with("_min") || key.ends_with("_max");
        !is_bound && *key != "tol"
    };
    expect.keys().filter(is_exact).cloned().collect()
}

/// Another value, which is not near.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!(7),
        Value::Bool(is) => json!(!is),
        Value::Number(_) => {
            let more = Amount::of(value).unwrap().as_billionths() + Amount::whole(1).as_billionths();
            serde_json::from_str(&Amount::billionths(more).to_string()).unwrap()
        }
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

#[test]
fn every_exact_expectation_of_a_case_that_passes_decides() {
    let mut changed = 0;
    for file in suites() {
        for case in file.cases.iter().filter(|case| result(&file.suite, case) == CaseResult::Passed) {
            for place in 0..=case.steps.len() {
                let expect = case.steps.get(place).map_or(&case.expect, |step| &step.expect);
                for key in exact(expect) {
                    let mut wrong = case.clone();
                    let expect = match wrong.steps.get_mut(place) {
                        Some(step) => &mut step.expect,
                        None => &mut wrong.expect,
                    };
                    expect.insert(key.clone(), other(&expect[&key]));
                    let id = &case.id;
                    assert_ne!(result(&file.suite, &wrong), CaseResult::Passed, "{id}, step {place}: `{key}`");
                    changed += 1;
                }
            }
        }
    }
    assert!(changed > 700, "{changed}");
}

/// Those of keys contradict our own rules: a failed outcome is not kept, and a request is not resumed within itself.
#[test]
fn every_case_of_calls_waits_breakers_and_budgets_passes() {
    let kinds = [CaseKind::Hedge, CaseKind::Validate];
    let outcomes = suites().flat_map(|file| run_cases(&file));
    let not_passed = outcomes.filter(|case| case.result != CaseResult::Passed && !kinds.contains(&case.kind));
    let ids: Vec<String> = not_passed.map(|case| case.id[..8].to_owned()).collect();
    assert_eq!(ids, ["idem-002", "idem-010", "idem-011", "idem-012", "idem-013", "idem-021"]);
}

#[test]
fn a_case_that_no_playbook_can_say_is_unsupported_and_named() {
    let file = |kind: &str, policy: Value, step: Value| {
        let case = json!({ "id": "a", "kind": kind, "policy": policy, "steps": [step] });
        let text = json!({ "schema": FORMAT, "suite": "own", "cases": [case] }).to_string();
        let outcome = run_cases(&read_cases(&text).unwrap()).remove(0);
        (outcome.result, outcome.why.unwrap_or_default())
    };
    let query = |expect: Value| json!({ "op": "query", "expect": expect });
    let delay = json!({ "op": "delay", "in": { "n": 1 } });
    let call = json!({ "op": "call" });
    for (kind, policy, step, why) in [
        ("hedge", json!({}), json!({ "op": "start" }), "cases of kind `hedge` are not run"),
        ("retry", json!({ "adaptive": {} }), call.clone(), "`policy.adaptive` has no counterpart in a playbook"),
        (
            "retry",
            json!({ "retry": { "odd": 1 } }),
            call.clone(),
            "`policy.retry.odd` has no counterpart in a playbook",
        ),
        (
            "retry",
            json!({ "retry": { "retry_on": ["x"] } }),
            call,
            "the matcher \"x\" has no counterpart in a playbook",
        ),
        ("backoff", json!({ "backoff": { "kind": "odd" } }), delay.clone(), "a playbook has no backoff of kind `odd`"),
        (
            "backoff",
            json!({ "backoff": { "kind": "constant", "base_ms": "x" } }),
            delay,
            "`policy.backoff.base_ms: \"x\"`",
        ),
        ("budget", json!({ "budget": { "kind": "request_ratio" } }), query(json!({})), "no retry budget of kind"),
        ("breaker", json!({}), query(json!({})), "the policy has no breaker"),
        (
            "window",
            json!({ "window": { "kind": "count", "size": 2 } }),
            query(json!({ "odd": 1 })),
            "nothing here shows `odd`",
        ),
    ] {
        let (result, said) = file(kind, policy, step);
        assert_eq!(result, CaseResult::Unsupported, "{said}");
        assert!(said.contains(why), "{said}, not {why}");
    }
}

/// An answer of a case of kind `retry`: its outcome, and what follows.
fn response(outcome: Value, expect: Value) -> Value {
    json!({ "op": "response", "in": { "outcome": outcome }, "expect": expect })
}

fn call(input: Value) -> Value {
    json!({ "op": "call", "in": input })
}

/// What a case of our own shows: none if it passes.
fn own(kind: &str, policy: Value, steps: Vec<Value>, more: Value) -> Option<String> {
    let mut case = json!({ "id": "own", "kind": kind, "policy": policy, "steps": steps });
    case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let text = json!({ "schema": FORMAT, "suite": "own", "cases": [case] }).to_string();
    run_cases(&read_cases(&text).unwrap_or_else(|error| panic!("{error}"))).remove(0).why
}

#[test]
fn what_nothing_shows_in_the_end_is_never_passed_over() {
    let mut kinds = BTreeSet::new();
    for file in suites() {
        for case in file.cases.iter().filter(|case| result(&file.suite, case) == CaseResult::Passed) {
            let mut wrong = case.clone();
            wrong.expect.insert("seen".to_owned(), json!(1));
            assert_eq!(result(&file.suite, &wrong), CaseResult::Unsupported, "{}", case.id);
            kinds.insert(case.kind.as_str());
        }
    }
    for kind in ["backoff", "breaker", "budget", "classify", "dedupe", "retry", "server_delay_parse", "window"] {
        assert!(kinds.contains(kind), "{kind}");
    }
}

const AGAIN: &str = "retry";

fn stops(reason: &str) -> Value {
    json!({ "decision": "stop", "reason": reason })
}

#[test]
fn calls_are_guarded_timed_and_shared_as_their_policy_says() {
    let again = || json!({ "decision": AGAIN });
    let waits = json!({ "kind": "constant", "base_ms": 10 });
    let odd = || json!({ "class": "x" });
    let timeout = || json!({ "class": "timeout" });
    let long = |took: u64, expect: Value| json!({ "op": "response", "in": { "outcome": { "ok": true }, "duration_ms": took }, "expect": expect });
    let cases = [
        (
            json!({ "retry": { "retry_on": ["class:timeout", "status:503"], "idempotent_only": ["class:timeout"] } }),
            vec![
                call(json!({ "idempotent": false })),
                response(timeout(), stops("non_idempotent")),
                call(json!({ "idempotent": true })),
                response(timeout(), again()),
                call(json!({ "idempotent": false })),
                response(json!({ "status": 503 }), again()),
            ],
            json!({}),
        ),
        (
            json!({ "retry": { "never_on": ["type:Mine", "type_ci:other", "trait:fatal"] } }),
            vec![
                response(json!({ "type": "Mine" }), stops("not_retryable")),
                response(json!({ "type": "mine" }), again()),
                call(json!({})),
                response(json!({ "type": "OTHER" }), stops("not_retryable")),
                response(json!({ "trait": ["a", "fatal"] }), stops("not_retryable")),
            ],
            json!({}),
        ),
        (
            json!({ "retry": {}, "budget": { "kind": "token_bucket", "capacity": 10, "cost": 10 } }),
            vec![
                call(json!({ "partition": "a" })),
                response(odd(), json!({ "decision": AGAIN, "budget": 0 })),
                response(odd(), stops("budget")),
                call(json!({ "partition": "b" })),
                response(odd(), again()),
            ],
            json!({}),
        ),
        (
            json!({ "retry": { "retry_on": ["class:timeout"], "per_attempt_timeout_ms": 100 } }),
            vec![long(101, again()), long(100, stops("success"))],
            json!({ "expect": { "total_ms": 210, "attempts": 2 } }),
        ),
        (
            json!({ "retry": {}, "breaker": { "window": { "kind": "count", "size": 2 }, "failure_count": 2, "open_ms": 1_000 } }),
            vec![response(odd(), again()), response(odd(), stops("breaker_open"))],
            json!({}),
        ),
        (
            json!({ "retry": { "methods": ["GET"] } }),
            vec![response(json!({ "ok": true, "status": 200, "method": "POST", "result": "x" }), stops("success"))],
            json!({}),
        ),
        (
            json!({ "retry": { "max_attempts": 0, "elapsed": { "limit_ms": 15, "rule": "truncate" } } }),
            vec![
                response(odd(), again()),
                response(odd(), json!({ "delay_ms": 5 })),
                response(odd(), stops("deadline")),
            ],
            json!({}),
        ),
    ];
    for (mut policy, steps, more) in cases {
        policy["backoff"] = waits.clone();
        assert_eq!(own("retry", policy.clone(), steps, more), None, "{policy}");
    }
    let manual = json!({ "retry": { "elapsed": { "limit_ms": 15, "rule": "elapsed_only" } }, "backoff": waits });
    let why = own("retry", manual, vec![response(odd(), again())], json!({ "clock": "manual" }));
    assert_eq!(why.as_deref(), Some("time passes while a call waits"));
}

#[test]
fn steps_below_a_microsecond_add_up_and_saturated_waits_are_the_longest() {
    let breaker = json!({ "window": { "kind": "count", "size": 1 }, "failure_count": 1, "open_ms": 5_000 });
    let advance = |millis: f64| json!({ "op": "advance", "in": { "ms": millis } });
    let acquire = |passes: bool| json!({ "op": "acquire", "expect": { "permitted": passes } });
    let steps = vec![
        json!({ "op": "record", "in": { "outcome": "failure" } }),
        advance(4_999.999_9),
        acquire(false),
        advance(0.000_1),
        acquire(true),
    ];
    assert_eq!(own("breaker", json!({ "breaker": breaker }), steps, json!({})), None);
    let wait = |n: u64, delay: Value| json!({ "op": "delay", "in": { "n": n }, "expect": { "delay_ms": delay } });
    let doubling = json!({ "backoff": { "kind": "exponential", "base_ms": 1_000, "multiplier": 2 } });
    assert_eq!(own("backoff", doubling, vec![wait(3, json!(4_000)), wait(100, json!("max"))], json!({})), None);
    let deposits = json!({ "budget": {
        "kind": "deposit_withdraw", "ttl_ms": 10_000, "min_retries_per_sec": 0, "retry_percent": 0.2,
    } });
    let steps = vec![json!({ "op": "deposit_then_withdraw", "in": { "count": 100 }, "expect": { "allowed": 20 } })];
    assert_eq!(own("budget", deposits, steps, json!({})), None);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let case = json!({ "id": "a", "kind": "budget", "policy": {}, "steps": [{ "op": "query" }] });
    let with = |key: &str, value: Value| {
        let mut changed = case.clone();
        changed[key] = value;
        json!({ "schema": FORMAT, "suite": "own", "cases": [changed] }).to_string()
    };
    let steps = |step: Value| with("steps", json!([{ "op": "query" }, step]));
    let known = "`acquire`, `success`, `failure`, `release`, `deposit`, `deposit_then_withdraw`, `set`, `configure`, \
                 `replace`, `advance`, `at`, `query`";
    for (text, said) in [
        ("{".to_owned(), "line 1, column 1: this is no JSON"),
        ("[]".to_owned(), "/: expected an object, got a list"),
        ("{}".to_owned(), "/: `schema` is missing"),
        (json!({ "schema": "retry-case/2" }).to_string(), "/schema: expected `retry-case/1`, got `retry-case/2`"),
        (json!({ "schema": FORMAT }).to_string(), "/: `cases` is missing"),
        (json!({ "schema": FORMAT, "suite": "own", "cases": [] }).to_string(), "/cases: there is no case"),
        (
            json!({ "schema": FORMAT, "suite": "own", "cases": [case, case] }).to_string(),
            "/cases/1: a second case is called `a`",
        ),
        (json!({ "schema": FORMAT, "cases": [case] }).to_string(), "/: `suite` is missing"),
        (with("kind", json!("odd")), "/cases/0/kind: unknown kind `odd`"),
        (with("id", json!(7)), "/cases/0/id: expected a text, got a number"),
        (with("policy", json!([])), "/cases/0/policy: expected an object, got a list"),
        (with("expect", json!(true)), "/cases/0/expect: expected an object, got true or false"),
        (with("random", json!({ "u": 1.5 })), "/cases/0/random/u: expected a number from 0 to 1"),
        (steps(json!({})), "/cases/0/steps/1: `op` is missing"),
        (
            steps(json!({ "op": "begin" })),
            &format!("/cases/0/steps/1/op: unknown op `begin`: a case of kind `budget` has {known}"),
        ),
        (steps(json!({ "op": "query", "in": 1 })), "/cases/0/steps/1/in: expected an object, got a number"),
        (
            steps(json!({ "op": "advance", "in": { "ms": "1" } })),
            "/cases/0/steps/1/in/ms: expected a number, got a text",
        ),
        (steps(json!({ "op": "query", "in": { "key": null } })), "/cases/0/steps/1/in/key: expected a text, got null"),
        (
            steps(json!({ "op": "query", "in": { "advance": 1 } })),
            "/cases/0/steps/1/in/advance: expected true or false, got a number",
        ),
        (
            steps(json!({ "op": "query", "repeat": 0 })),
            "/cases/0/steps/1/repeat: expected a whole number from 1 to 10000",
        ),
    ] {
        assert_eq!(read_cases(&text).unwrap_err().to_string(), said);
    }
}

/// Any JSON, small.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_:0-9-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The places of all values in a document.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), all)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, value)| places(value, &format!("{at}/{n}"), all));
        }
        _ => {}
    }
}

proptest! {

    /// A case with one value changed is read, or refused with a place; and run, it ends.
    #[test]
    fn any_file_can_be_read_and_run(
        suite in 0..SUITES.len(), case in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), value in values(),
    ) {
        let mut file: Value = serde_json::from_str(SUITES[suite]).unwrap();
        let cases = file["cases"].as_array_mut().unwrap();
        let case = cases.swap_remove(case.index(cases.len()));
        file["cases"] = json!([case]);
        let mut all = Vec::new();
        places(&file, "", &mut all);
        let at = &all[place.index(all.len())];
        if let Some(changed) = file.pointer_mut(at) {
            *changed = value;
        }
        match read_cases(&file.to_string()) {
            Ok(file) => prop_assert_eq!(run_cases(&file).len(), 1),
            Err(error) => prop_assert!(!error.place.is_empty() && !error.message.is_empty()),
        }
    }
}
