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
    place.write("deep.log", format!("{{\"t\":\"pay\",\"a\":{}{}}}\n", "[".repeat(200), "]".repeat(200)));
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t, args: a }\n");
    let run = place.run(&["feedback", "add", "deep.log", "--map", "m.yaml", "--call", "pay", "--note", "wrong"]);
    assert!(run.code == 2 && run.err.contains("shorten the row"), "{}", run.err);
    assert!(!run.err.contains("--skip-invalid"), "{}", run.err);
    let run = place.run(&["replay", "trunc.jsonl", "--jobs", "0"]);
    assert!(run.code == 2 && run.err.contains("give a number from 1"), "{}", run.err);
}

fn next_of(run: &str) -> &str {
    run.rsplit_once("next: ").map_or("", |(_, next)| next.trim_end())
}

#[test]
fn an_empty_selection_and_a_mapping_that_does_not_fit_suggest_commands_that_can_work() {
    let place = Place::new();
    place.write("gw.log", "{\"t\":\"pay\",\"ok\":false}\n");
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t }\nresult: {}\nfailed: { ok: false }\n");
    place.write("bad.yaml", "format: mapping/1\ncall: { tool: tt }\n");
    for select in [["--call", "gw.log:2"], ["--run", "Z"], ["--only", "policy_denied"]] {
        let run = place.run(&[&["replay", "gw.log", "--map", "m.yaml"][..], &select].concat());
        assert_eq!((run.code, next_of(&run.err)), (2, "playproof replay gw.log --map m.yaml"), "{}", run.err);
    }
    let run = place.run(&["replay", "gw.log", "--map", "bad.yaml"]);
    assert!(run.code == 2 && !run.err.contains("--skip-invalid"), "{}", run.err);
}

#[test]
fn for_a_folder_the_files_that_it_holds_are_suggested() {
    let place = Place::new();
    for (folder, file, next) in [
        ("lines", "a.jsonl", "playproof replay lines/*.jsonl --beyond-tape ok"),
        ("documents", "a.json", "playproof replay documents/*.json --beyond-tape ok"),
        ("fixtures", "a.yaml", "playproof replay fixtures/*.yaml --beyond-tape ok"),
    ] {
        place.write(&format!("{folder}/{file}"), CALLS);
        let run = place.run(&["replay", folder, "--beyond-tape", "ok"]);
        assert_eq!((run.code, next_of(&run.err)), (2, next), "{}", run.err);
    }
}

#[test]
fn a_damaged_zstd_file_is_told_as_a_damaged_gzip_file_is() {
    let place = Place::new();
    place.write("t.jsonl.zst", b"\x28\xb5\x2f\xfdgarbage");
    let run = place.run(&["replay", "t.jsonl.zst"]);
    assert_eq!((run.code, next_of(&run.err)), (2, "zstd -t t.jsonl.zst"), "{}", run.err);
    assert!(run.err.contains("cut short or damaged") && !run.err.contains("dictionary"), "{}", run.err);
}
