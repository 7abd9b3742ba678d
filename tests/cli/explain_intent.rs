//! `explain` on calls whose intent was sent before or later: what any of those requests may have done counts.

use super::Place;

const TOOLS: &str = "\
format: tools/1
tools:
  set.*: { access: write, idempotent: true }
  pay: { access: write, idempotent: false }
";

const TIMEOUT: &str = r#""status":"error","error":{"kind":"timeout","message":"t"}"#;
const SLOW: &str = r#""status":"error","error":{"kind":"429_rate_limited","message":"slow"}"#;
const REFUSED: &str = r#""status":"error","error":{"kind":"tool_error","message":"balance is not enough"}"#;
const OK: &str = r#""status":"ok""#;

/// What is to be known of one of two calls that want the same.
fn of_two(tool: &str, key: &str, answers: [&str; 2], call: &str, said: &[&str]) {
    let place = Place::new();
    let line = |answer: &str| format!("{{\"run_id\":\"r1\",\"tool\":\"{tool}\",{key}\"args\":{{\"a\":1}},{answer}}}\n");
    place.write("trace.jsonl", answers.map(line).concat());
    place.write("tools.yaml", TOOLS);
    let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml", call]);
    assert_eq!(run.code, 0, "{}", run.err);
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in said {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("Yes, because no attempt"), "{page}");
}

#[test]
fn an_unanswered_payment_is_not_forgotten_when_its_repetition_is_refused() {
    for second in [REFUSED, SLOW] {
        let said = [
            "Unknown: r1#1 may have acted with the same intent, and the recording does not show it; according to the \
             playbook, this call has not. Look upstream.",
            "No, because an attempt with this intent may have acted without an idempotency key",
        ];
        of_two("pay", "", [TIMEOUT, second], "r1#2", &said);
        of_two("pay", "", [second, TIMEOUT], "r1#1", &["Unknown: r1#2 may have acted with the same intent"]);
    }
}

#[test]
fn a_keyed_payment_that_was_not_answered_is_sent_with_the_same_key_only() {
    let said = ["Unknown: r1#1 may have acted with the same intent", "Yes, but only with the same key `k`"];
    of_two("pay", r#""idempotency_key":"k","#, [TIMEOUT, SLOW], "r1#2", &said);
}

#[test]
fn a_payment_that_succeeded_after_an_unanswered_one_may_be_the_second() {
    let said = [
        "The effect is there: an attempt was answered with ok. With the same intent, r1#1 may have made it again",
        "A person: check upstream whether the effect was made again.",
        "No, because the effect is there already",
    ];
    of_two("pay", "", [TIMEOUT, OK], "r1#2", &said);
    of_two("pay", "", [TIMEOUT, OK], "r1#1", &["The effect is there: r1#2 made it; this call may have made it too."]);
}

#[test]
fn an_idempotent_tool_is_credited_with_what_an_earlier_call_did() {
    let said = ["The effect is there: r1#1 made it; this call did not make it.", "Yes, because the tool is declared"];
    of_two("set.x", "", [OK, REFUSED], "r1#2", &said);
}

#[test]
fn what_only_the_playbook_says_is_not_told_as_seen() {
    let place = Place::new();
    place.write("trace.jsonl", format!("{{\"run_id\":\"r1\",\"tool\":\"pay\",{SLOW}}}\n"));
    place.write("tools.yaml", TOOLS);
    let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml"]);
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "The effect is not there: according to the playbook, no attempt with this intent can have acted.",
        "The outcome still claims unknown, because the recording does not answer one of the playbook's requests.",
        "Yes: according to the playbook, no attempt with this intent has acted. Add an idempotency key",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn a_modelled_answer_is_not_called_a_proof() {
    let place = Place::new();
    place.write("trace.jsonl", format!("{{\"run_id\":\"r1\",\"tool\":\"pay\",{TIMEOUT}}}\n"));
    let flags = ["--playbook", "study/retry-everything", "--beyond-tape", "ok"];
    let run = place.run(&[&["replay", "trace.jsonl"], &flags[..]].concat());
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("one effect of this call is modelled, none is proved"), "{page}");
}
