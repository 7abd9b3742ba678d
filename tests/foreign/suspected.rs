//! Results that suggest a failure and do not prove one, from the import to the pages.

use crate::place::Place;

/// A chat with two calls of a tool, each with its result.
fn chat(tool: &str, first: &str, second: &str) -> String {
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"{tool}","arguments":"{{\"n\":\"{id}\"}}"}}}}]}}"#
        )
    };
    let result = |id: &str, text: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#);
    format!("[{},{},{},{}]", call("a"), result("a", first), call("b"), result("b", second))
}

#[test]
fn a_suspected_failure_is_imported_replayed_and_counted() {
    let place = Place::new();
    place.write("chat.json", &chat("pay", "Sorry nothing of that name", "paid"));

    let imported = place.run(&["formats", "convert", "chat.json"]).exits(0);
    assert!(imported.err.contains("2 results, 0 of them failed, 1 perhaps"), "{imported:?}");
    assert!(
        imported.out.contains(
            r#""status":"suspected","status_from":"text","error":{"kind":"tool_error","message":"Sorry nothing of that name"}"#
        ),
        "{imported:?}"
    );

    let page = place.run(&["replay", "chat.json"]).exits(0).out;
    assert!(
        page.contains("1 result suggests a failure; its effect is unknown")
            && page.contains("`--map FILE`")
            && page.contains("starts_with: Sorry nothing of that name"),
        "{page}"
    );
    place.run(&["replay", "chat.json", "--strict"]).exits(3);

    let json = place.run(&["replay", "chat.json", "--format", "json"]).exits(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let playbook = &json["playbooks"][0];
    assert_eq!(playbook["suspected_failures"]["calls"], 1);
    assert_eq!(
        playbook["suspected_failures"]["decided_by"][0],
        "failed: [ { message: { starts_with: Sorry nothing of that name } } ]"
    );
    assert_eq!((&playbook["failed_calls"], &playbook["outcomes"]["undetermined"]), (&0.into(), &1.into()));
    assert_eq!((&playbook["claims"]["applied"], &playbook["claims"]["unknown"]), (&1.into(), &1.into()));

    let said = place.run(&["explain", "chat.json", "a"]).exits(0).out;
    assert!(said.contains("perhaps a failure"), "{said}");
}

#[test]
fn an_empty_search_suspects_nothing() {
    let place = Place::new();
    place.write("chat.json", &chat("find_orders", "No orders found", "o_1"));
    let page = place.run(&["replay", "chat.json"]).exits(0).out;
    assert!(!page.contains("suggests a failure"), "{page}");
}

#[test]
fn a_short_answer_of_a_tool_that_writes_tells_of_its_deed_or_is_suspected() {
    let place = Place::new();
    place.write("chat.json", &chat("pay", "The lift is not ready", "The bill is with the smith"));
    let json = place.run(&["replay", "chat.json", "--format", "json"]).exits(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let claims = &json["playbooks"][0]["claims"];
    assert_eq!((&claims["applied"], &claims["unknown"]), (&0.into(), &2.into()), "{claims}");
    let said = place.run(&["explain", "chat.json", "a"]).exits(0).out;
    assert!(said.contains("perhaps a failure") && !said.contains("the effect is there"), "{said}");
}

#[test]
fn work_that_goes_on_is_unfinished_and_its_effect_unknown() {
    let place = Place::new();
    place.write("chat.json", &chat("pay", "Waiting for user approval", "paid"));
    let imported = place.run(&["formats", "convert", "chat.json"]).exits(0);
    assert!(imported.out.contains(r#""status":"unfinished","status_from":"text""#), "{imported:?}");
    let page = place.run(&["replay", "chat.json", "--all"]).exits(0).out;
    assert!(page.contains("unfinished") && page.contains("not done yet"), "{page}");
    let said = place.run(&["explain", "chat.json", "a"]).exits(0).out;
    assert!(said.contains("not done yet: Waiting for user approval"), "{said}");
}

/// The first verdict and the effect claim of each call of a file, under the standard playbook.
fn verdicts(place: &Place, file: &str) -> Vec<(String, String)> {
    let lines = place.run(&["replay", file, "--format", "jsonl"]).out;
    let calls = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let calls = calls.filter(|line| line["type"] == "call");
    let outcome = |call: serde_json::Value| {
        let verdict = call["verdicts"][0].as_str().unwrap_or("none").to_owned();
        call["effect"].as_str().map(|effect| (verdict, effect.to_owned()))
    };
    calls.filter_map(outcome).collect()
}

#[test]
fn one_status_means_the_same_as_a_number_in_words_and_in_a_line() {
    let place = Place::new();
    let spellings = [
        r#"{\"status\":422,\"error\":\"Unprocessable: assignee is not a member\"}"#,
        r#"HTTP 422: {\"error\":\"assignee is not a member\"}"#,
        "422 Unprocessable Entity: assignee is not a member",
    ];
    for (n, spelling) in spellings.into_iter().enumerate() {
        let file = format!("chat-{n}.json");
        place.write(&file, &chat("create_and_reassign", spelling, "created"));
        let first = verdicts(&place, &file).into_iter().next();
        assert_eq!(first, Some(("invalid_arguments".into(), "not_applied".into())), "{spelling}");
    }
}

#[test]
fn a_connection_that_was_refused_sent_nothing() {
    let place = Place::new();
    place.write("chat.json", &chat("send_mail", "Error: [Errno 111] Connection refused", "sent"));
    let first = verdicts(&place, "chat.json").into_iter().next();
    assert_eq!(first.map(|(verdict, _)| verdict).as_deref(), Some("not_sent"));
    let said = place.run(&["replay", "chat.json", "--all"]).exits(0).out;
    assert!(!said.contains("unsafe_retry") && said.contains("send again in 400 ms"), "{said}");
    let handshake = chat("send_mail", "Error: TLS handshake timeout", "sent");
    place.write("tls.json", &handshake);
    let first = verdicts(&place, "tls.json").into_iter().next();
    assert_eq!(first, Some(("result_unknown".into(), "unknown".into())), "a handshake that timed out is no proof");
}
