//! What several results of one call mean: the same in every format.

use serde_json::{Value, json};

use crate::place::Place;

/// Writes a log of a call of `pay` with these results.
type Log = fn(&[&str]) -> String;

/// How each format records them.
const FORMATS: [(&str, Log); 6] = [
    ("openai-chat", chat),
    ("openai-responses", responses),
    ("anthropic-messages", anthropic),
    ("claude-code", claude_code),
    ("mcp-jsonrpc", mcp),
    ("openhands", openhands),
];

fn chat(results: &[&str]) -> String {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{\"to\":7}"}});
    let call = json!({"role": "assistant", "tool_calls": [call]});
    let results = results.iter().map(|text| json!({"role": "tool", "tool_call_id": "c1", "content": text}));
    json!({"messages": std::iter::once(call).chain(results).collect::<Vec<_>>()}).to_string()
}

fn responses(results: &[&str]) -> String {
    let call = json!({"type": "function_call", "call_id": "c1", "name": "pay", "arguments": "{\"to\":7}"});
    let results = results.iter().map(|text| json!({"type": "function_call_output", "call_id": "c1", "output": text}));
    Value::from_iter(std::iter::once(call).chain(results)).to_string()
}

fn anthropic(results: &[&str]) -> String {
    let call =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "pay", "input": {"to": 7}}]});
    let result = |text: &&str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": text}]});
    json!({"messages": std::iter::once(call).chain(results.iter().map(result)).collect::<Vec<_>>()}).to_string()
}

fn claude_code(results: &[&str]) -> String {
    let line = |n: usize, role: &str, part: Value| {
        let at = format!("2026-01-01T00:00:0{n}.000Z");
        let message = json!({"role": role, "content": [part]});
        json!({"type": role, "sessionId": "s", "uuid": format!("u{n}"), "timestamp": at, "message": message})
            .to_string()
    };
    let call = line(0, "assistant", json!({"type": "tool_use", "id": "c1", "name": "pay", "input": {"to": 7}}));
    let result = |(n, text): (usize, &&str)| {
        line(n + 1, "user", json!({"type": "tool_result", "tool_use_id": "c1", "content": text}))
    };
    std::iter::once(call).chain(results.iter().enumerate().map(result)).collect::<Vec<_>>().join("\n")
}

fn mcp(results: &[&str]) -> String {
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {"to": 7}}});
    let result = |text: &&str| {
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}).to_string()
    };
    std::iter::once(call.to_string()).chain(results.iter().map(result)).collect::<Vec<_>>().join("\n")
}

fn openhands(results: &[&str]) -> String {
    let at = |n: usize| format!("2026-01-01T00:00:0{n}");
    let args = json!({"name": "pay", "arguments": {"to": 7}});
    let call = json!({"id": 0, "timestamp": at(0), "source": "agent", "action": "call_tool_mcp", "args": args});
    let result = |(n, text): (usize, &&str)| json!({"id": n + 1, "timestamp": at(n + 1), "cause": 0, "observation": "mcp", "content": text});
    Value::from_iter(std::iter::once(call).chain(results.iter().enumerate().map(result))).to_string()
}

/// What `replay` says of the only call: its outcome, its claim, and its findings.
fn said(place: &Place, name: &str) -> String {
    match all_said(place, name).as_slice() {
        [call] => call.clone(),
        calls => panic!("{name}: {calls:?}"),
    }
}

/// The same of each call.
fn all_said(place: &Place, name: &str) -> Vec<String> {
    let lines = place.run(&["replay", name, "--tools", "tools.yaml", "--all", "--format", "jsonl"]);
    let calls = lines.out.lines().filter_map(|line| serde_json::from_str(line).ok());
    calls.filter(|line: &Value| line["type"] == "call").map(|call| brief(&call)).collect()
}

fn brief(call: &Value) -> String {
    let findings = call["findings"].as_array().expect("findings");
    let mut findings: Vec<&str> = findings.iter().filter_map(|found| found["id"].as_str()).collect();
    findings.retain(|id| !["undetermined", "unclassified", "unfinished"].contains(id));
    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
    format!("{} {} {}", text("outcome"), text("effect"), findings.join(" ")).trim_end().to_owned()
}

#[test]
fn several_results_of_one_call_mean_the_same_in_every_format() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { pay: { access: write } }\n");
    let cases: [(&[&str], &str); 8] = [
        (&["Sent, message m-1"], "succeeded applied"),
        (&["Sent, message m-1", "Sent, message m-2"], "succeeded applied duplicate_effect"),
        (&["Sent, message m-1", "Sent, message m-1"], "succeeded applied possible_duplicate_effect"),
        (&["Error: 403 Forbidden", "Sent, message m-2"], "escalated not_applied retried_after_denial"),
        (&["Sent, message m-2", "Error: 403 Forbidden"], "succeeded applied retried_after_denial"),
        (&["Tool call timed out and was moved to background; task id t-9", "Sent, message m-1"], "succeeded applied"),
        (
            &["{\"status\":\"running\",\"taskId\":\"t-9\"}", "{\"status\":\"queued\",\"taskId\":\"t-9\"}"],
            "undetermined unknown",
        ),
        (&["Error: Request timed out", "Sent, message m-1"], "escalated unknown"),
    ];
    let mut wrong = Vec::new();
    for (results, expected) in cases {
        for (format, log) in FORMATS {
            place.write("log.jsonl", &log(results));
            let said = said(&place, "log.jsonl");
            if said != expected {
                wrong.push(format!("{format} {results:?}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_to_nothing_in_the_log_is_an_orphan_and_one_to_another_request_is_none() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { pay: { access: write } }\n");
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
    place.write("log.jsonl", &[mcp(&["Sent"]), list.to_owned(), answer(7), answer(8)].join("\n"));
    let shown = place.run(&["replay", "log.jsonl", "--tools", "tools.yaml"]).exits(0).out;
    assert!(shown.contains("1 call, 2 results, 1 orphan result, all accounted for"), "{shown}");
    assert!(shown.contains("1 result without a call, kept as an orphan (first at line 5)"), "{shown}");
}

#[test]
fn tools_of_two_servers_with_one_name_are_two_tools() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { \"*send\": { access: write } }\n");
    let call = |id: &str, server: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": format!("mcp__{server}__send"), "input": {"to": 7}}]});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "sent"}]});
    let messages = [call("a", "mail"), result("a"), call("b", "slack"), result("b")];
    let line = |(n, message): (usize, &Value)| {
        let at = format!("2026-01-01T00:00:0{n}.000Z");
        json!({"type": message["role"], "sessionId": "s", "uuid": format!("u{n}"), "timestamp": at, "message": message})
            .to_string()
    };
    let lines: Vec<String> = messages.iter().enumerate().map(line).collect();
    place.write("log.jsonl", &lines.join("\n"));
    let shown = place.run(&["replay", "log.jsonl", "--tools", "tools.yaml", "--all"]).exits(0).out;
    assert!(shown.contains("mcp__mail__send") && shown.contains("mcp__slack__send"), "{shown}");
    assert!(!shown.contains("duplicate_effect"), "{shown}");
}

#[test]
fn what_a_harness_puts_in_the_place_of_a_result_and_errors_of_the_transport_are_no_successes() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { \"*\": { access: write } }\n");
    let story = |name: &str| {
        place.copy(&format!("tests/intake/stories/{name}"), name);
        all_said(&place, name)
    };
    for (name, calls, rejections) in [("placeholders-chat.json", 24, 0), ("placeholders.json", 14, 1)] {
        let said = story(name);
        let is_open = |said: &&String| said.starts_with("undetermined unknown");
        assert_eq!(
            (said.len(), said.iter().filter(|said| !is_open(said)).count()),
            (calls, rejections),
            "{name} {said:?}"
        );
    }
    let said = story("transport-errors.json");
    assert_eq!((said.len(), said.iter().filter(|said| !said.contains(" unknown")).count()), (55, 0), "{said:?}");
    let said = story("sent-again-after-a-placeholder.json");
    assert_eq!(said, ["undetermined unknown", "succeeded applied unsafe_retry possible_duplicate_effect"]);
    let said = story("refused-connection.json");
    assert!(said.iter().all(|said| !said.contains("unsafe") && !said.contains("duplicate")), "{said:?}");
    assert_eq!(story("soft-timeout.json"), ["escalated unknown", "succeeded applied possible_duplicate_effect"]);
}

#[test]
fn a_status_means_the_same_as_a_number_as_words_and_in_a_line() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { \"*\": { access: write }, \"*.*\": { access: write } }\n");
    for (name, refused) in [("one-status-in-three-spellings.json", 3), ("one-status.jsonl", 2)] {
        place.copy(&format!("tests/intake/stories/{name}"), name);
        let said = all_said(&place, name);
        let is_refused = |said: &&String| said.starts_with("deprecated not_applied");
        assert_eq!(said.iter().filter(is_refused).count(), refused, "{name} {said:?}");
    }
}

#[test]
fn logs_with_trailers_and_the_formats_of_agent_programs_tell_their_stories() {
    let place = Place::new();
    place.write("tools.yaml", "format: tools/1\ntools: { \"*\": { access: write } }\n");
    let story = |name: &str| {
        place.copy(&format!("tests/intake/stories/{name}"), name);
        all_said(&place, name)
    };
    let desktop = story("mcp-desktop.log");
    assert_eq!((desktop.len(), desktop[1].as_str()), (21, "escalated unknown"), "a cancelled request that timed out");
    assert!(desktop[2].ends_with("possible_duplicate_effect") || desktop[2].contains("unsafe_retry"), "{desktop:?}");
    assert_eq!(story("acp.jsonl"), ["deprecated not_applied"]);
    assert_eq!(story("langchain.json"), ["succeeded applied duplicate_effect"]);
    let opencode = story("opencode.jsonl");
    assert_eq!((opencode[0].as_str(), opencode[2].as_str()), ("escalated unknown", "deprecated not_applied"));
}
