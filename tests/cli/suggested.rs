//! The commands that `explain` and `replay` suggest keep the flags that they were given.

use super::Place;

const CALLS: &str = r#"{"run_id":"r1","tool":"pay","args":{},"status":"error","error":{"kind":"timeout","message":"t"}}
{"run_id":"r1","tool":"pay","args":{},"status":"error","error":{"kind":"timeout","message":"t"}}
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
        (&["explain", "t.jsonl"][..], "next: playproof explain t.jsonl 'r1#1' --tools f.yaml --beyond-tape ok"),
        (&["explain", "t.jsonl", "r1#3"], "--tools f.yaml --beyond-tape ok"),
        (&["explain", "t.jsonl", "nowhere"], "next: playproof replay t.jsonl --tools f.yaml --beyond-tape ok"),
        (
            &["replay", "t.jsonl", "--playbook", "study/retry-everything"],
            "--tools f.yaml --playbook study/retry-everything --beyond-tape ok",
        ),
        (
            &["replay", "bad.jsonl", "--playbook", "study/retry-everything"],
            "next: playproof replay bad.jsonl --playbook study/retry-everything --tools f.yaml --beyond-tape ok \
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
    let args: [&[&str]; 2] = [
        &["init", "--from", "trunc.jsonl"],
        &["propose", "keep", "trunc.jsonl", "pay", "--expect", "odd_one", "--note", "wrong"],
    ];
    for args in args {
        let run = place.run(args);
        assert!(run.code == 2 && run.err.contains("trunc.jsonl:2:"), "{args:?}: {}", run.err);
        assert!(!run.err.contains("--skip-invalid"), "{args:?}: {}", run.err);
    }
    place.write("deep.log", format!("{{\"t\":\"pay\",\"a\":{}{}}}\n", "[".repeat(200), "]".repeat(200)));
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t, args: a }\n");
    let run =
        place.run(&["propose", "keep", "deep.log", "pay", "--map", "m.yaml", "--expect", "odd_one", "--note", "wrong"]);
    assert!(run.code == 2 && run.err.contains("shorten the row"), "{}", run.err);
    assert!(!run.err.contains("--skip-invalid"), "{}", run.err);
    let run = place.run(&["replay", "trunc.jsonl", "--jobs", "0"]);
    assert!(run.code == 2 && run.err.contains("a whole number from 1 to 1,000"), "{}", run.err);
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
fn a_damaged_zstd_file_is_told_as_a_damaged_gzip_file_is() {
    let place = Place::new();
    place.write("t.jsonl.zst", b"\x28\xb5\x2f\xfdgarbage");
    let run = place.run(&["replay", "t.jsonl.zst"]);
    assert_eq!((run.code, next_of(&run.err)), (2, "zstd -t t.jsonl.zst"), "{}", run.err);
    assert!(run.err.contains("cut short, damaged") && !run.err.contains("dictionary"), "{}", run.err);
}

#[test]
fn a_call_that_is_not_there_is_told_with_the_name_that_is_near() {
    let place = Place::new();
    place.write("t.jsonl", CALLS);
    place.copy_fixture("unkeyed-refund-times-out-after-landing.yaml");
    let fixture = "unkeyed-refund-times-out-after-landing.yaml";
    for (args, near, next) in [
        (&["explain", "t.jsonl", "r9#1"][..], "r1#1", "playproof explain t.jsonl 'r1#1'".to_owned()),
        (&["replay", fixture, "--call", "refnd"], "refund", format!("playproof replay {fixture} --call refund")),
    ] {
        let run = place.run(args).exits(2);
        assert!(run.err.contains(&format!("did you mean `{near}`?")), "{args:?}: {}", run.err);
        assert_eq!(next_of(&run.err), next, "{args:?}");
    }
    for input in ["t.jsonl", "-"] {
        let run = place.run_with(&["replay", input, "--call", "r1#8"], CALLS).exits(2);
        assert!(run.err.contains("there is no call `r1#8`"), "{}", run.err);
        assert_eq!(next_of(&run.err), format!("playproof replay {input}"), "nothing is read twice");
    }
}

#[test]
fn where_resends_are_joined_a_name_that_is_not_there_says_that_they_have_none() {
    let place = Place::new();
    let line = |n: u32, run: &str, id: &str, tool: &str| {
        format!(
            "{{\"run_id\":\"{run}\",\"call_id\":\"{id}\",\"tool\":\"{tool}\",\"args\":{{}},\"at_ms\":{n},\
             \"status\":\"error\",\"error\":{{\"kind\":\"timeout\",\"message\":\"t\"}}}}\n"
        )
    };
    place.write("t.jsonl", [line(1, "r", "a", "pay"), line(2, "r", "b", "pay"), line(3, "r", "c", "see")].concat());
    let said =
        "with `--join-resends` a call that was sent again is an attempt of the first, and has no name of its own";
    for wanted in ["b", "t.jsonl:2", "r#2"] {
        let run = place.run(&["explain", "t.jsonl", "--join-resends", wanted]).exits(2);
        let words = run.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{}", run.err);
        place.run(&["explain", "t.jsonl", "b"]);
    }
}

#[test]
fn keep_and_impact_keep_what_they_were_told_too() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.write("gw.log", "{\"t\":\"pay\",\"ok\":false}\n{\"t\":\"pay\",\"ok\":false}\n");
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t }\nresult: {}\nfailed: { ok: false }\n");
    let keep = ["propose", "keep", "gw.log", "--map", "m.yaml", "--expect", "odd_one", "--note", "it's wrong"];
    let run = place.run(&keep).exits(2);
    let next = next_of(&run.err);
    assert!(next.contains(r"--note 'it'\''s wrong' --map m.yaml") && next.contains("--expect odd_one"), "{}", run.err);
    let compared = ["impact", "gw.log", "--map", "m.yaml", "--base", "standard", "--beyond-tape", "ok"];
    let run = place.run(&[&compared[..], &["--candidate", "study/retry-everything"]].concat()).exits(0);
    let next = "--playbook standard --playbook study/retry-everything --map m.yaml --beyond-tape ok";
    assert!(next_of(&run.out).ends_with(next), "{}", run.out);
}

#[test]
fn a_file_whose_name_begins_with_a_dash_is_suggested_as_a_path() {
    let place = Place::new();
    place.write("-t.jsonl", CALLS);
    place.write("-f.yaml", FACTS);
    let run = place.run(&["replay", "--tools=-f.yaml", "--", "-t.jsonl"]).exits(1); // an unsafe retry
    assert_eq!(next_of(&run.out), "playproof explain ./-t.jsonl 'r1#2' --tools ./-f.yaml");
}

#[test]
fn guesses_that_nobody_confirmed_declare_nothing_and_are_told_of_once() {
    let place = Place::new();
    let twice =
        "{\"run_id\":\"r\",\"tool\":\"get_x\",\"args\":{},\"status\":\"error\",\"error\":{\"kind\":\"timeout\"}}\n"
            .repeat(2);
    place.write("t.jsonl", twice + CALLS.lines().next().expect("a line"));
    place.run(&["confirm", "--draft", "t.jsonl", "-o", "f.yaml"]).exits(0);
    let run = place.run(&["replay", "t.jsonl", "--tools", "f.yaml"]).exits(0);
    assert!(
        run.err.contains(
            "note: 2 of 2 rows in f.yaml are guesses; until you confirm (`playproof confirm --tools f.yaml`)"
        ),
        "{}",
        run.err
    );
    assert_eq!(run.err.matches("note:").count(), 1, "{}", run.err);
    let without = place.run(&["replay", "t.jsonl"]).exits(0).out.replace("'r#2'\n", "'r#2' --tools f.yaml\n");
    assert_eq!(run.out, without.replace("confirm t.jsonl\n", "confirm t.jsonl --tools f.yaml\n"));
    assert!(run.out.contains("write, not idempotent (assumed)"), "{}", run.out);
    let confirmed = place.read("f.yaml").replace("# guessed: confirm", "#");
    place.write("f.yaml", &confirmed);
    let run = place.run(&["replay", "t.jsonl", "--tools", "f.yaml", "--all"]).exits(0);
    assert!(!run.err.contains("note:") && run.out.contains("  read ·"), "{}{}", run.out, run.err);
    place.edit_first("f.yaml", "# (", "# guessed: confirm (");
    let run = place
        .run(&["propose", "keep", "t.jsonl", "r#1", "--expect", "odd_one", "--note", "x", "--tools", "f.yaml"])
        .exits(0);
    assert!(run.err.contains("note: 1 of 2 rows in f.yaml is a guess"), "{}", run.err);
    place.write("playproof.yaml", "format: project/1\ntools: f.yaml\n");
    place.copy_fixture("unkeyed-refund-times-out-after-landing.yaml");
    place.write("fixtures/a.yaml", place.read("unkeyed-refund-times-out-after-landing.yaml").as_bytes());
    let mutate = ["coverage", "--mutate", "standard", "--max-calls", "1"];
    for command in [&["check"][..], &["coverage", "standard"], &mutate, &["explain", "t.jsonl", "r#1"]] {
        let run = place.run(command);
        assert_eq!(run.err.matches("is a guess; until you confirm").count(), 1, "{command:?}: {}", run.err);
    }
}

#[test]
fn wrong_usage_ends_with_a_command_that_can_be_typed() {
    let place = Place::new();
    for (args, next) in [
        (&["replay"][..], "playproof help replay"),
        (&["replay", "t.jsonl", "--playbok", "standard"], "playproof help replay"),
        (&["propose", "kep"], "playproof help propose"),
        (&["frobnicate"], "playproof help"),
    ] {
        let run = place.run(args).exits(2);
        assert!(run.err.ends_with(&format!("\n\n  next: {next}\n")), "{args:?}: {}", run.err);
        assert!(!run.err.contains("--help"), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_file_of_a_format_in_which_something_is_wrong_leads_to_what_the_format_is() {
    let place = Place::new();
    place.write("t.jsonl", CALLS);
    for (flag, kind) in [("--map", "mapping"), ("--tools", "tools")] {
        place.write("bad.yaml", format!("format: {kind}/1\nbad: 1\n"));
        let run = place.run(&["replay", "t.jsonl", flag, "bad.yaml"]).exits(2);
        assert_eq!(next_of(&run.err), format!("playproof schema {kind}"), "{}", run.err);
    }
}
