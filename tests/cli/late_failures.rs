//! A failure that came after the timeout of its attempt, and what it proves to the calls after it.

use serde_json::{Value, json};

use super::Place;

const PLAYBOOK: &str = "format: playbook/1
name: own
verdicts:
  silent: { means: No answer., effect: unknown, then: { escalate_to_human: { queue: q } } }
  refused: { means: Refused., effect: not_applied, then: { deprecate_tool_call: { reason: refused } } }
  broken: { means: Broken., effect: unknown, then: { escalate_to_human: { queue: q } } }
classify:
  - { rule: silent, when: { kind: timeout }, verdict: silent }
  - { rule: refused, when: { status: 400 }, verdict: refused }
otherwise: broken
default_queue: q
queues: [q]
tools: { pay: { access: write, timeout_ms: 1000 } }
";

fn place() -> Place {
    let place = Place::new();
    place.write("p.yaml", PLAYBOOK);
    place
}

/// The ids of what is found of the second payment.
fn found(lines: &[Value]) -> Vec<String> {
    let place = place();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    place.write("t.jsonl", &text);
    let out = place.run(&["replay", "t.jsonl", "--playbook", "p.yaml", "--all", "--format", "jsonl"]).out;
    let calls = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let second = calls.filter(|line| line["type"] == "call").nth(1).expect("two calls");
    let findings = second["findings"].as_array().expect("findings").iter();
    findings.map(|finding| finding["id"].as_str().expect("an id").to_owned()).collect()
}

/// Two equal payments: the first times out and fails late, the second is made at some time.
fn payments(late: &Value, again_at: u64) -> Vec<Value> {
    let call = |id: &str, at: u64| json!({"type": "tool_call", "run_id": "r", "call_id": id, "tool": "pay", "at_ms": at, "args": {"amount": 5}});
    let result = |id: &str, at: u64, status: &str| json!({"type": "tool_result", "run_id": "r", "call_id": id, "at_ms": at, "attempt": 1, "status": status});
    let mut silent = result("a", 1_010, "error");
    silent["error"] = json!({"kind": "timeout"});
    let mut came = result("a", 2_000, "error");
    came["answers"] = json!("late");
    came["error"] = late.clone();
    vec![call("a", 10), silent, came, call("b", again_at), result("b", again_at + 10, "ok")]
}

#[test]
fn a_late_failure_that_says_that_nothing_was_done_settles_the_attempt_that_timed_out() {
    let refused = json!({"status": 400, "message": "card refused"});
    assert_eq!(found(&payments(&refused, 2_050)), [] as [&str; 0]);
    assert!(found(&payments(&refused, 1_500)).contains(&"unsafe_retry".to_owned()), "it was not known yet");
    let broken = json!({"status": 500, "message": "broken"});
    assert!(found(&payments(&broken, 2_050)).contains(&"unsafe_retry".to_owned()), "it may have acted");
}

#[test]
fn explain_does_not_say_of_a_settled_attempt_that_it_may_have_acted() {
    let explained = |late: &Value| {
        let place = place();
        let text: String = payments(late, 2_050).iter().map(|line| format!("{line}\n")).collect();
        place.write("t.jsonl", &text);
        let out = place.run(&["explain", "t.jsonl", "r#1", "--playbook", "p.yaml"]).out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let refused = explained(&json!({"status": 400, "message": "card refused"}));
    assert!(!refused.contains("may have made it too") && !refused.contains("its effect counts"), "{refused}");
    let broken = explained(&json!({"status": 500, "message": "broken"}));
    assert!(broken.contains("may have made it too"), "{broken}");
}

#[test]
fn a_late_failure_settles_the_attempt_of_a_fixture_too() {
    let shown = |late: &str, after: u32| {
        let place = place();
        let fixture = format!(
            "format: fixture/1\ntitle: t\nplaybooks: [own]\ncalls:\n  a: {{ tool: pay, args: {{ amount: 5 }}, run: r }}\n  \
             b: {{ tool: pay, args: {{ amount: 5 }}, run: r, at_ms: {after} }}\nupstream:\n  \
             a: [ {{ error: {late}, latency_ms: 2000 }} ]\n  b: [ {{ ok: {{}} }} ]\nexpect: {{ own: {{ a: {{ effect: unknown }} }} }}\n"
        );
        place.write("f.yaml", &fixture);
        place.run(&["replay", "f.yaml", "--playbook", "p.yaml", "--all", "--format", "jsonl"]).out
    };
    assert!(!shown("{ status: 400 }", 3_000).contains("unsafe_retry"));
    assert!(shown("{ status: 400 }", 1_500).contains("unsafe_retry"), "not known yet");
    assert!(shown("{ status: 500 }", 3_000).contains("unsafe_retry"));
}
