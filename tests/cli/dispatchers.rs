//! What a dispatcher's calls share is known to every command that simulates recorded calls: two runs of one dispatcher share,
//! one run with two dispatchers does not.

use super::Place;

const PLAYBOOK: &str = "\
format: playbook/1
name: sharing
queues: [people]
default_queue: people
verdicts:
  down:
    means: It did not work now.
    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [100], max_retries: 1 } }
classify: [{ rule: down, when: { kind: 5xx }, verdict: down }]
dedupe: { window_ms: 60000 }
tools: { pay: { access: write } }
";

/// Two calls with one key; the second is made when the first has succeeded, and fails.
fn place(first: &str, second: &str) -> Place {
    let made = |names: &str, call: u32| {
        let at = call * 1_000;
        format!(
            r#"{{"type":"tool_call",{names},"call_id":"c{call}","tool":"pay","args":{{}},"idempotency_key":"k","at_ms":{at}}}"#
        )
    };
    let answered = |names: &str, call: u32, attempt: u32, answer: &str| {
        let at = call * 1_000 + attempt * 100;
        format!(r#"{{"type":"tool_result",{names},"call_id":"c{call}","attempt":{attempt},"at_ms":{at},{answer}}}"#)
    };
    let (ok, fails) = (r#""status":"ok""#, r#""status":"error","error":{"kind":"5xx"}"#);
    let place = Place::new();
    let lines = [
        made(first, 1),
        answered(first, 1, 1, ok),
        made(second, 2),
        answered(second, 2, 1, fails),
        answered(second, 2, 2, fails),
    ];
    place.write("trace.jsonl", lines.join("\n") + "\n");
    place.write("sharing.yaml", PLAYBOOK);
    place.write("alone.yaml", PLAYBOOK.replace("dedupe: { window_ms: 60000 }\n", "").replace("sharing", "alone"));
    place
}

const SHARED: [(&str, &str); 2] = [
    (r#""run_id":"r1","dispatcher_id":"d""#, r#""run_id":"r2","dispatcher_id":"d""#),
    (r#""run_id":"r1""#, r#""run_id":"r1""#),
];

const APART: [(&str, &str); 2] = [
    (r#""run_id":"r1","dispatcher_id":"d""#, r#""run_id":"r1","dispatcher_id":"e""#),
    (r#""run_id":"r1""#, r#""run_id":"r2""#),
];

/// What a command shows of the two calls where they share a dispatcher, and where they do not.
fn shown(args: &[&str], says: impl Fn(&str) -> bool) -> [Vec<bool>; 2] {
    let run = |(first, second): (&str, &str)| says(&place(first, second).run(args).out);
    [SHARED.map(run).to_vec(), APART.map(run).to_vec()]
}

#[test]
fn a_replay_asks_the_dispatcher_of_a_call() {
    let args = ["replay", "trace.jsonl", "--playbook", "sharing.yaml", "--format", "jsonl"];
    assert_eq!(shown(&args, |out| out.contains("served_from_cache")), [[true; 2], [false; 2]]);
}

#[test]
fn explain_asks_the_dispatcher_of_a_call() {
    let args = ["explain", "trace.jsonl", "c2", "--playbook", "sharing.yaml"];
    assert_eq!(shown(&args, |out| out.contains("cached")), [[true; 2], [false; 2]]);
}

#[test]
fn impact_asks_the_dispatcher_of_a_call() {
    let args = ["impact", "--base", "alone.yaml", "--candidate", "sharing.yaml", "trace.jsonl"];
    assert_eq!(shown(&args, |out| out.contains("cached")), [[true; 2], [false; 2]]);
}

#[test]
fn mine_asks_the_dispatcher_of_a_call() {
    let args = ["mine", "trace.jsonl", "--playbook", "sharing.yaml"];
    assert_eq!(shown(&args, |out| out.contains(", 0 exhausted")), [[true; 2], [false; 2]]);
}
