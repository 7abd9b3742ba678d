//! What logs of recognised formats say of calls: which answer is whose, and what is not finished.

use std::collections::BTreeSet;

use serde_json::Value;

use super::format::detect;
use crate::import::FormatOptions;
use crate::imported::{ImportWarning, Imported};
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Source;

fn read(log: &str) -> Imported {
    let formats = detect(log.as_bytes());
    assert_eq!(formats.len(), 1, "{log}");
    let read = formats[0].read(log.as_bytes(), "log", FormatOptions::default(), &RedactionRules::default());
    read.unwrap_or_else(|report| panic!("{report}"))
}

/// The results, each with the id of its call, its status and the kind of its failure.
fn results(imported: &Imported) -> Vec<(String, String, String)> {
    let text = std::str::from_utf8(&imported.lines).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("one object a line"));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(|line: &Value| line["type"] == "tool_result")
        .map(|line| (word(&line["call_id"]), word(&line["status"]), word(&line["error"]["kind"])))
        .collect()
}

fn said(imported: &Imported) -> Vec<String> {
    results(imported).into_iter().map(|(id, status, kind)| format!("{id} {status} {kind}").trim().to_owned()).collect()
}

const PAY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"x":1}}}"#;
const FAILED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"503 Service Unavailable"}]}}"#;

#[test]
fn the_answer_to_a_request_of_the_server_is_no_result_of_the_tool() {
    for [asked, answer] in [
        [r#""method":"ping""#, r#""result":{}"#],
        [r#""method":"sampling/createMessage","params":{}"#, r#""result":{"role":"assistant","content":{}}"#],
        [r#""method":"roots/list""#, r#""error":{"code":-32601,"message":"no roots"}"#],
        [r#""method":"elicitation/create","params":{}"#, r#""result":{"action":"accept"}"#],
    ] {
        let [asked, answer] = [asked, answer].map(|part| format!(r#"{{"jsonrpc":"2.0","id":1,{part}}}"#));
        let messages = [("out", PAY), ("in", &*asked), ("out", &*answer), ("in", FAILED)];
        let enveloped = |(way, message): (&str, &str)| format!(r#"{{"direction":"{way}","message":{message}}}"#);
        let with_ways = read(&messages.map(enveloped).join("\n"));
        assert_eq!(said(&with_ways), ["1 error 5xx"], "{asked}");
        assert_eq!(with_ways.loss.count(ImportWarning::AnswerToEither), 0);
        let bare = read(&messages.map(|(_, message)| message.to_owned()).join("\n"));
        assert_eq!(said(&bare), ["1 error 5xx"], "{asked}");
        assert_eq!(bare.loss.count(ImportWarning::AnswerToEither), 1);
        // The server asked before the call, and answers the call first.
        let crossed = [messages[1], messages[0], messages[3], messages[2]];
        assert_eq!(said(&read(&crossed.map(enveloped).join("\n"))), ["1 error 5xx"], "{asked}");
    }
}

#[test]
fn a_request_with_another_id_and_one_that_is_answered_take_no_result() {
    let ping = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for before in [ping(2), format!("{}\n{pong}", ping(1))] {
        let found = read(&format!("{before}\n{PAY}\n{FAILED}\n"));
        assert_eq!(
            (said(&found), found.loss.count(ImportWarning::AnswerToEither)),
            (vec!["1 error 5xx".to_owned()], 0)
        );
    }
}

#[test]
fn a_number_and_a_text_are_two_ids_of_a_protocol() {
    let other = PAY.replace("\"id\":1", "\"id\":\"1\"").replace("pay", "look");
    let fine = r#"{"jsonrpc":"2.0","id":"1","result":{"content":[]}}"#;
    assert_eq!(said(&read(&format!("{PAY}\n{other}\n{fine}\n{FAILED}\n"))), ["1~2 ok", "1 error 5xx"]);
}

#[test]
fn a_call_that_is_not_finished_has_no_result() {
    let asks = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{}}}"#;
    let graph = [
        r#"{"event":"on_tool_start","name":"pay","run_id":"a","metadata":{"thread_id":"t"},"data":{"input":{}}}"#,
        r#"{"event":"on_tool_error","name":"pay","run_id":"a","data":{"error":"GraphInterrupt((Interrupt(value='ok?'),))"}}"#,
    ];
    let run = r#"{"id":"r","name":"pay","run_type":"tool","start_time":"2026-03-02T09:15:03","end_time":"2026-03-02T09:15:04","inputs":{},"error":"GraphInterrupt(())","status":"error","trace_id":"T"}"#;
    let task = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working"}}}"#;
    for log in [format!("{PAY}\n{asks}"), format!("{PAY}\n{task}"), graph.join("\n"), run.to_owned()] {
        let found = read(&log);
        assert_eq!((found.loss.calls, results(&found).len()), (1, 0), "{log}");
        assert_eq!(found.loss.count(ImportWarning::Unfinished), 1, "{log}");
    }
    let body =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"success":false,"error":"gone"}}}"#;
    assert_eq!(said(&read(&format!("{PAY}\n{body}"))), ["1 error tool_error"]);
    for log in [format!("{PAY}\n{FAILED}"), graph.join("\n").replace("GraphI", "I"), run.replace("GraphI", "I")] {
        assert_eq!(results(&read(&log)).len(), 1, "{log}");
    }
}

/// The result of a Claude Code session in which a tool answers `ok` and the program notes `noted`.
fn noted(noted: &str) -> Vec<String> {
    let line = |kind: &str, content: &str, noted: &str| {
        format!(
            r#"{{"sessionId":"s","uuid":"{kind}","type":"{kind}","message":{{"role":"{kind}","content":[{content}]}}{noted}}}"#
        )
    };
    let call = line("assistant", r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#, "");
    let answer = r#"{"type":"tool_result","tool_use_id":"t","content":"ok"}"#;
    said(&read(&format!("{call}\n{}\n", line("user", answer, &format!(r#","toolUseResult":{noted}"#)))))
}

#[test]
fn what_claude_code_notes_beside_a_result_counts() {
    assert_eq!(noted(r#"{"stdout":"","interrupted":true}"#), ["t error interrupted"]);
    assert_eq!(noted(r#"{"code":503,"codeText":"Service Unavailable","result":"x"}"#), ["t error 5xx"]);
    assert_eq!(noted(r#"{"code":200,"codeText":"OK","result":"x"}"#), ["t ok"]);
    assert_eq!(noted(r#"{"status":"async_launched","agentId":"a"}"#), Vec::<String>::new());
    assert_eq!(noted(r#"{"backgroundTaskId":"b"}"#), Vec::<String>::new());
    assert_eq!(noted(r#"{"status":"completed","code":503}"#), ["t ok"]);
}

/// By format: a request, in which `@` stands for the messages and `~` for its id, and three messages: a call, its result, and
/// another call.
fn added_by_requests() -> Vec<[&'static str; 4]> {
    vec![
        [
            r#"{"messages":[@]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"pay","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"pay","arguments":"{}"}}]}"#,
        ],
        [
            r#"{"messages":[@],"id":"~"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"pay","input":{}}]}"#,
        ],
        [
            r#"{"schemaType":"ModelInvocationLog","requestId":"~","input":{"inputBodyJson":{"messages":[@]}}}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"pay","input":{}}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"ok"}]}}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"b","name":"pay","input":{}}}]}"#,
        ],
        [
            r#"{"contents":[@]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"pay","args":{}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"pay","response":{"output":"ok"}}}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"id":"b","name":"pay","args":{}}}]}"#,
        ],
        [
            r#"{"input":[@]}"#,
            r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#,
            r#"{"type":"function_call","call_id":"b","name":"pay","arguments":"{}"}"#,
        ],
        [
            r#"{"messages":[@]}"#,
            r#"{"role":"assistant","content":[{"type":"mcp_tool_use","id":"a","name":"pay","input":{}},{"type":"tool_use","id":"z","name":"look","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"mcp_tool_result","tool_use_id":"a","content":"ok"}]}"#,
            r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"b","name":"pay","input":{}}]}"#,
        ],
    ]
}

#[test]
fn each_call_counts_once_in_a_log_whose_requests_repeat_the_history() {
    for [request, first, second, third] in added_by_requests() {
        let line = |id: &str, messages: &[&str]| request.replace('@', &messages.join(",")).replace('~', id) + "\n";
        let log = [line("1", &[first]), line("2", &[first, second]), line("3", &[first, second, third])].concat();
        let found = read(&log);
        let text = String::from_utf8_lossy(&found.lines).into_owned();
        let seen = calls_and_results(&found);
        assert_eq!(seen.iter().filter(|seen| *seen != "z").collect::<Vec<_>>(), ["a", "> a", "b"], "{text}");
        assert_eq!(found.loss.count(ImportWarning::ContinuedHistory), 2, "{text}");
        assert_eq!(found.loss.count(ImportWarning::ResultWithoutCall), 0, "{text}");
        let run = match request {
            _ if request.contains("input\":[") => None, // nothing tells its runs
            _ if request.contains('~') => Some("1"),
            _ if first.contains("tool_calls") => Some("run_1"),
            _ => Some("line 1"),
        };
        assert_eq!(run_ids(&found).iter().map(String::as_str).collect::<Vec<_>>(), Vec::from_iter(run), "{text}");

        let branch = read(&(log.clone() + &line("4", &[first, &second.replace("ok", "no")])));
        assert_eq!(branch.loss.count(ImportWarning::BranchedHistory), 1, "{request}");
        assert!(branch.loss.calls > found.loss.calls, "{request}");
        let copied = read(&(log + &line("4", &[first, second, third])));
        assert_eq!(copied.loss.count(ImportWarning::RepeatedHistory), 1, "{request}");
        let other =
            read(&(line("1", &[first, second]) + &line("2", &[&first.replace("\"a\"", "\"c\""), second, third])));
        assert_eq!(other.loss.count(ImportWarning::ContinuedHistory), 0, "{request}");
        assert!(other.loss.calls > found.loss.calls, "{request}");
    }
}

#[test]
fn conversations_with_different_names_do_not_go_on_from_each_other() {
    for [request, first, second, _] in added_by_requests() {
        let named = |name: &str, messages: &[&str]| {
            let request = request.replacen('{', &format!("{{\"session_id\":\"{name}\","), 1);
            request.replace('@', &messages.join(",")).replace('~', "1") + "\n"
        };
        let apart = read(&(named("x", &[first]) + &named("y", &[first, second])));
        assert_eq!(apart.loss.count(ImportWarning::ContinuedHistory), 0, "{request}");
        let one = read(&(named("x", &[first]) + &named("x", &[first, second])));
        assert_eq!(one.loss.count(ImportWarning::ContinuedHistory), 1, "{request}");
        assert_eq!((one.loss.results, apart.loss.calls), (1, 2 * one.loss.calls), "{request}");
    }
}

#[test]
fn a_row_that_names_its_run_keeps_it_where_a_conversation_goes_on() {
    let mapping = "format: mapping/1\nrecords: 'messages[*]'\ncall: { tool: tool, id: id, run: agent }\n";
    let mapping = crate::mapping::parse(Source::whole("m", mapping)).unwrap_or_else(|report| panic!("{report}"));
    let [x, y] = [r#"{"tool":"pay","id":1,"agent":"x"}"#, r#"{"tool":"pay","id":2,"agent":"y"}"#];
    let log = format!("{{\"messages\":[{y}]}}\n{{\"messages\":[{y},{x}]}}\n");
    let found = crate::mapping::apply(&mapping, log.as_bytes(), "log", &RedactionRules::default());
    let found = found.unwrap_or_else(|report| panic!("{report}"));
    let runs: Vec<Value> = lines_of(&found).into_iter().map(|line| line["run_id"].clone()).collect();
    assert_eq!((runs, found.loss.count(ImportWarning::ContinuedHistory)), (vec!["y".into(), "x".into()], 1));
}

#[test]
fn what_was_answered_counts_once_if_the_next_request_repeats_it() {
    let call = r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{}"}"#;
    let answer = r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#;
    let found = read(&format!(
        "{{\"input\":[{{\"role\":\"user\"}}],\"output\":[{call}]}}\n{{\"input\":[{{\"role\":\"user\"}},{call},{answer}],\"output\":[]}}\n"
    ));
    assert_eq!(calls_and_results(&found), ["a", "> a"]);
    let other = call.replace("\"a\"", "\"b\"");
    let found = read(&format!("{{\"input\":[],\"output\":[{call}]}}\n{{\"input\":[],\"output\":[{call},{other}]}}\n"));
    assert_eq!(calls_and_results(&found), ["a", "b"], "what was answered goes on");
}

#[test]
fn rows_that_only_carry_a_conversation_are_no_requests_of_it() {
    let mapping = "format: mapping/1\nrecords: $\ncall: { tool: tool, run: run }\n";
    let mapping = crate::mapping::parse(Source::whole("m", mapping)).unwrap_or_else(|report| panic!("{report}"));
    let message = r#"{"tool_calls":[{"id":"a"}]}"#;
    let log = format!(
        "{{\"tool\":\"pay\",\"run\":1,\"messages\":[{message}]}}\n{{\"tool\":\"pay\",\"run\":2,\"messages\":[{message},7]}}\n"
    );
    let found = crate::mapping::apply(&mapping, log.as_bytes(), "log", &RedactionRules::default());
    let found = found.unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(run_ids(&found).into_iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(found.loss.count(ImportWarning::ContinuedHistory), 0);
}

/// The calls by their ids, and `>` with the id of the call for each result.
fn calls_and_results(imported: &Imported) -> Vec<String> {
    let line = |line: &Value| match line["type"].as_str() {
        Some("tool_call") => line["call_id"].as_str().map(str::to_owned),
        Some("tool_result") => line["call_id"].as_str().map(|id| format!("> {id}")),
        _ => None,
    };
    lines_of(imported).iter().filter_map(line).collect()
}

fn run_ids(imported: &Imported) -> BTreeSet<String> {
    lines_of(imported).iter().filter_map(|line| line["run_id"].as_str().map(str::to_owned)).collect()
}

fn lines_of(imported: &Imported) -> Vec<Value> {
    let text = std::str::from_utf8(&imported.lines).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

#[test]
fn a_status_that_a_format_does_not_have_is_warned_of() {
    let status = |status: &str| {
        let asked = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"b","name":"pay","input":{}}}]}"#;
        let told = format!(r#"{{"toolResult":{{"toolUseId":"b","content":[{{"text":"x"}}],"status":{status}}}}}"#);
        let found = read(&format!(r#"{{"messages":[{asked},{{"role":"user","content":[{told}]}}]}}"#));
        (said(&found).concat(), found.loss.count(ImportWarning::UnknownFlag))
    };
    assert_eq!(status(r#""ERROR""#), ("b error tool_error".into(), 0));
    assert_eq!(status(r#""success""#), ("b ok".into(), 0));
    assert_eq!(status("null"), ("b ok".into(), 0));
    assert_eq!(status(r#""partial""#), ("b ok".into(), 1));
}

#[test]
fn an_output_that_is_not_whole_is_no_result() {
    let status = |status: &str| {
        let asked = r#"{"type":"function_call","call_id":"f","name":"pay","arguments":"{}"}"#;
        said(&read(&format!(
            r#"[{asked},{{"type":"function_call_output","call_id":"f","output":"x","status":"{status}"}}]"#
        )))
    };
    assert_eq!(status("completed"), ["f ok"]);
    assert!(status("incomplete").is_empty());
}

#[test]
fn the_shell_and_the_patches_of_the_responses_api_are_calls() {
    let log = r#"[{"type":"shell_call","call_id":"s1","action":{"commands":["make"]}},
{"type":"shell_call_output","call_id":"s1","output":[{"stdout":"","stderr":"","outcome":{"type":"timeout"}}]},
{"type":"shell_call","call_id":"s2","action":{"commands":["ls"]}},
{"type":"shell_call_output","call_id":"s2","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
{"type":"shell_call","call_id":"s3","action":{"commands":["false"]}},
{"type":"shell_call_output","call_id":"s3","output":[{"stdout":"","stderr":"","outcome":{"type":"exit","exit_code":1}}]},
{"type":"apply_patch_call","call_id":"p1","operation":{"type":"delete_file","path":"a"}},
{"type":"apply_patch_call_output","call_id":"p1","status":"failed","output":"no such file"},
{"type":"local_shell_call","call_id":"l1","id":"x","action":{"type":"exec","command":["ls"]}},
{"type":"local_shell_call_output","id":"l1","output":"a"},
{"type":"function_call","call_id":"f","name":"pay","arguments":"{}"}]"#;
    let found = read(log);
    assert_eq!(said(&found), ["s1 error timeout", "s2 ok", "s3 error tool_error", "p1 error 404_not_found", "l1 ok"]);
    assert_eq!((found.loss.calls, found.loss.count(ImportWarning::ResultWithoutCall)), (6, 0));
}

#[test]
fn a_flag_of_a_mapped_format_is_read_however_it_is_written() {
    let flagged = |flag: &str| {
        let asked = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{}}]}"#;
        let told = format!(r#"{{"type":"tool_result","tool_use_id":"a","content":"x","is_error":{flag}}}"#);
        let found = read(&format!(r#"{{"messages":[{asked},{{"role":"user","content":[{told}]}}]}}"#));
        (said(&found).concat(), found.loss.count(ImportWarning::UnknownFlag))
    };
    for flag in ["true", "1", r#""True""#, r#""TRUE""#] {
        assert_eq!(flagged(flag), ("a error tool_error".into(), 0), "{flag}");
    }
    assert_eq!(flagged("false"), ("a ok".into(), 0));
    assert_eq!(flagged(r#""maybe""#), ("a ok".into(), 1));
}

#[test]
fn the_status_in_the_answer_of_a_tool_is_no_flag() {
    let run = r#"{"id":"a","trace_id":"t","run_type":"tool","name":"pay","inputs":{},"start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:01Z","outputs":{"output":{"status":"shipped"}}}"#;
    let found = read(run);
    assert_eq!((said(&found).concat(), found.loss.count(ImportWarning::UnknownFlag)), ("a ok".into(), 0));
}
