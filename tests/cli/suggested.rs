//! The commands that `explain` and `replay` suggest keep the flags that they were given.

use super::Place;

const CALLS: &str = r#"{"run_id":"r1","tool":"pay","status":"error","error":{"kind":"timeout","message":"t"}}
{"run_id":"r1","tool":"pay","status":"error","error":{"kind":"timeout","message":"t"}}
"#;
const FACTS: &str = "format: tools/1\ntools:\n  pay: { access: write, idempotent: false }\n";

#[test]
fn every_suggestion_keeps_the_flags_that_were_given() {
    let place = Place::new();
    place.write("t.jsonl", CALLS);
    place.write("bad.jsonl", format!("{CALLS}{{\"tool\":7}}\n"));
    place.write("f.yaml", FACTS);
    let facts = ["--tools", "f.yaml", "--beyond-tape", "ok"];
    let page = |args: &[&str]| {
        let run = place.run(&[args, &facts].concat());
        (run.out + &run.err).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (args, next) in [
        (&["explain", "t.jsonl"][..], "next: playproof explain t.jsonl --call 'r1#1' --tools f.yaml --beyond-tape ok"),
        (&["explain", "t.jsonl", "--call", "r1#3"], "--tools f.yaml --beyond-tape ok"),
        (
            &["explain", "t.jsonl", "--call", "nowhere"],
            "next: playproof replay t.jsonl --tools f.yaml --beyond-tape ok",
        ),
        (
            &["replay", "t.jsonl", "--playbook", "study/retry-everything"],
            "--tools f.yaml --playbook study/retry-everything --beyond-tape ok",
        ),
        (
            &["replay", "bad.jsonl", "--playbook", "study/retry-everything"],
            "next: playproof replay bad.jsonl --tools f.yaml --playbook study/retry-everything --beyond-tape ok \
             --skip-invalid",
        ),
    ] {
        let page = page(args);
        let suggested = page.rsplit_once("next: ").map_or("", |(_, next)| next);
        assert!(format!("next: {suggested}").contains(next), "{args:?} {next}\n{page}");
    }
}

#[test]
fn no_command_offers_to_skip_lines_that_cannot() {
    let place = Place::new();
    let line = r#"{"run_id":"r","tool":"pay","args":{},"status":"ok"}"#;
    place.write("trunc.jsonl", format!("{line}\n{}", &line[..20]));
    let args: [&[&str]; 2] =
        [&["init", "--from", "trunc.jsonl"], &["feedback", "add", "trunc.jsonl", "--call", "pay", "--note", "wrong"]];
    for args in args {
        let run = place.run(args);
        assert!(run.code == 2 && run.err.contains("trunc.jsonl:2:"), "{args:?}: {}", run.err);
        assert!(!run.err.contains("--skip-invalid"), "{args:?}: {}", run.err);
    }
    let run = place.run(&["replay", "trunc.jsonl", "--jobs", "0"]);
    assert!(run.code == 2 && run.err.contains("give a number from 1"), "{}", run.err);
}
