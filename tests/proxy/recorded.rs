//! What is recorded: the calls as an import of the same messages has them, and what is not on the wire.

use serde_json::{Value, json};

use crate::place::Place;
use crate::proxy::process::{Proxied, call, has_python, place, recorded};

/// The lines of a trace of one type, without what an import cannot know.
fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let plain = |mut line: Value| {
        for key in ["source", "row"] {
            line.as_object_mut().expect("an object").remove(key);
        }
        line
    };
    lines.map(plain).collect()
}

/// The messages of one connection, as they were recorded.
fn recording(place: &Place) -> Vec<Value> {
    lines(&place.read(&recorded(place)))
}

#[test]
fn a_recording_says_what_an_import_of_the_same_messages_says() {
    if !has_python() {
        return;
    }
    let place = place();
    let ok = json!([[{"result": {"content": [{"type": "text", "text": "a secret success"}]}}]]);
    let asks = json!([[{"result": {"resultType": "input_required", "requestState": "s", "inputRequests": {}}}],
        [{"result": {"content": [], "resultType": "complete"}}]]);
    let fails = json!([[{"result": {"isError": true, "content": [{"type": "text", "text": "429 Too Many Requests: retry after 2 s"}]}}]]);
    let mut proxied = Proxied::start(&place, &["--record", "rec"]);
    let mut log = Vec::new();
    let mut talk = |proxied: &mut Proxied, line: String| {
        assert!(proxied.say(&line));
        log.push(("to_server", line));
        log.push(("to_client", proxied.line().expect("an answer").trim_end().to_owned()));
    };
    talk(&mut proxied, call(1, "find", &json!({"do": ok, "amount": 10.10, "idempotency_key": "k1"})));
    talk(&mut proxied, call("1", "pay", &json!({"do": fails})));
    talk(&mut proxied, call(2, "greet", &json!({"do": asks})));
    let mut goes_on: Value = serde_json::from_str(&call(3, "greet", &json!({"do": asks}))).expect("JSON");
    goes_on["params"]["requestState"] = json!("s");
    goes_on["params"]["inputResponses"] = json!({});
    talk(&mut proxied, goes_on.to_string());
    assert_eq!(proxied.end().1, Some(0));

    let text = place.read(&recorded(&place));
    let results = || text.lines().filter(|line| line.contains("tool_result"));
    assert!(!results().any(|line| line.contains("a secret success")), "{text}");
    let recorded = recording(&place);
    let calls: Vec<_> = recorded.iter().filter(|line| line["type"] == "tool_call").collect();
    assert_eq!(calls.len(), 3, "a call that goes on is one call: {text}");
    let run = recorded[0]["run_id"].as_str().expect("a run").to_owned();
    let row = |(way, message): &(&str, String)| {
        format!("{{\"session\":\"{run}\",\"direction\":\"{way}\",\"message\":{message}}}\n")
    };
    place.write("wire.jsonl", &log.iter().map(row).collect::<String>());
    place.run(&["formats", "convert", "wire.jsonl", "--as", "mcp-jsonrpc", "-o", "imported.jsonl"]).exits(0);
    let without_times = |lines: Vec<Value>| -> Vec<Value> {
        let plain = |mut line: Value| {
            line.as_object_mut().expect("an object").remove("at_ms");
            line
        };
        lines.into_iter().map(plain).collect()
    };
    assert_eq!(without_times(recorded), without_times(lines(&place.read("imported.jsonl"))));
    place.run(&["replay", "rec"]).exits(0);
}

#[test]
fn a_cancellation_and_a_server_that_ends_are_recorded() {
    if !has_python() {
        return;
    }
    let place = place();
    let mut proxied = Proxied::start(&place, &["--record", "rec", "--run-from", "meta:conversation"]);
    let slow = json!([[{"sleep": 0.3}, {"result": {"content": []}}]]);
    let mut first: Value = serde_json::from_str(&call(1, "pay", &json!({"do": slow}))).expect("JSON");
    first["params"]["_meta"] = json!({"conversation": "c7"});
    assert!(proxied.say(&first.to_string()));
    assert!(proxied.say(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"Request timed out"}}"#
    ));
    proxied.hear();
    assert!(proxied.say(&call(3, "pay", &json!({"do": [[{"sleep": 0.3}, {"result": {"content": []}}]]}))));
    assert!(proxied.say(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"changed my mind"}}"#
    ));
    proxied.hear();
    assert!(proxied.say(&call(2, "pay", &json!({"do": [[{"die": 3}]]}))));
    let (_, code, _) = proxied.end();
    assert_eq!(code, Some(3));
    let lines = recording(&place);
    let said = |line: &Value| {
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        [&line["type"], &line["run_id"], &line["answers"], &line["error"]["kind"]].map(word).join(" ")
    };
    let said: Vec<String> = lines.iter().map(said).collect();
    let run = lines.last().expect("a line")["run_id"].as_str().expect("a run").to_owned();
    let expected = [
        "tool_call c7 - -".to_owned(),
        "tool_result c7 - timeout".to_owned(),
        "tool_result c7 late -".to_owned(),
        format!("tool_call {run} - -"),
        format!("cancel {run} - -"),
        format!("tool_result {run} late -"),
        format!("tool_call {run} - -"),
        format!("tool_result {run} - interrupted"),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_recording_hides_what_the_project_hides_and_is_for_its_user_alone() {
    if !has_python() {
        return;
    }
    let place = place();
    let text = place.read("playproof.yaml");
    place.write("playproof.yaml", &format!("{text}\nredaction: {{ keys: [card] }}\n"));
    let mut proxied = Proxied::start(&place, &["--record", "rec"]);
    for (id, card) in [(1, "4111"), (2, "4111")] {
        assert!(proxied.say(&call(id, "pay", &json!({"card": card}))));
        proxied.hear();
    }
    assert_eq!(proxied.end().1, Some(0));
    let file = recorded(&place);
    let lines = recording(&place);
    assert!(!place.read(&file).contains("4111"));
    assert_eq!(lines[0]["args"], lines[2]["args"], "equal values stay equal");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| std::fs::metadata(place.path(name)).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode("rec")), (0o600, 0o700));
    }
    let ran =
        place.run(&["proxy", "--record", "rec", "--playbook", "standard", "--enforce", "--unlocked", "--", "cat"]);
    ran.exits(2); // a journal has values as they are
}

#[test]
fn hints_become_guesses_and_a_full_disk_stops_no_call() {
    let place = Place::new();
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"find","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}"#;
    let proxied = Proxied::before(&place, &["--record", "rec"], &["sh", "-c", &format!("echo '{list}'")]);
    assert_eq!(proxied.end().1, Some(0));
    let guesses = recorded(&place).replace(".jsonl", ".tools.yaml");
    assert_eq!(place.read(&guesses), "format: tools/1\ntools:\n  \"find\": { access: read } # guessed: confirm\n");
}
