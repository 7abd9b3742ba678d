//! Results as sources write them, each with its answer.

use super::{Assessment, Failure, ToolResult, assess, failure_of};
use playproof_engine::event::{KindFrom, StatusFrom as Evidence};

fn of_body(body: &str) -> Assessment {
    assess(&ToolResult { body: Some(body), tool: Some("do_it"), ..ToolResult::default() })
}

fn failure(body: &str) -> Failure {
    match of_body(body) {
        Assessment::Failed(failure) => failure,
        other => panic!("{body}: {other:?}"),
    }
}

/// Texts of failures by their kind.
const TEXTS: &[(&str, &[&str])] = &[
    (
        "timeout",
        &[
            "Error: Request timed out after 5000 ms",
            "Tool call timed out.",
            "TimeoutError: page.goto: Timeout 30000ms exceeded.",
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nrequests.exceptions.ReadTimeout: Read timed out.",
            "MCP error -32001: Request timed out",
            "504 Gateway Timeout",
            "HTTP error 408: slow",
            "Tool 'x' timed out after 3 seconds.",
            "HTTPSConnectionPool(host='a.b', port=443): Max retries exceeded with url: /c (Caused by ConnectTimeoutError(<x>, 'no'))",
        ],
    ),
    (
        "429_rate_limited",
        &[
            "Error: 429 Too Many Requests: rate limit exceeded, retry after 2 s",
            "An error occurred (ThrottlingException) when calling the Invoke operation (reached max retries: 4): Rate exceeded",
            "RateLimitError: slow",
            "Error response 429 while fetching https://a.b/c: {\"object\":\"error\",\"message\":\"no\"}",
            "Error code: 429 - {'error': {'message': 'Rate limit reached', 'type': 'requests', 'code': 'rate_limit_exceeded'}}",
        ],
    ),
    (
        "quota_exhausted",
        &[
            "Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'type': 'insufficient_quota', 'code': 'insufficient_quota'}}",
            "Error: Your credit balance is too low to access the API.",
        ],
    ),
    (
        "409_conflict",
        &[
            "409 Conflict: idempotency key ik_91 was already processed",
            "psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint \"a\"\nDETAIL: x",
        ],
    ),
    (
        "403_forbidden",
        &[
            "403 Forbidden: agents may not close tickets",
            "Error: Auto-blocked (timeout)",
            "Error: Unmatched action blocked (non-interactive mode)",
            "Error: Only SELECT queries are allowed. No INSERT.",
            "Error: scope not in agent's registered permissions",
            "PermissionError: [Errno 13] Permission denied: 'a'",
            "Path blocked by rule: ~/a/**",
            "The command was denied by the sandbox policy.",
            "Write path blocked: ~/a/**",
            "Hard-blocked: 'sudo'",
            "Помилка: [Errno 13] Permission denied: 'a'",
            r#"{"ok":false,"error":{"code":"AUTHZ_DENIED","message":"Access is limited to the account's holder."}}"#,
        ],
    ),
    (
        "401_unauthorized",
        &[
            "HTTP 401 Unauthorized",
            "Error: Invalid API key provided",
            "Error: Session token signature is invalid.",
            r#"{"ok":false,"error":{"code":"AUTH_MISSING","message":"No session token supplied with the tool call."}}"#,
        ],
    ),
    (
        "404_not_found",
        &[
            "Request failed with status code 404",
            "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
            "cat: x.txt: No such file or directory",
            "Error: ENOENT: no such file or directory, open 'x'",
            "404 Client Error: Not Found for url: https://a.b/c",
        ],
    ),
    (
        "5xx",
        &[
            "503 Service Unavailable: upstream is being restarted",
            "Error: connect ECONNREFUSED 127.0.0.1:80",
            "fetch failed",
            "Server error '500 Internal Server Error' for url 'https://a.b'",
            "rpc error: code = Unavailable desc = transport is closing",
        ],
    ),
    (
        "invalid_arguments",
        &[
            "Error executing tool execute-tool: MCP error -32602: Invalid arguments for tool do_it: [\n {\"code\": \"invalid_type\"}]",
            "422 Unprocessable Entity: units: value is not a valid integer",
            "2 validation errors for do_itArguments\na\n  Field required",
            "<tool_use_error>InputValidationError: Edit failed due to the following issue:\nThe required parameter `a` is missing</tool_use_error>",
            "Error: do_it() got an unexpected keyword argument 'x'",
        ],
    ),
    (
        "schema_validation",
        &[
            "MCP error -32602: Output validation error: 'x' is a required property",
            "1 validation error for Weather\ntemp\n  Input should be a valid number",
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        ],
    ),
    (
        "unknown_tool",
        &[
            "Unknown action do_it",
            "MCP error -32602: Unknown tool: do_it",
            "Error: do_it is not a valid tool, try one of [a].",
            "Tool do_it not found",
            "unsupported call: do_it",
        ],
    ),
    (
        "user_rejected",
        &[
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "Permission to use mcp__a__b has been rejected. Rejection message: no.",
            "exec command rejected by user",
            "Error: you declined this",
            "Tool execution was not approved.",
        ],
    ),
    (
        "interrupted",
        &[
            "Operation cancelled",
            "asyncio.exceptions.CancelledError",
            "Error: command was aborted by SIGINT",
            "<tool_use_error>Sibling tool call errored</tool_use_error>",
        ],
    ),
    ("412_precondition", &["File has not been read yet. Read it first before writing to it."]),
    (
        "tool_error",
        &[
            "Error: flight HAT030 not available on date 2024-05-13",
            "Failed to push some refs",
            "[stderr]\nSyntaxError: unmatched ')'",
            "[MCP error: {'message': 'no'}]",
            "GitHub API error: no such branch",
            "Exit code 2\nboom",
            "Error",
            "ValueError: qty must be >= 1",
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'",
            "Process exited with code 2",
            "Could not parse the page",
            "[错误] DB error: (1054, \"Unknown column 'a' in 'field list'\")",
            "工具错误：城市不存在",
            "Помилка: файл відсутній",
            "Erro: pedido inexistente",
            "[Erro ao executar adicione_tarefas: o título falta]",
            "Lỗi khi cào bằng Playwright: không có trình duyệt",
            "Fehler beim Lesen der Datei: kein Zugriff",
            "Processing -File 'a.sh' is no script.\n\n⚠️ Exit code: 4294770688\n\nWorkspace:\n  a.sh",
            "bash: fly: command not found",
        ],
    ),
];

#[test]
fn a_failure_that_only_an_exit_code_tells_has_a_code_of_its_own() {
    for body in [
        "Exit code 2\nboom",
        "Process exited with code 2",
        "Command '['make']' returned non-zero exit status 2.",
        "Building.\n\n⚠️ Exit code: 4\n\nWorkspace:\n  a.sh",
        "[the long output of a build that says nothing by itself]\n[The command completed with exit code 2.]",
        r#"{"exit_code":2,"stdout":"","stderr":"table not found"}"#,
        r#"{"output":"boom","metadata":{"exit_code":127}}"#,
        r#"{"exit_code":1,"stdout":"","stderr":""}"#,
    ] {
        let failure = failure(body);
        assert_eq!((&*failure.kind, failure.code.as_deref()), ("tool_error", Some("nonzero_exit")), "{body}");
    }
    for body in ["Error: the build had exit code 2", "Failed to push", r#"{"error":"the exit code was 2"}"#] {
        assert_eq!(failure(body).code.as_deref(), None, "{body}");
    }
    let named = failure(r#"{"error":{"code":"E_BUILD","message":"no"},"exit_code":2}"#);
    assert_eq!(named.code.as_deref(), Some("E_BUILD"), "the source names it");
}

#[test]
fn the_start_of_a_text_tells_a_failure_and_its_kind() {
    for (kind, texts) in TEXTS {
        for text in *texts {
            assert_eq!(failure(text).kind, *kind, "{text}: {:?}", failure(text));
        }
    }
}

#[test]
fn a_structured_body_tells_a_failure_whatever_wraps_it() {
    let error = r#"{"error": {"type": "RateLimitError", "status": 429, "message": "slow down"}}"#;
    let quoted = serde_json::to_string(error).expect("a text");
    for body in [
        error.to_owned(),
        quoted.clone(),
        format!("[{{\"type\":\"text\",\"text\":{quoted}}}]"),
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":{quoted}}}],\"isError\":false}}"),
        format!(
            "{{\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{quoted}}}]}},\"jsonrpc\":\"2.0\",\"id\":1}}"
        ),
        format!("meta=None content=[TextContent(type='text', text='{error}', annotations=None)] isError=False"),
        "{'error': {'type': 'RateLimitError', 'status': 429, 'message': 'slow down'}}".to_owned(),
    ] {
        let found = failure(&body);
        let facts = (found.kind.as_str(), found.message.as_str(), found.status, found.evidence);
        assert_eq!(facts, ("429_rate_limited", "slow down", Some(429), Evidence::Body), "{body}");
    }
}

#[test]
fn each_structure_of_a_failure_is_known() {
    for (body, kind) in [
        (r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#, "unknown_tool"),
        (r#"{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}],"data":null}"#, "tool_error"),
        (r#"{"success":false,"message":"no"}"#, "tool_error"),
        (r#"{"isError":true,"content":[{"type":"text","text":"Session not found"}]}"#, "tool_error"),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "5xx"),
        (
            r#"{"error":"invalid_transition","requested":"pay","valid":["a"],"session":"s","message":"no"}"#,
            "tool_error",
        ),
        (r#"{"error":"unknown_action","requested":"pay","valid":["a"],"session":"s","message":"no"}"#, "unknown_tool"),
        (r#"{"detail":"Not found."}"#, "404_not_found"),
        (
            r#"{"detail":[{"loc":["body","n"],"msg":"field required","type":"value_error.missing"}]}"#,
            "invalid_arguments",
        ),
        (r#"{"message":"Not Found","documentation_url":"https://docs.github.com","status":"404"}"#, "404_not_found"),
        (r#"{"exit_code":2,"stdout":"","stderr":"boom"}"#, "tool_error"),
        (r#"{"output":"boom","metadata":{"exit_code":127}}"#, "tool_error"),
        (r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#, "429_rate_limited"),
        (r#"{"errorMessage":"boom","errorType":"KeyError","stackTrace":[]}"#, "tool_error"),
        (r#"{"status":"error","message":"boom"}"#, "tool_error"),
        (r#"{"type":"https://a.b/c","title":"Conflict","status":409,"detail":"gone on"}"#, "409_conflict"),
        (
            r#"{"error":{"code":403,"message":"m","errors":[{"reason":"rateLimitExceeded"}],"status":"PERMISSION_DENIED"}}"#,
            "429_rate_limited",
        ),
        (r#"{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}"#, "quota_exhausted"),
        (r#"{"error":{"message":"m","type":"card_error","code":"card_declined"}}"#, "tool_error"),
        (r#"{"error":{"message":"m","type":"idempotency_error"}}"#, "409_conflict"),
    ] {
        assert_eq!(failure(body).kind, kind, "{body}: {:?}", failure(body));
    }
}

#[test]
fn ordinary_answers_are_no_failures() {
    for body in [
        "",
        "ok",
        "[]",
        "{}",
        "null",
        "No results found.",
        "0 errors, 3 warnings",
        "Tests: 1 failed, 11 passed, 12 total",
        "# 403 Forbidden explained\n\nThe status means",
        "Error (baseball): an error is an act, in the judgment of the official scorer.",
        "Exceptions are thrown when the input is invalid.",
        "Function main not found! Instead, here is the disassembly of an equivalent function:\n; Parameters:\n; Stack variables:\n; a\n; b",
        r#"{"exit_code":0,"output":"Error: printed by the program"}"#,
        r#"{"number":3,"title":"Error: cannot start","body":"Traceback (most recent call last):"}"#,
        "Errors: 0\nWarnings: 2",
        "Failed: 0, passed: 12",
        "no errors",
        "Fehler sind menschlich",
        "Fehler: 0",
        "Lỗi: 0, cảnh báo: 2",
        "错误处理指南：如何处理失败",
        "[错误处理] 如何捕获异常",
        "错误：3",
        "Erro médio: 0,3",
        "Erro ao quadrado: 0,3",
        "Fehler bei der Messung: 2 %",
        "done\n\n⚠️ Exit code: 0",
        "Run it. A code is shown:\nExit code: 2\nThat is the end of the chapter",
        "Blocked by rules of the road, a short film",
        "2 requests were blocked by policy today",
        "Ads blocked by filter today: 12",
        "Hard-blocked requests: 3",
        "Error handling in Rust: a guide\nhttps://a.b/c",
        "1. TypeError: x is not a function - Stack Overflow\nhttps://stackoverflow.com/q/1",
        "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 3 passed",
        "class TimeoutError(Exception):\n    pass",
        "import os\n# Error: never raised\n",
        "The service returned an error yesterday, and it was fixed.",
        "error:\n  title: Something\n  text: x",
        r#"{"error":null,"data":{"a":1}}"#,
        r#"{"errors":[],"data":{"a":1}}"#,
        r#"{"errors":0,"warnings":2,"files":["a"]}"#,
        r#"{"success":true,"error":""}"#,
        r#"{"id":"j1","name":"job","state":"failed","error":"oom","started":"x","ended":"y","owner":"z","queue":"q"}"#,
        r#"[{"level":"error","message":"Error: boom"},{"level":"info","message":"x"}]"#,
        r#"{"exit_code":0,"stderr":"warning: x","stdout":""}"#,
        r#"{"status":"failed","id":"p_1","amount":3,"currency":"eur"}"#,
        r#"{"results":[{"title":"Error: how to fix it"}]}"#,
        "2026-11-23 10:00:00 ERROR boom\n2026-11-23 10:00:01 INFO fine",
        "ERROR: a\nINFO: b\nWARN: c\nINFO: d",
        "Exit code: 0\nWall time: 1 seconds\nOutput:\nError: this is in the output",
    ] {
        assert_eq!(of_body(body), Assessment::Ok, "{body}");
    }
}

#[test]
fn what_only_suggests_a_failure_is_suspected() {
    for body in ["Sorry, I cannot help with that.", "Error\nsee above"] {
        assert!(matches!(of_body(body), Assessment::Suspected(_)), "{body}: {:?}", of_body(body));
    }
}

#[test]
fn an_error_beside_the_id_of_a_record_is_no_refusal() {
    for body in [
        r#"{"refund_id":"re_1","error":{"code":"rate_limited"}}"#,
        r#"{"error":{"code":"rate_limited"},"refund_id":"re_1"}"#,
        r#"{"id":"re_1","error":"the receipt was not sent"}"#,
        r#"{"error":"Not found","orderId":7}"#,
    ] {
        assert!(matches!(of_body(body), Assessment::Suspected(_)), "{body}: {:?}", of_body(body));
    }
    for look_alike in [
        r#"{"error":{"code":"rate_limited"},"request_id":"rq_1"}"#,
        r#"{"id":1,"jsonrpc":"2.0","error":{"code":-32000,"message":"rate limited"}}"#,
        r#"{"error":{"code":"rate_limited"},"refund_id":null}"#,
    ] {
        assert_eq!(failure(look_alike).kind, "429_rate_limited", "{look_alike}");
    }
}

/// What users found: the answers of tools that declare no format of their errors.
#[test]
fn plain_words_and_bare_codes_tell_failures() {
    for body in [
        "There was an error processing the request",
        "We were unable to process your request",
        "Payment could not be processed",
        "Your card was declined.",
        "Card declined",
        r#"{"status":"fail"}"#,
    ] {
        assert_eq!(failure(body).kind, "tool_error", "{body}");
    }
    for (body, kind) in [
        ("rate_limit_exceeded", "429_rate_limited"),
        ("PERMISSION_DENIED", "403_forbidden"),
        ("DEADLINE_EXCEEDED", "timeout"),
        ("INVALID_ARGUMENT: x", "invalid_arguments"),
        (r#"{"statusCode":500,"body":"x"}"#, "5xx"),
        (r#"{"http_status":503}"#, "5xx"),
        (r#"{"code":"ECONNRESET"}"#, "5xx"),
        (r#"{"code":"RESOURCE_EXHAUSTED","message":"x"}"#, "tool_error"),
        ("card_declined", "tool_error"),
    ] {
        assert_eq!(failure(body).kind, kind, "{body}");
    }
    let mcp = r#"{"isError":true,"content":[],"structuredContent":{"error":"boom"}}"#;
    assert_eq!(failure(mcp).message, "boom");
    for body in [
        r#"{"status":"FAILED","task":"t_1"}"#,
        r#"{"message":"Order not found"}"#,
        "Cannot Buy Me Love - The Beatles",
        "Unable to Stop - song",
    ] {
        assert!(matches!(of_body(body), Assessment::Suspected(_)), "{body}: {:?}", of_body(body));
    }
}

#[test]
fn counts_limits_and_records_are_no_failures() {
    for body in [
        "Invalid: 0, valid: 17",
        "Timed out sessions: 0",
        "Not found: 0",
        "Rate limit: 100/min, remaining 99",
        "Quota exceeded by 0 users",
        "HTTP 404 pages: 0",
        r#"{"error":"No error"}"#,
        r#"{"message":"Order created"}"#,
        r#"{"statusCode":200,"body":"x"}"#,
        r#"{"statusCode":404,"url":"https://a.b/c","checked":3}"#,
        r#"{"code":"SUMMER_SALE","message":"10% off"}"#,
        "order_created",
        "request_timeout: 30",
        "There was a party on Monday",
    ] {
        assert_eq!(of_body(body), Assessment::Ok, "{body}");
    }
    for body in ["Rate limit: 60/min exceeded, 0 remaining", "Not found: order 17", "Unable to open a - b"] {
        assert_ne!(of_body(body), Assessment::Ok, "{body}");
    }
}

#[test]
fn a_flag_of_success_is_weaker_than_a_failure_inside_or_in_sure_words() {
    let flagged = |flag, body| assess(&ToolResult { flag: Some(flag), body: Some(body), ..ToolResult::default() });
    let denied = |tool, body| {
        let result = ToolResult { flag: Some(false), body: Some(body), tool: Some(tool), ..ToolResult::default() };
        assess(&result)
    };
    for (tool, body) in [
        ("book_seat", "Error: no seats"),
        ("click", "### Error\nError: Ref e85 not found in the page. Take a new snapshot."),
        ("bash", "exited 2 in 52ms:\nrg: a.toml: No such file or directory"),
        ("run_command", "Command: make\nOutput: no rule\nExit Code: 2\nSignal: 0"),
        ("run_command", "Created At: 9:15\nCompleted At: 9:16\n\n\tThe command failed with exit code: 1\n\tOutput:\n"),
        ("read_file", "File not found: b7.txt"),
        ("read_file", "Error reading file: ENOENT: no such file or directory, open 'b7.txt'"),
        ("bash", "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"),
    ] {
        assert!(matches!(denied(tool, body), Assessment::Failed(_)), "{tool}: {body}");
    }
    for (tool, body) in [
        ("bash", "Error: no seats"),
        ("bash", "File not found: b7.txt"),
        ("read_file", "File not found: b7.txt\nFile found: b8.txt"),
        ("run_python", "no such file, so it is made"),
        ("get_seat", "Sorry, seat 7 is not available"),
    ] {
        assert_eq!(denied(tool, body), Assessment::Ok, "{tool}: {body}");
    }
    let Assessment::Failed(found) = flagged(true, "all fine") else { panic!("a flagged failure") };
    assert_eq!((found.evidence, found.message.as_str(), found.kind_from), (Evidence::Flag, "all fine", None));
    let inner = flagged(false, r#"{"isError":true,"content":[{"type":"text","text":"no"}]}"#);
    assert!(matches!(&inner, Assessment::Failed(found) if found.evidence == Evidence::Body), "{inner:?}");
    let by_status = assess(&ToolResult { status: Some(503), body: Some("all fine"), ..ToolResult::default() });
    assert!(matches!(&by_status, Assessment::Failed(found) if found.evidence == Evidence::Code && found.kind == "5xx"));
}

#[test]
fn the_kind_says_what_named_it() {
    let named = ToolResult { flag: Some(true), kind: Some("TimeoutError"), body: Some("x"), ..ToolResult::default() };
    assert_eq!(failure_of(&named).kind_from, Some(KindFrom::Flag));
    assert_eq!(failure("HTTP 503: x").kind_from, Some(KindFrom::Code));
    assert_eq!(failure("Error: socket hang up").kind_from, Some(KindFrom::Text));
    assert_eq!(failure("Error: boom").kind_from, None);
}

#[test]
fn words_within_a_longer_text_prove_nothing_about_a_write() {
    assert_eq!(failure("Error: refund created, and then too many requests came").kind, "tool_error");
    assert_eq!(failure("Error: order o_1 was saved; missing required field mail").kind, "tool_error");
    let long = |length: usize| format!("Error: {}missing required field mail", "x ".repeat(length / 2));
    assert_eq!((&*failure(&long(100)).kind, &*failure(&long(200)).kind), ("invalid_arguments", "tool_error"));
}

#[test]
fn the_headers_of_an_answer_are_kept_wherever_they_are() {
    let retry_after = |result: &ToolResult<'_>| failure_of(result).headers.first("retry-after").map(str::to_owned);
    let body = r#"{"error":{"message":"x","headers":{"Retry-After":["3"],"Set-Cookie":"s"}}}"#;
    let result = ToolResult { body: Some(body), ..ToolResult::default() };
    assert_eq!((retry_after(&result).as_deref(), failure_of(&result).headers.iter().count()), (Some("3"), 1));
    let headers = crate::json::parse(r#"[["retry-after","7"]]"#).unwrap();
    assert_eq!(retry_after(&ToolResult { headers: Some(headers), ..result }).as_deref(), Some("7"));
    assert_eq!(retry_after(&ToolResult { body: Some("Error: boom"), ..ToolResult::default() }), None);
}

#[test]
fn the_wait_is_read_from_seconds_dates_and_phrases() {
    let wait = |body: &str| failure(body).retry_after_ms;
    assert_eq!(wait("429 Too Many Requests: rate limit exceeded, retry after 2 s"), Some(2_000));
    assert_eq!(wait("Error: Rate limit reached. Please try again in 20s. Visit x"), Some(20_000));
    assert_eq!(wait("Error: quota. Please retry in 34.4s."), Some(34_400));
    assert_eq!(wait("Error: Rate limit. Try again in 1m30.5s"), Some(90_500));
    assert_eq!(wait("Error: Please wait 2 minutes"), Some(120_000));
    assert_eq!(wait("Error: retry-after-ms: 250"), Some(250));
    assert_eq!(wait("Error: Retry-After: 7"), Some(7_000));
    assert_eq!(wait(r#"{"error":{"message":"x","retry_after":1.5}}"#), Some(1_500));
    assert_eq!(wait(r#"{"error":{"message":"x","details":[{"retryDelay":"34s"}]}}"#), Some(34_000));
    assert_eq!(wait(r#"{"error":"x","headers":{"Retry-After":["3"],"Date":"x"}}"#), Some(3_000));
    let dated = r#"{"error":"x","headers":{"retry-after":"Sun, 06 Nov 1994 08:50:37 GMT"DATE}}"#;
    assert_eq!(wait(&dated.replace("DATE", "")), None);
    assert_eq!(wait(&dated.replace("DATE", ",\"date\":\"Sun, 06 Nov 1994 08:49:37 GMT\"")), Some(60_000));
    let body = dated.replace("DATE", "");
    let at = ToolResult { body: Some(&body), at: Some(784_111_807_000_000), ..ToolResult::default() };
    assert_eq!(failure_of(&at).retry_after_ms, Some(30_000));
    let header = ToolResult { retry_after: Some("7"), ..ToolResult::default() };
    assert_eq!(failure_of(&header).retry_after_ms, Some(7_000));
    assert_eq!(wait("Error: tried again in 3 places"), None);
    assert_eq!(wait("Error: it failed after 3 s"), None);
}

#[test]
fn deep_and_long_bodies_are_read_in_bounded_time() {
    let deep = format!("{}1{}", "{\"result\":".repeat(50_000), "}".repeat(50_000));
    assert_eq!(of_body(&deep), Assessment::Ok);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(of_body(&deep), Assessment::Ok);
    let mut nested = r#"{"error":"boom"}"#.to_owned();
    for _ in 0..12 {
        nested = format!("{{\"error\":{}}}", serde_json::to_string(&nested).expect("a text"));
    }
    assert!(matches!(of_body(&nested), Assessment::Failed(_)));
    for text in [
        "Error: ",
        "[{'a': '",
        "meta=None content=[TextContent(text='",
        "{\"error\":{\"error\":",
        "a.",
        "Failed to x: ",
    ] {
        let _ = of_body(&text.repeat(100_000));
    }
}

proptest::proptest! {

    #[test]
    fn any_text_made_of_the_marks_of_failures_has_an_answer(
        parts in proptest::collection::vec(proptest::sample::select(MARKS), 0..12),
    ) {
        let text = parts.concat();
        let flagged = ToolResult { flag: Some(true), body: Some(&text), tool: Some("do_it"), ..ToolResult::default() };
        let Assessment::Failed(failure) = assess(&flagged) else { panic!("{text}: a flag decides") };
        assert_eq!(failure, failure_of(&flagged));
        let _ = of_body(&text);
    }
}

const MARKS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    ":",
    ",",
    "<",
    ">",
    "(",
    ")",
    "\n",
    " ",
    "é",
    "Error: ",
    "error",
    "\"error\":",
    "'error': ",
    "isError=True",
    "content=[",
    "TextContent(type='text', text='",
    "meta=None ",
    "Traceback (most recent call last):\n",
    "<error>",
    "[error] ",
    "MCP error -32602: ",
    "HTTP 503 ",
    "failed to x: ",
    "retry after 2 s",
    "null",
    "true",
    "1",
];

#[test]
fn a_message_that_tells_of_something_done_proves_by_none_of_its_words_that_nothing_was() {
    for text in [
        "Error: 429 Too Many Requests while mailing the receipt; refund re_1 was created",
        "Error: Invalid arguments for audit log: refund already sent",
        "Error: rate limit exceeded when polling refund status",
        "Error: unknown tool state: submitted",
        "Error: unauthorized to read refund status after submit",
        "Error: rate limit exceeded: refund re_1 created, but no receipt",
    ] {
        let found = failure(text);
        assert_eq!((&*found.kind, found.status), ("tool_error", None), "{text}");
    }
    for (text, kind) in [
        ("Error: 429 Too Many Requests: too many requests have been made", "429_rate_limited"),
        ("Error: Invalid arguments for tool do_it: amount was not an integer", "invalid_arguments"),
        ("Error: rate limit exceeded: refund re_1 not created", "429_rate_limited"),
    ] {
        assert_eq!(failure(text).kind, kind, "{text}");
    }
    // What the source says in a field of its own stands.
    let result = ToolResult { status: Some(429), body: Some("the mail was sent before"), ..ToolResult::default() };
    assert_eq!(failure_of(&result).status, Some(429));
}

/// The answer of a tool to a text.
fn said(tool: &str, body: &str) -> &'static str {
    match assess(&ToolResult { body: Some(body), tool: Some(tool), ..ToolResult::default() }) {
        Assessment::Ok => "ok",
        Assessment::Failed(_) => "failed",
        Assessment::Suspected(_) => "suspected",
    }
}

#[test]
fn words_behind_a_speaker_or_a_number_of_a_vendor_tell_a_failure() {
    for text in [
        "page.open: net::ERR_CONNECTION_RESET at http://a/",
        "GraphQL: Could not resolve to a Team",
        "[HTTP 400] Unable to create the row",
        "452 Invalid address",
        "ORA-12541: no listener",
        "Msg 547, Level 16, State 0\nThe DELETE statement conflicted",
        "550 5.1.1 No such mailbox",
        "(QuotaReached) No cores are left.\nCode: QuotaReached",
        "Internal failure in place_order: the queue is closed",
        "Withdrawal declined: the account is frozen",
        "RecipientsRefused: {'a': 1}",
        "<Error><Code>SlowDown</Code></Error>",
        "The page has been closed",
        "The user key k_1 has expired",
        "{\"name\":\"INVALID_ARGUMENT\",\"message\":\"no such plan\",\"debug_id\":\"1\"}",
        "{\"cod\":\"404\",\"message\":\"no such place\"}",
        "{\"id\":\"t\",\"status\":\"declined\",\"decline_reason\":\"stolen\"}",
    ] {
        assert_eq!(said("do_it", text), "failed", "{text}");
    }
    for text in [
        "PROJ-123: Cannot log in",
        "450 items were sent",
        "Msg 0, Level 1, State 1: Changed database context",
        "Changes declined: 0",
        "RateLimitError: raised when a client asks too often",
        "{\"name\":\"EUROPE\",\"message\":\"a continent\"}",
    ] {
        assert_eq!(said("do_it", text), "ok", "{text}");
    }
}

#[test]
fn the_last_line_of_a_command_and_the_complaint_of_a_program_tell_a_failure() {
    let push =
        "To a.example:o/r.git\n ! [rejected] main -> main (fetch first)\nerror: failed to push\nhint: pull first";
    for text in [
        push,
        "Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix conflicts",
        "tar: a.tar: not in tar format",
        "sudo: a password is required",
        "main.c:3:5: error: unknown type name 'foo'",
        "app/a.ts(3,5): error TS2304: Cannot find name 'x'.",
    ] {
        assert_eq!(said("run_shell", text), "failed", "{text}");
    }
    assert_eq!(said("read_file", push), "ok", "a file may hold such lines");
    assert_eq!(said("ask", "sudo: a password is required"), "ok", "only a shell runs programs");
    assert_ne!(said("do_it", "a: b\nerror_count: 0"), "failed");
    for text in ["README.md: Failed logins are kept", "note: a password is not required", "Cancelled order o_1"] {
        assert_eq!(said("bash", text), "ok", "{text}");
    }
}

#[test]
fn a_frame_or_a_heading_of_a_tool_tells_a_failure() {
    for (tool, body) in [
        ("run", "<returncode>127</returncode><stdout></stdout><stderr>sh: 1: tsc: not found</stderr>"),
        (
            "get_job",
            "(404)\nReason: NOT FOUND\nHTTP response headers: {}\nHTTP response body: {'detail': 'no such job'}",
        ),
        ("do_it", "[Cloud Server Error] Use the tools to resolve this. Details:\nno app"),
        ("send_sms", "{'status': False, 'message': '短信ID不存在'}"),
    ] {
        assert!(!["ok", "suspected"].contains(&said(tool, body)), "{body}: {}", said(tool, body));
    }
    for (tool, body) in [
        ("run", "<returncode>0</returncode><stdout>127</stdout><stderr></stderr>"),
        ("get_switch", "{'status': False, 'name': 'lamp', 'room': 'hall', 'message': 'off'}"),
        ("get_switch", "{'status': False}"),
        ("do_it", "[Handling Error] is a chapter"),
    ] {
        assert_eq!(said(tool, body), "ok", "{body}");
    }
}

#[test]
fn titles_labels_and_paragraphs_that_begin_like_failures_are_none() {
    let labels = r#"{"error":"Fehler","ok":"Gut","cancel":"Abbrechen"}"#;
    for (tool, text) in [
        ("do_it", "notes.md: Failed to launch"),
        ("do_it", "notes: Failed to launch the balloon\ntodo: buy helium"),
        ("do_it", "todo: cannot forget the milk"),
        ("do_it", "Error 404 is a band"),
        ("do_it", "Error 404 is returned when no page exists."),
        ("do_it", "Access Denied (1948 film)"),
        ("do_it", "404 Not Found (album)"),
        ("do_it", "Internal Server Error is a short story by A. B."),
        ("read_file", "error: Fehler\nok: Gut\ncancel: Abbrechen"),
        ("read_file", labels),
        ("ask_kb", "Orders cannot be changed after they ship. You may return them within 30 days."),
        ("ask_kb", "You cannot return opened software. Sealed software takes 14 days."),
        ("ask", "A gift could not be returned in May. This was changed in June. Returns now take 9 days."),
    ] {
        assert_eq!(said(tool, text), "ok", "{text}");
    }
    for text in [
        "Error 404",
        "Error 500: the film (1948) is gone",
        "Error 503 Service Unavailable",
        "Access denied (policy 12)",
        "Access denied (missing scope: films)",
        "error: Fehler\nmessage: no such order\nstatus: 404",
        r#"{"error":"no such page","message":"go home","home":"/"}"#,
        r#"{"error":"no seats","ok":false,"home":"/"}"#,
        "curl: (6) Could not resolve host: a",
        "Your request could not be completed. Try again.",
        "The seat could not be assigned. Please try again later. Contact us.",
    ] {
        assert_eq!(said("do_it", text), "failed", "{text}");
    }
    for text in ["prog: Failed to launch", "The order could not be changed. It was sent."] {
        assert_eq!(said("do_it", text), "suspected", "{text}");
    }
    assert_eq!(said("bash", "prog: Failed to launch"), "failed");
}

#[test]
fn a_failure_with_nothing_but_a_number_is_one() {
    for (text, kind) in [("Error: 403", "403_forbidden"), ("error: 429", "429_rate_limited"), ("Error: 500", "5xx")] {
        assert_eq!((said("do_it", text), &*failure(text).kind), ("failed", kind), "{text}");
    }
    for text in ["Error: null", "Error: None", "Exception: 5", "Error: 17", "Exception: null"] {
        assert_eq!(said("do_it", text), "suspected", "{text}");
    }
    for text in ["Errors: 403", "errors: 5", "error: 0", "Error: 0.03", "Error: 5 ms", "Timeout: 500", "error: null"] {
        assert_eq!(said("do_it", text), "ok", "{text}");
    }
}

#[test]
fn a_report_on_a_result_or_on_another_function_refuses_no_arguments() {
    let kind = |text: &str| {
        let failed =
            ToolResult { flag: Some(true), body: Some(text), tool: Some("pay_refund"), ..ToolResult::default() };
        failure_of(&failed).kind
    };
    for text in [
        "Error executing tool pay_refund: 1 validation error for pay_refundOutput\nresult\n  Input should be a valid string",
        "1 validation error for RefundResult\nid\n  Field required",
        "1 validation error for send_mailArguments\nto\n  Field required",
        "1 validation error for call[send_mail]\nto\n  Field required",
        "Invalid structured content returned by tool pay_refund: 'id' is a required property",
        "Output validation error: 'id' is a required property",
        "send_receipt() missing 1 required positional argument: 'email'",
        "TypeError: Mailer.send() got an unexpected keyword argument 'to'",
        "Invalid response: missing required field refund.id",
        "The response is missing required field id",
        "jsonschema.exceptions.ValidationError: response does not fit",
        "jsonschema.exceptions.ValidationError: 'id' is a required property",
        "Unknown tool: send_mail",
        "MCP error -32602: Unknown tool: send_mail",
        "MCP error -32602: Tool send_mail not found",
        "Tool send_mail not found",
        "Error: Tool 'send_mail' not found.",
        "No tool named send_mail",
        "Invalid arguments for tool send_mail: to is required",
    ] {
        let kind = kind(text);
        assert!(["schema_validation", "tool_error"].contains(&&*kind), "{text}: {kind}");
    }
    for text in [
        "Error executing tool pay_refund: 1 validation error for pay_refundArguments\namount\n  Field required",
        "1 validation error for call[pay_refund]\namount\n  Missing required argument",
        "2 validation errors for RefundArgs\namount\n  Field required",
        "pay_refund() missing 1 required positional argument: 'amount'",
        "TypeError: Payments.pay_refund() got an unexpected keyword argument 'to'",
        "RefundTool._run() got an unexpected keyword argument 'to'",
        "Input validation error: 'amount' is a required property",
        "Invalid arguments for tool pay_refund: amount is required",
        "Missing required parameter: amount",
    ] {
        assert_eq!(kind(text), "invalid_arguments", "{text}");
    }
    for text in
        ["Unknown tool: pay_refund", "Tool pay_refund not found", "Unknown tool: payments.pay_refund", "Tool not found"]
    {
        assert_eq!(kind(text), "unknown_tool", "{text}");
    }
    let through = |text: &str| {
        let failed =
            ToolResult { flag: Some(true), body: Some(text), tool: Some("execute-tool"), ..ToolResult::default() };
        failure_of(&failed).kind
    };
    assert_eq!(through("MCP error -32602: Invalid arguments for tool get-x: a is required"), "invalid_arguments");
    assert_eq!(through("Unknown tool: get-x"), "unknown_tool");
}

#[test]
fn a_call_that_was_held_back_or_cut_off_failed() {
    for (tool, text) in [
        ("shell", "This shell command requires approval"),
        ("shell", "This command has several parts. The tool use requires explicit confirmation by the user."),
        ("save", "The agent requested permissions to write to /a/b, but you haven't granted it yet."),
        ("save", "Permission to use Save has been auto-denied (nobody can be asked)."),
        ("save", "The permission request was denied"),
        ("apply", "Not executed: nobody has confirmed the plan"),
        ("read", "unexpected argument(s): depth"),
        ("ask", "depth 3 is the limit; refusing to start another"),
        ("probe", "backend internal error"),
        ("do_it", "The server process exited unexpectedly"),
        ("delegate", "Agent stopped early due to an API error: the limit is reached"),
        ("do_it", "Error invoking the model: the pipe is closed"),
        ("list_prs", "gh CLI not found or not authenticated"),
        ("get_pr", "Pull request #17 not found"),
        ("chart", r#"content='{"success": false, "error": "no axis"}' name='chart' tool_call_id='call_1'"#),
        ("chart", "content='no axis' name='chart' tool_call_id='call_1' status='error'"),
    ] {
        assert_eq!(said(tool, text), "failed", "{text}");
    }
    for (tool, text) in [
        ("create_order", "Order 17 was created and requires approval by a manager"),
        ("ask_kb", "Every refund above 100 EUR requires approval"),
        ("ask_kb", "Customers who requested access are informed by mail"),
        ("get_status", "The worker process exited unexpectedly at 10:02"),
        ("run_tests", "Not run: 3"),
        ("search", "Unexpected options for lunch in Rome"),
        ("list_requests", "Permission requests denied in May: 4"),
        ("search", "Signs of stress: refusing to eat"),
        ("search", "Internal error handling in Rust"),
        ("ask_kb", "The gh CLI is not installed by default. An administrator installs it. Then sign in."),
        ("chart", r#"content='{"success": true, "error": ""}' name='chart' tool_call_id='call_1'"#),
        ("read", "content='Error: none' is what the page shows"),
    ] {
        assert_eq!(said(tool, text), "ok", "{text}");
    }
}

#[test]
fn an_entry_of_a_reference_work_on_errors_is_an_answer_of_a_tool_that_searches() {
    let entry = "Gate Error Code: -651\nMeaning: Duplicate object name\nCause: It exists\nFix: Use a different name";
    let assessed = |tool, body| assess(&ToolResult { body: Some(body), tool: Some(tool), ..ToolResult::default() });
    assert_eq!(assessed("search_knowledge", entry), Assessment::Ok);
    assert!(matches!(assessed("create_policy", entry), Assessment::Failed(_)));
    let failed = "Search Error: index closed\nquery: pumps\nretry: later";
    assert!(matches!(assessed("search_knowledge", failed), Assessment::Failed(_)));
}

#[test]
fn a_status_behind_http_and_an_error_number_name_the_kind() {
    for (code, kind) in [("HTTP_500", "5xx"), ("HTTP 429", "429_rate_limited"), ("http-404", "404_not_found")] {
        let named = ToolResult { flag: Some(true), code: Some(code), body: Some("x"), ..ToolResult::default() };
        assert_eq!(failure_of(&named).kind, kind, "{code}");
    }
    for code in ["HTTP", "HTTPS_5000", "http_x"] {
        let named = ToolResult { flag: Some(true), code: Some(code), body: Some("x"), ..ToolResult::default() };
        assert_eq!(failure_of(&named).kind, "tool_error", "{code}");
    }
}

#[test]
fn an_id_beside_an_error_is_that_of_something_made_unless_the_error_names_it() {
    let named = r#"{"error":"Order #789 not found","order_id":"789"}"#;
    assert!(matches!(of_body(named), Assessment::Failed(_)));
    for made in [r#"{"error":"mail not sent","order_id":"789"}"#, r#"{"error":"only 7890 left","order_id":"789"}"#] {
        assert!(matches!(of_body(made), Assessment::Suspected(_)), "{made}");
    }
}

#[test]
fn the_words_behind_a_label_in_another_language_name_the_kind() {
    let kind = |text| {
        let failed = ToolResult { flag: Some(true), body: Some(text), tool: Some("add_task"), ..ToolResult::default() };
        failure_of(&failed).kind
    };
    for message in [
        "[Erro ao executar add_task: add_task() missing 1 required positional argument: 'title']",
        "Fehler: missing required field `title`",
    ] {
        assert_eq!(kind(message), "invalid_arguments", "{message}");
    }
    let other = "[Erro ao executar add_task: log_result() missing 1 required positional argument: 'id']";
    assert_eq!(kind(other), "tool_error");
}

#[test]
fn a_call_of_any_kind_that_is_unsupported_is_of_an_unknown_tool() {
    for text in ["unsupported call: do_it", "unsupported custom tool call: do_it", "Unsupported mcp call: do_it"] {
        assert_eq!(failure(text).kind, "unknown_tool", "{text}");
    }
    for text in ["unsupported calls: 3", "Unsupported by most, the call: a poem"] {
        assert_eq!(of_body(text), Assessment::Ok, "{text}");
    }
}

#[test]
fn a_command_that_a_signal_ended_failed() {
    for (body, kind) in [
        (r#"{"stdout":"","stderr":"","exitCode":null,"signal":"SIGTERM"}"#, "interrupted"),
        (r#"{"code":null,"signal":"SIGKILL","stdout":"a"}"#, "interrupted"),
        (r#"{"exit_code":null,"signal":"SIGTERM","timed_out":true,"output":"a"}"#, "timeout"),
    ] {
        assert_eq!(failure(body).kind, kind, "{body}");
    }
    assert_eq!(failure(r#"{"exitCode":null,"signal":"SIGTERM"}"#).message, "ended by SIGTERM");
    for body in [
        r#"{"exitCode":null,"signal":null,"stdout":"it runs"}"#,
        r#"{"exitCode":0,"signal":"SIGTERM","stdout":"a"}"#,
        r#"{"code":null,"signal":"buy","price":3}"#,
        r#"{"pid":3,"signal":"SIGTERM"}"#,
    ] {
        assert_eq!(of_body(body), Assessment::Ok, "{body}");
    }
}

#[test]
fn a_list_of_places_messages_and_types_is_the_report_of_a_validation() {
    let item = |place: &str| format!(r#"{{"type":"missing","loc":[{place}],"msg":"Field required","input":{{}}}}"#);
    let request = format!("[{},{}]", item("\"body\",\"n\""), item("\"query\",\"q\""));
    assert_eq!((failure(&request).kind.as_str(), &*failure(&request).message), ("invalid_arguments", "Field required"));
    // A place that is none of a request may be in what the tool got after it acted.
    for other in [format!("[{}]", item("\"n\"")), format!("[{},{}]", item("\"body\""), item("0"))] {
        assert_eq!(failure(&other).kind, "schema_validation", "{other}");
    }
    for body in [
        format!("[{},{{\"type\":\"note\"}}]", item("\"body\"")),
        r#"[{"type":"place","loc":"Berlin","msg":"hello"}]"#.to_owned(),
        r#"[{"loc":["a"],"msg":"hello"}]"#.to_owned(),
    ] {
        assert_eq!(of_body(&body), Assessment::Ok, "{body}");
    }
}

#[test]
fn a_command_that_prints_how_it_is_used_or_complains_last_failed() {
    for text in [
        "cut: odd field\nTry 'cut --help' for more information.",
        "tr: one operand\nTwo are needed.\nTry ‘tr --help’ for more information.",
        "Looking in links: /opt\nERROR: No matching distribution found for zzz",
        "  % Total    % Received\n  0     0\ncurl: (22) The requested URL returned error: 404",
        "bash: line 1: read: -Q: invalid option\nread: usage: read [-ers]",
        "bash: line 1: [: a: integer expression expected",
        "<stdin>:1:11: error: expected a name",
        "merge: zzz - not something we can merge",
        "grep: Unmatched ( or \\(",
    ] {
        assert_eq!(said("bash", text), "failed", "{text}");
    }
    for text in [
        "usage of a: 3\nTry 'cut' for more information.",
        "a\nerror rates: 3",
        "bash: line 3: warning: here-document at line 1 delimited by end-of-file\nhello",
        "main: rs has 3 functions",
    ] {
        assert_eq!(said("bash", text), "ok", "{text}");
    }
}

#[test]
fn answers_of_nothing_and_deeds_that_share_the_words_of_failures_are_none() {
    for (tool, text) in [
        ("list_rooms", "No active SSH rooms"),
        ("search_web", "I couldn't find any results for that query. Please try rephrasing."),
        ("timeout_member", "Timed out ada for 10 minutes"),
        ("get_payment", r#"{"id":"p1","status":"declined","amount":5,"reason":"no_funds"}"#),
        ("fetch", "<html><head><title>502 ways to cook</title></head><body>x</body></html>"),
    ] {
        assert_eq!(said(tool, text), "ok", "{tool}: {text}");
    }
    for (tool, text) in [
        ("open_room", "No active SSH room"),
        ("search_web", "I couldn't reach the index."),
        ("timeout_member", "Timed out after 10 minutes"),
        ("pay", r#"{"status":"declined","reason":"no_funds"}"#),
        ("fetch", "<html><head><title>502 Bad Gateway</title></head><body>x</body></html>"),
    ] {
        assert_eq!(said(tool, text), "failed", "{tool}: {text}");
    }
}

#[test]
fn a_list_of_what_there_is_makes_no_document_of_an_error() {
    let list = "- a\n- b\n- c\n".repeat(6);
    assert_eq!(said("get_logo", &format!("Error: Logo not found: /a\n\nAvailable logos include:\n{list}")), "failed");
    assert_ne!(said("get_page", &format!("Error: a page of errors\n\nThey are many:\n{list}")), "failed");
    assert_eq!(said("create_picture", "Unable to find any camera."), "failed");
    assert_ne!(said("search_web", "Unable to find any camera."), "failed");
}

#[test]
fn one_paragraph_below_a_heading_is_the_error_of_a_tool() {
    for text in ["# a.md\n\nError reading file: no answer", "# Search\nFailed to search the notes: no such table"] {
        assert_eq!(said("get_notes", text), "failed", "{text}");
    }
    for text in
        ["# Errors\n\nError handling in Rust is explicit.", "# a.md\n\nError reading it: mine\n\n# b.md\n\ntext"]
    {
        assert_eq!(said("get_notes", text), "ok", "{text}");
    }
}

#[test]
fn a_heading_that_is_the_word_for_an_error_is_the_frame_of_one() {
    assert_eq!(failure("### Error\nError: page.goto: Timeout 3000ms exceeded.").kind, "timeout");
    for text in ["### Error\nThis chapter is about errors.", "# Errors\nError: printed", "### Result\nError: printed"] {
        assert_eq!(of_body(text), Assessment::Ok, "{text}");
    }
}

#[test]
fn what_a_tool_quotes_is_no_failure_and_what_it_says_itself_is() {
    let list = "Error: this page lists errors\n\n- Error 404: no such page\n- Permission denied";
    for (tool, text) in [
        ("read_file", list),
        ("bash", "1:ERROR 2026-01-01 connection refused"),
        ("bash", "ERROR 2026-01-01 connection refused\nException in thread main"),
        ("bash", "Traceback (most recent call last):\nTraceback (most recent call last):"),
        ("bash", "Error: printed\n(exit code 0)"),
        ("read_file", "a\nCommand exited with code 3"),
    ] {
        assert_eq!(said(tool, text), "ok", "{text}");
    }
    for (tool, text) in [
        ("get_order", "Error: the order is not valid:\n- no id\n- no date"),
        ("do_it", list),
        ("bash", "KeyError: 'a'\n\nCommand exited with code 1"),
        ("bash", "Tests: 1 failed, 3 passed\n\nCommand exited with code 2"),
        ("bash", "404: Not Found"),
        ("read_file", "[Errno 2] No such file or directory: 'a'"),
    ] {
        assert_eq!(said(tool, text), "failed", "{text}");
    }
    assert_eq!(failure("[Errno 2] No such file or directory: 'a'").kind, "404_not_found");
    assert_eq!(failure("Tool 'a' has reached its usage limit of 2 times").kind, "quota_exhausted");
    assert_eq!(said("delete_user", "No user found with id 5"), "failed");
    assert_eq!(said("find_user", "No user found with id 5"), "ok");
}

#[test]
fn a_word_in_capitals_is_an_error_number_only_if_the_system_has_it() {
    for text in ["EISDIR: illegal operation on a directory, read", "ENOSPC: no space", "read ECONNRESET"] {
        assert_eq!(said("save", text), "failed", "{text}");
    }
    for text in [
        "EXECUTION RESULT of [create]:\nFile created",
        "EXPORT finished: 12 rows",
        "EDITED file a.py successfully",
        "EVENTS: 3 found",
        "EMPTY result set",
        "EUROPE: 44 countries",
    ] {
        assert_eq!(said("do_it", text), "ok", "{text}");
    }
}

#[test]
fn a_header_or_an_element_around_a_result_says_nothing() {
    for text in [
        "[edit_file for 'a.txt'] Result:\nThe tool execution failed with the following error:\nError: no match",
        "<untrusted_context>\nOutput: boom\nExit Code: 2\n</untrusted_context>",
        "<tool_output>Error: gone</tool_output>",
    ] {
        assert_eq!(said("do_it", text), "failed", "{text}");
    }
    for text in [
        "[edit_file for 'a.txt'] Result:\nSaved.",
        "[a list]\nError: printed in a list",
        "<untrusted_context>\nOutput: done\nExit Code: 0\n</untrusted_context>",
        "<chapter>Error: what it is</chapter>",
    ] {
        assert_eq!(said("do_it", text), "ok", "{text}");
    }
}

#[test]
fn values_and_calls_that_are_refused_in_a_sentence_are_failures() {
    for text in [
        "Invalid paragraph index.",
        "Invalid regular expression pattern: a(",
        "Command cannot be empty.",
        "The 'pattern' parameter cannot be empty.",
        "Activity input JSON validation error: Key 'a'",
    ] {
        assert_eq!(said("format_text", text), "failed", "{text}");
    }
    for text in ["Tool erase does not exists.", "The tool call with name erase is not part of the provided tools"] {
        let result = ToolResult { body: Some(text), tool: Some("erase"), ..ToolResult::default() };
        let Assessment::Failed(failure) = assess(&result) else { panic!("{text}") };
        assert_eq!(failure.kind, "unknown_tool", "{text}");
    }
    assert_eq!(said("do_it", "The arguments provided to the tool are invalid: no field `a`"), "failed");
    let edit = "Your proposed edit has introduced new syntax errors.\nF999\nYour changes have NOT been applied.";
    assert_eq!(said("edit", edit), "failed");
    for text in ["Invalid cells and rows are shown in red", "Changes of plan were not uncommon"] {
        assert_eq!(said("format_text", text), "ok", "{text}");
    }
}

#[test]
fn an_edit_or_a_value_that_does_not_fit_is_of_the_arguments_and_a_place_that_is_missing_is_not_found() {
    let flagged = |text| {
        let failed = ToolResult { flag: Some(true), body: Some(text), tool: Some("edit"), ..ToolResult::default() };
        failure_of(&failed).kind
    };
    let kinds: &[(&str, &[&str])] = &[
        (
            "invalid_arguments",
            &[
                "Missing insight argument",
                "No command provided",
                "Invalid URL: not a url",
                "Invalid heading level: 99. Level must be between 1 and 9.",
                "Invalid `insert_line` parameter: 99.",
                "The 'pattern' parameter cannot be empty.",
                "start_line cannot be greater than end_line",
                "URL must start with http:// or https://",
                "Offset 900 is out of range for this file (3 lines)",
                "Path is a directory, not a file: /a/b",
                "No changes to apply: oldString and newString are identical.",
                "Failed to edit. Found 7 occurrences for old_string in /a.md but replace_all was not enabled.",
                "guest name is too long",
            ],
        ),
        (
            "404_not_found",
            &[
                "String to replace not found in file.\nString: a",
                "Could not find an exact match for 'old_string' in '/a.md'.",
                "No replacement was performed, old_str `zebra` did not appear verbatim in /n.txt.",
                "Failed to edit, 0 occurrences found for old_string in /n.md.",
                "Schema 'nowhere' does not exist. Available schemas: public",
                "Paper 1706.03762 not found in storage. You may need to download it first.",
            ],
        ),
        (
            "403_forbidden",
            &[
                "Command not allowed: rm",
                "Path not in workspace: Attempted path \"/x\" resolves outside the allowed workspace directories: /w",
                "Claude requested permissions to write to /a, but you haven't granted it yet.",
                "Permission to use Write has been auto-denied (prompts unavailable).",
                "Tool \"read_file\" is not allowed in orchestrator mode.",
            ],
        ),
        (
            "tool_error",
            &[
                "order o_91 not found",
                "the content must match the answer that was received",
                "the refund was sent, and the receipt does not exist",
                "room 101 is taken",
                "Missing the train was the reason",
            ],
        ),
    ];
    for (kind, texts) in kinds {
        for text in *texts {
            assert_eq!(flagged(text), *kind, "{text}");
        }
    }
}

#[test]
fn what_alone_tells_of_a_failure_gives_it_a_code_unless_the_source_names_one() {
    let code = |tool, text, code| {
        let failed = ToolResult { flag: Some(true), body: Some(text), tool: Some(tool), code, ..ToolResult::default() };
        failure_of(&failed).code
    };
    let is = |name: &str| Some(name.to_owned());
    for exception in ["ValueError: amount must be positive", "IndexError: index 5 is out of bounds for axis 0"] {
        assert_eq!(code("book", exception, None), is("tool_raised"), "{exception}: a tool raises it half-way, too");
    }
    assert_eq!(code("query", "syntax error at or near \"selec\"", None), is("program_error"));
    assert_eq!(code("query", "syntax error at or near \"selec\"", Some("EXECUTION_ERROR")), is("program_error"));
    assert_eq!(code("query", "syntax error at or near \"selec\"", Some("42601")), is("42601"));
    assert_eq!(code("bash", "", None), is("program_error"), "a command line hands on what programs print");
    assert_eq!(code("book", "room 101 is taken", None), None);
}

/// Asserts the answer of `do_it` to each text.
fn assert_said(answer: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(said("do_it", text), answer, "{text}");
    }
}

#[test]
fn a_refusal_or_a_lack_that_names_what_was_asked_for_is_a_failure() {
    let failures = [
        "Document /a/b.docx does not exist",
        "Image file not found: /none.png",
        "Skill \"nope\" not found. Available skills: batch, loop",
        "Task not found: t99",
        "Incorrect password: try again.",
        "Blocked: standalone sleep 20.",
        "Directory '/x' is not within any of the registered workspace directories.",
        "storage quota of 5 GB exceeded (used 5.2 GB)",
        "'10.0.0.300/24' does not appear to be an IPv4 or IPv6 network",
        r#"{"status": "task_not_found", "message": "No such task found"}"#,
        r#"{"/a/b.txt": {"result": "error", "reason": "Hash mismatch"}}"#,
        "(no output)\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 700 ms.",
    ];
    assert_said("failed", &failures);
    let answers = [
        "Incorrect answers: 3 of 10",
        "Wrong type of snow for skiing today",
        "Blocked: 3 tasks",
        "The directory of the town is not under the trees",
        "The monthly quota of fish is 5 tons",
        r#"{"status": "task_found", "message": "It is the third task"}"#,
        r#"{"/a/b.txt": {"result": "error", "reason": "x"}, "/a/c.txt": {"result": "ok"}}"#,
        r#"{"first": {"result": "error", "reason": "x"}}"#,
        "The conductor terminated the concert after two hours",
    ];
    assert_said("ok", &answers);
    for (tool, text) in [
        ("run_query", "deadlock detected"),
        ("run_query", "Lock wait timeout exceeded; try restarting transaction"),
        ("scan_parts", "The supplied key does not exist"),
        ("scan_parts", "The given limit must fit"),
        ("list_parts", "Agent not allowed to use list_parts"),
        ("get_part", "Parts unavailable: HTTP 503"),
        ("scan_part", "Parts unavailable: error 7"),
        ("run_linter", "Linter execution failed for src: [Errno 2] No such file or directory: 'black'"),
    ] {
        assert_eq!(said(tool, text), "failed", "{tool}: {text}");
    }
    assert_ne!(said("read_log", "deadlock detected in chapter 3 of the novel. It ends well. It is long."), "failed");
    assert_ne!(said("find_user", "User u_17 not found"), "failed", "a tool that looks for it may answer so");
    assert_eq!(said("get_user", "User u_17 not found"), "failed");
}

#[test]
fn code_that_ends_with_its_exception_or_below_a_heading_for_errors_failed() {
    let failures = [
        "exitcode: 1 (execution failed)\nCode output:\nx",
        "Error: Exit code 1\n\n   INFO  key set\n\n   ERROR  no such command",
        "out\n\nCommand completed with return code: 3",
        "Executed code block.\n\n````stdout\n-----\nValueError   Traceback (most recent call last)\nValueError: x\n````\n\n",
        "Ran it:\n\n  File <ipython-input-1>:1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n```",
        "Execution in session 's':\n\n--- Error (status code: 4) ---\n(No error message)",
        "search_student() got an unexpected keyword argument 'student_id'",
        "[PHASE ERROR] Tool 'a' is not available yet.",
        "Error turning off data collection: no connection",
        "Security violation: Empty command",
        "Error (API_ERROR): no answer",
        "File '/w/note.txt' exists. Use overwrite=True to replace.",
        "Environment 'ghost' not found. Available: system",
        "No command provided",
    ];
    assert_said("failed", &failures);
    let answers = [
        "Error: could not open display\nError: retrying (2/5)\nconnected",
        "Error: only a text\n\nCommand completed with return code: 0",
        "[(1, 'ERROR', 'connection refused to db-7'), (2, 'INFO', 'started')]",
        "Caught it:\nTraceback (most recent call last):\nValueError: x\nand went on",
        "The chapters:\n\n--- Errors ---\nSome are made twice",
        "Error (baseball): an act of a player",
        "Error bars: drawn",
        "The file '/w/note.txt' exists in two places",
        "No reason given to the guests, and none was needed",
    ];
    assert_said("ok", &answers);
    assert_eq!(
        said("read_file", "x:\nTraceback (most recent call last):\nValueError: x"),
        "ok",
        "a file may end with it"
    );
}

#[test]
fn what_a_tool_did_or_found_out_is_no_refusal_of_the_call() {
    for (tool, answer) in [
        ("cancel_booking", "No refund was given."),
        ("cancel_booking", "No tip was provided"),
        ("write_file", "File saved outside the workspace at /data/u/a.txt"),
        ("write_file", "Path /srv/data is outside the project, so it was added."),
        ("set_quota", "Quota not exceeded"),
        ("validate_coupon", "Coupon SAVE10 not found"),
        ("user_exists", "User bob does not exist"),
        ("send_mail", "Template footer not found, mail sent without it"),
        ("audit", "No policy violation: all 12 rules passed"),
        ("audit", "Parking violation: meter expired, $45"),
        ("build", "[no error] build finished"),
        ("kill_process", "Killed the process after 5 seconds"),
        ("get_ticket", "Blocked: the vendor has not answered yet"),
        ("file_exists", "File exists. Use read_file to see it."),
        ("label", "Image alt text missing"),
        ("ask", "No response from the customer yet"),
    ] {
        assert_ne!(said(tool, answer), "failed", "{tool}: {answer}");
    }
    let kind = |text| {
        let failed = ToolResult { flag: Some(true), body: Some(text), tool: Some("refund"), ..ToolResult::default() };
        failure_of(&failed).kind
    };
    for half_way in [
        "The refunded amount must match the ledger total",
        "Captured payment must have a receipt",
        "No confirmation was provided by the airline",
        "Ledger total is too small",
        "row 3 is past due",
        "Command 'deploy' is blocked by review",
        "Refund command failed: card declined",
    ] {
        assert_eq!(kind(half_way), "tool_error", "{half_way}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_a_failure() {
    for (text, kind) in [
        ("The server did not respond within 30 seconds.", "timeout"),
        ("No response from server", "tool_error"),
        ("request timeout", "timeout"),
        ("TLS handshake timeout", "tool_error"),
        ("broken pipe", "tool_error"),
        ("Duplicate request: already processed", "409_conflict"),
    ] {
        assert_eq!((said("pay", text), &*failure(text).kind), ("failed", kind), "{text}");
    }
    let git = "error: pathspec 'a' did not match\nerror: pathspec 'b' did not match\nAborting";
    assert_eq!(said("do_it", git), "failed", "nothing overcame these errors");
}

#[test]
fn the_message_of_an_exception_is_kept_without_its_traceback_if_its_kind_is_known() {
    let trace = "Traceback (most recent call last):\n  File x\nConflictError: 409";
    let told = |name: &str, message: &str| failure(&format!("{name}({message}){trace}")).message;
    assert_eq!(
        told("ConflictError", "'409 Conflict: key k was already processed'"),
        "409 Conflict: key k was already processed"
    );
    assert!(told("LookupError", "'order not found'").starts_with("LookupError('order"), "its words prove nothing");
    assert!(told("ConflictError", "'a\\'b'").starts_with("ConflictError("), "as printed, if it is not plain");
}

#[test]
fn words_that_one_pattern_alone_knows_decide() {
    for (text, verdict) in [
        ("Exception in thread \"main\" java.lang.Oops", "failed"),
        ("Unhandled promise rejection: x", "failed"),
        ("thread 'main' panicked at src/main.rs:2", "failed"),
        ("zsh: x", "failed"),
        ("<?xml version=\"1.0\"?>\n<errors>\n  <error>Name is taken</error>\n</errors>", "failed"),
        ("Could not find [Ada]. Similar: ['Ada B', 'Ada C']", "failed"),
        ("File \"a.py\", line 3", "failed"),
        ("no healthy upstream", "failed"),
        ("<html><head><title>Service Unavailable</title></head></html>", "failed"),
        ("The API key is not valid", "failed"),
        ("The agent is not authorized to refund", "failed"),
        ("The link you followed is expired", "failed"),
        ("Segmentation fault", "failed"),
        ("Insufficient funds", "failed"),
        ("The amount exceeds the balance", "failed"),
        ("Warning: the upload is invalid", "suspected"),
        ("We could not agree more", "ok"),
    ] {
        assert_eq!(said("do_it", text), verdict, "{text}");
    }
    for text in ["Error: Tool arguments do not satisfy the schema", "Error: amount required for refund"] {
        assert_eq!(failure(text).kind, "invalid_arguments", "{text}");
    }
}

#[test]
fn what_was_looked_for_a_limit_and_a_count_are_no_certain_failures() {
    assert_said(
        "ok",
        &[
            "I could not find any problems.",
            "I could not find an error in this order",
            "Couldn't find any duplicate payments issues",
            "Unable to find any outstanding balance; account is settled",
            "Could not find a cheaper flight",
            "Rate limit: 100 per minute",
            "API rate limit: 5,000 requests per hour",
        ],
    );
    assert_said(
        "suspected",
        &["Invalid tickets: 4", "Rejected rows = 12", "Could not find any orders of this customer"],
    );
    assert_said(
        "failed",
        &[
            "Could not find an error handler",
            "Could not find the order",
            "Unable to find a seat",
            "Could not find any order: the database timed out",
            "Rate limit: exceeded",
            "Rate limit: 100 requests per minute exceeded",
            "Invalid ticket: 4",
            "Invalid tickets: 4 is not a number",
        ],
    );
}

#[test]
fn an_unknown_tool_with_a_short_name_is_unknown() {
    let of = |tool| {
        assess(&ToolResult {
            flag: Some(true),
            code: Some("-32602"),
            message: Some("Unknown tool: d"),
            tool: Some(tool),
            ..ToolResult::default()
        })
    };
    let kind = |tool| match of(tool) {
        Assessment::Failed(failure) => failure.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!((kind("d").as_str(), kind("pay").as_str()), ("unknown_tool", "invalid_arguments"));
}

#[test]
fn a_part_of_many_writes_that_was_done_leaves_no_proof_that_nothing_was() {
    let failing =
        r#"{"index":{"_id":"1","status":400,"error":{"type":"invalid_argument","reason":"missing required id"}}}"#;
    let whole = failure(&format!(r#"{{"took":3,"errors":true,"items":[{failing}]}}"#));
    assert_eq!(whole.kind, "invalid_arguments");
    let part = failure(&format!(r#"{{"errors":true,"items":[{failing},{{"index":{{"_id":"2","status":201}}}}]}}"#));
    assert_eq!((part.kind.as_str(), part.status), ("tool_error", None));
    let declined = failure(r#"{"status":"declined","reason":"no_funds"}"#);
    assert_eq!(declined.kind, "tool_error", "the bank declined, and no person");
    assert_eq!(failure(r#"{"status":"declined","reason":"the user said no"}"#).kind, "user_rejected");
    let done = failure(r#"{"error":{"code":422,"message":"Order has already been cancelled"}}"#);
    assert_eq!(done.kind, "409_conflict");
    assert_eq!(failure("<Error><Code>SlowDown</Code><Message>Reduce</Message></Error>").kind, "429_rate_limited");
}

#[test]
fn shells_and_programs_report_failures_where_a_reader_sees_them() {
    for text in [
        "zsh:1: command not found: rg",
        "/a\n(eval):1: command not found: timeout",
        "[rtk: No such file or directory (os error 2)]",
        "grep: invalid option -- P\nusage: grep [-abc]",
        "FATAL page.waitForSelector: Timeout 10000ms exceeded.\nCall log:\n  - waiting",
        "error connecting to api.example.com\ncheck your internet connection",
        "pulling from ../a\nabort: unknown revision 'x'\n(maybe you meant y)",
        "stty: 'standard input': Inappropriate ioctl for device\nsed: can't read a.sol: No such file or directory",
        "File \"dune\", line 4, characters 1-20:\n4 |  (action (echo bar))\n     ^^^^^\nError: Field \"action\" is present too many times",
        "While parsing file \"a.dat\", line 4:\nError: Invalid char '@'",
        "no tests ran in 0.01s\n\n[stderr] ERROR: not found: tests\n\nExit code: 4\n[Command failed with exit code 4]",
        "Get-Content: \nLine |\n   2 |  Get-Content 'a'\n     | ~~~~\n     | Cannot find path 'a' because it does not exist.",
        "building\nbash: line 3:   777 Killed                  python3 a.py",
        "> vite\nerror when starting\n ELIFECYCLE  Command failed with exit code 1.",
        "> tsc -b\nsrc/a.tsx(94,7): error TS2448: 'a' is used before its declaration.",
        "curl: option : blank argument\ncurl: try 'curl --help' or 'curl --manual' for more information",
        "The string is missing the terminator: '.\n    + CategoryInfo          : ParserError: (:) []",
    ] {
        assert_eq!(said("shell", text), "failed", "{text}");
    }
    for text in [
        "warning: unable to access '/a/.config/git/ignore': Permission denied\nM\tdata/a.json",
        "File \"dune\", line 3, characters 2-24:\n3 |   (action (run a))\n      ^^^^\nWarning: 'action' is only available since 1.2",
        "FATALITIES 3\nINJURIES 9",
        "tail log\nINFO: a\nERROR: connection lost",
        "count by level\nWARN: 3\nERROR: 5",
        "$ ./report\nERROR: 0",
        "doc says\n== exit code 3 ==\nend",
        "fix: too many connections",
        "docs: unmatched quotes",
        "total: 3 unmatched",
        "error: unused variable\n[exit code: 0]",
        "Line | Text\n2 | a",
    ] {
        assert_eq!(said("shell", text), "ok", "{text}");
    }
}

#[test]
fn answers_about_failures_are_none_and_reports_of_one_are() {
    for (tool, text) in [
        ("delete_items", "Deleted 3 items, 0 failed."),
        ("send_mail", "Accepted for 3 recipients, 0 rejected."),
        ("book_hotel", "Confirmed. This booking can't be cancelled."),
        ("create_issue", "Created #991: \"Error: failed to fetch user\""),
        ("translate_text", "We regret that we can't offer you the position."),
        ("docker_logs", "panic: runtime error: index out of range"),
        ("browser_console", "[error] Uncaught ReferenceError: a is not defined"),
        ("list_alerts", "CRITICAL disk full on db-2"),
        ("get_job", "job: nightly\nstatus: failed"),
    ] {
        assert_eq!(said(tool, text), "ok", "{tool}: {text}");
    }
    for (tool, text) in [
        ("docker_logs", "Error: No such container: web"),
        ("send_fax", "status: undelivered\nattempts: 3"),
        ("run_backup", "job: nightly\nresult: aborted\nreason: no disk"),
        ("click", "strict mode violation: getByText('Save') resolved to 3 elements"),
        ("put_object", "<Response [403]>"),
        ("create_patient", r#"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"required"}]}"#),
        ("create_issue", r#"{"data":{"issueCreate":{"success":false,"issue":null}}}"#),
        ("search_mail", r#"{"result":null,"problem":"mailbox is being moved"}"#),
        ("assign_ticket", r#"{"outcome":"refused","why":"agent is on leave"}"#),
    ] {
        assert_eq!(said(tool, text), "failed", "{tool}: {text}");
    }
}

#[test]
fn a_page_about_a_shell_is_no_complaint_of_one() {
    for text in ["sh: an unexpected guide", "sh: the missing manual, chapter 1"] {
        assert_eq!(said("read_page", text), "ok", "{text}");
    }
}

#[test]
fn headings_are_passed_once_and_one_of_a_note_is_no_failure() {
    for (text, said_of_it) in [
        ("# Error\n\nFile not found: a.md", "failed"),
        ("# Invalid argument\nMust be a number", "failed"),
        ("# a.md\n\nError reading file: permission denied", "failed"),
        ("# Missing invoice\n\nInvoice 7 not found", "ok"),
        ("# Missing dark mode\nCannot switch to dark mode.", "ok"),
        ("# Issue 9 created\n\nError opening settings: app closes", "ok"),
        ("# Bug 7\n\nFailed to load the calendar page: wrong date shown", "ok"),
    ] {
        assert_eq!(said("create_ticket", text), said_of_it, "{text}");
    }
    for heading in ["# Error\n", "# a comment\n", "# Invalid argument\n"] {
        assert_eq!(said("read_file", &(heading.repeat(20_000) + "fine thing")), "ok", "linear, without recursion");
    }
}
