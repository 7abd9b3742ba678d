//! The formats of traces: tells our own and the built-in foreign ones apart by their beginning. Reads none to its end.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::run::ImportOutput;
use crate::imported::Missing;
use crate::json::{self, Fields};
use crate::mapping::Mapping;
use crate::raw_value::RawValue;
use crate::wire;
use crate::wire::TraceLine;

/// Lines of a beginning that [`is_own_format`] reads.
const OWN_LINES: usize = 50;

/// A foreign format that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceFormat {
    /// Arrays of OpenAI chat messages, or JSON Lines of them.
    OpenAi,
    /// A results file of tau-bench.
    Tau,
    /// A results file of tau2-bench.
    Tau2,
    /// A cassette of recorded HTTP exchanges.
    Cassette,
}

/// What is different in a file of a known format, and how its bad lines are treated.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatOptions<'a> {
    /// A mapping of the user that says what is different.
    pub overrides: Option<&'a Mapping>,
    /// Lines that are not JSON are skipped and counted.
    pub skip_invalid: bool,
    /// The most lines that may be skipped.
    pub allow_skipped: Option<u64>,
    /// The number of threads; 0 counts as 1.
    pub jobs: usize,
}

impl SourceFormat {
    /// The name for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            SourceFormat::OpenAi => "OpenAI chat messages",
            SourceFormat::Tau => "tau-bench results",
            SourceFormat::Tau2 => "tau2-bench results",
            SourceFormat::Cassette => "VCR cassette",
        }
    }
}

/// The output of an import before its first line.
pub(super) fn output_of(format: SourceFormat, options: FormatOptions<'_>) -> ImportOutput {
    let mut output = ImportOutput::default();
    output.reader.overrides = options.overrides.cloned().map(Arc::new);
    output.loss.is_overridden = options.overrides.is_some();
    output.loss.unknown_kinds.extend(options.overrides.into_iter().flat_map(Mapping::misspelt_kinds));
    output.loss.read_as = format.as_str().to_owned();
    output.loss.missing.extend([
        Missing::Kinds,
        Missing::Status,
        Missing::Attempts,
        Missing::Keys,
        Missing::Tokens,
        Missing::Effects,
    ]);
    output
}

/// Whether `beginning` is that of a trace in our own format: one of its first lines is ours, and none says in a field of its
/// own that its call failed.
pub fn is_own_format(beginning: &[u8]) -> bool {
    let lines: Vec<_> = objects(beginning).collect();
    lines.iter().any(|(_, line)| is_own_line(line)) && !lines.iter().any(|(_, line)| foreign_failure(line).is_some())
}

/// The objects in the first lines, with the numbers of the lines.
fn objects(beginning: &[u8]) -> impl Iterator<Item = (usize, Map<String, Value>)> {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let lines = (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    lines.take(OWN_LINES).filter_map(|(number, line)| Some((number, serde_json::from_slice(line).ok()?)))
}

/// The first lines without those of our own.
pub fn without_own_lines(beginning: &[u8]) -> Vec<u8> {
    let is_own = |line: &[u8]| serde_json::from_slice(line).is_ok_and(|line| is_own_line(&line));
    let others = beginning.split_inclusive(|byte| *byte == b'\n').take(OWN_LINES).filter(|line| !is_own(line));
    others.flatten().copied().collect()
}

/// The first line, from 1, that says in a field of another log that its call failed, and not in our `status`; with that field.
pub fn foreign_flag(beginning: &[u8]) -> Option<(usize, &'static str)> {
    objects(beginning).find_map(|(number, line)| Some((number, foreign_failure(&line)?)))
}

/// The field of another log by which a line says that its call failed. A line with its `type` is ours.
fn foreign_failure(line: &Map<String, Value>) -> Option<&'static str> {
    const FAILED: [&str; 5] = ["is_error", "isError", "failed", "err", "exception"];
    const SUCCEEDED: [&str; 3] = ["success", "succeeded", "ok"];
    let is_told = line.get("status").is_some_and(|status| status == "error");
    if line.contains_key("type") || !line.contains_key("tool") || is_told {
        return None;
    }
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && *value != "" && *value != 0;
    let failed = FAILED.into_iter().find(|flag| line.get(*flag).is_some_and(is_set));
    failed.or_else(|| SUCCEEDED.into_iter().find(|flag| line.get(*flag) == Some(&Value::Bool(false))))
}

/// Most of its fields are ours. Unknown fields are legal, but a log with many of them has another format.
fn is_own_line(line: &Map<String, Value>) -> bool {
    let known = line.keys().filter(|name| wire::is_field(name)).count();
    let has = |name: &str| line.get(name).is_some_and(Value::is_string);
    let status = line.get("status").and_then(Value::as_str);
    let status_fits = line.get("status").is_none_or(Value::is_null) || matches!(status, Some("ok" | "error"));
    let is_result = matches!(line.get("type").and_then(Value::as_str), Some("tool_result" | "run_end"));
    (has("tool") || is_result) && status_fits && known * 3 > line.len() * 2
}

/// Whether the first line of what begins with `start` is a line of a trace.
pub fn looks_like_a_trace(start: &[u8]) -> bool {
    let first = start.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(first).ok().and_then(|first| wire::parse_line(first.trim_end()).ok());
    line.is_some_and(|parsed| !matches!(parsed.line, TraceLine::Other))
}

/// The foreign format that the first document of a file has; `is_cut` says that it goes on behind what is seen of it.
pub(crate) fn detect(document: RawValue<'_>, is_cut: bool) -> Option<SourceFormat> {
    if let Some(fields) = json::object(document) {
        return of_object(&fields, is_cut);
    }
    let first = json::array(document)?.first().copied()?;
    match json::object(first) {
        Some(fields) if has(&fields, "traj", '[') => Some(SourceFormat::Tau),
        Some(fields) if is_cut && fields.get("task_id").and(fields.get("reward")).is_some() => Some(SourceFormat::Tau),
        Some(fields) => of_object(&fields, is_cut).filter(|&format| format == SourceFormat::OpenAi),
        None => {
            let message = json::array(first)?.first().copied().and_then(json::object)?;
            has(&message, "role", '"').then_some(SourceFormat::OpenAi)
        }
    }
}

fn of_object(fields: &Fields<'_>, is_cut: bool) -> Option<SourceFormat> {
    let kind = fields.text("type").unwrap_or_default();
    if has(fields, "tool", '"') || wire::is_type(&kind) {
        return None;
    }
    let has_info = has(fields, "info", '{') && (has(fields, "timestamp", '"') || has(fields, "tasks", '['));
    if has(fields, "simulations", '[') || is_cut && has_info {
        return Some(SourceFormat::Tau2);
    }
    (has(fields, "messages", '[') || has(fields, "role", '"')).then_some(SourceFormat::OpenAi)
}

/// Whether an object has a value by this name that begins so.
fn has(fields: &Fields<'_>, name: &str, first: char) -> bool {
    fields.get(name).is_some_and(|value| value.get().starts_with(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::tests::detect;

    #[test]
    fn each_format_is_recognised_by_its_beginning() {
        let openai = Some(SourceFormat::OpenAi);
        for text in [
            "[{\"role\":\"user\",\"content\":\"hi\"}]",
            " [\n[ {\"content\": null, \"role\": \"assistant\"",
            "{\"id\": 7, \"messages\": [",
            "{\"messages\": [{\"role\":\"user\"}]}\n{\"messages\": []}",
            "\u{feff}{\"role\":\"user\",\"content\":\"\\\"\"}",
        ] {
            assert_eq!(detect(text), openai, "{text}");
        }
        assert_eq!(detect("[{\"task_id\": 1, \"info\": {\"a\": [1]}, \"traj\": []}]"), Some(SourceFormat::Tau));
        assert_eq!(detect("[{\"task_id\": 1, \"reward\": 0, \"info\": {\"a\":"), Some(SourceFormat::Tau));
        assert_eq!(detect("{\"simulations\":[{"), Some(SourceFormat::Tau2));
        assert_eq!(detect("{\"timestamp\": \"t\", \"info\": {\"simulations"), Some(SourceFormat::Tau2));
    }

    #[test]
    fn our_own_lines_and_unknown_formats_are_not_claimed() {
        for text in [
            "",
            "[]",
            "{}",
            "7",
            "[7]",
            "{\"tool\":\"x\",\"messages\":[],\"role\":\"agent\"}",
            "{\"type\":\"tool_result\",\"role\":\"agent\",\"status\":\"ok\"}",
            "{\"messages\": 3}",
            "{\"role\": 3}",
            "[[[{\"role\":\"user\"}]]]",
            "{\"timestamp\": \"t\", \"info\": {}}",
            "{\"\\",
        ] {
            assert_eq!(detect(text), None, "{text}");
        }
    }

    #[test]
    fn our_lines_are_recognised_by_their_fields() {
        for line in [
            r#"{"type":"tool_call","run_id":"r","call_id":"c","tool":"pay","args":{},"team":"x"}"#,
            r#"{"type":"tool_result","call_id":"c","status":"error","error":{"kind":"timeout"}}"#,
            r#"{"tool":"search.web","args":{"q":"x"},"status":"ok"}"#,
            "\n{\"tool\":\"a\"}",
            r#"{"tool":"pay","args":{},"run_id":"r","call_id":"c","status":"ok","ok":true,"err":null}"#,
            r#"{"type":"tool_call","tool":"pay","args":{},"run_id":"r","success":false}"#,
        ] {
            assert!(is_own_format(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_row_that_says_in_another_field_that_it_failed_is_not_ours() {
        let rows = "{\"tool\":\"pay\",\"args\":{},\"status\":\"ok\"}\n{\"tool\":\"pay\",\"args\":{},\"status\":\"ok\",\"ok\":false}\n";
        assert!(!is_own_format(rows.as_bytes()));
        assert_eq!(foreign_flag(rows.as_bytes()), Some((2, "ok")));
        assert_eq!(foreign_flag(br#"{"event":"end","ok":false}"#), None);
    }

    #[test]
    fn logs_that_share_a_few_names_with_us_are_not_ours() {
        for line in [
            r#"{"tool":"a","took_ms":3}"#,
            r#"{"type":"tool_call","tool":"a","input":{},"id":"1"}"#,
            r#"{"ts":1,"tool":"a","args":{},"run_id":"r","http_status":500}"#,
            r#"{"tool":"a","args":{},"status":503}"#,
            r#"{"tool":"a","args":{},"status":"failed"}"#,
            r#"{"type":"tool_call","name":"a"}"#,
            "not json",
        ] {
            assert!(!is_own_format(line.as_bytes()), "{line}");
        }
    }
}
