//! What is done under a playbook: what is sent again and what never, what the client gets, and that the file decides the same
//! again.

use serde_json::{Value, json};

use crate::place::Place;
use crate::proxy::process::{Proxied, call, has_python, place, recorded, until};

const ENFORCED: [&str; 6] = ["--record", "rec", "--playbook", "standard", "--enforce", "--unlocked"];

/// A server whose tools have facts.
fn with_facts() -> Option<Place> {
    if !has_python() {
        return None;
    }
    let place = place();
    let text = place.read("playproof.yaml");
    let tools = "format: tools/1\ntools:\n  find: { access: read }\n  pay: { access: write }\n  slow: { access: write, timeout_ms: 400 }\n  held: { access: write, timeout_ms: 1500 }\n";
    place.write("tools.yaml", tools);
    if !text.contains("\ntools:") {
        place.write("playproof.yaml", &format!("{text}\ntools: tools.yaml\n"));
    }
    Some(place)
}

/// The same behind a proxy that enforces.
fn enforced(more: &[&str]) -> Option<(Place, Proxied)> {
    let place = with_facts()?;
    let mut proxied = Proxied::start(&place, &[&ENFORCED[..], more].concat());
    assert!(proxied.say(r#"{"jsonrpc":"2.0","id":"begin","method":"ping"}"#));
    proxied.hear(); // it has started
    std::fs::remove_file(place.path("seen")).expect("a file");
    Some((place, proxied))
}

fn fails(text: &str) -> Value {
    json!([{"result": {"isError": true, "content": [{"type": "text", "text": text}], "structuredContent": {"x": 1.50}}}])
}

fn told(message: &Value) -> (&Value, String) {
    let texts = message["result"]["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    (&message["result"]["_meta"]["playproof/outcome"], texts.join("\n"))
}

/// Ends a connection, whose file decides the same again; gives the messages that the server got.
fn ends(place: &Place, proxied: Proxied) -> Vec<String> {
    let (rest, code, err) = proxied.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{err}");
    place.run(&["replay", &recorded(place), "--playbook", "standard", "--same-decisions"]).exits(0);
    place.read("seen").lines().map(str::to_owned).collect()
}

#[test]
fn a_call_is_sent_again_with_nothing_changed_but_its_id_and_its_token() {
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    let steps = json!([
        [{"progress": 2}, {"result": {"isError": true, "content": [{"type": "text", "text": "429 Too Many Requests: retry after 0.1 s"}]}}],
        [{"progress": 1}, {"progress": 3}, {"effect": "paid"}, {"result": {"content": [], "structuredContent": {"x": 1}}}],
    ]);
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call", "id":7,"params":{{"zeta":1e2,"name":"pay","arguments":{{"amount":10.10,"u":"\u00e9","do":{steps}}},"_meta":{{"progressToken":5}}}}}}"#
    );
    assert!(proxied.say(&line));
    let heard: Vec<Value> = (0..4).map(|_| proxied.hear()).collect();
    let values: Vec<_> = heard[..3]
        .iter()
        .map(|said| (said["params"]["progressToken"].clone(), said["params"]["progress"].clone()))
        .collect();
    assert_eq!(values, [(json!(5), json!(2)), (json!(5), json!(2.001)), (json!(5), json!(3))], "progress always rises");
    assert_eq!((&heard[3]["id"], &heard[3]["result"]["structuredContent"]["x"]), (&json!(7), &json!(1)));
    let seen = ends(&place, proxied);
    assert_eq!(seen[0], line);
    let id = seen[1].split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()).expect("an id").to_owned();
    assert!(id.starts_with("\"playproof-"), "{id}");
    let expected = line.replace("\"id\":7", &format!("\"id\":{id}")).replace("Token\":5", &format!("Token\":{id}"));
    assert_eq!(seen[1..], [expected]);
    assert_eq!(place.read("ledger"), "paid\n");
}

#[test]
fn a_write_that_times_out_has_one_effect_and_is_told_so() {
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    let slow = json!([[{"sleep": 0.9}, {"progress": 1}, {"effect": "paid"}, {"result": {"content": []}}]]);
    let mut line: Value = serde_json::from_str(&call(1, "slow", &json!({"do": slow}))).expect("JSON");
    line["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": "t"});
    assert!(proxied.say(&line.to_string()));
    let answer = proxied.hear();
    assert!(!place.path("ledger").exists(), "the client hears at the timeout");
    let (outcome, prose) = told(&answer);
    assert_eq!((&outcome["effect"], &outcome["told"]["retriable"]), (&json!("unknown"), &json!(false)), "{answer}");
    assert!(prose.contains("may act twice"), "{prose}");
    let result = &answer["result"];
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
    assert!(result.get("structuredContent").is_none());
    until("it acts late", || place.path("ledger").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    let seen = ends(&place, proxied);
    assert_eq!(
        (seen.len(), place.read("ledger").as_str()),
        (1, "paid\n"),
        "a write is neither sent again nor cancelled"
    );
    assert!(place.read(&recorded(&place)).contains("\"late\":true"), "its late answer is evidence");
}

#[test]
fn a_failure_of_the_server_passes_as_it_came_with_what_is_told() {
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    assert!(proxied.say(&call("1", "pay", &json!({"do": [fails("502 Bad Gateway")]}))));
    let raw = proxied.line().expect("an answer");
    assert!(raw.contains("\"x\": 1.5"), "numbers stay: {raw}");
    let answer: Value = serde_json::from_str(&raw).expect("JSON");
    assert_eq!(answer["id"], json!("1"));
    let (outcome, prose) = told(&answer);
    assert!(prose.starts_with("502 Bad Gateway\n") && outcome["outcome"].is_string(), "{answer}");
    // An error outside of the protocol: what is told stands behind its message.
    assert!(proxied.say(&call(2, "pay", &json!({"do": [[{"error": {"code": -1, "message": "broken"}}]]}))));
    let answer = proxied.hear();
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.starts_with("broken\n")), "{answer}");
    // Errors of the protocol, input and tasks pass unchanged and are never sent again.
    let kinds = [
        json!({"error": {"code": -32042, "message": "503 go there", "data": {"elicitations": []}}}),
        json!({"result": {"resultType": "task", "taskId": "t"}}),
        json!({"result": {"resultType": "input_required", "requestState": "s"}}),
    ];
    let steps = |kind: &Value| json!([[kind], [{"result": {"content": []}}]]);
    for (n, kind) in kinds.iter().enumerate() {
        assert!(proxied.say(&call(10 + n, "find", &json!({"do": steps(kind)}))));
        let answer = proxied.hear();
        for (key, value) in kind.as_object().expect("an object") {
            assert_eq!(&answer[key], value);
        }
    }
    // What the server calls a success is one, whatever its text says.
    let fine = json!({"result": {"content": [{"type": "text", "text": "503 Service Unavailable"}]}});
    assert!(proxied.say(&call(15, "find", &json!({"do": steps(&fine)}))));
    assert_eq!(proxied.hear()["result"], fine["result"]);
    let again = call(20, "find", &json!({"do": steps(&kinds[2])}));
    let mut goes_on: Value = serde_json::from_str(&again).expect("JSON");
    goes_on["params"]["requestState"] = json!("s");
    goes_on["params"]["inputResponses"] = json!({});
    assert!(proxied.say(&goes_on.to_string()));
    assert_eq!(proxied.hear(), json!({"jsonrpc": "2.0", "id": 20, "result": {"content": []}}));
    assert_eq!(ends(&place, proxied).len(), 7);
    let journal = place.read(&recorded(&place));
    assert!(journal.contains("\"why\":\"an error of the protocol is the client's\""), "{journal}");
    assert!(!journal.contains("suspected") && journal.contains("\"id\":\"c6-15\",\"at_ms\""), "{journal}");
}

#[test]
fn a_client_that_gives_up_silently_gets_no_attempt_after_its_time() {
    let Some((place, mut proxied)) = enforced(&["--answer-within", "400"]) else { return };
    let limited =
        json!([fails("429 Too Many Requests: retry after 0.6 s"), [{"effect": "paid"}, {"result": {"content": []}}]]);
    assert!(proxied.say(&call(1, "pay", &json!({"do": limited}))));
    let answer = proxied.hear();
    let outcome = told(&answer).0;
    assert_eq!([&outcome["outcome"], &outcome["stop"]], [&json!("exhausted"), &json!("max_wait")], "{answer}");
    assert_eq!(outcome["told"]["retriable"], json!(true), "it was refused, and did nothing: {answer}");
    assert_eq!(ends(&place, proxied).len(), 1);
    let replayed =
        place.run(&["replay", &recorded(&place), "--playbook", "standard", "--all", "--format", "jsonl"]).out;
    assert!(replayed.contains("\"stop\":\"max_wait\""), "a replay knows how long the caller waits: {replayed}");
    // And one that cancels while its call waits.
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    let limited =
        json!([fails("429 Too Many Requests: retry after 0.2 s"), [{"effect": "paid"}, {"result": {"content": []}}]]);
    let mut line: Value = serde_json::from_str(&call(2, "pay", &json!({"do": limited}))).expect("JSON");
    line["params"]["_meta"] = json!({"progressToken": 1});
    assert!(proxied.say(&line.to_string()));
    assert_eq!(proxied.hear()["method"], json!("notifications/progress"), "it waits");
    assert!(
        proxied.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"x"}}"#)
    );
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert_eq!(ends(&place, proxied).len(), 1);
    assert!(!place.path("ledger").exists());
}

#[test]
fn the_clock_stands_still_while_the_client_answers_the_server() {
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    assert!(proxied.say(&call(1, "held", &json!({"do": [[{"ask": 1}, {"result": {"content": []}}]]}))));
    assert_eq!(proxied.hear()["method"], json!("elicitation/create"));
    std::thread::sleep(std::time::Duration::from_millis(1_600));
    assert!(proxied.say(r#"{"jsonrpc":"2.0","id":"s1","result":{}}"#));
    let answer = proxied.hear();
    assert!(answer["result"]["isError"].is_null(), "{answer}");
    // Nobody is asked twice.
    let asks = json!([[{"ask": 1}, fails("503 Service Unavailable")[0]], [{"result": {"content": []}}]]);
    assert!(proxied.say(&call(2, "find", &json!({"do": asks}))));
    assert_eq!(proxied.hear()["method"], json!("elicitation/create"));
    assert!(proxied.say(r#"{"jsonrpc":"2.0","id":"s1","result":{}}"#));
    assert_eq!(proxied.hear()["result"]["isError"], json!(true));
    assert_eq!(ends(&place, proxied).len(), 4);
    assert!(place.read(&recorded(&place)).contains("\"held_ms\":"));
}

#[test]
fn a_server_that_dies_is_not_started_again_and_open_calls_are_answered_first() {
    let Some((place, mut proxied)) = enforced(&[]) else { return };
    let slow = json!([[{"sleep": 0.1}, {"result": {"content": []}}]]);
    assert!(["one", "two"].into_iter().all(|tool| proxied.say(&call(7, tool, &json!({"do": slow})))));
    assert!((0..2).all(|_| proxied.hear()["id"] == json!(7)), "nobody knows which answer is whose: both pass");
    let torn = "{\"jsonrpc\":\"2.0\",\"id\":";
    let dies = json!([[{"effect": "paid"}, {"raw": torn}, {"die": 3}]]);
    assert!(proxied.say(&call(1, "pay", &json!({"do": dies}))));
    assert_eq!(proxied.line(), Some(format!("{torn}\n")), "a torn line stays one of its own");
    let answer = proxied.hear();
    assert_eq!(
        (&answer["result"]["isError"], &told(&answer).0["effect"]),
        (&json!(true), &json!("unknown")),
        "{answer}"
    );
    let (rest, code, err) = proxied.end();
    assert_eq!((rest.as_str(), code), ("", Some(3)));
    assert!(err.contains("have one id"), "{err}");
    assert_eq!(place.read(&recorded(&place)).matches("\"lost\":true").count(), 2);
    place.run(&["replay", &recorded(&place), "--playbook", "standard", "--same-decisions"]).exits(0);
}

#[test]
fn a_shadow_says_what_would_end_differently_and_changes_nothing() {
    let Some(place) = with_facts() else { return };
    let mut proxied = Proxied::start(&place, &["--record", "rec", "--playbook", "standard"]);
    // An error of the protocol and a success end alike under the playbook, whatever their texts say.
    let fine = json!([[{"result": {"content": [{"type": "text", "text": "503 Service Unavailable"}]}}]]);
    let of_protocol = json!([[{"error": {"code": -32602, "message": "503 Service Unavailable"}}]]);
    let slow = json!([[{"sleep": 0.7}, {"result": {"content": []}}]]);
    let limited = json!([fails("429 Too Many Requests: retry after 0.1 s")]);
    for (id, (tool, steps)) in (1..).zip([("find", limited), ("find", fine), ("find", of_protocol), ("slow", slow)]) {
        assert!(proxied.say(&call(id, tool, &json!({"do": steps}))));
        assert_eq!(told(&proxied.hear()).0, &Value::Null);
    }
    let (_, code, err) = proxied.end();
    let said = "playproof: shadow: find (call 1) would be sent again\nplayproof: shadow: slow (call 4) would end escalated (ambiguous_effects)\n";
    assert_eq!((code, err.as_str()), (Some(0), said));
    let text = place.read(&recorded(&place));
    assert!(text.contains("{\"type\":\"shadow\",\"run_id\":"), "{text}");
    let replayed = place.run(&["replay", "rec"]);
    assert!(!replayed.exits(0).out.contains("unknown type"));
}

#[test]
fn rows_that_no_lock_approves_and_playbooks_for_study_are_not_enforced() {
    let place = Place::begun();
    for playbook in ["preset/mcp-2026-07-28", "study/retry-everything"] {
        place.run(&["proxy", "--playbook", playbook, "--enforce", "--", "cat"]).exits(2);
    }
    place.run(&["proxy", "--playbook", "study/retry-everything", "--enforce", "--unlocked", "--", "cat"]).exits(2);
    place.run(&[&["proxy"], &ENFORCED[..], &["--", "true"]].concat()).exits(0);
    let ran = place.run(&["replay", &recorded(&place), "--playbook", "standard", "--same-decisions"]).exits(2);
    assert!(ran.err.contains("no call was decided"), "an empty run is no pass: {ran:?}");
}
