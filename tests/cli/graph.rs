//! `playproof graph`, and recordings under a graph: the run of a coffee order with a harness that refuses calls itself.

use serde_json::{Value, json};

use super::Place;

/// A call and its result, 100 ms later.
fn lines(id: &str, at: u64, tool: &str, args: &Value, error: Option<&str>) -> [String; 2] {
    let call = json!({"type": "tool_call", "run_id": "r", "call_id": id, "tool": tool, "at_ms": at, "args": args});
    let status = if error.is_some() { "error" } else { "ok" };
    let mut result = json!({"type": "tool_result", "run_id": "r", "call_id": id, "at_ms": at + 100, "status": status});
    if let Some(kind) = error {
        result["error"] = json!({"kind": kind, "message": "no"});
    }
    [call.to_string(), result.to_string()]
}

/// Out of order, unknown, ordered, with a wrong modifier, timed out, paid at once, paid again, made.
fn refusals() -> String {
    let steps = [
        ("payments.charge", json!({"amount": 5}), Some("invalid_transition")),
        ("tako_order", json!({}), Some("unknown_action")),
        ("take_order", json!({"item": "latte"}), None),
        ("add_modifier", json!({"modifier": "moon"}), Some("validation_failed")),
        ("payments.charge", json!({"amount": 500}), Some("timeout")),
        ("payments.charge", json!({"amount": 6}), None),
        ("payments.charge", json!({"amount": 6}), Some("invalid_transition")),
        ("kitchen.make", json!({}), None),
    ];
    let each = steps
        .into_iter()
        .zip(1_u64..)
        .map(|((tool, args, error), n)| lines(&format!("c{n}"), n * 1_000, tool, &args, error).join("\n"));
    each.collect::<Vec<_>>().join("\n") + "\n"
}

fn replayed(place: &Place, trace: &str, playbook: &str) -> (Vec<Value>, Value) {
    let out = place.run(&["replay", trace, "--playbook", playbook, "--format", "jsonl"]).out;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let calls = lines.iter().filter(|line| line["type"] == "call").cloned().collect();
    (calls, lines.last().expect("a summary").clone())
}

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", refusals());
    let text = playproof_formats::playbook::embedded("coffee").expect("it is embedded");
    let repeatable = "payments.charge: { access: write, timeout_ms: 500, idempotent: true }";
    place.write("safe.yaml", text.replace("payments.charge: { access: write, timeout_ms: 500 }", repeatable));
    place
}

/// A page in one line.
fn words(page: String) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_recording_with_refusals_agrees_with_the_graph_that_refused_them() {
    let (calls, summary) = replayed(&place(), "t.jsonl", "safe.yaml");
    let next: Vec<&Value> = calls.iter().map(|call| &call["next"]).collect();
    let (begin, ordered) = (json!(["show_menu", "take_order"]), json!(["add_modifier", "pay", "cancel"]));
    let (paid, made) = (json!(["fulfill"]), json!([]));
    assert_eq!(next, [&begin, &begin, &ordered, &ordered, &ordered, &paid, &paid, &made]);
    let graph = &summary["playbooks"][0]["graph"];
    assert_eq!(
        (&graph["agrees_with_recorded"]["refused"], &graph["agrees_with_recorded"]["of"]),
        (&json!(4), &json!(4))
    );
    assert_eq!((&graph["refused_first"], &graph["refused_after"]), (&json!({}), &json!({})));
    assert!(calls.iter().filter(|call| call["outcome"] == "refused").all(|call| call["off_tape"].is_null()));
}

#[test]
fn a_payment_that_may_still_run_is_withheld_and_the_next_one_is_out_of_order() {
    let (calls, summary) = replayed(&place(), "t.jsonl", "coffee");
    assert_eq!(calls[4]["withheld"], json!(["pay"]));
    let ids = |call: &Value| {
        call["findings"].as_array().expect("a list").iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&calls[5]), ["out_of_order"], "the recording let it through");
    assert!(ids(&calls[0]).is_empty() && ids(&calls[7]).is_empty(), "agreed, and off tape");
    let graph = &summary["playbooks"][0]["graph"];
    assert_eq!(graph["refused_first"], json!({"invalid_transition": 1}));
    assert_eq!(graph["refused_after"], json!({"invalid_transition": 1}));
}

#[test]
fn explain_and_the_page_of_a_call_say_what_is_valid_after_it() {
    let place = place();
    let explained = words(place.run(&["explain", "t.jsonl", "r#5", "-p", "coffee"]).out);
    assert!(explained.contains("Valid after it: add_modifier, cancel. Withheld: pay."), "{explained}");
    let page = words(place.run(&["replay", "t.jsonl", "-p", "coffee", "--all"]).out);
    assert!(page.contains("next add_modifier, cancel; withheld: pay"), "{page}");
    let plain = place.run(&["explain", "t.jsonl", "r#5", "-p", "standard"]).out;
    assert!(!plain.contains("Valid after it"), "{plain}");
}

#[test]
fn a_withheld_call_is_told_apart_from_one_that_the_graph_forbids() {
    let place = place();
    let withheld = "an earlier call of this action has no answer, or was done late (r#5), so the action is withheld";
    let explained = words(place.run(&["explain", "t.jsonl", "r#6", "-p", "coffee"]).out);
    assert!(
        explained.contains(&format!("{withheld}; it is offered again only if that call is known to have failed.")),
        "{explained}"
    );
    let list = words(place.run(&["replay", "t.jsonl", "-p", "coffee", "--all"]).out);
    assert!(list.contains(&format!("admission: refused, {withheld}")), "{list}");
    assert_eq!(list.matches("the graph does not allow the action now").count(), 2, "c1 and c8: {list}");
    place.run(&["replay", "t.jsonl", "-p", "coffee", "--all", "--report", "html=t.html"]);
    let page = words(place.read("t.html"));
    assert_eq!(page.matches(&format!("← {withheld}")).count(), 2, "the rows of c6 and c7: {page}");
    let next = ["graph", "next", "t.jsonl", "-p", "coffee", "--after", "5", "--try", r#"pay {"amount":5}"#];
    let said = words(place.run(&next).out);
    assert!(
        said.contains("(an earlier call of this action has no answer, or was done late, so it is withheld)"),
        "{said}"
    );
}

#[test]
fn a_payment_with_a_key_is_withheld_from_calls_without_that_key() {
    let place = place();
    let paid = refusals().replace("\"args\":{\"amount\":500}", "\"args\":{\"amount\":500},\"idempotency_key\":\"k1\"");
    place.write("t.jsonl", paid);
    let page = place.run(&["explain", "t.jsonl", "r#6", "-p", "coffee"]).out;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let from =
        "is withheld, from calls without its key, until one with it is done or that call is known to have failed";
    assert!(page.contains(from), "{page}");
    let list = place.run(&["replay", "t.jsonl", "-p", "coffee", "--all"]).out;
    let list = list.split_whitespace().collect::<Vec<_>>().join(" ");
    let refused = "was done late (r#5), so the action is withheld from calls without its key outcome refused";
    assert!(list.contains(refused), "it is offered to calls with the key: {list}");
}

#[test]
fn an_agent_is_told_when_a_call_that_came_too_early_may_be_made() {
    let place = place();
    let paid = refusals().replace("\"args\":{\"amount\":500}", "\"args\":{\"amount\":500},\"idempotency_key\":\"k1\"");
    place.write("k.jsonl", paid);
    let told = |trace: &str, call: usize| {
        let args = ["replay", trace, "-p", "coffee", "--all", "--format", "jsonl", "--envelope", "openai"];
        let out = place.run(&args).out;
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let calls: Vec<Value> = lines.filter(|line| line["type"] == "call").collect();
        calls[call]["envelope"]["content"].as_str().expect("prose").to_owned()
    };
    for (trace, call, when) in [
        ("t.jsonl", 0, "Do not make the same call again before 'pay' is one of the valid actions.\n"),
        ("t.jsonl", 1, "Do not make the same call again.\n"),
        ("t.jsonl", 5, "Do not make the same call again before that earlier call is known to have failed.\n"),
        (
            "k.jsonl",
            5,
            "Do not make the same call without the key of that earlier call until the call with that key is done or has failed.\n",
        ),
    ] {
        let said = told(trace, call);
        assert!(said.contains(when), "{trace} {call}: {said}");
    }
}

#[test]
fn history_says_that_people_have_a_call_that_was_refused_too_often() {
    let place = place();
    let args = json!({"amount": 5});
    let thrice = (1..=3).map(|n| lines(&format!("c{n}"), n * 1_000, "payments.charge", &args, None).join("\n"));
    place.write("s.jsonl", thrice.collect::<Vec<_>>().join("\n") + "\n");
    let history =
        |format: &str| place.run(&["graph", "history", "s.jsonl", "-p", "coffee", "--format", format]).exits(0).out;
    let table = history("table");
    assert!(
        table.contains("1    pay     refused: invalid_transition ")
            && table.contains("2    pay     escalated: queue barista (refused: "),
        "{table}"
    );
    let history: Value = serde_json::from_str(&history("json")).expect("JSON");
    let steps = &history["steps"];
    assert_eq!((&steps[2]["outcome"], &steps[2]["queue"]), (&json!("escalated"), &json!("barista")));
    assert_eq!((&steps[2]["refused"], &steps[2]["refusal_reason"]), (&json!(true), &json!("invalid_transition")));
    assert!(steps[1].get("queue").is_none(), "nobody has it");
}

#[test]
fn a_tried_call_without_the_key_of_one_that_may_still_be_at_work_is_refused() {
    let place = place();
    let paid = refusals().replace("\"args\":{\"amount\":500}", "\"args\":{\"amount\":500},\"idempotency_key\":\"k1\"");
    place.write("t.jsonl", paid);
    let tried = |after: &str, call: &str| {
        words(place.run(&["graph", "next", "t.jsonl", "-p", "coffee", "--after", after, "--try", call]).out)
    };
    let only = "refused: invalid_transition (an earlier call of it may still be at work: only a call with the key of that \
                call is let through)";
    for args in ["", r#" {"amount":5}"#, r#" {"amount":5,"idempotency_key":"zz"}"#] {
        let said = tried("5", &format!("pay{args}"));
        assert!(said.contains(only), "{args}: {said}");
    }
    for (after, args) in [
        ("4", r#"{"amount":5}"#),
        ("5", r#"{"amount":5,"idempotency_key":"k1"}"#),
        ("5", r#"{"amount":5,"idempotencyKey":"k1"}"#),
    ] {
        let said = tried(after, &format!("pay {args}"));
        assert!(said.contains("a call of pay would be let through"), "{after} {args}: {said}");
    }
}

#[test]
fn an_action_stays_bound_to_its_key_after_thousands_of_other_keys() {
    let place = place();
    let mut trace = refusals().lines().skip(4).take(2).collect::<Vec<_>>().join("\n") + "\n";
    for n in 0..2_100_u64 {
        let error = (n == 0).then_some("timeout");
        let args = json!({"amount": 5, "idempotency_key": format!("k{n}")});
        trace += &(lines(&format!("p{n}"), (n + 5) * 1_000, "payments.charge", &args, error).join("\n") + "\n");
    }
    place.write("t.jsonl", trace);
    let (calls, _) = replayed(&place, "t.jsonl", "coffee");
    let unsent = calls.iter().filter(|call| call["attempts"] == 0).count();
    assert_eq!((calls.len(), unsent), (2_101, 2_099), "{}", calls[2]);
}

#[test]
fn a_refused_call_that_came_too_often_is_explained_by_stuck() {
    let place = place();
    let args = json!({"amount": 5});
    let thrice = (1..=3).map(|n| lines(&format!("c{n}"), n * 1_000, "payments.charge", &args, Some("500")).join("\n"));
    place.write("t.jsonl", thrice.collect::<Vec<_>>().join("\n") + "\n");
    let explained = |call: &str| words(place.run(&["explain", "t.jsonl", call, "-p", "coffee"]).out);
    let page = explained("r#3");
    for said in [
        "The same call was refused 3 times in a row or more, so `stuck` hands it to people: it waits in the queue `barista`.",
        "No, because a person decides first, in the queue `barista`; the playbook refuses this call, and the same one came \
         3 times in a row or more.",
    ] {
        assert!(page.contains(said), "{page}");
        assert!(!explained("r#2").contains(said));
    }
    place.run(&["replay", "t.jsonl", "-p", "coffee", "--all", "--report", "html=t.html"]);
    assert!(words(place.read("t.html")).contains("handed the refused call to people"));
}

#[test]
fn inputs_that_only_the_playbook_refuses_are_not_out_of_order() {
    let place = place();
    let unfit = [
        lines("c1", 1_000, "take_order", &json!({"item": "latte"}), None),
        lines("c2", 2_000, "add_modifier", &json!({"modifier": "moon"}), None),
    ];
    place.write("t.jsonl", unfit.map(|call| call.join("\n")).join("\n") + "\n");
    let (calls, summary) = replayed(&place, "t.jsonl", "coffee");
    assert_eq!((&calls[1]["outcome"], &calls[1]["findings"]), (&json!("refused"), &json!([])), "its turn was right");
    assert_eq!(summary["playbooks"][0]["graph"]["refused_first"], json!({"validation_failed": 1}), "it is counted");
}

#[test]
fn a_recorded_refusal_that_the_graph_lets_pass_is_undetermined() {
    let place = place();
    let trace = lines("c1", 0, "take_order", &json!({"item": "latte"}), Some("invalid_transition")).join("\n");
    place.write("one.jsonl", trace + "\n");
    let (calls, _) = replayed(&place, "one.jsonl", "coffee");
    assert_eq!((&calls[0]["outcome"], &calls[0]["lacks"]), (&json!("undetermined"), &json!("attempt 1")));
    let (calls, _) = replayed(&place, "one.jsonl", "standard");
    assert_eq!(calls[0]["outcome"], "escalated", "without a graph it is an answer");
}

#[test]
fn an_action_sent_while_an_earlier_call_of_it_was_open_is_found_and_one_after_it_is_not() {
    let place = place();
    let order = lines("c1", 0, "take_order", &json!({"item": "latte"}), None);
    let [first, first_ends] = lines("c2", 1_000, "payments.charge", &json!({"amount": 5}), None);
    let [second, second_ends] = lines("c3", 1_050, "payments.charge", &json!({"amount": 6}), None);
    let overlapping = [&order[0], &order[1], &first, &second, &first_ends, &second_ends].map(String::as_str).join("\n");
    place.write("o.jsonl", overlapping + "\n");
    let (calls, _) = replayed(&place, "o.jsonl", "coffee");
    let ids = |call: &Value| {
        call["findings"].as_array().expect("a list").iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(calls[2]["why"], "invalid_transition", "it waits, and is refused then");
    assert!(ids(&calls[2]).contains(&json!("sent_while_running")), "{:?}", ids(&calls[2]));
    let (calls, _) = replayed(&place, "o.jsonl", "safe.yaml");
    assert!(!ids(&calls[2]).contains(&json!("sent_while_running")), "a second one does no more");
    let (calls, _) = replayed(&place, "t.jsonl", "coffee");
    assert!(calls.iter().all(|call| !ids(call).contains(&json!("sent_while_running"))), "none overlapped");
    let found = |trace: &str, playbook: &str| -> Vec<Value> {
        place.write("k.jsonl", trace);
        let (calls, _) = replayed(&place, "k.jsonl", playbook);
        let findings = calls.last().expect("a call")["findings"].as_array().expect("a list").clone();
        findings
            .into_iter()
            .filter(|one| one["id"] == "sent_while_running")
            .map(|one| one["severity"].clone())
            .collect()
    };
    let with_keys = |keys: [&str; 2]| {
        let [first, second] = [(&first, keys[0]), (&second, keys[1])]
            .map(|(line, key)| line.replace("\"call_id\"", &format!("\"idempotency_key\":\"{key}\",\"call_id\"")));
        [&order[0], &order[1], &first, &second, &first_ends, &second_ends].map(String::as_str).join("\n") + "\n"
    };
    assert_eq!(found(&with_keys(["k1", "k1"]), "coffee"), Vec::<Value>::new(), "one key");
    assert_eq!(found(&with_keys(["k1", "k2"]), "coffee"), ["unsafe"], "two keys");
    let open = [&order[0], &order[1], &first, &second, &second_ends].map(String::as_str).join("\n") + "\n";
    assert_eq!(found(&open, "coffee"), ["doubt"], "the first has no end");
    let text = playproof_formats::playbook::embedded("coffee").expect("it is embedded");
    let many = "payments.charge: { access: write, timeout_ms: 500, repeatable: true }";
    place.write("many.yaml", text.replace("payments.charge: { access: write, timeout_ms: 500 }", many));
    let overlapping = [&order[0], &order[1], &first, &second, &first_ends, &second_ends].map(String::as_str).join("\n");
    assert_eq!(found(&(overlapping + "\n"), "many.yaml"), Vec::<Value>::new(), "each is wanted");
}

#[test]
fn a_refusal_after_the_run_left_the_tape_is_no_finding() {
    let place = place();
    // The playbook gives the first order up, which the agent made again with success.
    let trace = [
        lines("c1", 0, "take_order", &json!({"item": "latte"}), Some("action_error")),
        lines("c2", 1_000, "add_modifier", &json!({"modifier": "oat"}), None),
    ];
    let of_order = |trace: &[[String; 2]]| {
        place.write("f.jsonl", trace.iter().map(|call| call.join("\n")).collect::<Vec<_>>().join("\n") + "\n");
        let explained = place.run(&["explain", "f.jsonl", "c2", "-p", "coffee"]).out;
        let (calls, _) = replayed(&place, "f.jsonl", "coffee");
        let all = calls.last().expect("a call")["findings"].to_string();
        assert_eq!(all.contains("out_of_order"), explained.contains("out_of_order"), "replay and explain agree");
        all.contains("out_of_order")
    };
    assert!(of_order(&trace), "the recording says that the first call failed, and went on");
    let lost = [[trace[0][0].clone(), String::new()], trace[1].clone()];
    assert!(!of_order(&lost), "what became of the first call is not known");
}

#[test]
fn a_draft_is_read_from_standard_input_and_needs_a_beginning() {
    let place = place();
    let trace = refusals();
    let piped = place.run_with(&["graph", "draft", "-"], &trace).exits(0).out;
    let named = place.run(&["graph", "draft", "t.jsonl"]).exits(0).out;
    let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&piped), body(&named));
    assert!(!named.contains("tako_order"), "the recording says that there is no such action");
    place.run(&["graph", "draft", "t.jsonl", "--min-runs", "9"]).exits(2);
}

#[test]
fn a_run_of_two_inputs_is_not_one_history() {
    let place = place();
    place.write("u.jsonl", refusals());
    place.run(&["graph", "history", "t.jsonl", "u.jsonl", "-p", "coffee"]).exits(2);
}

#[test]
fn the_agent_of_a_call_that_people_have_is_told_what_refused_it() {
    let place = place();
    let early = |n: u64| lines(&format!("c{n}"), n * 1_000, "payments.charge", &json!({"amount": 5}), None).join("\n");
    place.write("s.jsonl", [early(1), early(2), early(3)].join("\n") + "\n");
    let (calls, _) = replayed(&place, "s.jsonl", "coffee");
    let told = &calls[2]["told"];
    assert_eq!(
        (&calls[2]["outcome"], &told["class"], &told["boundary"]),
        (&json!("escalated"), &json!("capability_denied"), &json!("action"))
    );
}

#[test]
fn history_and_next_tell_what_was_valid_and_what_a_call_would_get() {
    let place = place();
    let history =
        place.run(&["graph", "history", "t.jsonl", "--run", "r", "-p", "coffee", "--format", "json"]).exits(0).out;
    let history: Value = serde_json::from_str(&history).expect("JSON");
    let steps = &history["steps"];
    assert_eq!(history["format"], "graph-history/1");
    assert_eq!(
        (&steps[0]["seq"], &steps[0]["action"], &steps[0]["state_after"]),
        (&json!(0), &json!("pay"), &Value::Null)
    );
    assert_eq!((&steps[2]["state_after"], &steps[2]["refused"]), (&json!("take_order"), &json!(false)));
    assert_eq!(steps[3]["refusal_reason"], "validation_failed");
    let next = |after: &str, call: &str| -> Value {
        let args = ["graph", "next", "t.jsonl", "-p", "coffee", "--after", after, "--try", call, "--format", "json"];
        serde_json::from_str(&place.run(&args).exits(0).out).expect("JSON")
    };
    assert_eq!(next("0", "pay")["format"], "graph-next/1");
    assert_eq!(next("0", "pay")["tried"]["refusal_reason"], "invalid_transition");
    assert_eq!(next("3", "pay")["tried"]["refusal_reason"], "validation_failed");
    assert_eq!(next("3", r#"pay {"amount":5}"#)["tried"]["valid_next_actions"], json!(["fulfill"]));
    assert_eq!(next("3", "tako_order")["tried"]["refusal_reason"], "unknown_action");
    assert_eq!(next("5", r#"pay {"amount":5}"#)["tried"]["refused"], json!(true), "it is withheld");
    place.run(&["graph", "next", "t.jsonl", "-p", "coffee", "--after", "9"]).exits(2);
    place.run(&["graph", "next", "t.jsonl", "-p", "coffee", "--run", "s"]).exits(2);
    place.run(&["graph", "history", "t.jsonl", "-p", "standard"]).exits(2);
}

#[test]
fn a_draft_of_a_recording_refuses_nothing_of_it_and_a_dropped_edge_is_refused() {
    let place = place();
    let declined = ("pay card", Some("declined"));
    let steps = [("take_order", None), ("pay card", None), declined, declined, ("make", None)];
    let each = steps
        .into_iter()
        .zip(1_u64..)
        .map(|((tool, error), n)| lines(&format!("c{n}"), n * 1_000, tool, &json!({}), error).join("\n"));
    place.write("d.jsonl", each.collect::<Vec<_>>().join("\n") + "\n");
    let draft = place.run(&["graph", "draft", "d.jsonl"]).exits(0).out;
    assert!(draft.contains("pay_card: { tool: pay card }"), "{draft}");
    let head = "format: playbook/1\nname: drafted\nclassify: []\nqueues: [q]\nverdicts: { unclassified: { means: m, effect: \
                unknown, then: { escalate_to_human: { queue: q } } } }\n";
    place.write("drafted.yaml", format!("{head}{draft}"));
    let (calls, _) = replayed(&place, "d.jsonl", "drafted.yaml");
    assert!(calls.iter().all(|call| call["outcome"] != "refused"), "{calls:?}");
    place.write("narrow.yaml", format!("{head}{}", draft.replace("      - make   # 1 run\n", "")));
    let (calls, _) = replayed(&place, "d.jsonl", "narrow.yaml");
    assert_eq!(calls[4]["why"], "invalid_transition", "{draft}");
}

#[test]
fn a_draft_has_no_action_that_its_recording_does_not_know() {
    let place = place();
    place.write("t.jsonl", refusals().replace("\"kind\":\"unknown_action\"", "\"kind\":\"unknown_tool\""));
    let drafted = place.run(&["graph", "draft", "t.jsonl"]).exits(0).out;
    assert!(drafted.contains("take_order") && !drafted.contains("tako_order"), "{drafted}");
}

#[test]
fn a_draft_refuses_nothing_behind_a_call_that_the_recording_refused() {
    let place = place();
    let ran = |trace: String| {
        place.write("w.jsonl", trace);
        let draft = place.run(&["graph", "draft", "w.jsonl"]).exits(0).out;
        let head = "format: playbook/1\nname: drafted\nclassify: []\nqueues: [q]\nverdicts: { unclassified: { means: m, \
                    effect: unknown, then: { escalate_to_human: { queue: q } } } }\n";
        place.write("drafted.yaml", format!("{head}{draft}"));
        replayed(&place, "w.jsonl", "drafted.yaml").0
    };
    let steps =
        [("take_order", None), ("add_modifier", Some("validation_failed")), ("add_modifier", None), ("pay", None)];
    let each: Vec<[String; 2]> = steps
        .into_iter()
        .zip(1_u64..)
        .map(|((tool, error), n)| lines(&format!("c{n}"), n * 1_000, tool, &json!({}), error))
        .collect();
    let calls = ran(each.concat().join("\n") + "\n");
    let outcomes: Vec<&Value> = calls.iter().map(|call| &call["outcome"]).collect();
    assert_eq!(outcomes, ["succeeded", "undetermined", "succeeded", "succeeded"], "the draft has no `inputs`");
    assert_eq!(calls[1]["withheld"], json!([]), "nothing was sent");
    let lost: Vec<&String> = each.iter().flatten().enumerate().filter(|(n, _)| *n != 3).map(|(_, line)| line).collect();
    let calls = ran(lost.into_iter().map(|line| format!("{line}\n")).collect());
    assert_eq!(calls[1]["withheld"], json!(["add_modifier"]), "one without an answer may be at work");
}

#[test]
fn a_graph_is_shown_as_a_table_a_drawing_or_json() {
    let place = Place::new();
    let show = |format: &str| place.run(&["graph", "show", "coffee", "--format", format]).exits(0).out;
    assert!(show("table").contains("add_modifier, pay, cancel"));
    assert!(show("mermaid").starts_with("stateDiagram-v2\n"));
    assert!(show("dot").contains("\"pay\" -> \"fulfill\";"));
    let graph: Value = serde_json::from_str(&show("json")).expect("JSON");
    assert_eq!((&graph["format"], &graph["entry"]), (&json!("graph/1"), &json!(["show_menu", "take_order"])));
    place.run(&["graph", "show", "standard"]).exits(2);
}

#[test]
fn an_envelope_says_what_the_graph_says_after_each_call() {
    let place = place();
    let run = ["replay", "t.jsonl", "--playbook", "safe.yaml", "--format", "jsonl", "--envelope", "refusal"];
    let out = place.run(&run).out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let got: Vec<Value> = lines.filter(|line| line["type"] == "call").map(|call| call["envelope"].clone()).collect();
    assert_eq!(
        got[0],
        json!({
            "error": "invalid_transition",
            "requested": "pay",
            "message": "action 'pay' is not reachable from current state. Valid actions now: ['show_menu', 'take_order'].",
            "valid_next_actions": ["show_menu", "take_order"],
        })
    );
    let known = json!(["show_menu", "take_order", "add_modifier", "pay", "fulfill", "cancel"]);
    assert_eq!((&got[1]["error"], &got[1]["known_actions"]), (&json!("unknown_action"), &known));
    assert_eq!((&got[2]["action"], &got[2]["state"]), (&json!("take_order"), &json!("take_order")));
    let schemas = got[2]["next_action_schemas"].as_object().expect("schemas");
    let order =
        ["\"next_action_schemas\":{\"add_modifier\":{", "},\"pay\":{", "},\"cancel\":null}"].map(|part| out.find(part));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "in the author's order: {order:?}");
    assert_eq!(schemas["pay"]["required"], json!(["amount"]));
    assert_eq!(schemas["pay"]["properties"]["amount"], json!({"type": "number"}), "one type is no list");
    assert_eq!(schemas["cancel"], Value::Null);
    assert_eq!(got[3]["reason"], "modifier must be one of: oat, soy, almond");
    assert_eq!(got[3]["details"], json!({"field": "modifier", "got": "moon"}));
    assert_eq!((&got[7]["action"], &got[7]["valid_next_actions"]), (&json!("fulfill"), &json!([])));
}

#[test]
fn a_suggested_command_can_be_run_as_it_is_written() {
    let place = place();
    place.write("broken.jsonl", refusals() + "{\"type\":\n");
    let said = place.run(&["graph", "history", "broken.jsonl", "-p", "coffee"]).exits(2).err;
    assert!(said.contains("playproof graph history broken.jsonl") && said.contains("--skip-invalid"), "{said}");
}

#[test]
fn a_call_to_try_has_a_name_and_an_object() {
    let place = place();
    let tried = |call: &str| place.run(&["graph", "next", "t.jsonl", "-p", "coffee", "--after", "3", "--try", call]);
    for (call, said) in [
        ("pay [1]", "the arguments `[1]` are no JSON object"),
        ("pay 5", "the arguments `5` are no JSON object"),
        ("pay {", "the arguments `{` are no JSON"),
        ("  ", "`--try` names no call"),
        ("\u{a0}", "`--try` names no call"),
    ] {
        let run = tried(call).exits(2);
        assert!(run.err.contains(&format!("error: {said}\n")) && run.out.is_empty(), "{call}: {}", run.err);
    }
    for fine in ["pay", " pay  {} ", "pay { \"amount\": 5 }"] {
        tried(fine).exits(0);
    }
}

#[test]
fn a_tool_of_the_run_that_no_action_has_is_named_with_what_to_write() {
    let place = place();
    let own = ["take_order", "pay", "menu.shw"].iter().zip(1_u64..).map(|(tool, n)| {
        lines(&format!("c{n}"), n * 1_000, tool, &json!({"item": "tea", "amount": 5}), None).join("\n")
    });
    place.write("own.jsonl", own.collect::<Vec<_>>().join("\n") + "\n");
    let said = |command: &str, trace: &str, playbook: &str| {
        place.run(&["graph", command, trace, "-p", playbook, "--format", "json"]).exits(0).err
    };
    for command in ["history", "next"] {
        assert_eq!(
            said(command, "own.jsonl", "coffee"),
            "note: no action of `coffee` has a tool of these: `pay`, `menu.shw`; the action `pay` has the tool \
             `payments.charge`; for this recording write `tool: pay`\n"
        );
    }
    let text = playproof_formats::playbook::embedded("coffee").expect("it is embedded");
    place.write("pay.yaml", text.replace("tool: payments.charge", "tool: pay"));
    let named = said("history", "own.jsonl", "pay.yaml");
    assert_eq!(
        named,
        "note: no action of `coffee` has a tool of these: `menu.shw`; an action names its tool with `tool:`\n"
    );
    place.write("pass.yaml", text.replace("others: refuse", "others: pass"));
    assert_eq!(said("history", "own.jsonl", "pass.yaml"), "", "the graph does not judge them");
    for kind in ["unknown_action", "unknown_tool"] {
        place.write("own.jsonl", refusals().replace("unknown_action", kind));
        assert_eq!(said("history", "own.jsonl", "coffee"), "", "the recording refuses `tako_order` itself: {kind}");
    }
}

#[test]
fn a_recording_without_runs_says_how_to_ask_for_one() {
    let place = place();
    let without = refusals().replace("\"run_id\":\"r\",", "").replace(",\"run_id\":\"r\"", "");
    place.write("a.jsonl", &without);
    place.write("b.jsonl", &without);
    let asked = |args: &[&str]| place.run(&[&["graph", "history", "-p", "coffee"], args].concat());
    let said = asked(&["a.jsonl", "b.jsonl", "--run", "nope"]).exits(2).err;
    assert!(said.contains("no call names its run: give one input, without `--run`"), "{said}");
    asked(&["a.jsonl"]).exits(0);
    let named = asked(&["a.jsonl", "t.jsonl", "--run", "nope"]).exits(2).err;
    assert!(named.contains("help: runs: r\n"), "{named}");
}

#[test]
fn the_playbook_of_a_shown_graph_is_an_argument() {
    let place = Place::new();
    for option in ["--playbook", "-p"] {
        let said = place.run(&["graph", "show", option, "coffee"]).exits(2).err;
        assert!(
            said.contains("takes the playbook as its argument") && said.contains("playproof graph show coffee"),
            "{said}"
        );
    }
    let help = place.run(&["help", "graph", "show"]).exits(0).out;
    assert!(!help.contains("--playbook"), "it is no option: {help}");
}

#[test]
fn a_draft_says_that_it_is_a_part_and_counts_runs_only_where_there_are_some() {
    let place = place();
    let burr =
        r#"{"entrypoint":"a","actions":[{"name":"a"}],"transitions":[{"from_":"a","to":"a","condition":"default"}]}"#;
    place.write("graph.json", burr);
    let head = |file: &str| {
        let draft = place.run(&["graph", "draft", file]).exits(0).out;
        draft.lines().take_while(|line| line.starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    let (topology, recorded) = (head("graph.json"), head("t.jsonl"));
    assert!(!topology.contains("how many runs") && recorded.contains("how many runs"), "{topology}\n{recorded}");
    for head in [topology, recorded] {
        assert!(head.contains("put `actions` and `graph` into one"), "{head}");
    }
}

#[test]
fn a_call_of_a_tool_that_is_only_a_step_is_refused_with_the_name_of_its_action() {
    let place = Place::new();
    let trace = [lines("c1", 0, "slack.post", &json!({}), None), lines("c2", 1_000, "slack.erase", &json!({}), None)];
    place.write("p.jsonl", trace.concat().join("\n") + "\n");
    let out = place.run(&["replay", "p.jsonl", "-p", "steps", "--all"]).out;
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(this tool is only the step post of the action ship_update)"), "{out}");
    assert_eq!(words.matches("(no action has this tool)").count(), 1, "{out}");
}

#[test]
fn the_reason_of_a_refused_input_lists_what_it_may_be() {
    let place = place();
    let asked = |args: &Value| {
        let trace = [
            lines("c1", 0, "take_order", &json!({"item": "tea"}), None),
            lines("c2", 1_000, "add_modifier", args, None),
        ];
        place.write("u.jsonl", trace.concat().join("\n") + "\n");
        let run = ["replay", "u.jsonl", "--playbook", "coffee", "--format", "jsonl", "--envelope", "refusal"];
        let out = place.run(&run).out;
        let calls = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        calls.filter(|line| line["type"] == "call").nth(1).expect("a call")["envelope"]["reason"].clone()
    };
    assert_eq!(asked(&json!({})), "/modifier: is missing", "no value that is none of them");
    assert_eq!(asked(&json!({"modifier": 5})), "modifier must be one of: oat, soy, almond");
    assert_eq!(asked(&json!({"modifier": "oat"})), Value::Null);
}

#[test]
fn a_call_to_try_without_its_action_is_told_that_the_action_is_missing() {
    let place = Place::new();
    place.write("t.jsonl", "{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"a\",\"tool\":\"take_order\"}\n");
    for call in ["{\"a\":1}", "{\"a\": 1}", "[1]"] {
        let error =
            place.run(&["graph", "next", "t.jsonl", "--run", "r", "--playbook", "coffee", "--try", call]).exits(2).err;
        assert!(error.contains("no action before them"), "{call}: {error}");
    }
}

#[test]
fn a_refused_call_that_people_have_says_in_json_why_it_was_refused() {
    let place = Place::new();
    let call = |n: u8| {
        format!("{{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"c{n}\",\"tool\":\"fulfill\",\"args\":{{}}}}\n")
    };
    place.write("t.jsonl", (0..4).map(call).collect::<String>());
    let out = place.run(&["replay", "t.jsonl", "--playbook", "coffee", "--all", "--format", "jsonl"]).out;
    let calls = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let escalated: Vec<_> = calls.filter(|line| line["type"] == "call" && line["outcome"] == "escalated").collect();
    assert!(!escalated.is_empty(), "{out}");
    assert!(escalated.iter().all(|call| call["why"] == "unknown_action"), "{out}");
}

#[test]
fn a_call_that_came_too_early_and_is_made_again_in_its_turn_ignores_no_advice() {
    let ignored = |between: Option<&str>, kind: &str| {
        let pay =
            |id: &str, at: u64, error: Option<&str>| lines(id, at, "payments.charge", &json!({"amount": 5}), error);
        let mut early = pay("a", 0, Some(kind));
        early[1] = early[1].replace("\"kind\"", "\"retriable\":false,\"kind\"");
        let order = between.map(|tool| lines("o", 200, tool, &json!({"item": "latte"}), None));
        let all = [Some(early), order, Some(pay("b", 400, None))].into_iter().flatten().flatten();
        let text: String = all.map(|line| line + "\n").collect();
        let place = Place::new();
        place.write("t.jsonl", &text);
        let out = place.run(&["replay", "t.jsonl", "--playbook", "coffee", "--all", "--format", "jsonl"]).out;
        out.contains("\"id\":\"ignored_advice\"")
    };
    assert!(!ignored(Some("take_order"), "invalid_transition"), "it did what was needed first");
    assert!(ignored(None, "invalid_transition"));
    assert!(ignored(Some("take_order"), "validation_failed"), "the arguments are as wrong as before");
}
