//! What makes a request: calls that want the same thing done, however they say it, and wherever they are made.

use crate::place::{Place, Ran};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/requests");

const FACTS: &str =
    "format: tools/1\ntools:\n  issue_refund: { access: write, same_if: [order, amount], same_across: runs }\n";

/// An input of the folder.
fn input(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).expect("readable")
}

/// A replay of files under these tool facts.
fn replay(files: &[(&str, &str)], facts: &str) -> Ran {
    let place = Place::new();
    place.write("tools.yaml", facts);
    files.iter().for_each(|(name, text)| place.write(name, text));
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    place.run(&[&["replay", "--tools", "tools.yaml", "--format", "jsonl"], &names[..]].concat())
}

/// What is found in the recordings: severity, id and call.
fn found(run: &Ran) -> Vec<(String, String, String)> {
    let calls = run.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let calls = calls.filter(|line| line["type"] == "call");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of_call = |call: serde_json::Value| {
        let findings = call["findings"].as_array().cloned().unwrap_or_default();
        let findings = findings.into_iter().filter(|finding| finding["by"] == "recorded");
        let found = findings.map(|finding| (text(&finding["severity"]), text(&finding["id"]), text(&call["ref"])));
        found.collect::<Vec<_>>()
    };
    calls.flat_map(of_call).collect()
}

fn ids(run: &Ran) -> Vec<(String, String)> {
    found(run).into_iter().map(|(severity, id, _)| (severity, id)).collect()
}

fn has(run: &Ran, severity: &str, id: &str) -> bool {
    ids(run).iter().any(|one| (&*one.0, &*one.1) == (severity, id))
}

#[test]
fn a_restarted_run_and_a_reworded_reason_make_the_same_request() {
    for name in ["restart.jsonl", "reword.jsonl"] {
        let run = replay(&[(name, &input(name))], FACTS);
        assert_eq!(run.code, 1, "{name}: {}{}", run.out, run.err);
        assert!(has(&run, "unsafe", "unsafe_retry"), "{name}: {:?}", found(&run));
        let plain = replay(&[(name, &input(name))], "format: tools/1\ntools: { issue_refund: { access: write } }\n");
        assert!(!has(&plain, "unsafe", "unsafe_retry"), "{name}: {:?}", found(&plain));
    }
}

#[test]
fn values_compare_by_meaning_and_a_fresh_id_is_no_other_request() {
    let reword = input("reword.jsonl");
    for (from, to) in [
        (r#""amount":10,"reason":"item arrived broken""#, r#""amount":"10","reason":"x""#),
        (r#""amount":10,"reason":"item arrived broken""#, r#""request_id":"9","amount":10.00"#),
    ] {
        assert!(reword.contains(from));
        let run = replay(&[("t.jsonl", &reword.replace(from, to))], FACTS);
        assert!(has(&run, "unsafe", "unsafe_retry"), "{to}: {:?}", found(&run));
    }
    for to in [r#""amount":10.5,"reason":"x""#, r#""amount":-10"#] {
        let run = replay(&[("t.jsonl", &reword.replace(r#""amount":10,"reason":"item arrived broken""#, to))], FACTS);
        assert_eq!(found(&run), [], "{to}");
    }
}

#[test]
fn the_order_of_two_files_is_by_times_where_both_have_them_and_else_unknown() {
    let text = input("restart.jsonl");
    let (first, second): (Vec<&str>, Vec<&str>) = (text.lines().take(2).collect(), text.lines().skip(2).collect());
    let (first, second) = (first.join("\n"), second.join("\n"));
    let untimed = |text: &str| {
        let text = text.replace(r#""at_ms":0,"#, "").replace(r#""at_ms":5000,"#, "");
        text.replace(r#""at_ms":60000,"#, "").replace(r#""at_ms":61000,"#, "")
    };
    for files in [[("a.jsonl", &*first), ("b.jsonl", &*second)], [("b.jsonl", &*second), ("a.jsonl", &*first)]] {
        let run = replay(&files, FACTS);
        assert!(has(&run, "unsafe", "unsafe_retry"), "{:?}", found(&run));
        assert!(has(&run, "doubt", "possible_duplicate_effect"), "{:?}", found(&run));
    }
    let run = replay(&[("a.jsonl", &untimed(&first)), ("b.jsonl", &untimed(&second))], FACTS);
    assert!(!has(&run, "unsafe", "unsafe_retry"), "{:?}", found(&run));
    assert!(has(&run, "doubt", "possible_duplicate_effect"), "{:?}", found(&run));
    let both_ok = |text: &str| {
        text.replace(r#""status":"error","error":{"kind":"timeout","message":"timed out"}"#, r#""status":"ok""#)
    };
    let run = replay(&[("a.jsonl", &both_ok(&first)), ("b.jsonl", &both_ok(&second))], FACTS);
    assert!(has(&run, "unsafe", "duplicate_effect"), "two effects of one intent: {:?}", found(&run));
    let run = replay(&[("a.jsonl", &first), ("b.jsonl", &second)], &FACTS.replace("runs", "run"));
    assert!(!has(&run, "unsafe", "unsafe_retry"), "{:?}", found(&run));
}

#[test]
fn keys_come_first_and_without_the_named_arguments_all_of_them_count() {
    let keyed =
        input("reword.jsonl").replace(r#""tool":"issue_refund""#, r#""tool":"issue_refund","idempotency_key":"k""#);
    let run = replay(&[("t.jsonl", &keyed)], FACTS);
    assert_eq!(found(&run), [], "one key is one intent, and the arguments that count are the same");
    let other = FACTS.replace("order, amount", "invoice");
    let run = replay(&[("t.jsonl", &input("reword.jsonl"))], &other);
    assert_eq!(found(&run), [], "the reasons differ");
}

#[test]
fn a_fixture_knows_what_makes_a_request_and_counts_the_effects_of_one_intent() {
    let fixture = "format: fixture/1\ntitle: A refund is made again by a restarted run, in other words\ncalls:\n  \
                   a: { tool: pay, run: one, args: { order: o1, amount: 10, reason: broken } }\n  \
                   b: { tool: pay, run: two, args: { order: o1, amount: '10', reason: it was broken }, at_ms: 60000 }\n\
                   upstream: { a: [{ timeout: {}, applied: true }], b: [{ ok: {} }] }\n\
                   tools: { pay: { access: write, same_if: [order, amount], same_across: runs } }\n\
                   expect: { standard: { effects: 2 } }\n";
    let place = Place::new();
    place.write("f.yaml", fixture);
    let run = place.run(&["replay", "f.yaml"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for wanted in ["unsafe_retry", "duplicate_effect"] {
        assert!(run.out.contains(wanted), "{wanted}: {}", run.out);
    }
    let page = place.run(&["explain", "f.yaml", "b"]).out;
    assert!(page.contains("No, because"), "{page}");
    place.write("f.yaml", &fixture.replace(", same_across: runs", ""));
    assert!(!place.run(&["replay", "f.yaml"]).out.contains("unsafe_retry"), "each run has its own");
    place.write("f.yaml", &fixture.replace("amount], same", "amount], repeatable: true, same"));
    let run = place.run(&["replay", "f.yaml"]);
    assert!(run.code == 2 && run.err.contains("repeatable"), "{}{}", run.out, run.err);
}

#[test]
fn explain_knows_the_same_request_in_another_file() {
    let text = input("restart.jsonl");
    let (first, second): (Vec<&str>, Vec<&str>) = (text.lines().take(2).collect(), text.lines().skip(2).collect());
    let place = Place::new();
    place.write("tools.yaml", FACTS);
    place.write("a.jsonl", &first.join("\n"));
    place.write("b.jsonl", &second.join("\n"));
    let page = place.run(&["explain", "a.jsonl", "b.jsonl", "a", "--tools", "tools.yaml"]);
    assert!(page.out.contains("No, because"), "{}{}", page.out, page.err);
}

#[test]
fn a_key_among_the_arguments_of_a_fixture_is_a_key() {
    let fixture = |first: &str| {
        format!(
            "format: fixture/1\ntitle: The agent takes a new key\ncalls:\n  \
             a: {{ tool: pay, args: {{ order: o1, idempotency_key: k1 }} }}\n  \
             b: {{ tool: pay, args: {{ order: o1, idempotency_key: k2 }}, at_ms: 90000 }}\n\
             upstream: {{ a: [{first}], b: [{{ ok: {{}} }}] }}\ntools: {{ pay: {{ access: write }} }}\n\
             expect: {{ standard: {{ sends: 9 }} }}\n"
        )
    };
    let place = Place::new();
    let lost = ["{ timeout: {} }"; 4].join(", ");
    place.write("f.yaml", &fixture(&lost));
    let run = place.run(&["replay", "f.yaml"]);
    assert!(run.out.contains("unsafe  resent_under_new_key"), "{}{}", run.out, run.err);
    place.write("f.yaml", &fixture("{ error: { kind: validation_failed, status: 422, message: order is unknown } }"));
    let run = place.run(&["replay", "f.yaml"]);
    assert!(!run.out.contains("resent_under_new_key"), "a proved refusal: {}{}", run.out, run.err);
}

#[test]
fn a_client_that_connects_again_and_one_call_id_in_several_runs_are_doubts_that_name_both_calls() {
    for (name, facts, other) in [
        ("reconnect-bare.jsonl", "create_issue", "reconnect-bare.jsonl:4"),
        ("reconnect-after-error.jsonl", "create_issue", "reconnect-after-error.jsonl:4"),
        ("reconnect-sessions.jsonl", "create_issue", "reconnect-sessions.jsonl:4"),
        ("one-call-id-in-three-runs.jsonl", "book_slot", "one-call-id-in-three-runs.jsonl:1"),
    ] {
        let place = Place::new();
        place.write(name, &input(name));
        place.write("tools.yaml", &format!("format: tools/1\ntools: {{ {facts}: {{ access: write }} }}\n"));
        let run = place.run(&["replay", name, "--tools", "tools.yaml", "--format", "jsonl"]);
        assert!(has(&run, "doubt", "possible_duplicate_effect"), "{name}: {:?}", found(&run));
        assert!(run.out.contains(other), "{name}: {}", run.out);
        let page = place.run(&["replay", name, "--tools", "tools.yaml"]).out;
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("(the other call:"), "{name}: {page}");
        if name == "reconnect-after-error.jsonl" {
            assert!(page.contains("under `standard` the call before it goes to people"), "{page}");
        }
    }
}

#[test]
fn a_run_before_that_was_refused_and_a_continuation_that_the_protocol_asks_for_are_no_doubts() {
    let text = input("reconnect-after-error.jsonl");
    let refused = text.replace(
        r#""code": -32603, "message": "Internal error: labels could not be set""#,
        r#""code": -32602, "message": "Invalid params""#,
    );
    assert_ne!(text, refused);
    let facts = "format: tools/1\ntools: { create_issue: { access: write } }\n";
    assert!(!has(&replay(&[("t.jsonl", &refused)], facts), "doubt", "possible_duplicate_effect"));
    let other = text.replacen("Disk full on db-3", "Disk full on db-4", 1);
    assert!(!has(&replay(&[("t.jsonl", &other)], facts), "doubt", "possible_duplicate_effect"));
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_issue","arguments":{"title":"x"}}}
{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"name":{}},"requestState":"s1"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_issue","arguments":{"title":"x"},"inputResponses":{"name":{}},"requestState":"s1"}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Created"}],"isError":false}}
"#;
    let run = replay(&[("t.jsonl", asked)], facts);
    assert_eq!((found(&run), run.code), (vec![], 0), "{}{}", run.out, run.err);
}

#[test]
fn ten_runs_with_the_same_two_duplicates_take_two_places() {
    let mut text = String::new();
    for run in 0..10 {
        for (case, order) in [(0, "o1"), (1, "o2")] {
            for n in 0..2 {
                let at = run * 1_000 + case * 100 + n * 10;
                text += &format!(
                    "{{\"tool\":\"pay\",\"run_id\":\"r{run}\",\"at_ms\":{at},\"args\":{{\"order\":\"{order}\"}},\"status\":\"ok\"}}\n"
                );
            }
        }
    }
    let place = Place::new();
    place.write("t.jsonl", &text);
    place.write("tools.yaml", "format: tools/1\ntools: { pay: { access: write } }\n");
    let run = place.run(&["replay", "t.jsonl", "--tools", "tools.yaml"]);
    assert!(run.out.contains("×10") && run.out.contains("2. pay") && !run.out.contains("3. pay"), "{}", run.out);
}

#[test]
fn a_call_that_the_playbook_would_have_prevented_says_what_became_of_the_one_before() {
    let place = Place::new();
    place.write("t.jsonl", &input("reword.jsonl"));
    place.write("tools.yaml", FACTS);
    let page = place.run(&["replay", "t.jsonl", "--tools", "tools.yaml"]).out;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("under `standard` the call before it goes to people"), "{page}");
    assert!(!page.contains("no playbook changes that"), "{page}");
}

#[test]
fn a_changed_call_after_a_denial_is_a_note_and_runs_that_end_in_doubt_are_listed() {
    let denied = r#""status":"error","error":{"kind":"403_forbidden","status":403,"message":"denied"}"#;
    let call = |n: u32, order: &str, answer: &str| {
        format!("{{\"tool\":\"pay\",\"run_id\":\"r\",\"at_ms\":{n},\"args\":{{\"order\":\"{order}\"}},{answer}}}\n")
    };
    let ok = r#""status":"ok""#;
    let facts = "format: tools/1\ntools: { pay: { access: write } }\n";
    let notes = |text: &str| has(&replay(&[("t.jsonl", text)], facts), "note", "changed_after_denial");
    assert!(notes(&(call(1, "o1", denied) + &call(2, "o2", ok))));
    assert!(!notes(&(call(1, "o1", denied) + &call(2, "o1", ok))), "the same arguments are another finding");
    assert!(!notes(&(call(1, "o1", ok) + &call(2, "o2", ok))));
    let lost = r#""status":"error","error":{"kind":"timeout"}"#;
    let place = Place::new();
    place.write("tools.yaml", facts);
    for (text, listed) in [(call(1, "o1", lost), true), (call(1, "o1", lost) + &call(2, "o2", ok), false)] {
        place.write("t.jsonl", &text);
        let page = place.run(&["replay", "t.jsonl", "--tools", "tools.yaml"]).out;
        assert_eq!(page.contains("1 run ends on a write whose effect is unknown"), listed, "{page}");
        let json = place.run(&["replay", "t.jsonl", "--tools", "tools.yaml", "--format", "json"]).out;
        assert_eq!(json.contains("\"unsettled_runs\":{\"count\":1"), listed, "{json}");
    }
}

#[test]
fn a_draft_guesses_what_makes_a_request_and_lint_knows_arguments_that_no_call_has() {
    let place = Place::new();
    place.write("t.jsonl", &input("reword.jsonl"));
    let draft = place.run(&["confirm", "t.jsonl", "--draft"]).out;
    assert!(draft.contains("issue_refund: { access: write, same_if: [amount, order] } # guessed: confirm"), "{draft}");
    place.write("restart.jsonl", &input("restart.jsonl"));
    assert!(!place.run(&["confirm", "restart.jsonl", "--draft"]).out.contains("{ access: write, same_if"));
    place.run(&["init"]).exits(0);
    let lint = |row: &str| {
        let standard =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/playbooks/standard.yaml")).expect("readable");
        let row = format!("tools:\n  issue_refund: {{ access: write, {row} }}");
        place.write("mine.yaml", &standard.replacen("tools:", &row, 1));
        let run = place.run(&["lint", "mine.yaml", "--trace", "t.jsonl"]);
        run.out.contains("unknown_argument") || run.err.contains("unknown_argument") || run.out.contains("`same_if`")
    };
    assert!(lint("same_if: [order, amuont]"));
    assert!(!lint("same_if: [order, amount]"));
    assert!(lint("same_if: [order], schema: { type: object, properties: { id: { type: string } } }"));
}

#[test]
fn a_name_that_no_recorded_call_has_is_said_with_what_was_meant_and_is_no_request() {
    let reword = input("reword.jsonl");
    let run = replay(&[("t.jsonl", &reword)], &FACTS.replace("order,", "oder,"));
    assert!(run.err.contains("did you mean `order`?"), "{}", run.err);
    assert!(run.err.contains("tools.yaml:3:44"), "the name is underlined: {}", run.err);
    assert_eq!(found(&run), [], "without one of the named arguments all of them count");
    assert!(!replay(&[("t.jsonl", &reword)], FACTS).err.contains("did you mean"));
}

#[test]
fn an_argument_is_named_once() {
    let run = replay(&[("t.jsonl", &input("reword.jsonl"))], &FACTS.replace("order, amount", "order, order"));
    assert!(run.code == 2 && run.err.contains("twice"), "{}{}", run.out, run.err);
}

#[test]
fn lines_in_any_order_show_the_same_if_they_have_times() {
    let text = input("restart.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    let turned = [&lines[2..], &lines[..2]].concat().join("\n");
    let run = replay(&[("t.jsonl", &turned)], FACTS);
    assert!(has(&run, "unsafe", "unsafe_retry"), "{:?}", found(&run));
}
