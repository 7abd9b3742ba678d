//! What the recorded answers of an action with steps show, beside those of its steps: the agent sees no others.

use serde_json::{Value, json};

use super::Place;

/// Lines of a run under the shipped playbook `steps`.
#[derive(Default)]
struct Run(String);

impl Run {
    fn call(mut self, id: &str, at: u64) -> Run {
        let line = json!({"type": "tool_call", "run_id": "r", "call_id": id, "tool": "ship_update", "at_ms": at,
                          "args": {"pr": 7}});
        self.0 += &format!("{line}\n");
        self
    }

    fn step(mut self, of: &str, step: &str, at: u64) -> Run {
        let tool = if step == "find_pr" { "github.find_pr" } else { "slack.post" };
        let line = json!({"type": "tool_call", "run_id": "r", "call_id": format!("{of}/{step}"), "tool": tool,
                          "at_ms": at, "args": {"pr": 7}, "parent": of, "step": step});
        self.0 += &format!("{line}\n");
        self
    }

    fn ok(self, id: &str, at: u64) -> Run {
        self.ended(id, at, None)
    }

    fn ended(mut self, id: &str, at: u64, error: Option<Value>) -> Run {
        let status = if error.is_some() { "error" } else { "ok" };
        let mut line = json!({"type": "tool_result", "run_id": "r", "call_id": id, "at_ms": at, "status": status});
        line["error"] = error.unwrap_or(Value::Null);
        self.0 += &format!("{line}\n");
        self
    }

    /// The calls, as `replay` shows them.
    fn replayed(&self) -> Vec<Value> {
        let place = Place::new();
        place.write("t.jsonl", &self.0);
        let out = place.run(&["replay", "t.jsonl", "--playbook", "steps", "--all", "--format", "jsonl"]).out;
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["type"] == "call").collect()
    }

    /// Severity and id of what the recording shows of each later call of the action.
    fn shows(&self) -> Vec<String> {
        let calls = self.replayed();
        let later = calls.iter().filter(|call| call["tool"] == "ship_update").skip(1);
        let findings = later.flat_map(|call| call["findings"].as_array().expect("findings").clone());
        let recorded = findings.filter(|finding| finding["by"] == "recorded" && finding["id"] != "out_of_order");
        let word = |value: &Value| value.as_str().expect("a word").to_owned();
        recorded.map(|finding| format!("{} {}", word(&finding["severity"]), word(&finding["id"]))).collect()
    }
}

/// An action whose second step was answered, and that ended at 500.
fn posted(error: Option<Value>) -> Run {
    let found = Run::default().call("a", 0).step("a", "find_pr", 1).ok("a/find_pr", 10);
    found.step("a", "post", 11).ok("a/post", 20).ended("a", 500, error)
}

fn failed(retriable: bool) -> Option<Value> {
    Some(json!({"kind": "timeout", "message": "gave up", "retriable": retriable}))
}

#[test]
fn what_an_action_told_its_agent_counts_although_its_steps_told_nothing() {
    assert_eq!(posted(failed(true)).call("b", 510).shows(), ["unsafe unsafe_advice"]);
    assert_eq!(posted(failed(false)).call("b", 510).shows(), ["note ignored_advice"]);
    assert_eq!(posted(failed(true)).call("b", 400).shows(), ["unsafe sent_while_running"], "not told yet");
    assert_eq!(posted(Some(json!({"kind": "timeout"}))).call("b", 510).shows(), [] as [&str; 0]);
    let found = Run::default().call("a", 0).step("a", "find_pr", 1).ok("a/find_pr", 10);
    assert_eq!(found.ended("a", 500, failed(true)).call("b", 510).shows(), [] as [&str; 0], "it only read");
}

#[test]
fn an_action_is_open_as_long_as_a_step_of_it_that_acts_again() {
    let open = |step: &str, end: u64| {
        let run = Run::default().call("a", 0).step("a", step, 1).ended("a", 500, Some(json!({"kind": "timeout"})));
        run.ok(&format!("a/{step}"), end).call("b", 510).shows()
    };
    assert_eq!(open("post", 700), ["unsafe sent_while_running"]);
    assert_eq!(open("post", 505), [] as [&str; 0], "it has ended");
    assert_eq!(open("find_pr", 700), [] as [&str; 0], "it only reads");
}

#[test]
fn an_action_without_recorded_steps_may_have_acted_as_its_own_answer_says() {
    let alone = |error| Run::default().call("a", 0).ended("a", 500, error).call("b", 510).ok("b", 600).shows();
    assert_eq!(alone(failed(true)), ["doubt unsafe_advice", "doubt possible_duplicate_effect"]);
    assert_eq!(alone(None), ["doubt possible_duplicate_effect"], "both succeeded");
    let busy = json!({"status": 429, "message": "Too many requests"});
    assert_eq!(alone(Some(busy)), [] as [&str; 0], "it has done nothing");
}

#[test]
fn whether_an_action_may_be_made_again_depends_on_its_steps_and_not_on_the_words_of_its_harness() {
    let told = |of_step: Value, own: Value| {
        let run = Run::default().call("a", 0).step("a", "find_pr", 1).ok("a/find_pr", 10).step("a", "post", 11);
        let calls = run.ended("a/post", 20, Some(of_step)).ended("a", 30, Some(own)).replayed();
        calls[0]["told"]["retriable"].clone()
    };
    let busy = json!({"status": 429, "message": "Too many requests"});
    for own in [
        json!({"status": 429}),
        json!({"status": 401, "message": "revoked"}),
        json!({"kind": "timeout", "message": "no answer"}),
        json!({"status": 500}),
        json!({"status": 409}),
    ] {
        assert_eq!(told(busy.clone(), own.clone()), json!(true), "{own}");
    }
    let says_more = json!({"status": 429, "message": "Too many requests; your message was posted"});
    assert_eq!(told(says_more, json!({"status": 429})), json!(false), "the step says that it may have acted");
}

/// A fixture of one action with steps; `answers` is what stands for its call under `upstream`.
fn fixture(answers: &str) -> Place {
    let place = Place::new();
    let text =
        "format: fixture/1\ntitle: t\nplaybooks: [steps]\ncalls:\n  ship: { action: ship_update, args: { pr: 7 } }\n";
    place.write(
        "f.yaml",
        format!("{text}upstream:\n  ship: {answers}\nexpect: {{ steps: {{ ship: {{ attempts: 1 }} }} }}\n"),
    );
    place
}

#[test]
fn answers_that_a_fixture_gives_an_action_and_not_its_steps_are_refused() {
    for answers in ["[ { ok: {} } ]", "{ attempts: [ { ok: {} } ] }"] {
        let place = fixture(answers);
        let error = place.run(&["replay", "f.yaml", "--playbook", "steps"]).exits(2).err;
        assert!(error.contains("is sent nowhere itself") && error.contains("write `steps:`"), "{error}");
    }
    fixture("{ steps: { find_pr: [ { error: { status: 403 } } ] } }").run(&["replay", "f.yaml"]).exits(0);
}

#[test]
fn a_step_has_no_envelope_because_its_action_answers_the_agent() {
    let envelopes = |place: &Place, input: &str| {
        let args = ["replay", input, "--playbook", "steps", "--all", "--format", "jsonl", "--envelope", "failure"];
        let out = place.run(&args).out;
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["type"] == "call").map(|call| call["envelope"].is_null()).collect::<Vec<_>>()
    };
    let denied = json!({"status": 403, "message": "no"});
    let run = Run::default().call("a", 0).step("a", "find_pr", 1).ended("a/find_pr", 10, Some(denied.clone()));
    let place = fixture("{ steps: { find_pr: [ { error: { status: 403 } } ] } }");
    place.write("t.jsonl", &run.ended("a", 20, Some(denied)).0);
    assert_eq!(envelopes(&place, "t.jsonl"), [false, true]);
    assert_eq!(envelopes(&place, "f.yaml")[..2], [false, true]);
}

#[test]
fn explain_says_of_an_action_what_its_agent_is_told_where_no_step_that_acted_would_act_again() {
    let run = Run::default().call("a", 0).step("a", "find_pr", 1).ok("a/find_pr", 10).step("a", "post", 11);
    let busy = json!({"status": 429, "message": "Too many requests"});
    let place = Place::new();
    place.write("t.jsonl", &run.ended("a/post", 20, Some(busy.clone())).ended("a", 30, Some(busy)).0);
    let out = place.run(&["explain", "t.jsonl", "r#1", "--playbook", "steps"]).exits(0).out;
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("that it may make the call again"), "{out}");
    assert!(words.contains("send again? Yes, because no step that has acted would act again."), "{out}");
}

#[test]
fn explain_finds_of_an_action_what_replay_finds_also_where_only_the_step_is_not_idempotent() {
    let place = Place::new();
    place.write("t.jsonl", &posted(failed(true)).call("b", 510).0);
    let out = place.run(&["explain", "t.jsonl", "r#4", "--playbook", "steps"]).out;
    assert!(out.contains("unsafe_advice"), "{out}");
}
