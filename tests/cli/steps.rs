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

#[test]
fn steps_of_a_foreign_log_answer_their_actions_and_one_behind_a_failed_step_is_found() {
    let place = Place::new();
    for name in ["step-log.jsonl", "step-log.mapping.yaml"] {
        let text = fs::read_to_string(format!("{}/docs/examples/{name}", env!("CARGO_MANIFEST_DIR")));
        place.write(name, text.expect("an example"));
    }
    let args = ["step-log.jsonl", "--map", "step-log.mapping.yaml", "--playbook", "steps", "--all"];
    let out = place.run(&[&["replay"], &args[..], &["--format", "jsonl"]].concat()).out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let calls: Vec<Value> = lines.filter(|line| line["type"] == "call").collect();
    let (done, stopped) = calls.split_at(4);
    assert_eq!(ends(done), ["succeeded"; 4]);
    assert_eq!(ends(stopped), ["escalated", "succeeded", "escalated", "skipped"]);
    assert_eq!(stopped[0]["told"]["details"]["step"], "post");
    assert_eq!(findings(&stopped[3]), ["ran_after_failed_step"]);
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
        place.write("f.yaml", denied_fixture(expect));
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
        place.write("f.yaml", right.replacen(from, to, 1));
        let ran = place.run(&["replay", "f.yaml"]).exits(2);
        assert!(ran.err.contains(said) && ran.err.contains("did you mean"), "{to}: {}", ran.err);
        // Neither another command nor another playbook hides it.
        for playbook in [&[][..], &["--playbook", "steps"], &["--playbook", "standard"]] {
            for command in [&["explain", "f.yaml", "ship"][..], &["replay", "f.yaml"]] {
                let ran = place.run(&[command, playbook].concat()).exits(2);
                assert!(ran.err.contains(said) && ran.err.contains("did you mean"), "{to} {command:?}: {}", ran.err);
            }
        }
    }
    // A playbook that is given instead may have actions of its own.
    let mine = playproof_formats::playbook::embedded("steps").expect("embedded").replace("name: steps", "name: mine");
    place.write("mine.yaml", mine.replace("ship_update", "ship_it"));
    place.write("f.yaml", right.replace("ship_update", "ship_it"));
    place.run(&["replay", "f.yaml"]).exits(2);
    place.run(&["replay", "f.yaml", "--playbook", "mine.yaml"]).exits(0);
    place.run(&["explain", "f.yaml", "ship", "--playbook", "mine.yaml"]).exits(0);
    place.write("f.yaml", &right);
    place.run(&["replay", "f.yaml"]).exits(0);
    place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(0);
    let other = right.replace("action: ship_update, args: { pr: 7 }", "tool: ship_updat").replace(
        "{ steps: { find_pr: [{ ok: {} }], post: [{ error: { status: 403 } }], react: [{ ok: {} }] } }",
        "[{ ok: {} }]",
    );
    place.write("f.yaml", other.replace("{ step: post }", "{ why: unknown_action }"));
    place.run(&["replay", "f.yaml"]).exits(0);
}

#[test]
fn a_fixture_is_explained_under_its_own_playbook_and_a_step_by_its_own_tool_and_key() {
    let place = Place::new();
    place.write("f.yaml", denied_fixture("{ step: post }"));
    let page = place.run(&["explain", "f.yaml", "ship"]).exits(0).out;
    assert!(page.contains("Its step `post` ends escalated"), "{page}");
    let page = place.run(&["explain", "f.yaml", "ship/post"]).exits(0).out;
    assert!(page.starts_with("1. slack.post  ship/post"), "{page}");
    assert!(page.contains("ik_7/post"), "{page}");
    let plain = place.run(&["explain", "f.yaml", "ship", "--playbook", "standard"]).exits(0).out;
    assert!(!plain.contains("step"), "{plain}");
    place.run(&["explain", "f.yaml", "ship/post", "--playbook", "standard"]).exits(2);
}

/// A call line; `of` is what it is a step of, and which.
fn made(id: &str, tool: &str, of: Option<(&str, &str)>) -> String {
    let mut line = json!({"type": "tool_call", "run_id": "r", "call_id": id, "tool": tool, "args": {"pr": 7}});
    if let Some((parent, step)) = of {
        line["parent"] = json!(parent);
        line["step"] = json!(step);
    }
    format!("{line}\n")
}

/// A result line; none: ok.
fn answered(id: &str, error: Option<Value>) -> String {
    let mut line = json!({"type": "tool_result", "run_id": "r", "call_id": id, "status": "ok"});
    if let Some(error) = error {
        line["status"] = json!("error");
        line["error"] = error;
    }
    format!("{line}\n")
}

fn busy() -> Option<Value> {
    Some(json!({"status": 429, "message": "Too many requests"}))
}

fn timeout() -> Option<Value> {
    Some(json!({"kind": "timeout", "message": "no answer within 5000 ms"}))
}

/// A call of a step with its answer.
fn step(id: &str, tool: &str, of: (&str, &str), error: Option<Value>) -> String {
    made(id, tool, Some(of)) + &answered(id, error)
}

/// What `explain` says of a call under the shipped playbook, its lines joined.
fn explained(trace: &str, call: &str) -> String {
    let place = Place::new();
    place.write("t.jsonl", trace);
    let out = place.run(&["explain", "t.jsonl", call, "--playbook", "steps"]).exits(0).out;
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn retriable(call: &Value) -> &Value {
    &call["told"]["retriable"]
}

#[test]
fn a_recorded_step_that_the_playbook_skips_counts_for_its_action() {
    let busy_action = made("a", "ship_update", None) + &step("s1", "github.find_pr", ("a", "find_pr"), busy());
    let page = explained(&busy_action, "r#1");
    assert!(page.contains("send again? Yes") && page.contains("not done: `post`, `react`"), "{page}");
    assert_eq!(retriable(&replayed(&busy_action, "steps")[0]), &json!(true), "nothing speaks against it");

    let posted = busy_action.clone() + &step("s2", "slack.post", ("a", "post"), None);
    let page = explained(&posted, "r#1");
    assert!(page.contains("The effect is there: step `post` (r#3) was answered with ok, although"), "{page}");
    assert!(page.contains("not done: `react`."), "{page}");
    assert!(
        page.contains("send again? No, because step `post` (r#3) has acted, although the playbook skips it"),
        "{page}"
    );
    let calls = replayed(&posted, "steps");
    assert_eq!((retriable(&calls[0]), &calls[0]["effect"]), (&json!(false), &json!("unknown")));

    let maybe = busy_action.clone() + &step("s2", "slack.post", ("a", "post"), timeout());
    let page = explained(&maybe, "r#1");
    assert!(page.contains("send again? No, because step `post` (r#3) may have acted"), "{page}");
    let of_step = explained(&maybe, "r#3");
    assert!(of_step.contains("send again? No") && !of_step.contains("it is a step"), "{of_step}");
    assert_eq!(retriable(&replayed(&maybe, "steps")[0]), &json!(false));

    // A step that did nothing, and one that is idempotent, let the action be made again; one that was denied does not.
    let refused = busy_action.clone() + &step("s2", "slack.post", ("a", "post"), busy());
    assert!(explained(&refused, "r#1").contains("send again? Yes"));
    assert_eq!(retriable(&replayed(&refused, "steps")[0]), &json!(true));
    let denied = busy_action.clone() + &step("s2", "slack.post", ("a", "post"), Some(json!({"status": 403})));
    assert!(explained(&denied, "r#1").contains("send again? No"));
    assert_eq!(retriable(&replayed(&denied, "steps")[0]), &json!(false));
    let reacted = busy_action + &step("s3", "slack.react", ("a", "react"), None);
    assert_eq!(retriable(&replayed(&reacted, "steps")[0]), &json!(true));
    assert!(explained(&reacted, "r#1").contains("send again? Only after a look at each step"));
}

#[test]
fn a_step_whose_key_was_only_ever_refused_is_not_proved_by_its_key() {
    let keyed =
        |lines: String| lines.replacen(r#""tool":"slack.post""#, r#""idempotency_key":"k","tool":"slack.post""#, 1);
    let refused = keyed(step("p", "slack.post", ("none", "none"), Some(json!({"status": 403}))));
    let processed = Some(json!({"kind": "409_conflict", "message": "key already processed"}));
    let action = made("a", "ship_update", None)
        + &step("s1", "github.find_pr", ("a", "find_pr"), busy())
        + &keyed(step("s2", "slack.post", ("a", "post"), processed.clone()));
    assert!(explained(&action, "r#1").contains("The effect is there: step `post` (r#3)"));
    let page = explained(&(refused + &action), "r#2");
    assert!(page.contains("Unknown: step `post` (r#4)"), "{page}");

    // The same where the refusal is an attempt of the step itself.
    let first = json!({"type": "tool_result", "run_id": "r", "call_id": "s2", "attempt": 1, "status": "error",
        "error": {"status": 429, "message": "Too many requests"}});
    let second = json!({"type": "tool_result", "run_id": "r", "call_id": "s2", "attempt": 2, "status": "error",
        "error": processed});
    let twice = made("a", "ship_update", None)
        + &step("s1", "github.find_pr", ("a", "find_pr"), busy())
        + &keyed(made("s2", "slack.post", Some(("a", "post"))))
        + &format!("{first}\n{second}\n");
    let page = explained(&twice, "r#1");
    assert!(page.contains("Unknown: step `post` (r#3)"), "{page}");
}

#[test]
fn a_step_of_an_identical_action_before_speaks_against_another_one() {
    let first = |post: Option<Value>| {
        made("a", "ship_update", None)
            + &step("s1", "github.find_pr", ("a", "find_pr"), None)
            + &step("s2", "slack.post", ("a", "post"), post)
            + &step("s3", "slack.react", ("a", "react"), busy())
    };
    let second = made("b", "ship_update", None) + &step("t1", "github.find_pr", ("b", "find_pr"), busy());
    let both = first(None) + &second;
    let page = explained(&both, "r#5");
    assert!(page.contains("No, because r#1 is the same action, and its step `post` (r#3) has acted"), "{page}");
    let calls = replayed(&both, "steps");
    let of = |id: &str| calls.iter().find(|call| call["id"] == id).expect("the call").clone();
    assert_eq!(retriable(&of("b")), &json!(false));

    let other = both.replacen(r#""call_id":"b","run_id":"r""#, r#""call_id":"b","run_id":"q""#, 1);
    let other = if other == both {
        both.replace(r#"{"args":{"pr":7},"call_id":"b""#, r#"{"args":{"pr":8},"call_id":"b""#)
    } else {
        other
    };
    assert_ne!(other, both, "another request");
    for (post, may_be_made) in [(busy(), true), (Some(json!({"status": 403})), false)] {
        let nothing_posted = first(post) + &second;
        let calls = replayed(&nothing_posted, "steps");
        let of = |id: &str| calls.iter().find(|call| call["id"] == id).expect("the call").clone();
        assert_eq!(retriable(&of("b")), &json!(may_be_made), "a denial is not made again");
        assert_eq!(explained(&nothing_posted, "r#5").contains("send again? Yes"), may_be_made);
    }
}

/// A fixture of two identical actions without keys; `first` and `second` are the answers to their steps.
fn two_actions(first: &str, second: &str) -> String {
    format!(
        "format: fixture/1\ntitle: An action is made twice\nplaybooks: [steps]\n\
         calls:\n  a: {{ action: ship_update, args: {{ pr: 7 }} }}\n  b: {{ action: ship_update, args: {{ pr: 7 }}, after: [a] }}\n\
         upstream:\n  a: {{ steps: {{ {first} }} }}\n  b: {{ steps: {{ {second} }} }}\n\
         expect: {{ steps: {{ b: {{ told: network_error }} }} }}\n"
    )
}

/// What the agent of a fixture is told of its second action.
fn second_is_retriable(fixture: &str) -> Value {
    let place = Place::new();
    place.write("f.yaml", fixture);
    let calls = place.run(&["replay", "f.yaml", "--format", "jsonl"]).out;
    let calls = calls.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let second = calls.into_iter().find(|line| line["type"] == "call" && line["ref"] == "b").expect("the call");
    retriable(&second).clone()
}

#[test]
fn what_calls_before_a_step_show_speaks_against_its_action() {
    let busy_post = "find_pr: [{ ok: {} }], post: [{ error: { status: 429 } }], react: []";
    let denied_post = "find_pr: [{ ok: {} }], post: [{ error: { status: 403 } }], react: []";
    let busy_find = "find_pr: [{ error: { status: 429 } }], post: [], react: []";
    assert_eq!(second_is_retriable(&two_actions(busy_post, busy_post)), json!(true), "nothing was done or denied");
    assert_eq!(second_is_retriable(&two_actions(denied_post, busy_post)), json!(false), "the step was denied");
    assert_eq!(second_is_retriable(&two_actions(denied_post, busy_find)), json!(false), "it would come to that step");

    let action = |id: &str, (find, post): (&str, &str), error: Option<Value>| {
        made(id, "ship_update", None)
            + &step(find, "github.find_pr", (id, "find_pr"), None)
            + &step(post, "slack.post", (id, "post"), error)
    };
    let told = |first: Option<Value>| {
        let both = action("a", ("s1", "s2"), first) + &action("b", ("t1", "t2"), busy());
        let calls = replayed(&both, "steps");
        retriable(calls.iter().find(|call| call["id"] == "b").expect("the call")).clone()
    };
    assert_eq!(told(busy()), json!(true));
    assert_eq!(told(Some(json!({"status": 403}))), json!(false));
}

#[test]
fn an_action_without_an_answer_of_a_step_claims_no_less_than_its_recorded_steps() {
    let again = made("a", "ship_update", None)
        + &step("s1", "github.find_pr", ("a", "find_pr"), timeout())
        + &step("s1b", "github.find_pr", ("a", "find_pr"), None);
    let posted = again.clone() + &step("s2", "slack.post", ("a", "post"), None);
    let calls = replayed(&posted, "steps");
    assert_eq!((&calls[0]["outcome"], &calls[0]["effect"]), (&json!("undetermined"), &json!("unknown")));
    assert_eq!(findings(&calls[0]), ["undetermined"]);
    assert!(explained(&posted, "r#1").contains("send again? No, because step `post` (r#4) has acted"));
    let page = explained(&again, "r#1");
    assert!(page.contains("send again? Yes"), "{page}");
    assert_eq!(replayed(&again, "steps")[0]["effect"], "not_applied");
}

#[test]
fn a_step_after_the_caller_went_away_is_an_effect_that_nobody_waits_for() {
    let timed = |line: String, at: u64| {
        let mut line: Value = serde_json::from_str(&line).expect("JSON");
        line["at_ms"] = json!(at);
        format!("{line}\n")
    };
    let begun = timed(made("a", "ship_update", None), 0)
        + &timed(made("s1", "github.find_pr", Some(("a", "find_pr"))), 0)
        + &timed(answered("s1", None), 10)
        + &timed(json!({"type": "cancel", "run_id": "r", "call_id": "a"}).to_string(), 15);
    let posted =
        begun.clone() + &timed(made("s2", "slack.post", Some(("a", "post"))), 20) + &timed(answered("s2", None), 30);
    let calls = replayed(&posted, "steps");
    assert_eq!((&calls[0]["outcome"], &calls[0]["effect"]), (&json!("cancelled"), &json!("unknown")));
    assert_eq!(findings(&calls[0]), ["abandoned"]);
    let page = explained(&posted, "r#1");
    assert!(page.contains("The effect is there") && page.contains("it reads the upstream's state first"), "{page}");
    assert!(page.contains("send again? No"), "{page}");
    let calls = replayed(&begun, "steps");
    assert_eq!((&calls[0]["effect"], findings(&calls[0])), (&json!("not_applied"), vec![]));
    assert!(explained(&begun, "r#1").contains("Nobody: the caller went away"));
}

#[test]
fn a_step_that_is_missing_ends_its_action_when_it_is_asked_for_on_a_replay_too() {
    let place = Place::new();
    let steps = playproof_formats::playbook::embedded("steps").expect("it is embedded");
    let (actions, rest) = steps.split_once("graph:\n").expect("a graph");
    let (_, tools) = rest.split_once("tools:\n").expect("tool facts");
    place.write("unordered.yaml", format!("{actions}tools:\n{tools}"));
    place.write("steps.yaml", steps);
    for (playbook, made) in [("unordered", 50), ("steps", 50), ("unordered", 5_000), ("steps", 5_000)] {
        let fixture = format!(
            "format: fixture/1\ntitle: t\ncalls:\n  ship: {{ action: ship_update, args: {{ pr: 7 }} }}\n  \
             other: {{ tool: github.close_pr, at_ms: {made} }}\nupstream:\n  ship: {{ steps: {{ find_pr: \
             [{{ ok: {{}}, latency_ms: 100 }}] }} }}\n  other: [{{ ok: {{}}, latency_ms: 5000 }}]\n\
             expect: {{ steps: {{ ship: {{ step: post }} }} }}\n"
        );
        place.write("f.yaml", fixture);
        let file = format!("{playbook}.yaml");
        place.run(&["replay", "f.yaml", "--playbook", &file, "--record", "run.jsonl"]);
        place.run(&["replay", "run.jsonl", "--same-decisions", "--playbook", &file]).exits(0);
        let events = place.run(&["replay", "run.jsonl", "--playbook", &file, "--format", "jsonl"]).out;
        let ended = r#""at_ms":100,"event":"step_ended","step":"post","ended":"undetermined""#;
        assert!(events.contains(ended), "{playbook} {made}: {events}");
        fs::remove_file(place.path().join("run.jsonl")).expect("it was written");
    }
}

#[test]
fn an_action_whose_steps_are_not_recorded_may_have_acted() {
    let alone = made("a", "ship_update", None) + &answered("a", None);
    let page = explained(&alone, "r#1");
    assert!(
        page.contains("Unknown: nothing is known of `find_pr`, `post`, `react`, and `post` may have acted."),
        "{page}"
    );
    assert!(page.contains("send again? No, because nothing is known of"), "{page}");
    let reads = made("a", "review", None) + &answered("a", None);
    assert!(explained(&reads, "r#1").contains("send again? Yes"));

    let without_run = |line: String| {
        let mut line: Value = serde_json::from_str(&line).expect("JSON");
        line.as_object_mut().expect("an object").remove("run_id");
        format!("{line}\n")
    };
    let trace = alone + &without_run(made("s1", "github.find_pr", Some(("a", "find_pr"))));
    let place = Place::new();
    place.write("t.jsonl", &trace);
    let out = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--stats"]).out;
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("name a step of a call that is not found before them (line 3) 1"), "{out}");
    place.run(&["replay", "t.jsonl", "--playbook", "steps", "--strict"]).exits(3);
}

#[test]
fn a_call_of_another_tool_or_of_an_unknown_step_is_not_taken_for_a_step() {
    let begun = made("a", "ship_update", None) + &step("s1", "github.find_pr", ("a", "find_pr"), None);
    let other = begun.clone()
        + &step("x", "slack.erase_all", ("a", "post"), None)
        + &step("s2", "slack.post", ("a", "psot"), None)
        + &step("s2b", "slack.post", ("a", "post"), busy());
    let calls = replayed(&other, "steps");
    let of = |id: &str| calls.iter().find(|call| call["id"] == id).expect("the call").clone();
    assert_eq!(of("a")["steps"][1]["outcome"], "deprecated", "the step itself was busy");
    assert_ne!(of("s2")["outcome"], "skipped", "it is no step");
    assert_eq!(retriable(&of("a")), &json!(false), "what names the action as its parent may have acted for it");
    let place = Place::new();
    place.write("t.jsonl", &other);
    let out = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--stats"]).out;
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("name a step that no action has with their tool (line 4) 2"), "{out}");
    let json = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["playbooks"][0]["not_taken_for_steps"], json!({"no_step": 2, "no_action": 0}));
    place.write("t.jsonl", &(begun + &step("s2", "slack.post", ("a", "post"), None)));
    let out = place.run(&["replay", "t.jsonl", "--playbook", "steps"]).out;
    assert!(!out.contains("name a step"), "{out}");
}

#[test]
fn the_time_of_a_caller_is_no_time_of_an_upstream() {
    let line = |mut line: Value, at: u64| {
        line["run_id"] = json!("r");
        line["at_ms"] = json!(at);
        format!("{line}\n")
    };
    let call = |id: &str, tool: &str| json!({"type": "tool_call", "call_id": id, "tool": tool, "args": {"pr": 7}});
    let mut find = call("s", "github.find_pr");
    find["parent"] = json!("a");
    find["step"] = json!("find_pr");
    let ok = |id: &str| json!({"type": "tool_result", "call_id": id, "status": "ok"});
    let trace = |find_took: u64| {
        line(call("a", "ship_update"), 0)
            + &line(find.clone(), 1)
            + &line(ok("s"), 1 + find_took)
            + &line(ok("a"), 60_000)
    };
    let calls = replayed(&trace(10), "steps");
    assert!(!findings(&calls[0]).contains(&"over_timeout"), "{:?}", calls[0]);
    let calls = replayed(&trace(40_000), "steps");
    assert!(!findings(&calls[0]).contains(&"over_timeout") && findings(&calls[1]).contains(&"over_timeout"));
    let place = Place::new();
    place.write("t.jsonl", trace(10));
    let json = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["playbooks"][0]["upstream_calls_recorded"], 1);
}

#[test]
fn the_agent_of_an_action_is_told_what_refused_its_step() {
    let place = Place::new();
    place.write(
        "p.yaml",
        "format: playbook/1
name: p
classify: []
queues: [q]
default_queue: q
verdicts: { unclassified: { means: m, effect: unknown, then: { escalate_to_human: { queue: q } } } }
tools: { pay: { access: write, schema: { type: object, properties: { x: { type: integer } } } } }
actions: { order: { steps: [{ id: pay, tool: pay }] } }
",
    );
    place.write(
        "f.yaml",
        "format: fixture/1
title: t
playbooks: [p]
calls: { order: { action: order, args: { x: a } } }
upstream: { order: { steps: { pay: [{ ok: {} }] } } }
expect: { p: { order: { outcome: refused, why: schema, told: capability_denied, retriable: false } } }
",
    );
    let run = ["replay", "f.yaml", "--playbook", "p.yaml", "--format", "json", "--envelope", "refusal"];
    let out = place.run(&run).exits(0).out;
    assert!(out.contains(r#""error":"validation_failed""#), "{out}");
    assert!(out.contains("/x: expected integer, got string") && out.contains(r#""turned_away":{"schema":1}"#), "{out}");
}
