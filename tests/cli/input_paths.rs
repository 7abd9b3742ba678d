//! Folders and globs as inputs.

use std::collections::BTreeSet;

use super::Place;
use crate::hardening::commands::all_commands;

const CALLS: &str = r#"{"run_id":"r1","tool":"pay","status":"error","error":{"kind":"timeout","message":"t"}}
"#;

/// The files that a replay reads.
fn read(place: &Place, inputs: &[&str]) -> Vec<String> {
    let ran = place.run(&[&["replay", "--format", "json"], inputs].concat());
    assert_ne!(ran.code, 2, "{}", ran.err);
    let page: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let inputs = page["inputs"].as_array().expect("inputs");
    inputs.iter().map(|input| input["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn folders_and_globs_stand_for_their_files_and_each_file_counts_once() {
    let place = Place::new();
    for file in ["a/2.jsonl", "a/b/1.json", "a/notes.md", "a/x.yaml", "[1].json"] {
        place.write(file, CALLS);
    }
    assert_eq!(read(&place, &["a"]), ["a/2.jsonl", "a/b/1.json"]);
    assert_eq!(read(&place, &["a/2.jsonl", "a/"]), ["a/2.jsonl", "a/b/1.json"]);
    assert_eq!(read(&place, &["a/*.jsonl"]), ["a/2.jsonl"]);
    assert_eq!(read(&place, &["**/1.json", "a/*.{jsonl,md}"]), ["a/b/1.json", "a/2.jsonl", "a/notes.md"]);
    assert_eq!(read(&place, &["[1].json"]), ["[1].json"]);
    for (input, said) in
        [("a/*.csv", "no file matches"), ("a/b/*/c*", "no file matches"), ("gone.jsonl", "no such file")]
    {
        let ran = place.run(&["replay", input]).exits(2);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_glob_looks_only_where_it_can_match() {
    let place = Place::new();
    place.write("a.jsonl", CALLS);
    place.write("deep/b.jsonl", CALLS);
    for link in ["deep/nowhere", "nowhere"] {
        std::os::unix::fs::symlink("gone", place.path().join(link)).expect("a link that leads nowhere");
    }
    assert_eq!(read(&place, &["*.jsonl"]), ["a.jsonl"]);
    assert_eq!(read(&place, &["./[ab].jsonl"]), ["a.jsonl"]);
    for input in ["**/*.jsonl", "n*", "deep"] {
        let ran = place.run(&["replay", input]).exits(2);
        assert!(ran.err.contains("nowhere"), "{input}: {}", ran.err);
    }
}

#[test]
fn a_folder_without_traces_stands_for_its_fixtures() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    let ran = place.run(&["replay", "fixtures"]);
    let pages = ran.out.lines().filter(|line| line.contains("fixtures/")).count();
    assert!(ran.code != 2 && pages > 1, "{ran:?}");
    place.write("empty/notes.md", "");
    let ran = place.run(&["replay", "empty"]).exits(2);
    assert!(ran.err.contains("there is no trace and no fixture in this folder"), "{}", ran.err);
}

#[test]
fn suggested_commands_name_a_folder_or_a_glob_as_typed() {
    let place = Place::new();
    place.write("lines/a.jsonl", CALLS);
    place.write("lines/b.jsonl", CALLS);
    for (input, next) in
        [("lines", "next: playproof replay lines\n"), ("lines/*", "next: playproof replay 'lines/*'\n")]
    {
        let ran = place.run(&["replay", input, "--run", "Z"]).exits(2);
        assert!(ran.err.ends_with(next), "{}", ran.err);
    }
}

/// An input that cannot be read, and the start of what is said of it.
const UNREADABLE: [(&str, &str, &str); 4] = [
    ("b.jsonl", "{\"event\":1}\n{\"event\":2}\n", "[b.jsonl:1:1]"),
    ("c.jsonl", "{\"tool\":\"x\",\"status\":\"ok\"}\n{\"tool\":5}\n", "[c.jsonl:2:9]"),
    ("d.json", "[{\"a\":1,\n", "[d.json:1:1]"),
    ("e.log", "format: playbook/1\n", "`e.log` is a playbook"),
];

#[test]
fn an_input_that_cannot_be_read_does_not_stop_the_others() {
    let place = Place::new();
    place.write("a.jsonl", CALLS);
    let alone = place.run(&["replay", "a.jsonl", "--stats"]).exits(0);
    for (name, text, said) in UNREADABLE {
        place.write(name, text);
        let ran = place.run(&["replay", name, "a.jsonl", "--stats"]).exits(2);
        assert!(ran.err.contains(said) && !ran.err.contains("note: no calls"), "{}", ran.err);
        assert!(
            ran.out.contains(&format!("\n\n{name}\n  cannot be read: nothing of it is counted\na.jsonl\n")),
            "{}",
            ran.out
        );
        let calls = "\ncalls                                             1\n";
        assert!(alone.out.contains(calls) && ran.out.contains(calls), "{}", ran.out);
        assert!(
            !ran.out.contains("\nall inputs\n") && ran.out.contains("\nwhat was read of all inputs\n  "),
            "{}",
            ran.out
        );
        assert_eq!(place.run(&["replay", name]).exits(2).out, "", "it is read alone");
    }
    let names: Vec<&str> = UNREADABLE.iter().map(|(name, ..)| *name).chain(["gone.jsonl", "a.jsonl"]).collect();
    let every = [&["--candidate", "reversing", "--allow-empty"], &*names].concat();
    for (command, args) in [(&["replay"][..], &names), (&["propose", "find"], &names), (&["impact"], &every)] {
        let ran = place.run(&[command, args.as_slice()].concat()).exits(2);
        let is_told =
            |(name, _, said): &(&str, &str, &str)| ran.err.contains(said) && ran.out.contains(&format!("{name}\n"));
        assert!(UNREADABLE.iter().all(is_told) && ran.err.contains("× gone.jsonl: no such file"), "{}", ran.err);
        assert!(ran.err.ends_with("5 errors\n  next: playproof init --from b.jsonl\n"), "{}", ran.err);
    }
    let ran = place.run(&["replay", "b.jsonl", "c.jsonl"]).exits(2);
    assert!(ran.out.is_empty() && ran.err.contains("2 errors"), "no input is left: {}", ran.out);
}

#[test]
fn an_input_is_counted_up_to_where_it_cannot_be_read_and_programs_are_told() {
    let place = Place::new();
    let long = format!("{}{{\"tool\":5}}\n{CALLS}", CALLS.repeat(20_000));
    place.write("long.jsonl", &long);
    place.write("a.jsonl", CALLS);
    let ran = place.run(&["replay", "long.jsonl", "a.jsonl"]).exits(2);
    assert!(ran.err.contains("[long.jsonl:20001:9]"), "{}", ran.err);
    assert!(ran.out.contains("\n  cannot be read to its end: only its first "), "{}", ran.out);
    let page = place.run(&["replay", "--format", "json", "long.jsonl", "a.jsonl"]).exits(2);
    let page: serde_json::Value = serde_json::from_str(&page.out).expect("JSON");
    let unread = |n: usize| page["inputs"][n]["unread"].as_bool();
    assert_eq!((unread(0), unread(1)), (Some(true), None));
}

#[test]
fn nothing_is_drafted_or_judged_from_a_part_of_the_inputs() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.write("a.jsonl", CALLS.replace("timeout", "odd"));
    place.write("b.jsonl", UNREADABLE[0].1);
    let draft = ["propose", "new", "strange", "--from-cluster", "1", "--trace", "a.jsonl"];
    let ran = place.run(&[&draft[..], &["b.jsonl"]].concat()).exits(2);
    assert!(ran.err.contains("[b.jsonl:1:1]") && !place.path().join("proposals/strange").exists(), "{}", ran.err);
}

#[test]
fn suggested_commands_name_the_folder_of_files_that_a_shell_listed() {
    let place = Place::new();
    for file in ["lines/a.jsonl", "lines/b.jsonl", "lines/c.jsonl"] {
        place.write(file, CALLS.replace("timeout", "odd"));
    }
    let next = |inputs: &[&str]| {
        let ran = place.run(&[&["propose", "find"], inputs].concat()).exits(0);
        ran.out.lines().find_map(|line| line.strip_prefix("next: ")).expect("a suggestion").to_owned()
    };
    assert_eq!(next(&["lines/a.jsonl", "lines/b.jsonl", "lines/c.jsonl"]), "playproof init --from lines");
    assert_eq!(
        next(&["lines/a.jsonl", "lines/b.jsonl"]),
        "playproof init --from lines/a.jsonl --from lines/b.jsonl",
        "not all that the folder stands for"
    );
}

#[test]
fn an_input_without_calls_beside_others_is_noted() {
    let place = Place::new();
    place.write("a.jsonl", CALLS);
    place.write("ends.jsonl", "{\"type\":\"run_end\",\"run_id\":\"r\"}\n");
    let ran = place.run(&["replay", "ends.jsonl", "a.jsonl"]);
    assert!(ran.code != 2 && ran.err.contains("note: no calls in ends.jsonl"), "{}", ran.err);
    place.run(&["replay", "ends.jsonl"]).exits(2);
}

#[test]
fn reports_that_lie_beside_the_traces_are_left_out_with_a_note() {
    let place = Place::new();
    place.run(&["init"]);
    place.write("a.jsonl", CALLS);
    let page = place.run(&["replay", "a.jsonl", "--format", "json"]).out;
    place.write("replay.json", &page);
    place.write("coverage.json", &place.run(&["coverage", "--format", "json"]).out);
    place.run(&["check", "--report", "sarif=found.sarif.json", "--report", "json=check.json"]);
    let ran = place.run(&["replay", ".", "--format", "json"]);
    let left_out = "4 reports of Playproof left out: ./check.json, ./coverage.json, ./found.sarif.json, ./replay.json";
    assert_eq!((ran.code, ran.err.trim_end()), (0, format!("note: {left_out}").as_str()), "{ran:?}");
    assert!(ran.out.contains(r#""name":"a.jsonl""#), "{}", ran.out);
    assert_eq!(read(&place, &["*.json*"]), ["a.jsonl"]);
    assert_eq!(place.run(&["replay", "replay.json"]).code, 2, "what is named is read");
}

#[test]
fn inputs_that_are_only_reports_are_an_error_that_says_so() {
    let place = Place::new();
    place.write("out/check.json", r#"{"format":"check/1"}"#);
    for input in ["out", "out/*.json"] {
        let ran = place.run(&["replay", input]).exits(2);
        let said = "there are only reports of Playproof here";
        assert!(ran.err.contains(said) && ran.err.contains("or a report by its own path"), "{input}: {}", ran.err);
    }
    place.write("out/f.yaml", &place.run(&["schema", "fixture"]).out);
    let ran = place.run(&["replay", "out"]).exits(2);
    assert!(!ran.err.contains("only reports") && ran.err.contains("1 report of Playproof left out"), "{}", ran.err);
}

/// Commands whose JSON has no `format`, so that nothing tells it from another program's.
const WITHOUT_FORMAT: [&str; 3] = ["graph show", "graph history", "graph next"];

#[test]
fn whatever_a_command_writes_as_json_is_known_as_a_report() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.write("a.jsonl", CALLS);
    let fixture = "fixtures/a-denial-goes-to-people.yaml";
    place.run(&["replay", fixture, "--record", "run.jsonl"]).exits(0);
    place.run(&["replay", "a.jsonl", "--partial", "a.part"]).exits(0);
    let written: [(&str, &[&str]); 17] = [
        ("check", &[]),
        ("coverage", &[]),
        ("history", &[]),
        ("history verify", &[]),
        ("impact", &["a.jsonl", "--base", "standard", "--candidate", "reversing"]),
        ("lint", &[]),
        ("merge", &["a.part"]),
        ("coverage", &["--mutate", "--max-calls", "1"]),
        ("propose find", &["a.jsonl"]),
        ("propose check", &["--allow-empty"]),
        ("propose find", &["a.jsonl"]),
        ("replay", &["a.jsonl"]),
        ("replay", &[fixture]),
        ("replay", &[fixture, "--seeds", "1-2"]),
        ("replay", &[fixture, "--crash-everywhere"]),
        ("replay", &["run.jsonl", "--same-decisions"]),
        ("verify", &["reversing"]),
    ];
    let with_json = all_commands().into_iter().filter(|command| {
        let help = [&command.split(' ').collect::<Vec<_>>()[..], &["--help"]].concat();
        place.run(&help).out.contains("- json:")
    });
    let known = written.iter().map(|(command, _)| *command).chain(WITHOUT_FORMAT).map(str::to_owned);
    assert_eq!(with_json.collect::<BTreeSet<_>>(), known.collect());
    for (command, args) in written {
        let formats: &[&str] = if command == "replay" { &["json", "jsonl"] } else { &["json"] };
        for format in formats {
            let ran = place.run(&[&command.split(' ').collect::<Vec<_>>()[..], args, &["--format", format]].concat());
            place.write("out/report.json", &ran.out);
            let read = place.run(&["replay", "out"]);
            assert!(read.err.contains("only reports of Playproof"), "{command} {args:?}: {ran:?}");
        }
    }
}
