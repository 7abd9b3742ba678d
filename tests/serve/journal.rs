//! The file of a journal: who may read it, who may write it, and what happens to one that is damaged or full.

use crate::place::Place;
use crate::serve::process::{HELLO, Serving};

const ARGS: [&str; 5] = ["--playbook", "standard", "--unlocked", "--journal", "calls.jsonl"];
const CALL: &str = r#"{"type":"call","id":"a","at_ms":0,"run":"r","tool":"pay","args":{"card":"4111111111111111"}}"#;

fn run(place: &Place, lines: &str) -> crate::place::Ran {
    place.run_with(&[&["serve"][..], &ARGS].concat(), lines)
}

#[test]
fn a_journal_goes_on_after_a_kill_and_belongs_to_its_user_alone() {
    let place = Place::new();
    let mut first = Serving::start(&place, &ARGS);
    assert!(first.say(CALL).is_some_and(|answer| answer["do"][0]["send"] == "a"));
    first.kill();
    let ran = run(&place, HELLO).exits(0);
    assert!(ran.out.contains("\"open\":[{\"id\":\"a\"") && ran.out.contains("4111111111111111"), "{ran:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(place.path("calls.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it has raw values");
    }
}

#[test]
fn a_second_process_on_a_journal_does_not_start() {
    let place = Place::new();
    let mut first = Serving::start(&place, &ARGS);
    first.say(HELLO).expect("it serves");
    let ran = run(&place, CALL).exits(2);
    assert!(ran.out.is_empty() && ran.err.contains("another program has the journal"), "{ran:?}");
    assert_eq!(first.end(), Some(0));
    run(&place, CALL).exits(0);
}

#[test]
fn damage_is_named_by_its_line_and_a_torn_end_is_dropped() {
    let place = Place::new();
    run(&place, CALL).exits(0);
    let whole = place.read("calls.jsonl");
    place.write("calls.jsonl", &format!("{whole}{{\"type\":\"ca"));
    let ran = run(&place, HELLO).exits(0);
    assert!(ran.err.contains("torn") && ran.out.contains("\"dropped_bytes\":11"), "{ran:?}");
    assert_eq!(place.read("calls.jsonl"), whole);
    place.write("calls.jsonl", &whole.replacen("\"call\"", "\"cull\"", 1));
    let ran = run(&place, HELLO).exits(2);
    assert!(ran.out.is_empty() && ran.err.contains("calls.jsonl:2: "), "{ran:?}");
    place.write("calls.jsonl", "my notes\n");
    assert!(run(&place, HELLO).exits(2).err.contains("calls.jsonl:1: "));
    assert_eq!(place.read("calls.jsonl"), "my notes\n");
}

#[test]
fn a_full_disk_refuses_the_call() {
    let place = Place::new();
    let program = crate::place::program();
    let line = format!("{} serve {}", program.to_string_lossy(), ARGS.join(" "));
    let limited = format!("ulimit -f 1; trap '' XFSZ; exec {line}");
    let long =
        format!("{{\"type\":\"call\",\"id\":\"b\",\"at_ms\":1,\"tool\":\"pay\",\"args\":\"{}\"}}", "x".repeat(4_000));
    let mut command = assert_cmd::Command::new("sh");
    command.current_dir(place.path("")).args(["-c", &limited]).write_stdin(format!("{long}\n"));
    let ran = crate::place::ran(&mut command);
    assert!(ran.out.contains("\"code\":\"journal\"") && !ran.out.contains("send"), "{ran:?}");
    assert!(!place.read("calls.jsonl").contains("xxx"), "nothing of it is left");
}

#[test]
fn another_playbook_is_served_when_nothing_is_open_and_begins_a_new_file() {
    let place = Place::new();
    run(&place, CALL).exits(0);
    let other = ["serve", "--playbook", "reversing", "--unlocked", "--journal", "calls.jsonl"];
    let ran = place.run_with(&other, HELLO).exits(2);
    assert!(ran.err.contains("`a` (pay)") && ran.err.contains("`standard`"), "{ran:?}");
    run(&place, r#"{"type":"cancel","id":"a","at_ms":50}"#).exits(0);
    let old = place.read("calls.jsonl");
    let ran = place.run_with(&other, HELLO).exits(0);
    assert!(ran.out.contains("\"playbook\":\"reversing\"") && ran.out.contains("\"at_ms\":50"), "{ran:?}");
    assert_eq!((place.read("calls.jsonl.1"), place.read("calls.jsonl").lines().count()), (old, 1));
}

#[test]
fn a_chained_journal_goes_on_as_a_chain_and_not_when_it_is_broken() {
    let place = Place::new();
    let chained = [&["serve"][..], &ARGS, &["--chain"]].concat();
    place.run_with(&chained, CALL).exits(0);
    let ran = run(&place, &format!("{HELLO}\n{}", r#"{"type":"cancel","id":"a","at_ms":50}"#)).exits(0);
    assert!(ran.out.contains("\"open\":[{\"id\":\"a\""), "it goes on without the option too: {ran:?}");
    let text = place.read("calls.jsonl");
    assert!(text.lines().all(|line| line.ends_with("\"}") && line.contains(",\"prev\":\"sha256:")), "{text}");
    place.run(&["audit", "verify", "calls.jsonl"]).exits(0);
    let replayed = place.run(&["replay", "calls.jsonl", "--same-decisions", "--playbook", "standard"]).exits(0);
    assert!(replayed.err.is_empty(), "{replayed:?}");
    assert!(place.run(&["replay", "calls.jsonl", "--all"]).exits(0).out.contains("pay"));
    let broken = text.replacen("\"at_ms\":0", "\"at_ms\":1", 1);
    place.write("calls.jsonl", &broken);
    let ran = place.run_with(&chained, HELLO).exits(2);
    assert!(ran.out.is_empty() && ran.err.contains("its chain is not whole: line 1 was altered"), "{ran:?}");
    assert!(ran.err.contains("next: playproof audit verify calls.jsonl"), "{ran:?}");
    assert_eq!(place.read("calls.jsonl"), broken);
    place.write("calls.jsonl", &format!("{text}{{\"type\":\"ca"));
    run(&place, HELLO).exits(0);
    place.run(&["audit", "verify", "calls.jsonl"]).exits(0);
}

#[test]
fn a_journal_without_a_chain_begins_none() {
    let place = Place::new();
    run(&place, CALL).exits(0);
    let ran = place.run_with(&[&["serve"][..], &ARGS, &["--chain"]].concat(), HELLO).exits(2);
    assert!(ran.err.contains("are not linked"), "{ran:?}");
}

#[test]
fn what_is_no_journal_is_left_as_it_is() {
    let place = Place::new();
    place.write("calls.jsonl", "my notes without an end");
    assert!(run(&place, CALL).exits(2).err.contains("calls.jsonl:1: "));
    assert_eq!(place.read("calls.jsonl"), "my notes without an end");
    #[cfg(unix)]
    for device in ["/dev/null", "/dev/zero"] {
        let ran =
            place.run_with(&["serve", "--playbook", "standard", "--unlocked", "--journal", device], CALL).exits(2);
        assert!(ran.out.is_empty() && ran.err.contains("no regular file"), "{ran:?}");
    }
}
