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
    talk(&mut proxied, r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"find"}}"#.to_owned());
    // A log leaves open what a text means; on the connection a success is one, and its text is not written.
    let texts = ["log: connection refused at 10:00", "sunny, 21 degrees", "503 Service Unavailable"];
    for (id, text) in (10..).zip(texts) {
        let flag = if id == 10 { json!({"isError": false}) } else { json!({"structuredContent": {"success": false}}) };
        let mut result = flag;
        result["content"] = json!([{"type": "text", "text": text}]);
        assert!(proxied.say(&call(id, "read", &json!({"do": [[{"result": result}]]}))));
        proxied.hear();
    }
    assert_eq!(proxied.end().1, Some(0));

    let text = place.read(&recorded(&place));
    let results = || text.lines().filter(|line| line.contains("tool_result"));
    let secrets = ["a secret success"].into_iter().chain(texts);
    assert!(!secrets.into_iter().any(|text| results().any(|line| line.contains(text))), "{text}");
    let mut recorded = recording(&place);
    let of_texts: Vec<Value> = recorded.drain(recorded.len() - 6..).skip(1).step_by(2).collect();
    assert!(of_texts.iter().all(|line| line["status"] == "ok" && line.get("status_from").is_none()), "{of_texts:?}");
    let calls: Vec<_> = recorded.iter().filter(|line| line["type"] == "tool_call").collect();
    assert_eq!(calls.len(), 4, "a call that goes on is one call: {text}");
    assert_eq!(calls[3]["args"], json!({}), "a call may have no arguments");
    let run = recorded[0]["run_id"].as_str().expect("a run").to_owned();
    let row = |(way, message): &(&str, String)| {
        format!("{{\"session\":\"{run}\",\"direction\":\"{way}\",\"message\":{message}}}\n")
    };
    place.write("wire.jsonl", &log.iter().map(row).collect::<String>());
    place.run(&["formats", "convert", "wire.jsonl", "--as", "mcp-jsonrpc", "-o", "imported.jsonl"]).exits(0);
    let without_times = |lines: Vec<Value>| -> Vec<Value> {
        let plain = |mut line: Value| {
            for key in ["at_ms", "status_from"] {
                line.as_object_mut().expect("an object").remove(key); // a log has no flag where nothing failed
            }
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
fn what_is_not_known_is_not_recorded_and_what_is_not_read_is_said() {
    if !has_python() {
        return;
    }
    let place = place();
    let mut proxied = Proxied::start(&place, &["--record", "rec"]);
    let task = json!([[{"result": {"resultType": "task", "taskId": "t"}}]]);
    let slow = json!([[{"sleep": 0.2}, {"result": {"content": []}}]]);
    let unread = [
        format!("[{}]", call(1, "batched", &json!({}))),
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"unnamed"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#.to_owned(),
    ];
    assert!(unread.iter().chain(&unread).all(|line| proxied.say(line)));
    let twice = [
        call(5, "task", &json!({"do": task})),
        call(7, "one", &json!({"do": slow})),
        call(7, "two", &json!({"do": slow})),
    ];
    assert!(twice.iter().all(|line| proxied.say(line)));
    let heard: Vec<Value> = (0..5).map(|_| proxied.hear()["id"].clone()).collect();
    assert_eq!(heard, [json!(null), json!(null), json!(5), json!(7), json!(7)]);
    let (_, code, err) = proxied.end();
    let lines = recording(&place);
    let said: Vec<_> = lines.iter().map(|line| (line["type"].as_str(), line["tool"].as_str())).collect();
    assert_eq!(said, ["task", "one", "two"].map(|tool| (Some("tool_call"), Some(tool))), "{lines:?}");
    let told = ["a list of messages passes unread", "a call without an id passes unread", "have one id"];
    assert!(code == Some(0) && err.lines().count() == 3 && told.iter().all(|told| err.contains(told)), "{err}");
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
    for id in [1, 2] {
        assert!(proxied.say(&call(id, "pay", &json!({"card": "4111-1111-1111-1111"}))));
        proxied.hear();
    }
    assert_eq!(proxied.end().1, Some(0));
    let file = recorded(&place);
    let lines = recording(&place);
    assert!(!place.read(&file).contains("4111-1111"));
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
    place.run(&["proxy", "--record", "rec", "--run-from", "meta:card", "--", "cat"]).exits(2);
    for folder in ["fixtures", "playbooks", "goldens"] {
        place.run(&["proxy", "--record", folder, "--", "cat"]).exits(2);
    }
}

#[test]
fn hints_become_guesses_and_a_connection_without_calls_leaves_nothing_else() {
    let place = Place::new();
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"find","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}"#;
    let proxied = Proxied::before(&place, &["--record", "rec"], &["sh", "-c", &format!("echo '{list}'")]);
    assert_eq!(proxied.end().1, Some(0));
    let files = std::fs::read_dir(place.path("rec")).expect("a folder").map(|file| file.expect("a file").file_name());
    let files: Vec<_> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(matches!(&*files, [name] if name.ends_with(".tools.yaml")), "{files:?}");
    assert_eq!(
        place.read(&format!("rec/{}", files[0])),
        "format: tools/1\ntools:\n  \"find\": { access: read } # guessed: confirm\n"
    );
}
