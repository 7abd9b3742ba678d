//! Logs whose lines are linked: what writes them, and what `audit verify` finds.

use std::path::Path;

use super::Place;

const TWO: &str = r#"{"seq":0,"prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000","hash":"sha256:5781626acea47caffb8c1853d35378dba947d514fb180ddd921713f8226475f5"}
{"seq":1,"prev":"sha256:5781626acea47caffb8c1853d35378dba947d514fb180ddd921713f8226475f5","hash":"sha256:2bcbc9ac1f7128b5275a74dcb0c5352501ba7ec827dc90b98f959d7320775f82"}
"#;
const HEAD: &str = "sha256:2bcbc9ac1f7128b5275a74dcb0c5352501ba7ec827dc90b98f959d7320775f82";
const FIXTURE: &str = "fixtures/a-denial-escalates-and-is-never-retried.yaml";

fn fixture(place: &Place) {
    place.write(
        "f.yaml",
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE)).expect("a fixture"),
    );
}

#[test]
fn a_whole_chain_is_clean_and_names_what_to_keep_of_it() {
    let place = Place::new();
    place.write("a.jsonl", TWO);
    let ran = place.run(&["audit", "verify", "a.jsonl"]).exits(0);
    let next = format!("a.jsonl: whole, 2 entries\nnext: playproof audit verify a.jsonl --entries 2 --head {HEAD}\n");
    assert_eq!(ran.out, next);
    place.run(&["audit", "verify", "a.jsonl", "--entries", "2", "--head", HEAD]).exits(0);
    let one = TWO.split_inclusive('\n').next().unwrap();
    place.write("a.jsonl", one);
    for known in [["--entries", "2"], ["--head", HEAD]] {
        let ran = place.run(&[&["audit", "verify", "a.jsonl"], &known[..]].concat()).exits(1);
        assert!(ran.out.starts_with("a.jsonl:1: is where the file was cut off"), "{ran:?}");
    }
}

#[test]
fn what_was_done_is_named_once_with_its_line() {
    let place = Place::new();
    place.write("a.jsonl", TWO.replace("\"seq\":1", "\"seq\":7"));
    let ran = place.run(&["audit", "verify", "a.jsonl"]).exits(1);
    assert!(ran.out.starts_with("a.jsonl:2: was altered") && ran.out.contains("\n1 problem in 2 entries\n"), "{ran:?}");
    let swapped: String = TWO.split_inclusive('\n').rev().collect();
    place.write("a.jsonl", &swapped);
    let ran = place.run(&["audit", "verify", "a.jsonl"]).exits(1);
    assert!(ran.out.contains(" was moved: ") && ran.out.contains("\n1 problem in"), "{ran:?}");
    place.write("a.jsonl", TWO.split_inclusive('\n').next_back().unwrap());
    let ran = place.run(&["audit", "verify", "a.jsonl"]).exits(1);
    assert!(ran.out.starts_with("a.jsonl:1: goes on from an entry that is not here"), "{ran:?}");
}

#[test]
fn what_cannot_be_verified_is_unusable() {
    let place = Place::new();
    let keyed = TWO.replace("sha256:", "hmac-sha256:");
    for (text, said) in [
        ("", "it is empty"),
        ("\n", "it is empty"),
        ("{\"seq\":0}\n", "it is no chain"),
        ("notes", "it is no chain"),
        (&keyed, "with a key"),
    ] {
        place.write("a.jsonl", text);
        let ran = place.run(&["audit", "verify", "a.jsonl"]).exits(2);
        assert!(ran.err.contains(said) && ran.out.is_empty(), "{text}: {ran:?}");
    }
    place.run(&["audit", "verify", "gone.jsonl"]).exits(2);
    let ran = place.run(&["audit", "verify", "a.jsonl", "--head", "5781"]).exits(2);
    assert!(ran.err.contains("64 characters of 0-9 and a-f"), "{ran:?}");
}

#[test]
fn an_audit_has_a_line_for_each_failed_call_and_the_id_of_its_message() {
    let place = Place::with_trace();
    place.run(&["replay", "trace.jsonl", "--audit", "audit.jsonl"]);
    let lines: Vec<serde_json::Value> =
        place.read("audit.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = place.run(&["replay", "trace.jsonl", "--format", "jsonl", "--envelope", "failure"]).out;
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed: Vec<&serde_json::Value> = told.iter().filter(|line| line["envelope"].is_object()).collect();
    assert!(lines.len() == failed.len() && lines.len() > 1, "{lines:#?}");
    for (line, call) in lines.iter().zip(failed) {
        let error = &call["envelope"]["error"];
        for key in ["class", "message", "boundary", "retriable", "audit_id"] {
            assert_eq!(line[key], error[key], "{key}");
        }
        assert_eq!((&line["type"], &line["retried"]), (&"failed_call".into(), &error["details"]["retried"]));
        assert_eq!((&line["run"], &line["call"], &line["tool"]), (&call["run"], &call["ref"], &call["tool"]));
        assert!(line["at_ms"].is_number() && line.get("hash").is_none(), "{line}");
    }
}

#[test]
fn an_audit_names_who_called_where_the_trace_does() {
    let place = Place::new();
    let failed = "\"tool\":\"pay\",\"status\":\"error\",\"error\":{\"kind\":\"policy_denied\"}}\n";
    let known = format!("{{\"run_id\":\"r1\",\"dispatcher_id\":\"desk-7\",{failed}");
    place.write("t.jsonl", format!("{known}{{\"run_id\":\"r2\",{failed}"));
    place.run(&["replay", "t.jsonl", "--audit", "audit.jsonl"]);
    let audit = place.read("audit.jsonl");
    let lines: Vec<serde_json::Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line.get("actor")).collect::<Vec<_>>(), [Some(&"desk-7".into()), None]);
}

#[test]
fn a_chained_audit_is_added_to_only_if_it_is_whole() {
    let place = Place::new();
    fixture(&place);
    let replay = ["replay", "f.yaml", "--playbook", "standard", "--audit", "audit.jsonl", "--chain"];
    place.run(&replay).exits(0);
    place.run(&replay).exits(0);
    place.run(&replay[..6]).exits(0); // what has begun as a chain goes on as one
    let both = place.read("audit.jsonl");
    let verified = place.run(&["audit", "verify", "audit.jsonl", "--entries", "3"]).exits(0);
    assert!(
        both.contains("\"class\":\"external_api_error\"") || both.contains("\"class\":\"capability_denied\""),
        "{both}"
    );
    assert!(verified.out.contains("whole, 3 entries"), "{verified:?}");
    let broken = both.replacen("\"retried\":0", "\"retried\":1", 1);
    place.write("audit.jsonl", &broken);
    let ran = place.run(&replay).exits(2);
    assert!(ran.err.contains("line 1 was altered"), "{ran:?}");
    assert_eq!(place.read("audit.jsonl"), broken);
    place.write("notes.txt", "mine\n");
    let ran = place.run(&["replay", "f.yaml", "--audit", "notes.txt"]).exits(2);
    assert!(ran.err.contains("is no audit log"), "{ran:?}");
    for other in ["notes.txt", "audit.jsonl"] {
        let ran = place.run(&["replay", "f.yaml", "--playbook", "standard", "--record", other]).exits(2);
        assert!(ran.err.contains("is no recording"), "{ran:?}");
    }
    let ran = place.run(&["replay", "f.yaml", "--chain"]).exits(2);
    assert!(ran.err.contains("`--chain` links the lines of `--record` or `--audit`"), "{ran:?}");
}

#[test]
fn a_chained_recording_is_whole_and_replays_to_the_same_decisions() {
    let place = Place::new();
    fixture(&place);
    place.run(&["replay", "f.yaml", "--playbook", "standard", "--record", "run.jsonl", "--chain"]).exits(0);
    place.run(&["audit", "verify", "run.jsonl"]).exits(0);
    place.run(&["replay", "run.jsonl", "--same-decisions", "--playbook", "standard"]).exits(0);
    for _ in 0..2 {
        place.run(&["replay", "f.yaml", "--playbook", "standard", "--record", "plain.jsonl"]).exits(0);
    }
    let page = |file| place.run(&["replay", file, "--format", "json"]).out.replace(file, "FILE");
    assert_eq!(page("run.jsonl"), page("plain.jsonl"), "the links are no fields that a trace is asked for");
}

/// The ledgers of a server of actions, where `PLAYPROOF_TRACES` names a folder that has them.
#[test]
fn real_ledgers_are_whole_and_every_change_of_them_is_found() {
    let Some(traces) = std::env::var_os("PLAYPROOF_TRACES") else {
        return println!("skipped: PLAYPROOF_TRACES names no recordings");
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(traces).join("theodosia-coffee");
    let place = Place::new();
    for name in ["eventful", "happy"] {
        let Ok(ledger) = std::fs::read_to_string(folder.join(name).join("ledger.jsonl")) else {
            return println!("skipped: there are no ledgers");
        };
        let verify = |text: &str, code| {
            place.write("ledger.jsonl", text);
            place.run(&["audit", "verify", "ledger.jsonl"]).exits(code).out
        };
        verify(&ledger, 0);
        let lines: Vec<&str> = ledger.split_inclusive('\n').collect();
        let found = verify(&ledger.replacen("5.0", "5.1", 1).replacen("11.0", "11.5", 1), 1);
        assert!(found.contains("was altered"), "{found}");
        let swapped = [&[lines[1], lines[0]], &lines[2..]].concat().concat();
        assert!(verify(&swapped, 1).contains("was moved"));
        let removed = [&lines[..1], &lines[2..]].concat().concat();
        assert!(verify(&removed, 1).starts_with("ledger.jsonl:2: goes on from an entry that is not here"));
    }
}
