//! `playproof propose find`: a page whose rules a playbook takes, JSON, what cannot be mined, no way out of the page.

use super::Place;

const TRACE: &str = r#"{"run_id":"r1","tool":"book","status":"error","error":{"kind":"tool_error","message":"payment method card_1 is unknown"}}
{"run_id":"r1","tool":"book","status":"error","error":{"kind":"tool_error","message":"payment method card_2 is unknown"}}
{"run_id":"r2","tool":"book","status":"error","error":{"kind":"tool_error","message":"payment method is unknown"}}
{"run_id":"r2","tool":"book","status":"error","error":{"kind":"timeout","message":"no answer"}}
{"run_id":"r2","tool":"book","status":"ok"}
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place
}

#[test]
fn what_is_suggested_can_be_typed_where_it_is_suggested() {
    let place = place();
    let next = |args: &[&str]| {
        let run = place.run(&[&["propose", "find"], args].concat());
        run.out.lines().find_map(|line| line.strip_prefix("next: ")).map(str::to_owned)
    };
    let typed = |command: &str| place.run(&command.split(' ').skip(1).collect::<Vec<_>>());
    // No playbook can be changed where there is no project; one that playproof carries never can.
    let init = next(&["t.jsonl"]).expect("a suggestion");
    assert_eq!(init, "playproof init --from t.jsonl");
    assert_eq!(typed(&init).code, 0);
    assert_eq!(next(&["t.jsonl", "--playbook", "standard"]).as_deref(), Some("playproof propose find t.jsonl"));
    let propose = next(&["t.jsonl"]).expect("a suggestion");
    assert_eq!(propose, "playproof propose new VERDICT --from-cluster 1 --trace t.jsonl");
    let run = typed(&propose);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        place
            .run_with(&["propose", "find", "-"], "{\"tool\":\"t\",\"status\":\"error\"}\n")
            .out
            .lines()
            .all(|line| !line.starts_with("next:"))
    );
}

#[test]
fn the_page_shows_forms_look_alikes_and_rules() {
    let run = place().run(&["propose", "find", "t.jsonl"]);
    assert_eq!((run.code, &*run.err), (0, ""));
    for said in [
        "4 failed attempts: 3 unclassified under standard, 0 exhausted by a verdict that did not help",
        "1. 2  payment method <id> is unknown",
        "examples     r1#1: payment method card_1 is unknown",
        "look-alikes  1 unclassified, tool_error: payment method is unknown",
        "when: { kind: tool_error, message: { matches: '^payment method \\S+ is unknown$' } }",
        "next: playproof init --from t.jsonl",
    ] {
        assert!(run.out.contains(said), "{said}\n---\n{}", run.out);
    }
}

#[test]
fn a_drawn_rule_can_be_pasted_into_a_playbook_and_catches_its_failures() {
    let place = place();
    let json = place.run(&["propose", "find", "t.jsonl", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let rule = json["clusters"][0]["rule"]["yaml"].as_str().expect("a rule").replace('\n', "\n  ");
    let playbook = format!(
        "format: playbook/1\nname: mine\nverdicts:\n  new_verdict:\n    means: no such card\n    effect: not_applied\n    \
         then: {{ deprecate_tool_call: {{ reason: no such card }} }}\nclassify:\n  {rule}\notherwise: unclassified\n\
         default_queue: people\nqueues: [people]\n"
    );
    place.write("mine.yaml", playbook);
    let again = place.run(&["propose", "find", "t.jsonl", "--playbook", "mine.yaml"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("4 failed attempts: 2 unclassified under mine"), "{}", again.out);
    assert!(again.out.contains("2 new_verdict, tool_error: payment method card_1 is unknown"), "{}", again.out);
    let only = place.run(&["replay", "t.jsonl", "--playbook", "mine.yaml", "--only", "new_verdict"]);
    assert!(only.out.contains("new_verdict") && only.out.contains("r1#1"), "{}", only.out);
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let place = Place::new();
    place.write("t.jsonl", TRACE.repeat(2_000));
    for format in ["table", "json"] {
        let one = place.run(&["propose", "find", "t.jsonl", "--format", format, "--jobs", "1"]);
        let many = place.run(&["propose", "find", "t.jsonl", "--format", format, "--jobs", "5"]);
        assert_eq!((one.code, &one.out), (0, &many.out), "{format}");
    }
}

#[test]
fn what_cannot_be_mined_is_no_success_and_a_trace_without_failures_is() {
    let place = place();
    place.write("empty.jsonl", "");
    place.write("x.yaml", "format: fixture/1\n");
    place.write("fine.jsonl", r#"{"tool":"book","status":"ok"}"#);
    for (args, said) in [
        (vec!["propose", "find", "empty.jsonl"], "it is empty"),
        (vec!["propose", "find", "none.jsonl"], "no such file"),
        (vec!["propose", "find", "t.jsonl", "--playbook", "standrd"], "did you mean `standard`?"),
        (vec!["propose", "find", "t.jsonl", "--top", "0"], "--top"),
        (vec!["propose", "find", "x.yaml"], "is a fixture"),
    ] {
        let run = place.run(&args);
        assert_eq!((run.code, &*run.out), (2, ""), "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    }
    let fine = place.run(&["propose", "find", "fine.jsonl"]);
    assert_eq!(fine.code, 0);
    assert!(fine.out.contains("no recorded attempt failed: there is nothing to mine"), "{}", fine.out);
}

#[test]
fn what_is_redacted_is_in_no_form_and_no_rule() {
    let place = place();
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['card_[0-9]+'] }\n");
    let run = place.run(&["propose", "find", "t.jsonl", "--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.out.contains("card_") && run.out.contains("[redacted]"), "{}", run.out);
}

#[test]
fn nothing_in_a_trace_leaves_its_place_on_the_page() {
    let place = Place::new();
    let hostile = "\\u001b[31m ${x} |`<b> \\u202e\\n- rule: x\\u2028 'a: b' # c \\\" {{}} is unknown here";
    place.write("t.jsonl", format!(r#"{{"run_id":"{hostile}","tool":"{hostile}","status":"error","error":{{"kind":"{hostile}","code":"{hostile}","message":"{hostile}"}}}}"#));
    for format in ["table", "json"] {
        let run = place.run(&["propose", "find", "t.jsonl", "--format", format]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.chars().any(|c| c == '\u{1b}' || c == '\u{202e}' || c == '\u{2028}'), "{}", run.out);
        assert!(!run.out.contains("\n- rule: x"), "{}", run.out);
    }
    let json = place.run(&["propose", "find", "t.jsonl", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["clusters"][0]["rule"]["caught"], 1, "{json}");
}

const BY_FLAG: &str = "format: mapping/1
call:   { where: { event: call }, id: id, tool: name, args: input }
result: { where: { event: end }, id: id, body: output }
failed: [ { ok: false } ]
";

/// A log of calls: tool, whether it succeeded, output.
fn log(calls: &[(&str, bool, &str)]) -> String {
    let lines = (1..).zip(calls).map(|(n, (tool, ok, output))| {
        format!(
            "{{\"event\":\"call\",\"id\":\"{n}\",\"name\":\"{tool}\",\"input\":{{}}}}\n\
             {{\"event\":\"end\",\"id\":\"{n}\",\"ok\":{ok},\"output\":\"{output}\"}}\n"
        )
    });
    lines.collect()
}

#[test]
fn a_rule_matches_no_successful_result_of_its_tools() {
    let place = Place::new();
    place.write("map.yaml", BY_FLAG);
    let mined = |calls: &[(&str, bool, &str)]| {
        place.write("log.jsonl", log(calls));
        let page = place.run(&["propose", "find", "log.jsonl", "--map", "map.yaml"]).exits(0).out;
        let rule =
            page.lines().skip_while(|line| !line.starts_with("   rule ")).take_while(|line| !line.contains("verdict"));
        rule.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    let failure = ("get_slot", false, "slot 7 is not free today");
    let plain = "when: { kind: tool_error, message: { contains: is not free today } }";
    let alone = mined(&[failure]);
    assert!(alone.starts_with("rule catches the 1 message tried; there are no others: -") && alone.ends_with(plain));
    let fine = mined(&[failure, ("get_slot", true, "slot 8 is free"), ("page", true, "a slot is not free today")]);
    assert!(fine.contains("tried and no text of 1 successful result: -") && fine.ends_with(plain), "{fine}");
    let narrowed = mined(&[failure, ("get_slot", true, "done, but slot 8 is not free today")]);
    assert!(
        narrowed.contains("no text of 1 successful result; plainer words are also in successful results: -"),
        "{narrowed}"
    );
    assert!(narrowed.ends_with(r"message: { matches: '^slot \S+ is not free today$' } }"), "{narrowed}");
    let none = mined(&[failure, ("get_slot", true, "slot 8 is not free today")]);
    assert!(none.starts_with("rule none: every rule for these also matches a successful result of get_slot"), "{none}");
    let draft = ["propose", "new", "full", "--from-cluster", "1", "--trace", "log.jsonl", "--map", "map.yaml"];
    place.run(&["init"]).exits(0);
    let ran = place.run(&draft).exits(2);
    assert!(ran.err.contains("every rule for it also matches a successful result of `get_slot`"), "{}", ran.err);
}

#[test]
fn texts_of_chat_results_are_tried_too_and_never_shown() {
    let place = Place::new();
    let result = |id: &str, text: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"get_slot","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#
        )
    };
    let chat = [result("a", "Error: slot 7 is not free today"), result("b", "booked for S3CRET")];
    place.write("chat.json", format!("[{{\"role\":\"user\",\"content\":\"x\"}},{}]", chat.join(",")));
    let page = place.run(&["propose", "find", "chat.json"]).exits(0).out;
    assert!(page.contains("no text of 1 successful result") && !page.contains("S3CRET"), "{page}");
    let json = place.run(&["propose", "find", "chat.json", "--format", "json"]).exits(0).out;
    assert!(json.contains("\"successes\":1") && !json.contains("S3CRET"), "{json}");
}
