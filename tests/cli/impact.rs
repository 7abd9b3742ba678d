//! `playproof impact`: gates and their exit codes, what cannot be compared, the same bytes, no way out of a page.

use super::{Place, Run};

const BOTH: [&str; 4] = ["--base", "standard", "--candidate", "study/retry-everything"];
const REVERSE: [&str; 4] = ["--base", "study/retry-everything", "--candidate", "standard"];

/// Failures that nobody sent again: an unkeyed refund and a tool that nobody declared.
const TRACE: &str = r#"{"run_id":"r1","tool":"payments.issue_refund","args":{"order":"o_91"},"status":"error","error":{"kind":"timeout","message":"no answer"}}
{"run_id":"r1","tool":"crm.close","args":{"id":7},"status":"error","error":{"kind":"odd","message":"boom"}}
{"run_id":"r1","tool":"search.web","args":{},"status":"ok"}
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place
}

fn run(place: &Place, playbooks: &[&str], more: &[&str]) -> Run {
    place.run(&[&["impact", "t.jsonl"], playbooks, more].concat())
}

#[test]
fn the_page_names_widening_doubled_effects_and_queue_load() {
    let run = run(&place(), &BOTH, &["--beyond-tape", "fail:timeout"]);
    assert_eq!((run.code, &*run.err), (1, ""));
    for said in [
        "What study/retry-everything changes against standard",
        "3 calls: 1 unchanged, 2 changed, 0 undetermined",
        "2 calls are decided differently: 2 widening, 0 narrowing, 0 neutral",
        "1. widening  1 call\n",
        "rule unanswered-write: result_unknown → otherwise: failed",
        "upstream calls +2 · delay +800 ms · waiting for people −1 · effects that may be doubled +1",
        "next: playproof replay t.jsonl --call 'r1#2' --playbook standard --playbook study/retry-everything",
    ] {
        assert!(
            run.out
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(&said.split_whitespace().collect::<Vec<_>>().join(" ")),
            "{said}\n---\n{}",
            run.out
        );
    }
}

#[test]
fn two_playbooks_of_one_name_are_shown_by_their_files() {
    let place = place();
    place.write("old/mine.yaml", playbook("max_attempts: 6", "max_attempts: 5"));
    place.write("new/mine.yaml", playbook("crm.none", "crm.*"));
    let same = ["--base", "old/mine.yaml", "--candidate", "new/mine.yaml"];
    for format in ["table", "json", "markdown"] {
        let said = run(&place, &same, &["--beyond-tape", "ok", "--format", format]).out;
        assert!(said.contains("old/mine.yaml") && said.contains("new/mine.yaml"), "{said}");
    }
    let beside =
        ["replay", "t.jsonl", "-p", "old/mine.yaml", "-p", "new/mine.yaml", "-p", "standard", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&place.run(&beside).out).unwrap();
    let names: Vec<_> = json["playbooks"].as_array().unwrap().iter().map(|one| one["playbook"].clone()).collect();
    assert_eq!(names, ["old/mine.yaml", "new/mine.yaml", "standard"]);
    let alone = run(&place, &["--base", "standard", "--candidate", "new/mine.yaml"], &["--format", "json"]).out;
    assert!(!alone.contains("new/mine.yaml"), "{alone}");
}

#[test]
fn narrowing_passes_and_widening_does_not() {
    let place = place();
    assert_eq!(run(&place, &REVERSE, &["--fail-on", "widening"]).code, 0);
    assert_eq!(run(&place, &REVERSE, &["--fail-on", "widening,effects"]).code, 1);
    place.write("mine.yaml", playbook("max_attempts: 6", "max_attempts: 5"));
    place.write("wide.yaml", playbook("crm.none", "crm.*"));
    let mine = ["--base", "mine.yaml", "--candidate", "wide.yaml"];
    let beyond = ["--beyond-tape", "ok"];
    assert_eq!(run(&place, &mine, &beyond).code, 0);
    let refused = run(&place, &mine, &[&beyond[..], &["--fail-on", "widening"]].concat());
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("1 call widens (--allow-widening REASON accepts that)"), "{}", refused.out);
    let allowed = ["--fail-on", "widening", "--allow-widening", "closing twice is closing once"];
    let passed = run(&place, &mine, &[&beyond[..], &allowed].concat());
    assert_eq!(passed.code, 0, "{}", passed.out);
    assert!(passed.out.contains("widening is allowed (1 call): closing twice is closing once"), "{}", passed.out);
}

/// A playbook that retries what is odd, where the tool is declared idempotent.
fn playbook(from: &str, to: &str) -> String {
    let text = r#"format: playbook/1
name: mine
verdicts:
  strange: { means: Odd., effect: unknown, then: { retry_with_backoff: { backoff_ms: [10] } } }
classify:
  - { rule: odd, when: { kind: odd }, verdict: strange }
otherwise: unclassified
default_queue: people
queues: [people]
tools: { crm.none: { access: write, idempotent: true } }
limits: { max_attempts: 6 }
"#;
    assert!(text.contains(from));
    text.replace(from, to)
}

#[test]
fn an_undetermined_call_is_counted_apart_and_strict_minds_it() {
    let place = place();
    let run_once = run(&place, &REVERSE, &[]);
    assert_eq!(run_once.code, 0);
    assert!(run_once.out.contains("0 changed, 2 undetermined (2 under the base only)"), "{}", run_once.out);
    assert_eq!(run(&place, &REVERSE, &["--strict"]).code, 3);
    assert_eq!(run(&place, &REVERSE, &["--strict", "--beyond-tape", "ok"]).code, 0);
}

#[test]
fn what_cannot_be_compared_is_no_success() {
    let place = place();
    place.write("empty.jsonl", "");
    place.write("x.yaml", "format: fixture/1\n");
    let same = ["--base", "standard", "--candidate", "standard"];
    for (args, said) in [
        (vec!["impact", "empty.jsonl", "--candidate", "reversing"], "it is empty"),
        ([&["impact", "t.jsonl"], &same[..]].concat(), "there is nothing to compare"),
        (vec!["impact", "t.jsonl", "--candidate", "standrd"], "did you mean `standard`?"),
        (vec!["impact", "x.yaml", "--candidate", "reversing"], "is a fixture"),
        (vec!["impact", "none.jsonl", "--candidate", "reversing"], "no such file"),
        (vec!["impact", "t.jsonl"], "--candidate"),
        (vec!["impact", "t.jsonl", "--candidate", "reversing", "--allow-widening", "x"], "--fail-on"),
        (
            vec!["impact", "t.jsonl", "--candidate", "reversing", "--fail-on", "widening", "--allow-widening", " "],
            "say why",
        ),
    ] {
        let run = place.run(&args);
        assert_eq!((run.code, &*run.out), (2, ""), "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    }
    assert_eq!(place.run(&["impact", "empty.jsonl", "--candidate", "reversing", "--allow-empty"]).code, 0);
    assert_eq!(run(&place, &same, &["--allow-empty"]).code, 0);
}

#[test]
fn json_balances_and_every_format_has_the_same_bytes_on_any_number_of_threads() {
    let place = Place::new();
    place.write("t.jsonl", TRACE.repeat(2_000));
    for format in ["table", "json", "markdown"] {
        let one = run(&place, &BOTH, &["--format", format, "--jobs", "1"]);
        assert_eq!((one.code, &*one.err), (1, ""));
        for jobs in ["2", "9"] {
            assert_eq!(run(&place, &BOTH, &["--format", format, "--jobs", jobs]).out, one.out, "{format}");
        }
    }
    let json = run(&place, &BOTH, &["--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let number = |path: &str| json.pointer(path).and_then(serde_json::Value::as_u64).expect("a number");
    assert_eq!(number("/calls"), number("/unchanged") + number("/changed") + number("/undetermined/calls"));
    assert_eq!(number("/directions/widening"), 4_000);
    assert_eq!(json["causes"][0]["base"]["verdict"], "unclassified");
    assert_eq!(json["causes"][0]["example"]["input"], "t.jsonl");
    assert_eq!(json["gate"]["passed"], false);
}

#[test]
fn nothing_in_a_trace_leaves_its_place_on_a_page() {
    let place = Place::new();
    let hostile = "\\u001b[31m|`<b>@me\\u202e\\n# x";
    place.write(
        "t.jsonl",
        format!(r#"{{"run_id":"{hostile}","tool":"{hostile}","status":"error","error":{{"kind":"timeout"}}}}"#),
    );
    for format in ["table", "json", "markdown"] {
        let run = run(&place, &BOTH, &["--format", format]);
        assert!(!run.out.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'), "{}", run.out);
        assert!(!run.out.contains("\n# x"), "{}", run.out);
    }
    let markdown = run(&place, &BOTH, &["--format", "markdown"]).out;
    assert!(!markdown.replace("`<b>@me", "").contains("<b>"), "{markdown}");
}
