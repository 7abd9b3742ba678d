//! `playproof propose keep`: a call kept with its slice, what is refused, and what is handled right by now.

use std::collections::BTreeMap;

use super::{Place, Run};

/// A refund that timed out and was sent again, a shelf that is empty, a conflict, and the refund once more.
const TRACE: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"pay","at_ms":0,"args":{"order":"o_91","amount":4200}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":1,"at_ms":5000,"status":"error","error":{"kind":"timeout","message":"no answer"}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":2,"started_ms":5200,"at_ms":5900,"status":"ok"}
{"type":"tool_call","run_id":"r1","call_id":"c2","tool":"crm.update","at_ms":6000,"args":{"card":"4111111111111111"}}
{"type":"tool_result","run_id":"r1","call_id":"c2","at_ms":6100,"status":"error","error":{"kind":"out_of_stock","message":"none is left, 4111111111111111"}}
{"type":"tool_call","run_id":"r1","call_id":"c3","tool":"crm.close","at_ms":6200,"idempotency_key":"k","args":{"id":7}}
{"type":"tool_result","run_id":"r1","call_id":"c3","at_ms":6300,"status":"error","error":{"kind":"409_conflict","status":409,"message":"idempotency_key already processed"}}
{"type":"tool_call","run_id":"r1","call_id":"c4","tool":"pay","at_ms":7000,"args":{"amount":4200,"order":"o_91"}}
{"type":"tool_result","run_id":"r1","call_id":"c4","at_ms":7100,"status":"ok"}
"#;

const SHELF: &str = "kept/crm-update-out-of-stock-";

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place
}

/// What lies in the store, by name.
fn store(place: &Place) -> BTreeMap<String, String> {
    let Ok(entries) = std::fs::read_dir(place.path().join("kept")) else { return BTreeMap::new() };
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).expect("text");
        (format!("kept/{}", entry.file_name().to_string_lossy()), text)
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

/// Keeps the call that found the shelf empty, and gives its id.
fn keep_shelf(place: &Place) -> String {
    let run = place.run(&["propose", "keep", "t.jsonl", "r1#2", "--note", "wait", "--expect", "out_of_stock"]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    assert!(run.out.contains("does not have yet"), "{}", run.out);
    let id = run.out.lines().next().and_then(|line| line.strip_prefix("kept as ")).expect("an id");
    id.to_owned()
}

#[track_caller]
fn refused(run: &Run, said: &[&str]) {
    assert_eq!((run.code, &*run.out), (2, ""), "{}", run.err);
    for said in said.iter().chain(&["next: playproof"]) {
        assert!(run.err.contains(said), "{said}\n{}", run.err);
    }
}

/// Keeps a call that should be `policy_denied`.
fn keep(place: &Place, trace: &str, call: &str, more: &[&str]) -> Run {
    let keep = ["propose", "keep", trace, call, "--note", "x", "--expect", "policy_denied"];
    place.run(&[&keep[..], more].concat())
}

#[test]
fn a_call_is_kept_with_its_slice_and_checked() {
    let place = place();
    place.run(&["init"]).exits(0);
    let id = keep_shelf(&place);
    let kept = store(&place);
    assert_eq!(kept.len(), 2);
    assert!(kept.keys().all(|name| name.starts_with(SHELF)), "{kept:?}");
    assert_eq!(kept[&format!("kept/{id}.jsonl")].lines().count(), 2);
    let check = place.run(&["check"]).exits(0);
    assert!(
        check.out.contains(&format!("not right yet  kept/{id}: unclassified, expected out_of_stock\n")),
        "{}",
        check.out
    );
    assert!(check.out.contains(&format!("next: playproof propose new out_of_stock --from {id}")), "{}", check.out);
    place.run(&["propose", "new", "out_of_stock", "--from", &id]).exits(0);
    let again = place.run(&["check"]).exits(0).out;
    assert!(again.contains("next: playproof propose check out-of-stock\n"), "the change is drafted: {again}");
    let json = place.run(&["check", "--format", "json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&json["kept"][0]["right"], &json["kept"][0]["verdict"]), (&false.into(), &"unclassified".into()));
    let one = place.run(&["check", "a-keyed-refund-meets-its-own-effect"]).exits(0);
    assert!(!one.out.contains("kept/"), "a fixture was named: {}", one.out);
}

#[test]
fn a_slice_replays_as_a_trace_does() {
    let place = place();
    let id = keep_shelf(&place);
    let slice = format!("kept/{id}.jsonl");
    let run = place.run(&["replay", &slice, "--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(json["playbooks"][0]["failed_calls"], 1);
}

#[test]
fn the_same_call_again_changes_nothing_and_says_so() {
    let place = place();
    let id = keep_shelf(&place);
    let before = store(&place);
    let add = |note| place.run(&["propose", "keep", "t.jsonl", "c2", "--note", note, "--expect", "out_of_stock"]);
    let again = add("wait");
    assert!(again.code == 0 && again.out.contains(&format!("kept already, as {id}")), "{}", again.out);
    refused(&add("another"), &["with another note or expected verdict", "nothing was changed"]);
    assert_eq!(store(&place), before);
}

#[test]
fn a_call_is_kept_with_the_call_that_asked_the_same_before_and_one_that_succeeded_is_not_kept() {
    let place = place();
    let pay = TRACE.lines().last().expect("a line").replace("\"status\":\"ok\"", "\"status\":\"error\"");
    place.write("late.jsonl", format!("{}\n{pay}\n", TRACE.trim_end().rsplit_once('\n').expect("lines").0));
    let run = keep(&place, "late.jsonl", "r1#4", &[]);
    assert!(run.code == 0 && run.out.contains("2 calls of run r1"), "{}{}", run.out, run.err);
    let slice = store(&place).into_iter().find(|(name, _)| name.ends_with(".jsonl")).expect("a slice").1;
    assert!(slice.lines().count() == 5 && slice.contains("c1") && !slice.contains("crm"), "{slice}");
    refused(&keep(&place, "t.jsonl", "r1#4", &[]), &["no attempt of `r1#4` failed"]);
}

#[test]
fn what_the_project_redacts_is_not_kept() {
    let place = place();
    place.write("playproof.yaml", "format: project/1\nredaction: { keys: [card], patterns: ['\\d{16}'] }\n");
    keep_shelf(&place);
    for (name, text) in store(&place) {
        assert!(!text.contains("4111"), "{name}: {text}");
    }
}

#[test]
fn what_the_project_redacts_is_not_kept_of_keys_and_codes_either() {
    let place = place();
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['\\d{16}'] }\n");
    let call = |key: &str, code: &str| {
        format!(
            r#"{{"run_id":"r1","tool":"pay","idempotency_key":"{key}","args":{{"a":1}},"status":"error","error":{{"code":"{code}"}}}}"#
        ) + "\n"
    };
    let keys = ["4111111111111111", "4222222222222222", "4111111111111111"];
    place.write("k.jsonl", keys.map(|key| call(key, "E4333333333333333")).concat());
    let run = keep(&place, "k.jsonl", "r1#3", &[]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let kept = store(&place);
    for (name, text) in &kept {
        assert!(!["4111", "4222", "4333"].iter().any(|secret| text.contains(secret)), "{name}: {text}");
    }
    let slice = kept.iter().find(|(name, _)| name.ends_with(".jsonl")).unwrap().1;
    assert_eq!(slice.matches(r#""idempotency_key":"[redacted]""#).count(), 2, "{slice}");
}

#[test]
fn a_slice_of_a_runaway_loop_holds_the_latest_calls() {
    let place = place();
    let call = |n: u32| format!(r#"{{"run_id":"r1","call_id":"c{n}","tool":"pay","args":{{"a":1}},"status":"error"}}"#);
    place.write("loop.jsonl", (1..=60).map(|n| call(n) + "\n").collect::<String>());
    let run = keep(&place, "loop.jsonl", "r1#50", &[]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let kept = store(&place);
    let slice = kept.iter().find(|(name, _)| name.ends_with(".jsonl")).unwrap().1;
    let holds = |n: u32| slice.contains(&format!("\"c{n}\""));
    assert!(!holds(29) && (30..=50).all(holds) && !holds(51), "{slice}");
}

#[test]
fn nothing_is_kept_where_redaction_changes_the_verdict() {
    let place = place();
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['already processed'] }\n");
    let run = keep(&place, "t.jsonl", "r1#3", &[]);
    refused(
        &run,
        &["`idempotency_conflict` and deprecated become `unclassified` and escalated", "`key-already-processed`"],
    );
    assert!(store(&place).is_empty());
}

#[test]
fn a_call_is_handled_right_once_the_playbook_gives_the_expected_verdict() {
    let place = place();
    place.run(&["init"]).exits(0);
    let id = keep_shelf(&place);
    let ours = std::fs::read_to_string(place.path().join("playbooks/ours.yaml")).expect("a playbook");
    let verdict = "verdicts:\n  out_of_stock:\n    means: Nothing is left.\n    effect: not_applied\n    then: { retry_with_backoff: { backoff_ms: [500] } }\n";
    let rule = "classify:\n  - { rule: limit, when: { kind: out_of_stock }, verdict: out_of_stock }\n";
    let edited = ours.replacen("verdicts:\n", verdict, 1).replacen("classify:\n", rule, 1);
    place.write("playbooks/ours.yaml", edited);
    let check = place.run(&["check"]);
    assert!(
        check.out.contains(&format!("handled right  kept/{id}: out_of_stock, by the rule limit\n")),
        "{}",
        check.out
    );
}

#[test]
fn tool_facts_that_were_named_are_kept_with_the_call() {
    let place = place();
    place.write("facts.yaml", "format: tools/1\ntools:\n  pay: { access: write, idempotent: true }\n");
    keep(&place, "t.jsonl", "r1#1", &["--tools", "facts.yaml"]).exits(0);
    let file = store(&place).into_iter().find(|(name, _)| name.ends_with(".yaml")).expect("a file");
    assert!(file.1.contains("facts: { access: write, idempotent: true"), "{}", file.1);
}

#[test]
fn a_foreign_recording_is_kept_in_our_own_format() {
    let place = Place::new();
    for name in ["my-log.jsonl", "my-log.mapping.yaml"] {
        let from = format!("{}/docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, place.path().join(name)).expect("an example");
    }
    keep(&place, "my-log.jsonl", "agent-41#2", &["--map", "my-log.mapping.yaml"]).exits(0);
    let slice = store(&place).into_iter().find(|(name, _)| name.ends_with(".jsonl")).expect("a slice").0;
    place.run(&["explain", &slice]).exits(0);
}

#[test]
fn wrong_use_says_what_to_do_and_writes_nothing() {
    let place = place();
    place.write("fixture.yaml", "format: fixture/1\n");
    let keep = |args: &[&str]| place.run(&[&["propose", "keep"], args].concat());
    let run = keep(&["t.jsonl", "r1#2", "--expect", "odd"]);
    assert!(run.code == 2 && run.err.contains("--note"), "{}", run.err);
    for (note, said) in [("  ", "it is empty"), ("...", "`...` says nothing")] {
        let run = keep(&["t.jsonl", "r1#2", "--expect", "odd", "--note", note]);
        assert!(run.code == 2 && run.err.contains(said), "{}", run.err);
    }
    let keep = |args: &[&str]| keep(&[args, &["--note", "x"]].concat());
    refused(
        &keep(&["t.jsonl", "r1#9", "--expect", "odd"]),
        &["there is no call `r1#9`", "the calls of the run `r1` are r1#1, r1#2"],
    );
    refused(&keep(&["t.jsonl", "--expect", "odd"]), &["say which call: r1#1, r1#2"]);
    refused(&keep(&["fixture.yaml", "a", "--expect", "odd"]), &["is a fixture"]);
    refused(&keep(&["-", "a", "--expect", "odd"]), &["read twice"]);
    refused(&keep(&["none.jsonl", "a", "--expect", "odd"]), &["no such file"]);
    let near = ["t.jsonl", "r1#2", "--expect", "policy_denid"];
    refused(&keep(&near), &["did you mean `policy_denied`?", "--new", "--expect policy_denied --note x"]);
    refused(&keep(&["t.jsonl", "r1#2", "--expect", "not a name"]), &["cannot be the name of a verdict"]);
    let same = ["t.jsonl", "r1#2", "--expect", "unclassified"];
    refused(&keep(&same), &["`standard` gives `r1#2` the verdict `unclassified` already"]);
    refused(&keep(&["t.jsonl", "r1#2", "--expect", "odd", "--playbook", "/p/x.yaml"]), &["no such file"]);
    assert!(store(&place).is_empty());
    assert_eq!(keep(&[&near[..], &["--new"]].concat()).code, 0);
}

#[test]
fn an_id_that_several_calls_have_is_refused_with_their_references() {
    let place = place();
    place.write("two.jsonl", TRACE.to_owned() + &TRACE.replace("r1", "r2"));
    let run = keep(&place, "two.jsonl", "c2", &[]);
    refused(&run, &["`c2` is the name of several calls: r1#2, r2#2", "propose keep two.jsonl 'r1#2'"]);
}

#[test]
fn a_damaged_file_or_slice_is_shown_with_its_place() {
    let place = place();
    place.run(&["init"]).exits(0);
    let id = keep_shelf(&place);
    let (file, slice) = (format!("kept/{id}.yaml"), format!("kept/{id}.jsonl"));
    let good = store(&place);
    let damage = |name: &str, old: &str, new: &str, said: &[&str]| {
        place.write(name, good[name].replacen(old, new, 1));
        let run = place.run(&["check"]);
        assert_eq!(run.code, 2, "{}", run.out);
        for said in said.iter().chain(&["next: "]) {
            assert!(run.err.contains(said), "{said}\n{}", run.err);
        }
        place.write(name, &good[name]);
    };
    damage(&file, "expect:", "exepct:", &[&format!("{file}:8:1"), "did you mean `expect`?"]);
    damage(
        &file,
        "call: 'r1#1'",
        "call: 'r1#3'",
        &[&format!("{file}:6:7"), "not in the slice", "did you mean `r1#1`?"],
    );
    damage(&file, "playbook: 'ours'", "playbook: 'standrad'", &[&format!("{file}:5:11"), "standrad"]);
    damage(&slice, "\"tool\"", "\"tool", &[&format!("{slice}:1:")]);
    std::fs::remove_file(place.path().join(&slice)).unwrap();
    assert!(place.run(&["check"]).err.contains("no such file"));
}

#[test]
fn what_cannot_be_written_leaves_everything_as_it_is() {
    let place = place();
    // A file where a folder should be: the same for every user, also for one who may write anywhere.
    place.write("kept", "in the way");
    let run = keep(&place, "t.jsonl", "r1#2", &[]);
    refused(&run, &["cannot be written: ", "nothing was changed"]);
    assert_eq!(std::fs::read_to_string(place.path().join("kept")).unwrap(), "in the way");
    assert!(!place.path().join("proposals/.accepting").exists());
}
