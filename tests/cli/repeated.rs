//! What is named twice on the command line is refused: its calls would count twice, and standard input is empty the
//! second time.

use super::{Place, TRACE};

#[test]
fn an_input_that_is_named_twice_is_refused_however_its_path_is_written() {
    let place = Place::with_trace();
    std::fs::create_dir(place.path().join("sub")).expect("a folder");
    place.copy_fixture("the-worked-refund.yaml");
    let commands: [&[&str]; 7] = [
        &["replay"],
        &["propose", "find"],
        &["explain"],
        &["confirm", "--draft"],
        &["graph", "draft"],
        &["impact", "--candidate", "study/retry-everything"],
        &["replay", "--skip-invalid"],
    ];
    for command in commands {
        for again in ["trace.jsonl", "./trace.jsonl", "sub/../trace.jsonl"] {
            let run = place.run(&[command, &["trace.jsonl", again]].concat());
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{command:?}: {}", run.err);
            let said = match again {
                "trace.jsonl" => "`trace.jsonl` is named twice: its calls would count twice".to_owned(),
                again => format!("`{again}` and `trace.jsonl` are the same file"),
            };
            assert!(run.err.contains(&said), "{command:?}: {}", run.err);
            let (_, next) = run.err.rsplit_once("next: ").expect("a next command");
            assert_eq!(next.matches("trace.jsonl").count(), 1, "{next}");
            assert!(command.iter().all(|word| next.contains(word)), "{next}");
        }
    }
    let run = place.run(&["init", "new", "--from", "trace.jsonl", "--from", "./trace.jsonl"]).exits(2);
    assert!(run.err.contains("next: playproof init new --from trace.jsonl\n"), "{}", run.err);
    let run = place.run(&["replay", "the-worked-refund.yaml", "./the-worked-refund.yaml"]).exits(2);
    assert!(run.err.contains("next: playproof replay the-worked-refund.yaml\n"), "{}", run.err);
    place.write("other.jsonl", TRACE);
    let run = place.run(&["replay", "trace.jsonl", "other.jsonl"]);
    assert!(run.out.contains("all inputs"), "another file may say the same: {}{}", run.out, run.err);
}

#[test]
fn standard_input_is_read_once() {
    let place = Place::with_trace();
    for (command, said, next) in [
        ("replay - -", "standard input is named twice", "replay -"),
        ("confirm - trace.jsonl -", "standard input is named twice", "confirm - trace.jsonl"),
        ("impact - - --candidate reversing", "standard input is named twice", "impact - --candidate reversing"),
        ("replay - --playbook -", "standard input is named twice", "replay FILE --playbook -"),
        ("explain - --tools -", "standard input is named twice", "explain FILE --tools -"),
        (
            "formats convert - --map - -o t.jsonl",
            "standard input is named twice",
            "formats convert FILE -o t.jsonl --map -",
        ),
        ("propose find - --map -", "standard input is named twice", "propose find FILE --map -"),
        ("propose find - --tools -", "standard input is named twice", "propose find FILE --tools -"),
        ("impact - --candidate -", "standard input is named twice", "impact FILE --candidate -"),
        ("impact - --base - --candidate a", "standard input is named twice", "impact FILE --base - --candidate a"),
        ("replay trace.jsonl - --tools -", "standard input is named twice", "replay trace.jsonl FILE --tools -"),
        (
            "replay trace.jsonl --tools - --map -",
            "standard input is named twice",
            "replay trace.jsonl --tools FILE --map -",
        ),
        (
            "explain trace.jsonl --playbook - --tools -",
            "standard input is named twice",
            "explain trace.jsonl --playbook FILE --tools -",
        ),
        ("replay - --tools - --map -", "standard input is named 3 times", "replay FILE --tools FILE --map -"),
    ] {
        let run = place.run_with(&command.split(' ').collect::<Vec<_>>(), TRACE);
        let next = format!("next: playproof {next}\n");
        assert!(run.code == 2 && run.err.contains(said) && run.err.ends_with(&next), "{command}: {}", run.err);
    }
    assert_eq!(place.run_with(&["replay", "-", "trace.jsonl"], TRACE).code, 1);
}

#[test]
fn a_playbook_that_is_named_twice_is_refused_by_name_and_by_path() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.write("trace.jsonl", TRACE);
    for (one, other) in
        [("standard", "standard"), ("ours", "playbooks/ours.yaml"), ("playbooks/ours.yaml", "./playbooks/ours.yaml")]
    {
        let run = place.run(&["replay", "trace.jsonl", "--playbook", one, "--playbook", other]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{one} {other}: {}", run.err);
        assert!(run.err.contains(&format!("next: playproof replay trace.jsonl --playbook {one}\n")), "{}", run.err);
        for (command, next) in
            [(&["lint"][..], format!("lint {one}")), (&["coverage", "--mutate"], format!("coverage {one} --mutate"))]
        {
            let run = place.run(&[command, &[one, other]].concat()).exits(2);
            assert!(run.err.contains(&format!("next: playproof {next}\n")), "{}", run.err);
        }
    }
    assert_eq!(place.run(&["lint", "ours", "standard"]).code, 0, "a copy is another playbook");
    std::fs::copy(place.path().join("playbooks/ours.yaml"), place.path().join("pb")).expect("a copy");
    let run = place.run(&["replay", "trace.jsonl", "--playbook", "pb", "--playbook", "./pb"]).exits(2);
    assert!(run.err.contains("`./pb` and `pb` are the same file"), "{}", run.err);
}

#[test]
fn the_command_without_the_repeated_playbook_keeps_its_flags() {
    let place = Place::with_trace();
    for (command, next) in [
        (
            "replay trace.jsonl -p standard -p standard --tools t.yaml --map m.yaml --beyond-tape ok",
            "replay trace.jsonl --playbook standard --tools t.yaml --map m.yaml --beyond-tape ok",
        ),
        ("lint standard standard --format json", "lint standard --format json"),
        (
            "coverage --mutate standard standard --accepted a.yaml --fixtures f --format json",
            "coverage standard --fixtures f --mutate --accepted a.yaml --format json",
        ),
    ] {
        let run = place.run(&command.split(' ').collect::<Vec<_>>()).exits(2);
        assert!(run.err.ends_with(&format!("next: playproof {next}\n")), "{command}: {}", run.err);
    }
}

/// A value for a flag, by what its help calls the value; none for a switch.
fn value(flag: &str, value: Option<&str>) -> Option<String> {
    let said = match (flag, value?) {
        ("--format", _) => "json",
        ("--fail-on", _) => "widening,effects",
        ("--beyond-tape", _) => "fail:timeout",
        ("--pace", _) => "recorded",
        ("--class", _) => "network_error",
        ("--envelope", _) => "failure",
        ("--seeds", _) => "1-7",
        ("--report", _) => "html=a page.html",
        (_, "N" | "CALLS") => "7",
        (_, "VERDICT" | "failed|findings|VERDICT") => "policy_denied",
        (_, "REF|PLACE|ID" | "RUN" | "REASON" | "TOOL|GLOB") => "a name",
        (_, "FORMAT") => "otlp-genai",
        (_, "FILE" | "P" | "DIR") => "some file",
        other => panic!("a value for {other:?}"),
    };
    Some(said.to_owned())
}

/// Every flag of a command that its help lists, with a value.
fn flags_of(place: &Place, command: &str) -> Vec<(String, Option<String>)> {
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = place.run(&words).out;
    let lines = help.lines().filter_map(|line| {
        let long = line.strip_prefix("      ").or_else(|| Some(line.strip_prefix("  -")?.split_once(", ")?.1))?;
        long.starts_with("--").then(|| long.split("  ").next().unwrap_or(long))
    });
    let flag = |line: &str| match line.split_once(" <") {
        Some((flag, name)) => (flag.to_owned(), value(flag, Some(name.trim_end_matches(['>', '.'])))),
        None => (line.to_owned(), None),
    };
    let of_all = ["--help", "--version", "--color", "--allow-outside"];
    lines.filter(|line| !of_all.iter().any(|other| line.starts_with(other))).map(flag).collect()
}

/// Flags of `replay` that are for fixtures, for recordings of runs, and for parts.
const OF_OTHERS: [&str; 6] =
    ["--seeds", "--record", "--same-decisions", "--crash-everywhere", "--no-journal", "--partial"];

#[test]
fn the_command_that_is_suggested_again_keeps_every_flag() {
    let place = Place::with_trace();
    for (command, twice, other_than) in [
        ("replay", ["trace.jsonl"; 2], &["--only", "--failed", "--class", "--tool"][..]),
        ("replay", ["trace.jsonl"; 2], &["--call", "--failed"]),
        ("replay", ["trace.jsonl"; 2], &["--call", "--only"]),
        ("impact", ["trace.jsonl"; 2], &[]),
        ("propose find", ["trace.jsonl"; 2], &[]),
        ("explain", ["trace.jsonl"; 2], &[]),
        ("formats convert", ["-"; 2], &["--map"]),
        ("lint", ["standard"; 2], &[]),
    ] {
        let flags: Vec<_> = flags_of(&place, command)
            .into_iter()
            .filter(|(flag, _)| !other_than.contains(&flag.as_str()) && !OF_OTHERS.contains(&flag.as_str()))
            .collect();
        assert!(!flags.is_empty(), "{command}");
        let words = flags.iter().flat_map(|(flag, value)| [Some(flag), value.as_ref()]).flatten().map(String::as_str);
        let inputs: &[&str] = if command == "formats convert" { &["-", "--map", "-"] } else { &twice };
        let args: Vec<&str> = command.split(' ').chain(inputs.iter().copied()).chain(words).collect();
        let run = place.run(&args).exits(2);
        let (_, next) = run.err.rsplit_once("next: ").expect("a next command");
        for (flag, value) in &flags {
            let value =
                value.as_deref().map(|value| if value.contains(' ') { format!("'{value}'") } else { value.to_owned() });
            let short = if flag == "--output" { "-o" } else { flag };
            let said = [Some(short), value.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
            assert!(next.contains(&said), "{args:?} loses `{said}`: {next}");
        }
    }
}

#[test]
fn a_selection_that_selects_nothing_is_dropped_and_all_else_is_kept() {
    let place = Place::with_trace();
    let run = place.run(&["replay", "trace.jsonl", "--only", "policy_denie", "--strict"]).exits(2);
    assert!(run.err.contains("did you mean `policy_denied`?"), "{}", run.err);
    let args = ["replay", "trace.jsonl", "--only", "evidence_stale", "--strict", "--format", "json"];
    let run = place.run(&args).exits(2);
    assert!(run.err.ends_with("next: playproof replay trace.jsonl --format json --strict\n"), "{}", run.err);
    let run = place.run(&["replay", "trace.jsonl", "--run", "r9", "--all"]).exits(2);
    assert!(run.err.ends_with("next: playproof replay trace.jsonl --all\n"), "{}", run.err);
}

#[test]
fn the_command_that_shows_more_asks_of_the_same_fixtures() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    let mutate = place.run(&["coverage", "--mutate", "--fixtures", "fixtures", "--max-calls", "20000"]);
    assert!(
        mutate
            .out
            .contains(": playproof coverage playbooks/ours.yaml --fixtures fixtures --mutate --max-calls 20000 --all"),
        "{}",
        mutate.out
    );
    let coverage = place.run(&["coverage", "--fixtures", "fixtures", "--fail-under", "100"]).exits(1);
    assert!(
        coverage.err.ends_with("next: playproof coverage playbooks/ours.yaml --fixtures fixtures --all\n"),
        "{}",
        coverage.err
    );
}
