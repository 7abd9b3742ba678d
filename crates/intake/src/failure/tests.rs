//! Each row of words by its examples; results as sources write them, each with its answer (`cases.yaml`); and what is read
//! beside the words.

use super::frame::inside;
use super::table::{Says, WordTable};
use super::tool_name::ToolClass;
use super::words::{Rows, Teller};
use super::{Assessment, Failure, ToolResult, assess, failure_of};
use playproof_engine::event::{KindFrom, StatusFrom as Evidence};
use playproof_formats::diagnostic::Source;
use playproof_formats::yaml;

fn of_body(body: &str) -> Assessment {
    assess(&ToolResult { body: Some(body), tool: Some("do_it"), ..ToolResult::default() })
}

fn failure(body: &str) -> Failure {
    match of_body(body) {
        Assessment::Failed(failure) => failure,
        other => panic!("{body}: {other:?}"),
    }
}

/// What a result is, in a word.
const fn word(said: &Assessment) -> &'static str {
    match said {
        Assessment::Ok => "ok",
        Assessment::Failed(_) => "failed",
        Assessment::Suspected(_) => "suspected",
        Assessment::Unfinished(_) => "unfinished",
    }
}

#[test]
fn each_row_of_words_is_needed_by_its_examples() {
    let mut wrong = Vec::new();
    let written = WordTable::written();
    for (number, (row, with_examples)) in WordTable::shipped().rows.iter().zip(&written.rows).enumerate() {
        let tool = match row.of.first() {
            Some(ToolClass::Program) => "bash",
            Some(ToolClass::Looking) => "get_it",
            Some(ToolClass::Writing) | None => "do_it",
        };
        for example in &with_examples.examples {
            let example = example.text.as_str();
            let by = Teller { tool: Some(tool), words: None };
            let said = assess(&ToolResult { body: Some(example), tool: Some(tool), ..ToolResult::default() });
            let is_own = Rows::of(inside(example), by).first(|found| std::ptr::eq(found, row)).is_some();
            let says = match &said {
                Assessment::Ok => None,
                Assessment::Suspected(_) => Some(Says::Suspected),
                Assessment::Failed(_) => Some(Says::Failed),
                Assessment::Unfinished(_) => Some(Says::Unfinished),
            };
            let kind = said.failure().map(|failure| failure.kind.as_str());
            let is_kind = row.kind.is_none() || row.kind.as_deref() == kind;
            if !is_own || says < Some(row.says) || !is_kind {
                wrong.push(format!("row {number}: {} {kind:?}, its own: {is_own}: {example}", word(&said)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_case_has_its_answer() {
    let source = Source::whole("cases.yaml", include_str!("cases.yaml"));
    let wrong = yaml::parse(source, |root| {
        let mut wrong = Vec::new();
        for case in root.list()? {
            let record = case.record("a case", &["tool", "flag", "says", "kind", "code", "status", "text"])?;
            let text = |key: &str| record.optional(key).and_then(yaml::Cursor::string);
            let (body, tool) = (text("text")?, text("tool")?);
            let flag = record.optional("flag").and_then(yaml::Cursor::bool);
            let said = assess(&ToolResult { flag, body: Some(body), tool: Some(tool), ..ToolResult::default() });
            let failure = said.failure();
            let status = failure.and_then(|failure| failure.status).map(|status| status.to_string());
            let is = [
                Some(word(&said)),
                failure.map(|failure| failure.kind.as_str()),
                failure.and_then(|failure| failure.code.as_deref()),
                status.as_deref(),
            ];
            let keys = ["says", "kind", "code", "status"];
            let differs = |(key, is): (&str, Option<&str>)| text(key).is_some_and(|wanted| Some(wanted) != is);
            if keys.into_iter().zip(is).any(differs) {
                wrong.push(format!("{is:?} {tool}: {body}"));
            }
        }
        Some(wrong)
    });
    let wrong = wrong.unwrap_or_else(|report| panic!("{report}"));
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_flag_of_success_is_weaker_than_a_failure_inside_or_in_sure_words() {
    let flagged = |flag, body| assess(&ToolResult { flag: Some(flag), body: Some(body), ..ToolResult::default() });
    let Assessment::Failed(found) = flagged(true, "all fine") else { panic!("a flagged failure") };
    assert_eq!((found.evidence, found.message.as_str(), found.kind_from), (Evidence::Flag, "all fine", None));
    let inner = flagged(false, r#"{"isError":true,"content":[{"type":"text","text":"no"}]}"#);
    assert!(matches!(&inner, Assessment::Failed(found) if found.evidence == Evidence::Body), "{inner:?}");
    let by_status = assess(&ToolResult { status: Some(503), body: Some("all fine"), ..ToolResult::default() });
    assert!(matches!(&by_status, Assessment::Failed(found) if found.evidence == Evidence::Code && found.kind == "5xx"));
    let lost = flagged(false, "[Tool execution was interrupted]");
    assert!(matches!(lost, Assessment::Unfinished(_)), "a flag of success does not bring a lost result back");
    let own = ToolResult {
        flag: Some(false),
        denies_words: true,
        body: Some("Waiting for approval"),
        ..ToolResult::default()
    };
    assert_eq!(assess(&own), Assessment::Ok, "what the user's mapping says is final");
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
    assert_eq!((&*failure(&long(0)).kind, &*failure(&long(20)).kind), ("invalid_arguments", "tool_error"));
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
