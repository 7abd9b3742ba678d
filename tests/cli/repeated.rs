//! What is named twice on the command line is refused: its calls would count twice, and standard input is empty the
//! second time.

use super::{Place, TRACE};

#[test]
fn an_input_that_is_named_twice_is_refused_however_its_path_is_written() {
    let place = Place::with_trace();
    std::fs::create_dir(place.path().join("sub")).expect("a folder");
    place.copy_fixture("the-worked-refund.yaml");
    let commands: [&[&str]; 6] = [
        &["replay"],
        &["mine"],
        &["explain"],
        &["tools"],
        &["impact", "--candidate", "study/retry-everything"],
        &["replay", "--skip-invalid"],
    ];
    for command in commands {
        for again in ["trace.jsonl", "./trace.jsonl", "sub/../trace.jsonl"] {
            let run = place.run(&[command, &["trace.jsonl", again]].concat());
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{command:?}: {}", run.err);
            let said = match again {
                "trace.jsonl" => "`trace.jsonl` is named twice: what is in it would count twice".to_owned(),
                again => format!("`{again}` is `trace.jsonl`, which is named already"),
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
        ("tools - trace.jsonl -", "standard input is named twice", "tools - trace.jsonl"),
        ("impact - - --candidate reversing", "standard input is named twice", "impact - --candidate reversing"),
        ("replay - --playbook -", "standard input is wanted twice", "replay FILE --playbook -"),
        ("explain - --tools -", "standard input is wanted twice", "explain FILE --tools -"),
        ("import - --map - -o t.jsonl", "standard input is wanted twice", "import FILE -o t.jsonl --map -"),
        ("mine - --map -", "standard input is wanted twice", "mine FILE --map -"),
        ("mine - --tools -", "standard input is wanted twice", "mine FILE --tools -"),
        ("impact - --candidate -", "standard input is wanted twice", "impact FILE --candidate -"),
        ("impact - --base - --candidate a", "standard input is wanted twice", "impact FILE --base - --candidate a"),
        ("replay trace.jsonl - --tools -", "standard input is wanted twice", "replay trace.jsonl FILE --tools -"),
        (
            "replay trace.jsonl --tools - --map -",
            "standard input is wanted twice",
            "replay trace.jsonl --tools FILE --map -",
        ),
        (
            "explain trace.jsonl --playbook - --tools -",
            "standard input is wanted twice",
            "explain trace.jsonl --playbook FILE --tools -",
        ),
        ("replay - --tools - --map -", "standard input is wanted 3 times", "replay FILE --tools FILE --map -"),
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
        for command in ["lint", "mutate"] {
            let run = place.run(&[command, one, other]).exits(2);
            assert!(run.err.contains(&format!("next: playproof {command} {one}\n")), "{}", run.err);
        }
    }
    assert_eq!(place.run(&["lint", "ours", "standard"]).code, 0, "a copy is another playbook");
    std::fs::copy(place.path().join("playbooks/ours.yaml"), place.path().join("pb")).expect("a copy");
    let run = place.run(&["replay", "trace.jsonl", "--playbook", "pb", "--playbook", "./pb"]).exits(2);
    assert!(run.err.contains("`./pb` is `pb`, which is named already"), "{}", run.err);
}

#[test]
fn the_command_without_the_repeated_playbook_keeps_its_flags() {
    let place = Place::with_trace();
    for (command, next) in [
        (
            "replay trace.jsonl -p standard -p standard --tools t.yaml --map m.yaml --beyond-tape ok",
            "replay trace.jsonl --tools t.yaml --playbook standard --map m.yaml --beyond-tape ok",
        ),
        ("lint standard standard --format json", "lint standard --format json"),
        (
            "mutate standard standard --accepted a.yaml --fixtures f --format json",
            "mutate standard --fixtures f --accepted a.yaml --format json",
        ),
    ] {
        let run = place.run(&command.split(' ').collect::<Vec<_>>()).exits(2);
        assert!(run.err.ends_with(&format!("next: playproof {next}\n")), "{command}: {}", run.err);
    }
}
