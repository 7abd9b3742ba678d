//! A journal is a trace: it is replayed like one, its decisions are compared, and a shadow says what would have been.

use crate::place::Place;

/// A write that is retried, woken later than it asked for, and a call that may have acted.
const LINES: &str = r#"{"type":"call","id":"first","at_ms":0,"run":"r","tool":"payments.issue_refund","args":{"order":"o_1"},"key":"ik_00000001"}
{"type":"answer","id":"first","attempt":1,"at_ms":100,"error":{"kind":"timeout"}}
{"type":"call","id":"second","at_ms":150,"run":"r","tool":"payments.issue_refund","args":{"order":"o_2"}}
{"type":"wake","id":"first","at_ms":412.5}
{"type":"answer","id":"first","attempt":2,"at_ms":900,"ok":true}
{"type":"answer","id":"second","attempt":1,"at_ms":5150,"timeout":true}
"#;

fn journaled(more: &[&str]) -> Place {
    let place = Place::new();
    let serve = ["serve", "--playbook", "standard", "--unlocked", "--journal", "calls.jsonl"];
    place.run_with(&[&serve, more].concat(), LINES).exits(0);
    place
}

#[test]
fn a_journal_is_replayed_as_a_trace_whose_calls_keep_their_names_and_places() {
    let place = journaled(&[]);
    let ran = place.run(&["replay", "calls.jsonl", "--playbook", "standard", "--all"]);
    assert!(ran.code < 2 && ran.out.contains("r#2") && ran.out.contains("payments.issue_refund"), "{ran:?}");
    let lines = place.run(&["replay", "calls.jsonl", "--playbook", "standard", "--format", "jsonl"]).out;
    let call = lines.lines().find(|line| line.contains("\"second\"")).expect("the second call");
    let at =
        place.read("calls.jsonl").lines().position(|line| line.contains("\"id\":\"second\"")).expect("its line") + 1;
    assert!(call.contains(&format!("calls.jsonl:{at}")) || call.contains(&format!("\"line\":{at}")), "{call}");
}

#[test]
fn the_decisions_of_a_journal_are_those_of_its_playbook_and_not_of_another() {
    let place = journaled(&[]);
    let same = ["replay", "calls.jsonl", "--same-decisions", "--playbook"];
    let ran = place.run(&[&same[..], &["standard"]].concat()).exits(0);
    assert!(ran.out.contains("about 2 calls") && ran.out.contains("all are the same"), "{ran:?}");
    let ran = place.run(&[&same[..], &["reversing"]].concat()).exits(1);
    assert!(
        ran.out.contains("recorded under another playbook: `standard`") && ran.out.contains("calls.jsonl:"),
        "{ran:?}"
    );
    let journal = place.read("calls.jsonl");
    let changed = journal.replacen(
        "\"event\":\"retry_scheduled\",\"attempt\":2",
        "\"event\":\"retry_scheduled\",\"attempt\":3",
        1,
    );
    assert_ne!(journal, changed);
    place.write("calls.jsonl", &changed);
    let ran = place.run(&[&same[..], &["standard"]].concat()).exits(1);
    assert!(ran.out.contains("r#1 (calls.jsonl:") && ran.out.contains("\"attempt\":3"), "{ran:?}");
}

#[test]
fn what_differs_in_a_journal_is_shown_without_what_redaction_names() {
    let place = journaled(&[]);
    let named = |line: &str| match line.contains("\"event\":\"attempt_finished\"") {
        true => line.replace("\"kind\":\"timeout\"", "\"kind\":\"timeout\",\"message\":\"sk_live_1\""),
        false => line.to_owned(),
    };
    let lines: Vec<String> = place.read("calls.jsonl").lines().map(named).collect();
    place.write("calls.jsonl", &format!("{}\n", lines.join("\n")));
    let same = ["replay", "calls.jsonl", "--same-decisions", "--playbook", "reversing"];
    assert!(place.run(&same).exits(1).out.contains("sk_live_1"));
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['sk_live_[0-9]+'] }\n");
    let ran = place.run(&same).exits(1);
    assert!(!ran.out.contains("sk_live_1") && ran.out.contains("recorded  {"), "{ran:?}");
}

#[test]
fn a_shadow_sends_every_call_once_and_keeps_what_the_playbook_would_have_done() {
    let place = Place::new();
    let serve = ["serve", "--playbook", "standard", "--unlocked", "--journal", "s.jsonl", "--shadow"];
    let ran = place.run_with(&serve, LINES).exits(0);
    let answers: Vec<&str> = ran.out.lines().collect();
    assert_eq!(answers[0], "{\"do\":[{\"send\":\"first\",\"attempt\":1,\"within_ms\":5000}]}");
    assert_eq!(answers[1], "{\"do\":[]}");
    assert!(place.read("s.jsonl").contains("\"event\":\"retry_scheduled\""));
    place.run(&["replay", "s.jsonl", "--same-decisions", "--playbook", "standard"]).exits(0);
    place.run_with(&serve[..6], crate::serve::process::HELLO).exits(0);
    assert!(place.files().contains_key("s.jsonl.1"), "it decided otherwise: a new file begins");
}

#[test]
fn what_a_person_said_of_a_call_is_shown_and_hidden_where_redaction_names_it() {
    let place = journaled(&[]);
    let serve = ["serve", "--playbook", "standard", "--unlocked", "--journal", "calls.jsonl"];
    let said = r#"{"type":"resolve","id":"second","at_ms":6000,"effect":"applied","by":"ada@example.com"}"#;
    place.run_with(&serve, said).exits(0);
    for command in [&["replay", "calls.jsonl"][..], &["explain", "calls.jsonl", "r#2"]] {
        let ran = place.run(command);
        assert!(ran.code < 2 && ran.out.contains("resolved: r#2 as `applied`, by ada@example.com"), "{ran:?}");
    }
    assert!(!place.run(&["explain", "calls.jsonl", "r#1"]).out.contains("resolved: "));
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['ada@[a-z.]+'] }\n");
    let ran = place.run(&["replay", "calls.jsonl"]);
    assert!(ran.out.contains("resolved: r#2") && !ran.out.contains("ada@"), "{ran:?}");
}
