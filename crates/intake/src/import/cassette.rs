//! Reads VCR cassettes: recorded HTTP exchanges, in YAML or JSON, as Ruby's VCR, vcrpy, Betamax and go-vcr write them. An
//! exchange is a call; its tool is the method and the path.

use std::borrow::Cow;

use super::form;
use super::run::ImportOutput;
use super::yaml_text;
use crate::failure::{ToolResult, assess};
use crate::imported::{ImportWarning, Missing};
use crate::iso;
use crate::json;
use crate::json::Fields;
use crate::mapping::stem;
use crate::raw_value::{RawValue, Tape};
use crate::source_text::SourceText;
use crate::trace_writer::{Answer, At, OutputCall, OutputResult, WrittenArgs};
use playproof_formats::diagnostic::Report;

/// The fields that hold the exchanges.
const LISTS: [&str; 2] = ["http_interactions", "interactions"];
/// The lines of YAML between the name of the list and its first request.
const LINES_TO_REQUEST: usize = 3;

/// Whether a document is a cassette with an exchange.
pub(crate) fn is_cassette(document: RawValue<'_>) -> bool {
    let list = json::object(document).and_then(|fields| exchanges(&fields));
    list.is_some_and(|(_, items)| items.into_iter().any(|item| request_of(item).is_some()))
}

/// Whether what begins with `start` is a cassette in YAML.
pub(crate) fn begins_yaml(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    let is_list = |line: &str| line.strip_suffix(':').is_some_and(|name| LISTS.contains(&name));
    lines.any(is_list)
        && lines.take(LINES_TO_REQUEST).any(|line| line.trim_start_matches([' ', '-']).starts_with("request:"))
}

/// The text as JSON: as it is, or from YAML.
pub(super) fn as_json<'a>(source: &SourceText<'a>) -> Result<Cow<'a, str>, Report> {
    match source.text.trim_start().starts_with('{') {
        true => Ok(Cow::Borrowed(source.text)),
        false => yaml_text::to_json(source.text, source.name).map(Cow::Owned),
    }
}

/// Writes every exchange of `source`; they are one run, named after the file.
pub(super) fn read(source: &SourceText<'_>, output: &mut ImportOutput) -> Result<(), Report> {
    let mut tape = Tape::default();
    let document = json::object(source.on_tape(&mut tape)?);
    let (list, items) = document.as_ref().and_then(exchanges).ok_or_else(|| source.shape("a VCR cassette"))?;
    let run = stem(source.name);
    for (n, raw) in items.into_iter().enumerate() {
        let place = format!("{list}[{n}]");
        match request_of(raw) {
            Some((exchange, request)) => write(&exchange, &request, (raw, run, &place), output),
            None => output.loss.warn(ImportWarning::NotReadable, &place),
        }
    }
    if output.loss.calls > 0 {
        output.loss.runs = 1;
        output.loss.missing.remove(&Missing::Status);
        output.loss.missing.remove(&Missing::Kinds);
        output.loss.missing.insert(Missing::KindNames);
        output.lines.run_end(run);
    }
    Ok(())
}

fn exchanges<'a>(document: &Fields<'a>) -> Option<(&'static str, Vec<RawValue<'a>>)> {
    LISTS.iter().find_map(|name| Some((*name, document.get(name).and_then(json::array)?)))
}

/// An exchange and its request; none without a method and an address.
fn request_of(raw: RawValue<'_>) -> Option<(Fields<'_>, Fields<'_>)> {
    let exchange = json::object(raw)?;
    let request = exchange.get("request").and_then(json::object)?;
    (request.text("method").is_some() && address(&request).is_some()).then_some((exchange, request))
}

fn address<'a>(request: &Fields<'a>) -> Option<Cow<'a, str>> {
    request.text("uri").or_else(|| request.text("url"))
}

fn write(
    exchange: &Fields<'_>,
    request: &Fields<'_>,
    (raw, run, place): (RawValue<'_>, &str, &str),
    output: &mut ImportOutput,
) {
    let (run, span) = (Some(run), output.finder.find(raw.get()));
    let address = address(request).unwrap_or_default();
    let named = tool(&request.text("method").unwrap_or_default(), &address);
    let own = output.reader.overrides.as_ref();
    let renamed = own.and_then(|own| own.corrected_tool(raw, &named, &mut output.loss.changed));
    let tool = renamed.as_deref().unwrap_or(&named);
    let (args, key) = (arguments(&address, request), header(request, "idempotency-key"));
    let args = WrittenArgs::of(&args, tool, key.is_some());
    output.loss.calls += 1;
    output.lines.call(&OutputCall {
        run,
        id: Some(place),
        tool,
        args: Some(&args),
        key: key.as_deref(),
        source: place,
        span,
        ..OutputCall::default()
    });
    let Some(response) = exchange.get("response").and_then(json::object) else {
        output.loss.unanswered += 1;
        return;
    };
    let at = exchange.text("recorded_at").and_then(|at| {
        let micros = iso::parse_micros(&at).or_else(|| iso::parse_rfc2822(&at));
        micros.and_then(|micros| u64::try_from(micros).ok())
    });
    let status = status(&response);
    let (body, wait) = (body(&response), header(&response, "retry-after"));
    let result = ToolResult {
        flag: status.filter(|status| *status < 400).map(|_| false),
        status,
        body: body.as_deref(),
        tool: Some(tool),
        retry_after: wait.as_deref(),
        headers: response.get("headers"),
        at,
        words: output.reader.overrides.as_ref().and_then(|own| own.own_words()),
        ..ToolResult::default()
    };
    let mut assessment = assess(&result);
    if let Some(own) = &output.reader.overrides {
        assessment = own.rules_of_content(raw).corrected_content(&result, assessment, &mut output.loss.changed);
    }
    let answer = Answer::of(&assessment, status.is_some(), None);
    output.loss.count_result(&answer.reply);
    output.untimed += u64::from(at.is_none());
    output.lines.result(&OutputResult {
        run,
        id: Some(place),
        at: at.map(At::Micros),
        answer: Some(&answer),
        source: place,
        span,
        ..OutputResult::default()
    });
}

/// The method and the path, without host and query; a part of the path that is an id becomes `{id}`, so that one operation is
/// one tool.
fn tool(method: &str, address: &str) -> String {
    let behind_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = behind_scheme.find('/').and_then(|at| behind_scheme.get(at..)).unwrap_or("/");
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let parts: Vec<&str> = path.split('/').map(|part| if is_id(part) { "{id}" } else { part }).collect();
    format!("{} {}", method.to_ascii_uppercase(), parts.join("/"))
}

/// Whether a part of a path is an id: a number, or a long word with digits.
fn is_id(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && (digits == part.len() || part.len() >= 8)
}

/// The address and the body of a request: a body that is JSON or a form as JSON.
fn arguments(address: &str, request: &Fields<'_>) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let address = text(address);
    match body(request).filter(|body| !body.is_empty()) {
        None => format!("{{\"url\":{address}}}"),
        Some(body) => {
            let body = match json::parse(&body) {
                Ok(_) => json::compact(&body).into_owned(),
                Err(_) => form_of(request, &body).unwrap_or_else(|| text(&body)),
            };
            format!("{{\"url\":{address},\"body\":{body}}}")
        }
    }
}

/// The body of a request as JSON, if its headers or, without them, its characters say that it is a form. Base64 is no form.
fn form_of(request: &Fields<'_>, body: &str) -> Option<String> {
    if request.get("body").and_then(json::object).is_some_and(|body| body.get("string").is_none()) {
        return None;
    }
    let is_form = match header(request, "content-type") {
        Some(kind) => kind.to_ascii_lowercase().contains("www-form-urlencoded"), // a recorder may hide the `x`
        None => form::looks_like_one(body),
    };
    form::to_json(body).filter(|_| is_form)
}

/// The text of a body: itself, its `string`, or its `base64_string` as it is.
fn body<'a>(message: &Fields<'a>) -> Option<Cow<'a, str>> {
    let raw = message.get("body")?;
    match json::object(raw) {
        Some(fields) => fields.text("string").or_else(|| fields.text("base64_string")),
        None => json::scalar(raw),
    }
}

/// The status: a number, or a number in `status.code` or `code`.
fn status(response: &Fields<'_>) -> Option<u16> {
    let nested = response.get("status").and_then(json::object).and_then(|status| status.text("code"));
    nested.or_else(|| response.text("code")).or_else(|| response.text("status"))?.parse().ok()
}

/// The value of a header, or the first of its values; names have any case.
fn header<'a>(message: &Fields<'a>, name: &str) -> Option<Cow<'a, str>> {
    let headers = message.get("headers").and_then(json::object)?;
    let (_, raw) = headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    json::scalar(raw).or_else(|| json::array(raw)?.into_iter().find_map(json::scalar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_the_method_and_the_path_without_ids() {
        for (method, address, name) in [
            ("post", "https://api.example.com/v1/refunds", "POST /v1/refunds"),
            ("GET", "https://api.example.com/v1/charges/ch_3Nabc42x/lines?limit=3", "GET /v1/charges/{id}/lines"),
            ("DELETE", "http://localhost:8000/orders/91#top", "DELETE /orders/{id}"),
            ("GET", "https://example.com?q=/a", "GET /a"),
            ("GET", "https://example.com/oauth2/token", "GET /oauth2/token"),
            ("GET", "https://example.com", "GET /"),
        ] {
            assert_eq!(tool(method, address), name);
        }
    }

    #[test]
    fn a_form_is_compared_by_its_fields() {
        let args =
            |request: &str| arguments("u", &json::object(json::parse(request).expect("valid")).expect("an object"));
        let form = r#"{"url":"u","body":{"a":"1","b":"2"}}"#;
        let kind = |kind: &str| format!(r#"{{"body":"b=2&a=1","headers":{{"Content-Type":["{kind}"]}}}}"#);
        assert_eq!(args(r#"{"body":"a=1&b=2"}"#), form);
        assert_eq!(args(r#"{"body":{"encoding":"UTF-8","string":"b=2&a=1"}}"#), form);
        assert_eq!(args(&kind("application/x-www-form-urlencoded; charset=utf-8")), form);
        assert_eq!(args(&kind("application/<REDACTED>-www-form-urlencoded")), form, "a recorder hid the x");
        // Look-alikes: a text, another kind of body, and base64.
        assert_eq!(args(r#"{"body":"to be = or not"}"#), r#"{"url":"u","body":"to be = or not"}"#);
        assert_eq!(args(&kind("text/plain")), r#"{"url":"u","body":"b=2&a=1"}"#);
        assert_eq!(args(r#"{"body":{"base64_string":"YWJj="}}"#), r#"{"url":"u","body":"YWJj="}"#);
        assert_eq!(args(r#"{"body":"{\"b\": 2}"}"#), r#"{"url":"u","body":{"b":2}}"#);
    }

    #[test]
    fn only_a_list_of_requests_is_a_cassette() {
        let is = |text: &str| is_cassette(json::parse(text).expect("valid"));
        assert!(is(r#"{"interactions":[{"request":{"method":"GET","uri":"http://a/b"}}]}"#));
        assert!(is(r#"{"http_interactions":[{"request":{"method":"get","url":"http://a/b"}}]}"#));
        for text in [
            r#"{"interactions":[]}"#,
            r#"{"interactions":[{"type":"user"}]}"#,
            r#"{"interactions":[{"request":{"jsonrpc":"2.0","method":"tools/call"}}]}"#,
        ] {
            assert!(!is(text), "{text}");
        }
        for text in ["interactions:\n- request:\n", "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n"] {
            assert!(begins_yaml(text.as_bytes()), "{text}");
        }
        for text in
            ["interactions: []\n", "interactions:\n- type: user\n", "a:\n  interactions:\n- request:\n", "{", ""]
        {
            assert!(!begins_yaml(text.as_bytes()), "{text}");
        }
    }
}
