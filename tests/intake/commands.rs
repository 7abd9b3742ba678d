//! Formats on the command line: listed, shown, tried, named, and changed by a mapping of the user.

use serde_json::json;

use crate::place::Place;

/// A chat in which a tool fails in words of its own.
const CHAT: &str = r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"shop_pay","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"Oops: stock held"},{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"find","arguments":"{}"}}]},{"role":"tool","tool_call_id":"2","content":"Error: no rows found"}]}
"#;
const OWN: &str = "format: mapping/1
failed: { message: { starts_with: Oops } }
not_failed: { message: { contains: no rows found } }
kinds: { stock_held: { message: { contains: held } } }
tool: { path: function.name, strip: { prefix: shop_ } }
";

/// A place with samples of this folder.
fn place(samples: &[&str]) -> Place {
    let place = Place::new();
    samples.iter().for_each(|name| place.copy(&format!("tests/intake/samples/{name}"), name));
    place
}

#[test]
fn formats_are_listed_and_the_mapping_that_is_shown_reads_its_sample() {
    let place = place(&["otlp.json"]);
    let list = place.run(&["formats"]).exits(0).out;
    assert!(list.lines().any(|line| line.starts_with("otlp-genai ")), "{list}");
    place.write("my.yaml", &place.run(&["formats", "show", "otlp-genai"]).exits(0).out);
    let lines = |args: &[&str]| place.run(args).exits(0).out;
    assert_eq!(
        lines(&["formats", "convert", "otlp.json", "--map", "my.yaml"]),
        lines(&["formats", "convert", "otlp.json"])
    );
    let unknown = place.run(&["formats", "show", "otlp-genia"]).exits(2).err;
    assert!(unknown.contains("did you mean `otlp-genai`?"), "{unknown}");
    assert!(place.run(&["formats", "show", "openai-chat"]).exits(2).err.contains("is built in"));
}

#[test]
fn a_format_that_is_named_reads_what_is_not_recognised_and_nothing_else() {
    let place = place(&["gemini-contents.jsonl"]);
    place.write("cut.jsonl", "{\"contents\":[{\"parts\":[{\"text\":\"hi\"}]}]}\n{\"contents\":[]}\n");
    assert!(place.run(&["formats", "convert", "cut.jsonl"]).exits(2).err.contains("no recording that is recognised"));
    let named = place.run(&["formats", "convert", "cut.jsonl", "--as", "gemini-contents"]).exits(2).err;
    assert!(named.contains("`cut.jsonl` has no calls, read as Gemini contents"), "{named}");
    let wrong = place.run(&["formats", "convert", "gemini-contents.jsonl", "--as", "bedrock-converse"]).exits(2).err;
    assert!(wrong.contains("has no calls, read as Amazon Bedrock Converse"), "{wrong}");
    assert!(wrong.contains("the file looks like `gemini-contents`: leave out `--as`"), "{wrong}");
    assert!(!named.contains("leave out"), "{named}");
}

#[test]
fn of_yaml_files_a_cassette_is_a_recording_and_a_list_is_neither_that_nor_a_fixture() {
    let place = Place::new();
    place.copy("tests/intake/others/vcr-cassette.yaml", "refunds.yaml");
    place.write("events.yaml", "- event: tool\n  name: pay\n");
    let replayed = place.run(&["replay", "refunds.yaml"]).exits(0).out;
    assert!(replayed.contains("refunds.yaml (read as VCR cassette)"), "{replayed}");
    assert!(replayed.contains("POST /v1/refunds  refunds#2"), "{replayed}");
    for args in [&["replay", "events.yaml"][..], &["formats", "convert", "events.yaml"]] {
        let said = place.run(args).exits(2).err;
        assert!(said.contains("only VCR cassettes are read"), "{said}");
    }
    let said = place.run(&["init", "--from", "events.yaml"]).exits(2).err;
    assert!(said.contains("only VCR cassettes are read"), "{said}");
    place.write("none.yaml", "interactions:\n- request:\n    body: x\n");
    let said = place.run(&["formats", "convert", "none.yaml"]).exits(2).err;
    assert!(said.contains("no runs in this file"), "{said}");
}

#[test]
fn a_call_that_waits_for_an_approval_is_not_over_a_timeout() {
    let place = place(&["claude-code-session.jsonl"]);
    place.edit_first("claude-code-session.jsonl", "T09:16:07.220Z", "T10:16:07.220Z"); // the last result: the person was away
    let mapping = place.run(&["formats", "show", "claude-code"]).exits(0).out;
    let without: String = mapping.split_inclusive('\n').filter(|line| !line.contains("timeout:")).collect();
    place.write("without.yaml", &without);
    let page = |flags: &[&str]| {
        place.run(&[&["replay", "claude-code-session.jsonl", "--playbook", "standard"], flags].concat()).exits(0).out
    };
    assert!(!page(&[]).contains("over_timeout"), "{}", page(&[]));
    assert!(page(&["--map", "without.yaml"]).contains("over_timeout"), "the usual timeout is shorter than that wait");
}

#[test]
fn bad_lines_of_a_recognised_format_are_skipped_and_counted_if_the_user_says_so() {
    let place = place(&["claude-code-session.jsonl", "openai-chat-finetune.jsonl"]);
    for name in ["claude-code-session.jsonl", "openai-chat-finetune.jsonl"] {
        let whole = place.read(name);
        let calls = |text: &str| text.lines().filter(|line| line.contains("\"tool_call\"")).count();
        place.write("bad.jsonl", &whole.replacen('\n', "\n{\"foo\": tr\n", 1));
        let refused = place.run(&["formats", "convert", "bad.jsonl"]).exits(2).err;
        assert!(refused.contains("bad.jsonl:2:"), "{refused}");
        let ran = place.run(&["formats", "convert", "bad.jsonl", "--skip-invalid"]).exits(0);
        assert!(ran.err.contains("1 line that is not JSON, left out (first at line 2)"), "{}", ran.err);
        assert_eq!(calls(&ran.out), calls(&place.run(&["formats", "convert", name]).exits(0).out));
        assert!(place.run(&["replay", "bad.jsonl", "--skip-invalid"]).out.contains("left out (first at line 2)"));
    }
}

#[test]
fn custom_tool_calls_of_a_chat_keep_their_text() {
    let place = Place::new();
    place.write("chat.jsonl", r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"run_sql","input":"select 1"}}]},{"role":"tool","tool_call_id":"1","content":"1"}]}"#);
    let ran = place.run(&["formats", "convert", "chat.jsonl"]).exits(0);
    assert!(ran.out.contains(r#""tool":"run_sql","args":"select 1""#), "{}", ran.out);
    assert!(!ran.err.contains("not JSON"), "{}", ran.err);
}

/// MCP messages with a tool list, and one call of each tool.
const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"pay","annotations":{"readOnlyHint":false,"idempotentHint":true}},{"name":"totals","annotations":{"readOnlyHint":true}}]}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{}}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"paid"}]}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"totals","arguments":{}}}
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"7"}]}}
"#;

#[test]
fn hints_of_a_tool_list_become_guesses_and_confirming_takes_their_marks_away() {
    let place = Place::new();
    place.write("mcp.jsonl", LISTED);
    let drafted = place.run(&["confirm", "--draft", "mcp.jsonl"]).exits(0).out;
    for row in
        ["pay: { access: write, idempotent: true } # guessed", "totals: { access: read }                 # guessed"]
    {
        assert!(drafted.contains(row), "{row}\n{drafted}");
    }
    place.run(&["init", "--from", "mcp.jsonl"]).exits(0);
    let guessed = place.read("tools/mcp.yaml");
    assert!(guessed.contains("totals: { access: read }  "), "{guessed}");
    let said = place.run(&["confirm", "--guessed", "to*"]).exits(1).out;
    assert!(said.contains("confirmed totals"), "{said}");
    let one = place.read("tools/mcp.yaml");
    assert!(one.contains("totals: { access: read }\n") && one.contains("idempotent: true } # guessed"), "{one}");
    place.run(&["confirm", "--guessed"]).exits(0);
    let all = place.read("tools/mcp.yaml");
    assert_eq!(all.lines().filter(|line| line.starts_with("  ") && line.contains('#')).count(), 0, "{all}");
    let said = place.run(&["confirm", "--guessed"]).exits(2).err;
    assert!(said.contains("no guess\n"), "{said}");
    assert!(place.run(&["confirm"]).exits(0).out.contains("nothing to confirm"));
}

#[test]
fn a_mapping_of_rows_and_a_format_are_not_both_taken() {
    let place = place(&["gemini-contents.jsonl"]);
    place.write("m.yaml", "format: mapping/1\ncall: { tool: tool }\n");
    let ran = place.run(&["replay", "gemini-contents.jsonl", "--as", "gemini-contents", "--map", "m.yaml"]).exits(2);
    assert!(ran.err.contains("`--as gemini-contents` names a format"), "{}", ran.err);
}

#[test]
fn a_file_that_fits_two_formats_is_asked_about() {
    let place = place(&["anthropic-messages.jsonl", "openai-responses-items.jsonl"]);
    let both = [place.read("anthropic-messages.jsonl"), place.read("openai-responses-items.jsonl")].concat();
    place.write("both.jsonl", &both);
    let asked = place.run(&["replay", "both.jsonl"]).exits(2).err;
    assert!(asked.contains("several formats fit: `anthropic-messages`, `openai-responses`"), "{asked}");
    let named = place.run(&["formats", "convert", "both.jsonl", "--as", "anthropic-messages"]).exits(0).err;
    assert!(named.contains("read as Anthropic Messages: 2 runs, 9 calls"), "{named}");
    let unread = "a part of it looks like `openai-responses`, and is not read";
    assert!(named.contains(unread), "{named}");
    let replayed = place.run(&["replay", "both.jsonl", "--as", "anthropic-messages"]);
    assert!(replayed.out.contains(unread), "{}", replayed.out);
    place.write("chat.jsonl", &[CHAT, &place.read("anthropic-messages.jsonl")].concat());
    let asked = place.run(&["replay", "chat.jsonl"]).exits(2).err;
    assert!(asked.contains("several formats fit: `anthropic-messages`, `openai-chat`"), "{asked}");
}

#[test]
fn a_mapping_of_the_user_changes_a_format_by_flag_and_by_project() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT);
    place.write("own.yaml", OWN);
    let said = "the mapping changed 1 result to a failure, 1 failure to a success, 1 error kind, 1 tool";
    let given = place.run(&["formats", "convert", "chat.jsonl", "--map", "own.yaml"]).exits(0);
    assert!(given.err.contains(said), "{}", given.err);
    assert!(given.out.contains("\"tool\":\"pay\"") && given.out.contains("\"kind\":\"stock_held\""), "{}", given.out);
    place.write("playproof.yaml", "format: project/1\nmap: own.yaml\n");
    assert_eq!(place.run(&["formats", "convert", "chat.jsonl"]).exits(0).out, given.out);
    assert!(place.run(&["replay", "chat.jsonl"]).out.contains(said));
    place.write("own.jsonl", "{\"tool\":\"a\",\"status\":\"ok\"}\n");
    place.run(&["replay", "own.jsonl"]).exits(0); // a trace of our own is no recognised format
    let refused = place.run(&["replay", "own.jsonl", "--map", "own.yaml"]).exits(2).err;
    assert!(refused.contains("a mapping without `call` changes a recognised format"), "{refused}");
    place.write("runs.yaml", "format: mapping/1\nrun: session\n");
    let refused = place.run(&["formats", "convert", "chat.jsonl", "--map", "runs.yaml"]).exits(2).err;
    assert!(refused.contains("no field names them"), "{refused}");
}

#[test]
fn trying_a_mapping_shows_what_each_path_finds() {
    let place = place(&["app-log-structlog.jsonl", "app-log-structlog.mapping.yaml", "otlp.json"]);
    let shown = place.run(&["formats", "try", "app-log-structlog.jsonl", "--map", "app-log-structlog.mapping.yaml"]);
    let shown = shown.exits(0).out;
    for line in [
        "call at line 1",
        "   call.run   session_id  conv_a",
        "   result.code           exc.class        TimeoutError",
        "   result.status         exc.http_status  -",
        "next: playproof replay app-log-structlog.jsonl --map app-log-structlog.mapping.yaml",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(place.run(&["formats", "try", "otlp.json"]).exits(0).out.contains("startTimeUnixNano"));
    let nothing = place.run(&["formats", "try", "app-log-structlog.jsonl"]).exits(2).err;
    assert!(nothing.contains("playproof init --from app-log-structlog.jsonl"), "{nothing}");
}

#[test]
fn guesses_are_confirmed_in_a_file_that_no_project_names() {
    let place = Place::new();
    place.write(
        "t.jsonl",
        "{\"tool\":\"pay\",\"args\":{},\"status\":\"ok\"}\n{\"tool\":\"get\",\"args\":{},\"status\":\"ok\"}\n",
    );
    place.run(&["confirm", "--draft", "t.jsonl", "-o", "facts.yaml"]).exits(0);
    let said = place.run(&["confirm", "--tools", "facts.yaml", "--guessed", "pay"]).exits(1).out;
    assert!(said.contains("confirmed pay") && !said.contains("confirmed get"), "{said}");
    let facts = place.read("facts.yaml");
    assert!(facts.contains("pay: { access: write }\n") && facts.contains("access: read }  # guessed"), "{facts}");
    let said = place.run(&["confirm", "--tools", "facts.yaml", "--guessed", "pay"]).exits(2).err;
    assert!(said.contains("`pay` is confirmed already, in facts.yaml:"), "{said}");
    let said = place.run(&["confirm", "--tools", "t.jsonl"]).exits(2).err;
    assert!(said.contains("t.jsonl"), "{said}");
}

#[test]
fn an_error_text_counts_where_an_mcp_server_says_that_there_is_none() {
    let place = place(&[]);
    let call = |id: u8| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{}}}}}}"#)
    };
    let answer = |id: u8, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"isError":false,"content":[{{"type":"text","text":{text:?}}}]}}}}"#
        )
    };
    let texts = ["Error: no such order", "{\"error\":\"no such order\"}", "Errors: 0", "order o_1 is paid"];
    let lines = (0..).zip(texts).flat_map(|(id, text)| [call(id), answer(id, text)]);
    place.write("mcp.jsonl", &lines.map(|line| line + "\n").collect::<String>());
    let read = place.run(&["formats", "convert", "mcp.jsonl"]).exits(0).out;
    let results: Vec<_> = read.lines().filter(|line| line.contains("tool_result")).collect();
    let has = |result: &str, status: &str, from: &str| {
        result.contains(&format!("\"status\":\"{status}\"")) && result.contains(&format!("\"status_from\":\"{from}\""))
    };
    assert!(has(results[0], "error", "text") && has(results[1], "error", "body"), "{read}");
    assert!(has(results[2], "ok", "text") && has(results[3], "ok", "text"), "{read}");
}

#[test]
fn a_session_log_is_not_the_stream_of_a_run_without_a_person() {
    let place = place(&["claude-code-session.jsonl", "claude-stream.jsonl"]);
    let both = place.read("claude-code-session.jsonl").replace("\"sessionId\":", "\"session_id\":\"s\",\"sessionId\":");
    place.write("both.jsonl", &both);
    for (name, title) in [("both.jsonl", "Claude Code session log"), ("claude-stream.jsonl", "Claude Code stream-json")]
    {
        let said = place.run(&["formats", "convert", name]).exits(0).err;
        assert!(said.contains(title), "{name}: {said}");
    }
}

#[test]
fn rows_of_langsmith_without_the_tool_s_name_are_told_what_they_lack() {
    let place = Place::new();
    let row = json!({ "id": "1", "run_type": "tool", "trace_id": "t", "start_time": "2024-01-01T00:00:00",
        "end_time": "2024-01-01T00:00:01", "inputs": { "q": "a" }, "outputs": { "output": "b" } });
    place.write("runs.jsonl", &format!("{row}\n{row}\n"));
    let err = place.run(&["replay", "runs.jsonl"]).exits(2).err;
    assert!(err.contains("`runs.jsonl` has no calls, read as LangSmith runs"), "{err}");
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(err.contains("rows that would be calls lack `name`, the name of the tool: export that field too"), "{err}");
}
