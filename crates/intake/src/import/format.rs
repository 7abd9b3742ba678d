//! The formats of traces: tells our own and the built-in foreign ones apart by their beginning, and hands foreign bytes to
//! the reader of their format. Checks nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::run::ImportOutput;
use super::{cassette, openai, tau};
use crate::imported::{ImportWarning, Imported, Missing};
use crate::mapping::Mapping;
use crate::source_text::SourceText;
use crate::wire;
use crate::wire::TraceLine;
use playproof_formats::diagnostic::{Diagnostic, Report};

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

/// Turns foreign `bytes`, called `name`, into lines of our own trace format.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place; a document of another shape; a document without runs.
pub fn import(format: SourceFormat, bytes: &[u8], name: &str) -> Result<Imported, Report> {
    import_with(format, bytes, name, FormatOptions::default())
}

/// [`import`], but for what `options` say.
///
/// # Errors
/// As [`import`]; a mapping that names the runs, because these formats have them in their structure.
pub fn import_with(
    format: SourceFormat,
    bytes: &[u8],
    name: &str,
    options: FormatOptions<'_>,
) -> Result<Imported, Report> {
    if let Some(own) = options.overrides.filter(|own| own.names_runs()) {
        return Err(own.refused_runs(format.as_str()));
    }
    let written = SourceText::new(bytes, name)?;
    let text = match format {
        SourceFormat::Cassette => cassette::as_json(&written)?,
        _ if options.skip_invalid => Cow::Owned(written.without_bad_lines()),
        _ => Cow::Borrowed(written.text),
    };
    let source = SourceText { text: &text, name };
    let mut output = output_of(format, options);
    if format != SourceFormat::Cassette {
        for (n, _) in written.text.lines().zip(text.lines()).enumerate().filter(|(_, (before, after))| before != after)
        {
            output.loss.warn(ImportWarning::NotJson, &format!("line {}", n + 1));
        }
    }
    output.finder = source.lines();
    match format {
        SourceFormat::OpenAi => openai::read(&source, &mut output)?,
        SourceFormat::Tau => tau::read_tau(&source, &mut output)?,
        SourceFormat::Tau2 => tau::read_tau2(&source, &mut output)?,
        SourceFormat::Cassette => cassette::read(&source, &mut output)?,
    }
    if output.loss.runs == 0 {
        let help = "no part of it is a conversation in this format";
        return Err(source.report(0, Diagnostic::error("empty_import", "no runs in this file").help(help)));
    }
    Ok(output.finish())
}

/// The output of an import before its first line.
pub(super) fn output_of(format: SourceFormat, options: FormatOptions<'_>) -> ImportOutput {
    let mut output = ImportOutput::default();
    output.overrides = options.overrides.cloned();
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

/// The `type`s of our own trace format.
const OWN_TYPES: [&[u8]; 6] = [b"tool_call", b"tool_result", b"run_end", b"crash", b"commit", b"rolled_back"];

/// The foreign format that `bytes` begin like. The first 64 KiB suffice for nearly all files.
pub fn detect(bytes: &[u8]) -> Option<SourceFormat> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut skimmer = JsonSkimmer { bytes, at: 0 };
    match skimmer.next()? {
        b'{' => of_object(&skimmer.keys()),
        b'[' => of_array(skimmer),
        _ => None,
    }
}

fn of_object(keys: &ObjectKeys<'_>) -> Option<SourceFormat> {
    if keys.has("tool", b'"') || keys.own_type {
        return None;
    }
    let cut_tau2 = keys.cut && keys.has("info", b'{') && (keys.has("timestamp", b'"') || keys.has("tasks", b'['));
    if keys.has("simulations", b'[') || cut_tau2 {
        return Some(SourceFormat::Tau2);
    }
    (keys.has("messages", b'[') || keys.has("role", b'"')).then_some(SourceFormat::OpenAi)
}

fn of_array(mut skimmer: JsonSkimmer<'_>) -> Option<SourceFormat> {
    match skimmer.next()? {
        b'{' => {
            let keys = skimmer.keys();
            let cut_tau = keys.cut && keys.any("task_id") && keys.any("reward");
            if keys.has("traj", b'[') || cut_tau {
                return Some(SourceFormat::Tau);
            }
            of_object(&keys).filter(|&format| format == SourceFormat::OpenAi)
        }
        b'[' if skimmer.next()? == b'{' => skimmer.keys().has("role", b'"').then_some(SourceFormat::OpenAi),
        _ => None,
    }
}

/// The names in one object as far as the bytes reach, each with the first byte of its value.
#[derive(Default)]
struct ObjectKeys<'a> {
    names: Vec<(&'a [u8], u8)>,
    own_type: bool,
    cut: bool,
}

impl ObjectKeys<'_> {
    fn has(&self, name: &str, first: u8) -> bool {
        self.names.contains(&(name.as_bytes(), first))
    }

    fn any(&self, name: &str) -> bool {
        self.names.iter().any(|&(known, _)| known == name.as_bytes())
    }
}

/// Skims JSON that may be cut anywhere; checks nothing.
struct JsonSkimmer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> JsonSkimmer<'a> {
    /// Moves past the next byte that is not white space, and returns it.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
        }
    }

    /// The names of the object whose opening brace was just passed.
    fn keys(&mut self) -> ObjectKeys<'a> {
        let mut keys = ObjectKeys::default();
        keys.cut = self.fill(&mut keys).is_none();
        keys
    }

    /// None where the bytes end first.
    fn fill(&mut self, keys: &mut ObjectKeys<'a>) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => {}
                b',' => continue,
                _ => return Some(()), // the closing brace, or a byte that fits no object
            }
            let name = self.rest_of_string()?;
            if self.next()? != b':' {
                return Some(());
            }
            let first = self.next()?;
            keys.names.push((name, first));
            if first == b'"' {
                let value = self.rest_of_string()?;
                keys.own_type |= name == b"type" && OWN_TYPES.contains(&value);
            } else {
                self.rest_of_value(first)?;
            }
        }
    }

    /// The content of the string whose opening quote was just passed, escapes as written.
    fn rest_of_string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return self.bytes.get(start..self.at - 1);
            }
        }
    }

    /// Moves past the rest of a value that began with `first` and is not a string.
    fn rest_of_value(&mut self, first: u8) -> Option<()> {
        let mut depth = usize::from(matches!(first, b'{' | b'['));
        if depth == 0 {
            while !matches!(self.bytes.get(self.at)?, b',' | b'}' | b']') {
                self.at += 1;
            }
            return Some(());
        }
        while depth > 0 {
            match self.next()? {
                b'"' => drop(self.rest_of_string()?),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(detect(text.as_bytes()), openai, "{text}");
        }
        assert_eq!(detect(b"[{\"task_id\": 1, \"info\": {\"a\": [1]}, \"traj\": []}]"), Some(SourceFormat::Tau));
        assert_eq!(detect(b"[{\"task_id\": 1, \"reward\": 0, \"info\": {\"a\":"), Some(SourceFormat::Tau));
        assert_eq!(detect(b"{\"simulations\":[{"), Some(SourceFormat::Tau2));
        assert_eq!(detect(b"{\"timestamp\": \"t\", \"info\": {\"simulations"), Some(SourceFormat::Tau2));
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
            assert_eq!(detect(text.as_bytes()), None, "{text}");
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
