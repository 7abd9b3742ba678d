//! Actions of several steps: recorded runs, and the run of each fixture recorded and replayed.

use std::fs;

use serde_json::{Value, json};

use super::Place;

/// A recorded action: its steps with their statuses, 40 ms each; then its own result.
fn action(id: &str, at: u64, steps: &[(&str, &str, bool)]) -> String {
    let call = |id: &str, tool: &str, at: u64| json!({"type": "tool_call", "run_id": "r", "call_id": id, "tool": tool, "at_ms": at, "args": {"pr": 7}});
    let result = |id: &str, at: u64, ok: bool| match ok {
        true => json!({"type": "tool_result", "run_id": "r", "call_id": id, "at_ms": at, "status": "ok"}),
        false => json!({"type": "tool_result", "run_id": "r", "call_id": id, "at_ms": at, "status": "error",
                        "error": {"status": 403, "message": "no"}}),
    };
    let mut lines = vec![call(id, "ship_update", at)];
    for (n, (step, tool, ok)) in (0_u64..).zip(steps) {
        let (own, made) = (format!("{id}-{n}-{step}"), at + 10 + n * 50);
        let mut line = call(&own, tool, made);
        line["parent"] = json!(id);
        line["step"] = json!(step);
        lines.extend([line, result(&own, made + 40, *ok)]);
    }
    lines.push(result(id, at + 500, steps.iter().all(|(.., ok)| *ok)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const FIND: (&str, &str, bool) = ("find_pr", "github.find_pr", true);
const POST: (&str, &str, bool) = ("post", "slack.post", true);
const REACT: (&str, &str, bool) = ("react", "slack.react", true);

fn replayed(trace: &str, playbook: &str) -> Vec<Value> {
    let place = Place::new();
    place.write("t.jsonl", trace);
    let out = place.run(&["replay", "t.jsonl", "--playbook", playbook, "--all", "--format", "jsonl"]).out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["type"] == "call").collect()
}

/// How each call ended: the action, then its steps.
fn ends(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["outcome"].as_str().expect("an outcome")).collect()
}

fn findings(call: &Value) -> Vec<&str> {
    call["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| finding["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn recorded_steps_answer_their_action_and_the_run_is_at_it_when_all_are_done() {
    let calls = replayed(&action("a", 0, &[FIND, POST, REACT]), "steps");
    assert_eq!(ends(&calls), ["succeeded"; 4]);
    assert_eq!((&calls[0]["next"], &calls[0]["attempts"]), (&json!(["close"]), &json!(3)));
    assert_eq!(
        calls[0]["steps"][1],
        json!({"step": "post", "outcome": "succeeded", "effect": "applied", "acts_again": true})
    );
    assert!(calls.iter().all(|call| findings(call).is_empty() && call["off_tape"].is_null()), "{calls:?}");
}

#[test]
fn a_step_that_ran_after_a_failed_one_is_skipped_and_is_a_doubt() {
    let denied = ("post", "slack.post", false);
    let calls = replayed(&action("a", 0, &[FIND, denied, REACT]), "steps");
    assert_eq!(ends(&calls), ["escalated", "succeeded", "escalated", "skipped"]);
    assert_eq!(findings(&calls[3]), ["ran_after_failed_step"]);
    assert_eq!(calls[0]["told"]["details"]["step"], "post");
    let again = replayed(&action("a", 0, &[FIND, denied, POST, REACT]), "steps");
    assert!(
        again.iter().all(|call| !findings(call).contains(&"ran_after_failed_step")),
        "the step itself was tried again"
    );
    let plain = replayed(&action("a", 0, &[FIND, denied, REACT]), "standard");
    assert!(plain.iter().all(|call| !findings(call).contains(&"ran_after_failed_step")), "the playbook has no steps");
    assert_eq!(ends(&plain)[1..], ["succeeded", "escalated", "succeeded"], "and they are calls like any other");
}

#[test]
fn a_step_that_was_not_recorded_leaves_its_action_undetermined() {
    let trace = action("a", 0, &[FIND]) + &action("b", 1_000, &[FIND, POST, REACT]);
    let calls = replayed(&trace, "steps");
    assert_eq!(ends(&calls), ["undetermined", "succeeded", "succeeded", "succeeded", "succeeded", "succeeded"]);
    assert_eq!(calls[0]["steps"][1]["outcome"], "undetermined");
    let untimed: String = trace.lines().map(|line| format!("{}\n", without_time(line))).collect();
    assert_eq!(ends(&replayed(&untimed, "steps")), ends(&calls), "without times, too");
}

fn without_time(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    line.as_object_mut().expect("an object").remove("at_ms");
    line.to_string()
}

#[test]
fn a_step_of_a_call_that_is_not_there_is_a_call_like_any_other() {
    let trace = action("a", 0, &[FIND]);
    let lonely: String = trace.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let calls = replayed(&lonely, "steps");
    assert_eq!(calls[0]["why"], "unknown_action");
    let odd = trace.replace("\"parent\":\"a\"", "\"parent\":{\"a\":1}");
    assert_eq!(replayed(&odd, "steps").len(), 2, "what is no text says nothing");
}

#[test]
fn a_recorded_run_of_each_fixture_replays_to_the_same_decisions() {
    let place = Place::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut tried = 0;
    for file in fs::read_dir(fixtures).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if !text.contains("playbooks: [steps]") {
            continue;
        }
        tried += 1;
        let path = path.to_str().unwrap();
        place.run(&["replay", path, "--playbook", "steps", "--record", "t.jsonl"]);
        let said = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--same-decisions"]).out;
        assert!(said.contains("all are the same"), "{path}: {said}");
        fs::remove_file(place.path().join("t.jsonl")).unwrap();
    }
    assert!(tried >= 7, "{tried}");
}

/// A fixture of the shipped playbook whose second step is denied; `expect` is what it expects of the action.
fn denied_fixture(expect: &str) -> String {
    format!(
        "format: fixture/1\ntitle: The second step is denied\nplaybooks: [steps]\n\
         calls:\n  ship: {{ action: ship_update, args: {{ pr: 7 }}, idempotency_key: ik_7 }}\n\
         upstream:\n  ship: {{ steps: {{ find_pr: [{{ ok: {{}} }}], post: [{{ error: {{ status: 403 }} }}], react: [{{ ok: {{}} }}] }} }}\n\
         expect:\n  steps: {{ ship: {expect} }}\n"
    )
}

#[test]
fn what_a_fixture_expects_of_steps_is_compared() {
    let place = Place::new();
    for (expect, contradictions) in [
        ("{ step: post, completed_steps: [find_pr], skipped: [react] }", vec![]),
        (
            "{ step: react, completed_steps: [post], skipped: [] }",
            vec![
                "ship.step: expected react, got post",
                "ship.completed_steps: expected [post], got [find_pr]",
                "ship.skipped: expected [], got [react]",
            ],
        ),
        ("{ step: none }", vec!["ship.step: expected none, got post"]),
    ] {
        place.write("f.yaml", &denied_fixture(expect));
        let ran = place.run(&["replay", "f.yaml", "--format", "json"]).exits(i32::from(!contradictions.is_empty()));
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(json["fixtures"][0]["playbooks"][0]["contradictions"], json!(contradictions), "{expect}");
    }
}

#[test]
fn an_action_or_a_step_that_no_playbook_of_the_fixture_has_is_underlined() {
    let place = Place::new();
    let right = denied_fixture("{ step: post }");
    for (from, to, said) in [
        ("action: ship_update", "action: ship_updat", "no action is called `ship_updat`"),
        ("post: [{", "psot: [{", "no step of `ship_update` is called `psot`"),
        (
            ", idempotency_key",
            ", steps: { raect: { args: {} } }, idempotency_key",
            "step of `ship_update` is called `raect`",
        ),
        ("{ step: post }", "{ step: pots }", "no step of `ship_update` is called `pots`"),
        ("{ step: post }", "{ skipped: [reactt] }", "no step of `ship_update` is called `reactt`"),
    ] {
        place.write("f.yaml", &right.replacen(from, to, 1));
        let ran = place.run(&["replay", "f.yaml"]).exits(2);
        assert!(ran.err.contains(said) && ran.err.contains("did you mean"), "{to}: {}", ran.err);
    }
    place.write("f.yaml", &right);
    place.run(&["replay", "f.yaml"]).exits(0);
    place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(0);
    let other = right.replace("action: ship_update, args: { pr: 7 }", "tool: ship_updat").replace(
        "{ steps: { find_pr: [{ ok: {} }], post: [{ error: { status: 403 } }], react: [{ ok: {} }] } }",
        "[{ ok: {} }]",
    );
    place.write("f.yaml", &other.replace("{ step: post }", "{ why: unknown_action }"));
    place.run(&["replay", "f.yaml"]).exits(0);
}

#[test]
fn a_fixture_is_explained_under_its_own_playbook_and_a_step_by_its_own_tool_and_key() {
    let place = Place::new();
    place.write("f.yaml", &denied_fixture("{ step: post }"));
    let page = place.run(&["explain", "f.yaml", "ship"]).exits(0).out;
    assert!(page.contains("Its step `post` ends escalated"), "{page}");
    let page = place.run(&["explain", "f.yaml", "ship/post"]).exits(0).out;
    assert!(page.starts_with("1. slack.post  ship/post"), "{page}");
    assert!(page.contains("ik_7/post"), "{page}");
    let plain = place.run(&["explain", "f.yaml", "ship", "--playbook", "standard"]).exits(0).out;
    assert!(!plain.contains("step"), "{plain}");
    place.run(&["explain", "f.yaml", "ship/post", "--playbook", "standard"]).exits(2);
}
