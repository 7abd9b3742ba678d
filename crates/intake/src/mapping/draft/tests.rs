//! Tests of drafts: the mapping that is drafted from a log reads that log.

use super::*;
use crate::imported::Imported;
use crate::mapping::{apply, parse};
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Source;

/// The draft, and what it makes of the log that it was drafted from.
fn read(log: &str) -> (String, Imported) {
    let draft = draft(log.as_bytes(), "log").expect("JSON").unwrap_or_else(|why| panic!("{why:?}"));
    let mapping =
        parse(Source::whole("draft", &*draft.text)).unwrap_or_else(|report| panic!("{report}\n{}", draft.text));
    let imported = apply(&mapping, log.as_bytes(), "log", &RedactionRules::default())
        .unwrap_or_else(|report| panic!("{report}\n{}", draft.text));
    (draft.text, imported)
}

fn counts(log: &str) -> (u64, u64, u64) {
    let (text, Imported { loss, .. }) = read(log);
    assert_eq!(loss.unused, [], "{text}");
    (loss.calls, loss.results, loss.failures)
}

#[test]
fn the_example_of_the_documentation_is_read_as_its_own_mapping_reads_it() {
    let log = include_str!("../../../../../docs/examples/my-log.jsonl");
    let own = include_str!("../../../../../docs/examples/my-log.mapping.yaml");
    let own =
        apply(&parse(Source::whole("own", own)).unwrap(), log.as_bytes(), "log", &RedactionRules::default()).unwrap();
    let (text, drafted) = read(log);
    let account =
        |imported: &Imported| (imported.loss.runs, imported.loss.calls, imported.loss.results, imported.loss.failures);
    assert_eq!(account(&drafted), account(&own), "{text}");
    assert!(text.contains("  tool: tool ") && text.contains("# guessed: confirm (in 12 rows)"), "{text}");
}

#[test]
fn calls_and_results_in_rows_of_their_own_are_joined_by_their_id() {
    let log = r#"{"event":"session_start","session":"s1"}
{"event":"tool_start","session":"s1","span_id":"a","name":"search.web","input":{"q":"x"},"ts":1732579994.1}
{"event":"tool_end","session":"s1","span_id":"a","ok":true,"output":"fine","ts":1732579995.0}
{"event":"tool_start","session":"s1","span_id":"b","name":"pay","input":{"name":"y"},"ts":1732579996.2}
{"event":"tool_end","session":"s1","span_id":"b","ok":false,"output":"Error: declined","ts":1732579997.2}
{"event":"session_end","session":"s1"}
"#;
    assert_eq!(counts(log), (2, 2, 1));
    let (text, imported) = read(log);
    assert!(text.contains("\ntime: s") && text.contains("  run: session") && text.contains("{ ok: false }"), "{text}");
    assert!(String::from_utf8_lossy(&imported.lines).contains("declined"), "{text}");
}

#[test]
fn an_id_with_an_unusual_name_is_found_by_its_values() {
    let row = |n: u32, end: &str| {
        format!(
            "{{\"ts\":{n}00,\"ev\":\"invoke\",\"session\":\"s\",\"op\":\"op-{n}\",\"function\":\"book\",\"params\":{{}}}}\n\
             {{\"ts\":{n}50,\"ev\":\"{end}\",\"session\":\"s\",\"op\":\"op-{n}\",\"http\":422}}\n"
        )
    };
    let log = [row(1, "done"), row(2, "fail"), row(3, "fail")].concat().replacen("422", "200", 1);
    assert_eq!(counts(&log), (3, 3, 2));
    let (text, _) = read(&log);
    assert_eq!(text.matches("  id: op ").count(), 2, "{text}");
    // What stands twice in a sort of row joins nothing.
    let shared = log.replace("op-2", "op-1").replace("op-3", "op-1");
    let missing = draft(shared.as_bytes(), "log").expect("JSON").unwrap_err().missing;
    assert_eq!(missing, "the id that joins a result with its call");
}

#[test]
fn ids_may_restart_in_each_run() {
    let log = include_str!("../../../../../docs/examples/warehouse.jsonl");
    assert_eq!(counts(log), (9, 9, 5));
    let (text, imported) = read(log);
    assert!(text.contains("run: session") && imported.loss.runs == 4, "{text}");
}

#[test]
fn the_name_of_an_event_alone_may_tell_results() {
    let log = r#"{"type":"tool.call","id":"1","tool":"a","args":{}}
{"type":"tool.error","call_id":"1","message":"no answer in time"}
{"type":"tool.call","id":"2","tool":"a","args":{}}
{"type":"tool.result","call_id":"2","content":"x"}
"#;
    assert_eq!(counts(log), (2, 2, 1));
}

#[test]
fn rows_inside_a_document_are_found() {
    let log = r#"{"meta":{"v":1},"traces":[{"id":"t1","spans":[
        {"attributes":{"gen_ai.tool.name":"book","http.status_code":200},"span_id":"1","start_time":"2026-03-02T09:15:00Z"},
        {"attributes":{"gen_ai.tool.name":"book","http.status_code":503},"span_id":"2","start_time":"2026-03-02T09:15:01Z"}]}]}"#;
    assert_eq!(counts(log), (2, 2, 1));
    assert!(read(log).0.contains("records: 'traces[*].spans'"));
    let array = r#"[{"tool":"a","success":true},{"tool":"a","success":false,"error_message":"x"}]"#;
    assert_eq!(counts(array), (2, 2, 1));
}

#[test]
fn only_the_rows_of_tools_are_calls_where_others_have_names_too() {
    let log = r#"{"id":"a1","run_type":"tool","name":"search","inputs":{"q":"x"},"error":null}
{"id":"a2","run_type":"llm","name":"a-model","inputs":{"m":"x"},"error":null}
{"id":"a3","run_type":"tool","name":"pay","inputs":{"q":"x"},"error":"TimeoutError('no answer')"}
"#;
    assert_eq!(counts(log), (2, 2, 1));
    let blocks = r#"{"type":"tool_use","id":"tu1","name":"look","input":{"city":"x"}}
{"type":"tool_result","answers":"tu1","content":"no such city","is_error":true}
{"type":"tool_use","id":"tu2","name":"look","input":{"city":"y"}}
{"type":"tool_result","answers":"tu2","content":"sunny"}
"#;
    assert_eq!(counts(blocks), (2, 2, 1));
}

#[test]
fn spans_of_open_telemetry_are_found_with_their_times() {
    let log = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},"scopeSpans":[{"spans":[
        {"traceId":"t1","spanId":"s1","name":"execute_tool look","startTimeUnixNano":"1732579994673772000","endTimeUnixNano":"1732579995673772000",
         "attributes":{"gen_ai.tool.name":"look"},"status":{"code":2,"message":"timed out"}},
        {"traceId":"t1","spanId":"s2","name":"execute_tool pay","startTimeUnixNano":"1732579996673772000","endTimeUnixNano":"1732579997673772000",
         "attributes":{"gen_ai.tool.name":"pay"},"status":{"code":1}}]}]}]}"#;
    assert_eq!(counts(log), (2, 2, 1));
    let (text, imported) = read(log);
    assert!(text.contains("\ntime: ns") && text.contains("message: status.message"), "{text}");
    assert!(String::from_utf8_lossy(&imported.lines).contains("timed out"));
}

#[test]
fn the_data_of_a_user_is_not_taken_for_fields_of_the_log() {
    let log = r#"{"tool":"a","args":{"id":"1","status":"failed","run_id":"z"},"result":{"status":"lost"},"status":"ok"}
{"tool":"b","args":{"id":"1","status":"failed"},"result":{"status":"lost"},"status":"error"}
"#;
    let (text, imported) = read(log);
    assert_eq!(imported.loss.failures, 1, "{text}");
    assert!(!text.contains("run:") && !text.contains("lost"), "{text}");
}

#[test]
fn a_log_with_few_fields_is_drafted_from_these() {
    assert_eq!(counts("{\"action\":\"pay\",\"params\":{},\"success\":false}\n"), (1, 1, 1));
    assert_eq!(counts("{\"tool\":\"pay\",\"error\":null}\n{\"tool\":\"pay\",\"error\":\"x\"}\n"), (2, 2, 1));
    assert_eq!(counts("{\"tool\":\"pay\",\"error\":\"\"}\n{\"tool\":\"pay\",\"error\":\"x\"}\n"), (2, 2, 1));
    assert_eq!(counts("{\"tool\":\"pay\",\"status\":\"ok\",\"took\":1}\n"), (1, 1, 0));
    assert_eq!(counts("{\"tool\":\"pay\",\"attempt\":0,\"output\":\"Error: x\"}\n"), (1, 1, 1));
}

#[test]
fn beside_a_word_for_a_success_the_other_words_of_a_status_are_failures_unless_the_call_goes_on() {
    let row = |outcome: &str| format!("{{\"tool\":\"pay\",\"outcome\":\"{outcome}\",\"attempt\":1}}\n");
    let log = ["OK", "KO", "OK"].map(row).concat();
    assert_eq!(counts(&log), (3, 3, 1));
    assert!(read(&log).0.contains("outcome: KO"), "{}", read(&log).0);
    let log = ["ok", "pending", "ok"].map(row).concat();
    assert_eq!(read(&log).1.loss.failures, 0);
}

#[test]
fn without_a_needed_field_nothing_is_drafted_and_the_error_names_it() {
    let unmapped = |log: &str| draft(log.as_bytes(), "log").unwrap().unwrap_err();
    let no_tool = unmapped("{\"level\":\"info\",\"text\":\"hello\"}\n");
    assert_eq!((no_tool.missing, no_tool.fields), ("the tool's name", vec!["level".to_owned(), "text".to_owned()]));
    assert_eq!(unmapped("{\"tool\":\"a\",\"took_ms\":3}\n").missing, "whether a call failed");
    assert_eq!(unmapped("{\"method\":\"GET\",\"status\":200,\"args\":{}}\n").missing, "the tool's name");
    let apart = "{\"tool\":\"a\",\"args\":{}}\n{\"ok\":false}\n{\"tool\":\"b\",\"args\":{}}\n{\"ok\":true}\n";
    assert_eq!(unmapped(apart).missing, "the id that joins a result with its call");
    let within = "{\"spans\":[{\"tool\":\"a\",\"took_ms\":3}]}\n";
    assert_eq!(unmapped(within).missing, "whether a call failed", "what was found inside is not forgotten");
    assert_eq!(unmapped("[]").missing, "the tool's name");
    assert_eq!(unmapped("7").missing, "the tool's name");
}

#[test]
fn invalid_json_is_refused_with_its_place() {
    let report = draft(b"{\"tool\":\"a\"}\nnot json\n", "log").unwrap_err();
    assert!(report.to_string().starts_with("log:2:"), "{report}");
}

#[test]
fn names_that_yaml_would_misread_are_quoted() {
    let log =
        "{\"@timestamp\":\"2026-03-02T09:15:00Z\",\"tool\":\"a\",\"http status\":500,\"on\":\"x\",\"status\":500}\n";
    assert_eq!(counts(log), (1, 1, 1));
    assert!(read(log).0.contains("at: '@timestamp'"));
}

#[test]
fn a_row_with_its_duration_was_written_when_the_call_ended() {
    let row = |second: u32, ns: u64, outcome: &str| {
        format!(
            "{{\"@timestamp\":\"2026-03-02T09:15:0{second}Z\",\"tool\":\"a\",\"event\":{{\"duration\":{ns},\"outcome\":\"{outcome}\"}}}}\n"
        )
    };
    let log = [row(2, 84_000_000, "success"), row(3, 5_000_000_000, "failure")].concat();
    let (text, imported) = read(&log);
    assert!(text.contains("  latency: { path: event.duration, unit: ns }"), "{text}");
    assert!(text.contains("  at: '@timestamp'") && !text.contains("  started:"), "{text}");
    assert_eq!((imported.loss.calls, imported.loss.failures), (2, 1));
    let begun = log.replace("@timestamp", "start_time");
    assert!(read(&begun).0.contains("  started: start_time"), "a time of the beginning stays one");
    let unknown = log.replace("\"event\"", "\"x\"");
    assert!(!read(&unknown).0.contains("latency"), "a number without a unit is no duration");
}

#[test]
fn a_ledger_of_refusals_is_read() {
    let log = r#"{"action":"pay","inputs":{"a":1},"refused":true,"refusal_reason":"invalid_transition","binding":{"app_id":"r1"}}
{"action":"pay","inputs":{"a":1},"refused":false,"refusal_reason":null,"binding":{"app_id":"r1"}}
{"action":"book","inputs":{"a":2},"refused":true,"refusal_reason":"action_timeout","error_type":"TimeoutError","binding":{"app_id":"r2"}}
"#;
    let (text, imported) = read(log);
    assert_eq!((imported.loss.runs, imported.loss.calls, imported.loss.failures), (2, 3, 2), "{text}");
    let lines = String::from_utf8_lossy(&imported.lines).into_owned();
    assert!(lines.contains("\"kind\":\"invalid_transition\"") && lines.contains("TimeoutError"), "{text}\n{lines}");
    assert!(text.contains("  kind: refusal_reason") && !text.contains("message:"), "{text}");
    let in_words = read(&log.replace("invalid_transition", "the order is not open")).0;
    assert!(in_words.contains("  message: refusal_reason") && !in_words.contains("kind:"), "{in_words}");
}

#[test]
fn where_no_field_tells_failures_the_text_of_answers_does() {
    let log = r#"{"tool":"a","args":{},"output":"Traceback (most recent call last):\n  x\nKeyError: 'a'"}
{"tool":"a","args":{},"output":"fine"}
"#;
    let (text, imported) = read(log);
    assert!(text.contains("  - text"), "{text}");
    assert_eq!(imported.loss.failures, 1, "{text}");
}

#[test]
fn messages_of_a_protocol_are_no_tools() {
    let log = r#"{"dir":"out","method":"initialize","args":{},"ok":true}
{"dir":"out","method":"tools/call","params":{"name":"pay","arguments":{"a":1}},"ok":false}
"#;
    match draft(log.as_bytes(), "log").expect("JSON") {
        Ok(draft) => assert!(draft.text.contains("tool: params.name"), "{}", draft.text),
        Err(why) => assert_eq!(why.missing, "the tool's name"),
    }
}

#[test]
fn results_of_several_sorts_answer_the_calls_by_their_own_ids() {
    let log = r#"{"type":"agent.tool_use","id":"e1","name":"find","input":{"q":1},"processed_at":"2026-03-02T09:15:00Z"}
{"type":"agent.tool_result","tool_use_id":"e1","is_error":false,"content":"x","processed_at":"2026-03-02T09:15:01Z"}
{"type":"agent.mcp_tool_use","id":"e2","name":"pay","input":{"q":2},"processed_at":"2026-03-02T09:15:02Z"}
{"type":"agent.mcp_tool_result","mcp_tool_use_id":"e2","is_error":true,"content":"no","processed_at":"2026-03-02T09:15:03Z"}
{"type":"agent.mcp_tool_use","id":"e3","name":"pay","input":{"q":3},"processed_at":"2026-03-02T09:15:04Z"}
{"type":"agent.mcp_tool_result","mcp_tool_use_id":"e3","is_error":false,"content":"y","processed_at":"2026-03-02T09:15:05Z"}
"#;
    let (text, imported) = read(log);
    assert_eq!((imported.loss.calls, imported.loss.results, imported.loss.failures), (3, 3, 1), "{text}");
    assert_eq!(String::from_utf8_lossy(&imported.lines).matches("\"call_id\":\"e1\"").count(), 2, "{text}");
}

#[test]
fn a_log_whose_answers_are_no_texts_and_that_has_no_flag_gives_no_draft() {
    let log = r#"{"messages":[{"role":"assistant","tool_calls":[{"function":"pay","args":{},"id":"1"},{"function":"pay","args":{"a":1},"id":"2"}]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","content":"ok"}],"error":null}]}"#;
    let missing = draft(log.as_bytes(), "log").expect("JSON").map_err(|why| why.missing);
    assert_eq!(missing.map(|draft| draft.text), Err("whether a call failed"));
}

#[test]
fn the_text_of_an_exception_tells_that_a_call_failed_and_an_envelope_named_like_arguments_is_looked_into() {
    for name in ["exc_msg", "exc_text", "exc_str", "exc", "exc_info", "errmsg"] {
        let log = format!(
            "{{\"tool\":\"pay\",\"args\":{{\"o\":1}},\"id\":\"a\"}}\n\
             {{\"tool\":\"pay\",\"args\":{{\"o\":2}},\"id\":\"b\",\"{name}\":\"card declined\"}}\n"
        );
        assert_eq!(counts(&log), (2, 2, 1), "{name}");
        let (text, imported) = read(&log);
        assert!(text.contains(&format!("message: {name}")), "{text}");
        assert!(String::from_utf8_lossy(&imported.lines).contains("card declined"), "{text}");
        let log = log.replace("{\"tool\"", "{\"payload\":{\"tool\"").replace("\"}\n", "\"}}\n");
        assert_eq!(counts(&log), (2, 2, 1), "{name}");
    }
    let unmapped = draft(b"{\"run\":\"r\",\"payload\":{\"label\":\"x\",\"why\":{}}}\n", "log").unwrap().unwrap_err();
    assert_eq!(unmapped.fields, ["payload.label", "run"]);
}
