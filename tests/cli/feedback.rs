//! `playproof feedback`: a call kept with its slice, what is refused, and what is answered by now.

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

const SHELF: &str = "proposals/feedback/crm-update-out-of-stock-";

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place
}

/// What lies in the store, by name.
fn store(place: &Place) -> BTreeMap<String, String> {
    let Ok(entries) = std::fs::read_dir(place.path().join("proposals/feedback")) else { return BTreeMap::new() };
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).expect("text");
        (format!("proposals/feedback/{}", entry.file_name().to_string_lossy()), text)
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

/// Keeps the call that found the shelf empty, and gives its id.
fn keep_shelf(place: &Place) -> String {
    let run =
        place.run(&["feedback", "add", "t.jsonl", "--call", "r1#2", "--note", "wait", "--expected", "out_of_stock"]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    assert!(run.out.contains("which standard does not have yet"), "{}", run.out);
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

#[test]
fn a_call_is_kept_with_its_slice_listed_and_shown() {
    let place = place();
    let id = keep_shelf(&place);
    let kept = store(&place);
    assert_eq!(kept.len(), 2);
    assert!(kept.keys().all(|name| name.starts_with(SHELF)), "{kept:?}");
    assert_eq!(kept[&format!("proposals/feedback/{id}.jsonl")].lines().count(), 2);
    let list = place.run(&["feedback", "list"]);
    assert!(list.out.contains(&format!("open      {id}\n")) && list.out.contains("1 open, 0 answered"), "{}", list.out);
    assert!(list.out.contains("crm.update: verdict unclassified, expected out_of_stock"), "{}", list.out);
    let by_file = place.run(&["feedback", "show", &format!("proposals/feedback/{id}.yaml")]);
    let show = place.run(&["feedback", "show", &id]);
    assert_eq!(by_file.out, show.out);
    for said in [
        "note        wait",
        "came from   t.jsonl:4, call r1#2",
        "compensation  escalate_to_human  escalate_to_human",
        "What happened",
        "send again?",
        "next: playproof init",
    ] {
        assert!(show.out.contains(said), "{said}\n{}", show.out);
    }
    for args in [&["feedback", "list", "--format", "json"][..], &["feedback", "show", &id, "--format", "json"]] {
        let run = place.run(args);
        let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        let one = json.get("feedback").map_or(&json, |list| &list[0]);
        assert_eq!((&one["state"], &one["verdict"]), (&"open".into(), &"unclassified".into()));
    }
}

#[test]
fn a_slice_replays_as_a_trace_does() {
    let place = place();
    let id = keep_shelf(&place);
    let slice = format!("proposals/feedback/{id}.jsonl");
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
    let add =
        |note| place.run(&["feedback", "add", "t.jsonl", "--call", "c2", "--note", note, "--expected", "out_of_stock"]);
    let again = add("wait");
    assert!(again.code == 0 && again.out.contains(&format!("kept already, as {id}")), "{}", again.out);
    refused(&add("another"), &["with another note or expected verdict", "nothing was changed"]);
    assert_eq!(store(&place), before);
}

#[test]
fn a_call_that_succeeded_is_kept_with_the_call_that_asked_the_same_before() {
    let place = place();
    let run = place.run(&["feedback", "add", "t.jsonl", "--call", "r1#4", "--note", "paid twice"]);
    assert!(run.code == 0 && run.out.contains("2 calls of run r1"), "{}{}", run.out, run.err);
    let slice = store(&place).into_iter().find(|(name, _)| name.ends_with(".jsonl")).expect("a slice").1;
    assert!(slice.lines().count() == 5 && slice.contains("c1") && !slice.contains("crm"), "{slice}");
    let id = run.out.lines().next().unwrap().strip_prefix("kept as ").unwrap();
    let show = place.run(&["feedback", "show", id]);
    assert!(show.out.contains("next: playproof replay proposals/feedback/pay-succeeded-"), "{}", show.out);
    let run =
        place.run(&["feedback", "add", "t.jsonl", "--call", "r1#4", "--note", "x", "--expected", "policy_denied"]);
    refused(&run, &["no attempt of `r1#4` failed", "leave out `--expected`"]);
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
    let run = place.run(&["feedback", "add", "k.jsonl", "--call", "r1#3", "--note", "x"]);
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
    let run = place.run(&["feedback", "add", "loop.jsonl", "--call", "r1#50", "--note", "x"]);
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
    let run = place.run(&["feedback", "add", "t.jsonl", "--call", "r1#3", "--note", "x"]);
    refused(
        &run,
        &["`idempotency_conflict` and deprecated become `unclassified` and escalated", "`key-already-processed`"],
    );
    assert!(store(&place).is_empty());
}

#[test]
fn a_feedback_is_answered_once_the_playbook_gives_the_expected_verdict() {
    let place = place();
    let standard = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/playbooks/standard.yaml")).unwrap();
    std::fs::create_dir(place.path().join("playbooks")).unwrap();
    place.write("playbooks/standard.yaml", &standard);
    let id = keep_shelf(&place);
    let verdict = "verdicts:\n  out_of_stock:\n    means: Nothing is left.\n    effect: not_applied\n    then: { retry_with_backoff: { backoff_ms: [500] } }\n";
    let rule = "classify:\n  - { rule: limit, when: { kind: out_of_stock }, verdict: out_of_stock }\n";
    let edited = standard.replacen("verdicts:\n", verdict, 1).replacen("classify:\n", rule, 1);
    place.write("playbooks/standard.yaml", edited);
    let list = place.run(&["feedback", "list"]);
    assert!(list.out.contains(&format!("answered  {id}")) && list.out.contains("0 open, 1 answered"), "{}", list.out);
    let show = place.run(&["feedback", "show", &id]);
    assert!(show.out.contains("compensation  escalate_to_human  retry_with_backoff"), "{}", show.out);
    assert!(show.out.contains("next: playproof feedback list"), "{}", show.out);
}

#[test]
fn tool_facts_that_were_named_are_kept_with_the_call() {
    let place = place();
    place.write("facts.yaml", "format: tools/1\ntools:\n  pay: { access: write, idempotent: true }\n");
    let args = ["feedback", "add", "t.jsonl", "--call", "r1#1", "--note", "x", "--tools", "facts.yaml"];
    assert_eq!(place.run(&args).code, 0);
    std::fs::remove_file(place.path().join("facts.yaml")).unwrap();
    let show = place.run(&["feedback", "show", "pay-timeout"]);
    refused(&show, &["did you mean `pay-timeout-"]);
    let file = store(&place).into_iter().find(|(name, _)| name.ends_with(".yaml")).expect("a file");
    assert!(file.1.contains("facts: { access: write, idempotent: true"), "{}", file.1);
    let id = file.0.trim_start_matches("proposals/feedback/").trim_end_matches(".yaml").to_owned();
    let show = place.run(&["feedback", "show", &id]);
    assert!(show.out.contains("write, idempotent"), "{}", show.out);
}

#[test]
fn a_foreign_recording_is_kept_in_our_own_format() {
    let place = Place::new();
    for name in ["my-log.jsonl", "my-log.mapping.yaml"] {
        let from = format!("{}/docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, place.path().join(name)).expect("an example");
    }
    let args =
        ["feedback", "add", "my-log.jsonl", "--map", "my-log.mapping.yaml", "--call", "agent-41#2", "--note", "x"];
    let run = place.run(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    let id = run.out.lines().next().unwrap().strip_prefix("kept as ").unwrap();
    assert_eq!(place.run(&["feedback", "show", id]).code, 0);
}

#[test]
fn wrong_use_says_what_to_do_and_writes_nothing() {
    let place = place();
    place.write("fixture.yaml", "format: fixture/1\n");
    let add = |args: &[&str]| place.run(&[&["feedback", "add"], args].concat());
    refused(&add(&["t.jsonl", "--call", "r1#2"]), &["without a note"]);
    for (note, said) in [("  ", "it is empty"), ("...", "`...` says nothing")] {
        let run = add(&["t.jsonl", "--call", "r1#2", "--note", note]);
        assert!(run.code == 2 && run.err.contains(said), "{}", run.err);
    }
    refused(
        &add(&["t.jsonl", "--call", "r1#9", "--note", "x"]),
        &["there is no call `r1#9`", "the calls of the run `r1` are r1#1, r1#2"],
    );
    refused(&add(&["t.jsonl", "--note", "x"]), &["say which call: r1#1, r1#2"]);
    refused(&add(&["fixture.yaml", "--note", "x"]), &["is a fixture"]);
    refused(&add(&["-", "--note", "x"]), &["read twice"]);
    refused(&add(&["none.jsonl", "--note", "x"]), &["no such file"]);
    let near = ["t.jsonl", "--call", "r1#2", "--note", "x", "--expected", "policy_denid"];
    refused(&add(&near), &["did you mean `policy_denied`?", "--new", "--note x --expected policy_denied"]);
    refused(&add(&[&near[..6], &["not a name"]].concat()), &["cannot be the name of a verdict"]);
    let same = ["t.jsonl", "--call", "r1#2", "--note", "x", "--expected", "unclassified"];
    refused(&add(&same), &["`standard` gives `r1#2` the verdict `unclassified` already", "leave out `--expected`"]);
    refused(&add(&["t.jsonl", "--call", "r1#2", "--note", "x", "--playbook", "/p/x.yaml"]), &["no such file"]);
    let list = place.run(&["feedback", "list"]).exits(0);
    assert!(list.out.contains("no feedback is kept\nnext: playproof feedback add TRACE"), "{}", list.out);
    let list = place.run(&["feedback", "list", "--format", "json"]).exits(0);
    assert_eq!(list.out, "{\"format\":\"feedback-list/1\",\"feedback\":[]}\n");
    refused(&place.run(&["feedback", "show", "x"]), &["no feedback is called `x`"]);
    assert!(store(&place).is_empty());
    assert_eq!(add(&[&near[..], &["--new"]].concat()).code, 0);
}

#[test]
fn an_id_that_several_calls_have_is_refused_with_their_references() {
    let place = place();
    place.write("two.jsonl", TRACE.to_owned() + &TRACE.replace("r1", "r2"));
    let run = place.run(&["feedback", "add", "two.jsonl", "--call", "c2", "--note", "x"]);
    refused(&run, &["`c2` is the name of several calls: r1#2, r2#2", "feedback add two.jsonl --call 'r1#2'"]);
}

#[test]
fn a_damaged_file_or_slice_is_shown_with_its_place() {
    let place = place();
    let id = keep_shelf(&place);
    let (file, slice) = (format!("proposals/feedback/{id}.yaml"), format!("proposals/feedback/{id}.jsonl"));
    let good = store(&place);
    let damage = |name: &str, old: &str, new: &str, said: &[&str]| {
        place.write(name, good[name].replacen(old, new, 1));
        for args in [&["feedback", "list"][..], &["feedback", "show", &id]] {
            let run = place.run(args);
            assert_eq!(run.code, 2, "{}", run.out);
            for said in said.iter().chain(&["next: "]) {
                assert!(run.err.contains(said), "{said}\n{}", run.err);
            }
        }
        place.write(name, &good[name]);
    };
    damage(&file, "expected:", "expceted:", &[&format!("{file}:7:1"), "did you mean `expected`?"]);
    damage(
        &file,
        "call: 'r1#1'",
        "call: 'r1#3'",
        &[&format!("{file}:6:7"), "not in the slice", "did you mean `r1#1`?"],
    );
    damage(&file, "playbook: 'standard'", "playbook: 'standrad'", &[&format!("{file}:5:11"), "standrad"]);
    damage(&slice, "\"tool\"", "\"tool", &[&format!("{slice}:1:")]);
    std::fs::remove_file(place.path().join(&slice)).unwrap();
    assert!(place.run(&["feedback", "list"]).err.contains("no such file"));
}

#[test]
fn what_cannot_be_written_leaves_everything_as_it_is() {
    // A file where a folder should be: the same for every user, also for one who may write anywhere.
    for in_the_way in ["proposals/feedback", "proposals"] {
        let place = place();
        if let Some((folder, _)) = in_the_way.split_once('/') {
            std::fs::create_dir(place.path().join(folder)).unwrap();
        }
        place.write(in_the_way, "in the way");
        let run = place.run(&["feedback", "add", "t.jsonl", "--call", "r1#2", "--note", "x"]);
        refused(&run, &["cannot be written: ", "nothing was changed"]);
        assert_eq!(std::fs::read_to_string(place.path().join(in_the_way)).unwrap(), "in the way");
        assert!(!place.path().join("proposals/.accepting").exists());
    }
}

#[test]
fn a_feedback_is_edited_closed_and_opened_again() {
    let place = place();
    let id = keep_shelf(&place);
    let run = place.run(&["feedback", "edit", &id, "--expected", "empty_shelf", "--note", "wait: it's refilled"]);
    assert!(
        run.code == 0
            && run.out.contains(&format!(
                "{id} expects empty_shelf, which standard does not have yet, and has another note\n"
            )),
        "{}{}",
        run.out,
        run.err
    );
    let run = place.run(&["feedback", "edit", &id, "--expected", "empty_shelf", "--note", "wait: it's refilled soon"]);
    assert!(run.code == 0 && run.out.starts_with(&format!("{id} has another note\n")), "{}{}", run.out, run.err);
    let list = place.run(&["feedback", "list"]);
    assert!(list.out.contains("expected empty_shelf") && list.out.contains("wait: it's refilled"), "{}", list.out);
    assert!(list.out.contains(&format!("next: playproof feedback show {id}")), "{}", list.out);

    refused(&place.run(&["feedback", "close", &id]), &["not closed without a reason"]);
    refused(&place.run(&["feedback", "reopen", &id]), &["is not closed"]);
    assert_eq!(place.run(&["feedback", "close", &id, "--reason", "the shelf is gone"]).code, 0);
    refused(&place.run(&["feedback", "close", &id, "--reason", "again"]), &["is closed already: the shelf is gone"]);
    let list = place.run(&["feedback", "list"]);
    assert_eq!(list.out.trim_end(), "0 open, 0 answered, 1 closed (`--all` lists them)");
    let all = place.run(&["feedback", "list", "--all"]);
    assert!(
        all.out.contains(&format!("closed    {id}")) && all.out.contains("closed: the shelf is gone"),
        "{}",
        all.out
    );
    assert!(all.out.contains("0 open, 0 answered, 1 closed"), "{}", all.out);
    let json = place.run(&["feedback", "list", "--all", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let one = &json["feedback"][0];
    assert_eq!((&one["state"], &one["closed"]), (&"closed".into(), &"the shelf is gone".into()));
    let show = place.run(&["feedback", "show", &id]);
    assert!(show.out.contains("closed      the shelf is gone"), "{}", show.out);
    assert!(show.out.contains(&format!("next: playproof feedback reopen {id}")), "{}", show.out);
    assert_eq!(place.run(&["feedback", "reopen", &id]).code, 0);
    assert!(place.run(&["feedback", "list"]).out.contains("1 open, 0 answered"));
}

#[test]
fn what_people_wrote_around_a_feedback_stays_when_it_is_changed() {
    let place = place();
    let id = keep_shelf(&place);
    let file = format!("proposals/feedback/{id}.yaml");
    let text = store(&place)[&file].replace("note: 'wait'", "# Ann saw it\nnote: >   # folded\n  wait\n\n# and so on");
    place.write(&file, &text);
    let close = ["feedback", "close", &id, "--reason", "over"];
    assert_eq!(place.run(&close).code, 0);
    let expected = "expected: 'out_of_stock'\n";
    assert_eq!(store(&place)[&file], text.replace(expected, &format!("{expected}closed: 'over'\n")));
    assert_eq!(place.run(&["feedback", "reopen", &id]).code, 0);
    assert_eq!(store(&place)[&file], text);
    assert_eq!(place.run(&["feedback", "edit", &id, "--note", "refill it"]).code, 0);
    assert_eq!(store(&place)[&file], text.replace(">   # folded\n  wait\n", "'refill it'\n"));

    place.write(&file, text.replace("playbook: ", "playbook: &a ").replace("'out_of_stock'", "*a"));
    let before = store(&place);
    let run = place.run(&["feedback", "edit", &id, "--expected", "gone"]);
    refused(&run, &[&format!("{file}:11:1"), "`expected` cannot be edited by a program", "nothing was changed"]);
    assert_eq!(store(&place), before);
}

#[test]
fn an_edit_that_cannot_be_meant_changes_nothing() {
    let place = place();
    let id = keep_shelf(&place);
    let calm = place.run(&["feedback", "add", "t.jsonl", "--call", "r1#4", "--note", "paid twice"]);
    let calm = calm.out.lines().next().and_then(|line| line.strip_prefix("kept as ")).expect("an id");
    let before = store(&place);
    let edit = |args: &[&str]| place.run(&[&["feedback", "edit"], args].concat());
    refused(&edit(&["nowhere", "--note", "x"]), &["no feedback is called `nowhere`"]);
    refused(
        &edit(&[&id, "--expected", "policy_denid"]),
        &["did you mean `policy_denied`?", "--expected policy_denied"],
    );
    refused(&edit(&[&id, "--expected", "unclassified"]), &["is the verdict that the call", "feedback close"]);
    refused(&edit(&[&id, "--expected", "Shelf empty"]), &["cannot be the name", "--expected shelf_empty"]);
    refused(&edit(&[calm, "--expected", "policy_denied"]), &["no attempt of the call", "feedback close"]);
    assert_eq!(edit(&[&id]).code, 2);
    let same = edit(&[&id, "--note", "wait"]);
    assert!(same.code == 0 && same.out.contains("nothing was changed"), "{}", same.out);
    assert_eq!(store(&place), before);
    let list = place.run(&["feedback", "list"]);
    assert!(list.out.contains("2 open"), "{}", list.out);
}
