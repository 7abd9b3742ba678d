//! The formats that come with the program: their names, their mappings, and which of them a file has. Reads no files.

use std::sync::OnceLock;

use super::beginning::{Completed, completed, documents};
use crate::import;
use crate::import::{FormatOptions, SourceFormat};
use crate::imported::Imported;
use crate::mapping;
use crate::mapping::Mapping;
use crate::prefixed;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::{Diagnostic, Report, Source, did_you_mean};

/// A format that is read without a mapping of the user.
#[derive(Debug)]
pub struct BuiltinFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    /// The text of a mapping file, marks of which a file of this format has one, and the mapping once it is needed.
    Mapping(&'static str, &'static [&'static str], OnceLock<Option<Box<Mapping>>>),
    BuiltIn(SourceFormat),
}

macro_rules! mapped {
    ($name:literal, $title:literal, $marks:expr) => {
        BuiltinFormat {
            name: $name,
            title: $title,
            reader: Reader::Mapping(include_str!(concat!("../../formats/", $name, ".yaml")), &$marks, OnceLock::new()),
        }
    };
}

const fn built_in(name: &'static str, format: SourceFormat) -> BuiltinFormat {
    BuiltinFormat { name, title: format.as_str(), reader: Reader::BuiltIn(format) }
}

/// Every known format, by name.
pub static FORMATS: [BuiltinFormat; 31] = [
    mapped!("agent-client-protocol", "Agent Client Protocol messages", ["sessionUpdate"]),
    mapped!("anthropic-messages", "Anthropic Messages", ["type=tool_use"]),
    mapped!("bedrock-converse", "Amazon Bedrock Converse", ["toolUseId"]),
    mapped!("burr-log", "Burr tracking log", ["sequence_id"]),
    mapped!("claude-code", "Claude Code session log", ["uuid"]),
    mapped!("claude-stream", "Claude Code stream-json output", ["session_id"]),
    mapped!("codex-exec", "Codex CLI exec output", ["type=item.started", "type=item.completed"]),
    mapped!("codex-rollout", "Codex CLI rollout", ["type=response_item"]),
    mapped!("gemini-cli", "Gemini CLI session", ["type=gemini"]),
    mapped!("gemini-contents", "Gemini contents", ["functionCall", "function_call"]),
    mapped!("inspect-log", "Inspect evaluation log", ["event=tool"]),
    mapped!("jaeger-genai", "Jaeger spans of the GenAI conventions", ["tags"]),
    mapped!("langchain-messages", "LangChain messages", ["type=ai", "type=AIMessageChunk", "type=tool", "lc=1"]),
    mapped!(
        "langfuse-observations",
        "Langfuse observations",
        ["level=DEFAULT", "level=DEBUG", "level=WARNING", "level=ERROR"]
    ),
    mapped!(
        "langgraph-events",
        "LangGraph events",
        ["event=on_tool_start", "event=on_tool_end", "event=on_tool_error"]
    ),
    mapped!("langsmith-runs", "LangSmith runs", ["run_type"]),
    mapped!("livemcpbench", "LiveMCPBench results", ["tool_name"]),
    mapped!("mcp-jsonrpc", "MCP JSON-RPC messages", ["jsonrpc"]),
    mapped!("openai-agents-traces", "OpenAI Agents SDK traces", ["span_data"]),
    built_in("openai-chat", SourceFormat::OpenAi),
    mapped!(
        "openai-responses",
        "OpenAI Responses items",
        [
            "type=function_call",
            "type=custom_tool_call",
            "type=function_call_output",
            "type=shell_call",
            "type=apply_patch_call",
            "server_label"
        ]
    ),
    mapped!("opencode", "opencode sessions", ["callID"]),
    mapped!("openhands", "OpenHands events", ["action", "observation"]),
    mapped!("otlp-genai", "OpenTelemetry spans of the GenAI conventions", ["attributes"]),
    mapped!("pi-session", "pi session", ["toolCallId"]),
    mapped!("pydantic-ai-messages", "pydantic-ai messages", ["part_kind"]),
    built_in("tau-bench", SourceFormat::Tau),
    built_in("tau2-bench", SourceFormat::Tau2),
    built_in("vcr-cassette", SourceFormat::Cassette),
    mapped!("vercel-ai-sdk-4", "Vercel AI SDK 4 steps", ["toolCallId"]),
    mapped!("vercel-ai-sdk-5", "Vercel AI SDK 5 steps", ["toolCallId"]),
];

impl BuiltinFormat {
    /// The text of its mapping file; none if the format is built in.
    pub const fn text(&self) -> Option<&'static str> {
        match &self.reader {
            Reader::Mapping(text, ..) => Some(text),
            Reader::BuiltIn(_) => None,
        }
    }

    /// Its mapping; none if the format is built in.
    pub fn mapping(&self) -> Option<&Mapping> {
        let Reader::Mapping(text, _, mapping) = &self.reader else { return None };
        let parse = || mapping::parse(Source::whole(format!("{}.yaml", self.name), *text)).ok().map(Box::new);
        mapping.get_or_init(parse).as_deref()
    }

    /// Whether a text can hold rows of this format, without reading its mapping.
    fn may_have(&self, text: &str) -> bool {
        match &self.reader {
            Reader::Mapping(_, marks, _) => marks.iter().any(|mark| mapping::has_mark(text, mark)),
            Reader::BuiltIn(_) => true,
        }
    }

    /// The mapping that is applied, with what `options` say; none if the format is built in.
    pub fn applied(&self, options: FormatOptions<'_>) -> Option<Mapping> {
        let FormatOptions { overrides, skip_invalid, allow_skipped, .. } = options;
        let mapping = self.mapping()?.of_format(self.title, overrides);
        Some(if skip_invalid { mapping.skipping_invalid(true, allow_skipped) } else { mapping })
    }

    /// Turns `bytes`, called `name`, into lines of our own trace format.
    ///
    /// # Errors
    /// Bytes that are not UTF-8 or not JSON, with the place; a file without calls.
    pub fn read(
        &self,
        bytes: &[u8],
        name: &str,
        options: FormatOptions<'_>,
        redaction: &RedactionRules,
    ) -> Result<Imported, Report> {
        match (&self.reader, self.applied(options)) {
            (_, Some(mapping)) => mapping::apply_on(options.jobs, &mapping, bytes, name, redaction),
            (Reader::BuiltIn(format), None) => {
                import::import_with(*format, bytes, name, options).map_err(|report| redaction.report(report))
            }
            (Reader::Mapping(..), None) => Err(Report::one(
                Source::whole(name, ""),
                Diagnostic::error("bad_format", format!("`{}` cannot be read", self.name)),
            )),
        }
    }
}

impl BuiltinFormat {
    /// Whether it is OpenAI chat messages that can be read line by line: no mapping names their runs, which is an error.
    pub fn is_chat_by_lines(&self, options: FormatOptions<'_>) -> bool {
        matches!(self.reader, Reader::BuiltIn(SourceFormat::OpenAi))
            && options.overrides.is_none_or(|own| !own.names_runs())
    }

    const fn is_cassette(&self) -> bool {
        matches!(self.reader, Reader::BuiltIn(SourceFormat::Cassette))
    }
}

/// The format called `name`.
pub fn find(name: &str) -> Option<&'static BuiltinFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The names of the formats that `name` is probably meant to be: all whose names it begins, else the one that is written
/// nearly so.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let names = || FORMATS.iter().map(|format| format.name);
    let of_family: Vec<_> = names().filter(|known| !name.is_empty() && known.starts_with(name)).collect();
    if of_family.is_empty() { did_you_mean(name, names()).into_iter().collect() } else { of_family }
}

/// The formats that a file which begins with `start` may have. More than one: the user decides. A trace of our own has none.
pub fn detect(start: &[u8]) -> Vec<&'static BuiltinFormat> {
    let first = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start().first();
    // A text in a cassette may hold messages.
    let is_yaml_cassette = !matches!(first, Some(b'{' | b'[')) && import::begins_yaml(start);
    if is_yaml_cassette {
        return FORMATS.iter().filter(|format| format.is_cassette()).collect();
    }
    if let Some(unwrapped) = prefixed::unwrapped(start) {
        let found = detect(&unwrapped.bytes);
        return found.into_iter().filter(|format| format.text().is_some()).collect();
    }
    if !matches!(first, Some(b'{' | b'[')) {
        return Vec::new();
    }
    if import::is_own_format(start) {
        return Vec::new();
    }
    foreign(start)
}

/// The formats that parts of a file have which begins with `start`, be it a trace of our own or not.
pub fn foreign(start: &[u8]) -> Vec<&'static BuiltinFormat> {
    let Completed { text, is_cut } = completed(start);
    let documents = documents(&text);
    let fits = |format: &&BuiltinFormat| match format.mapping() {
        Some(mapping) => mapping.may_recognise(&text) && documents.iter().any(|document| mapping.recognises(*document)),
        None => format.is_cassette() && documents.iter().any(|document| import::is_cassette(*document)),
    };
    let found: Vec<_> = FORMATS.iter().filter(|format| format.may_have(&text)).filter(fits).collect();
    if !found.is_empty() {
        let is_claimed =
            |document| found.iter().filter_map(|format| format.mapping()).any(|of| of.recognises(document));
        let has_chat = documents.iter().any(|document| import::is_chat_with_calls(*document) && !is_claimed(*document));
        let is_found = |format: &&BuiltinFormat| {
            found.iter().any(|other| other.name == format.name)
                || has_chat && matches!(format.reader, Reader::BuiltIn(SourceFormat::OpenAi))
        };
        return FORMATS.iter().filter(is_found).collect();
    }
    let is_other = |format: &SourceFormat| *format == SourceFormat::OpenAi && import::is_other_chat(&documents);
    let first = documents.first().and_then(|first| import::detect(*first, is_cut));
    let built_in = first.filter(|format| !is_other(format));
    let is = |format: &&BuiltinFormat| matches!(format.reader, Reader::BuiltIn(format) if Some(format) == built_in);
    FORMATS.iter().filter(is).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imported::ImportWarning;

    fn names(start: &str) -> Vec<&'static str> {
        detect(start.as_bytes()).iter().map(|format| format.name).collect()
    }

    #[test]
    fn a_cut_beginning_is_recognised_by_its_first_call() {
        let call = r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","inp"#;
        assert_eq!(names(call), ["anthropic-messages"]);
        assert_eq!(
            names(
                r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"#
            ),
            ["otlp-genai"]
        );
    }

    #[test]
    fn a_file_without_the_marks_of_a_format_has_no_row_of_it() {
        for format in &FORMATS {
            let Reader::Mapping(_, marks, _) = &format.reader else { continue };
            let mapping = format.mapping().unwrap();
            assert!(mapping.each_mark_needs_one_of(marks), "{}", format.name);
        }
    }

    #[test]
    fn a_file_of_two_formats_has_both_even_if_one_is_built_in() {
        let anthropic = r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t"}]}]}"#;
        let chat = r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"t"}}]}]}"#;
        let message = r#"{"role":"tool","tool_call_id":"b","content":"x"}"#;
        let words = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
        for other in [chat, message] {
            for text in [format!("{anthropic}\n{other}"), format!("{other}\n{anthropic}")] {
                assert_eq!(names(&text), ["anthropic-messages", "openai-chat"], "{text}");
            }
        }
        assert_eq!(names(&format!("{words}\n{anthropic}")), ["anthropic-messages"]);
    }

    #[test]
    fn messages_behind_a_prefix_are_recognised_and_other_lines_counted() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[]}}"#;
        for prefix in ["STDIN: ", "2026-03-02T09:15:00Z [shop] ", "[shop] "] {
            let log = format!("server started\n{prefix}{call}\n{prefix}{answer}\n");
            assert_eq!(names(&log), ["mcp-jsonrpc"], "{log}");
            let read = detect(log.as_bytes())[0].read(
                log.as_bytes(),
                "log",
                FormatOptions::default(),
                &RedactionRules::default(),
            );
            let loss = read.unwrap_or_else(|report| panic!("{report}")).loss;
            assert_eq!((loss.calls, loss.failures, loss.count(ImportWarning::UnmatchedRow)), (1, 1, 1), "{log}");
        }
        assert_eq!(names("STDIN: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"), Vec::<&str>::new());
        let cut = format!("STDIN: {call}\nSTDOUT: {{\"jsonrpc\":\"2.0\",\n");
        let report =
            detect(cut.as_bytes())[0].read(cut.as_bytes(), "log", FormatOptions::default(), &RedactionRules::default());
        assert_eq!(
            report.map_err(|report| report.to_string()).err().as_deref(),
            Some("log:2:25: the JSON ends before it is complete")
        );
    }

    #[test]
    fn the_beginning_of_a_name_and_a_misspelt_one_are_enough_for_a_suggestion() {
        assert_eq!(
            ["gemini-con", "otlp-genia", "vcr", "", "zzz", "openai-"].map(|name| nearest(name).join(" ")),
            [
                "gemini-contents",
                "otlp-genai",
                "vcr-cassette",
                "",
                "",
                "openai-agents-traces openai-chat openai-responses"
            ]
        );
    }

    #[test]
    fn what_only_looks_like_a_format_is_not_claimed() {
        for text in [
            "",
            "{",
            "tool_use",
            r#"{"type":"tool_use","id":"a","name":"t"}"#,
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /","attributes":[{"key":"http.method","value":{"stringValue":"execute_tool"}}]}]}]}]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
            r#"{"run_type":"tool"}"#,
            r#"{"event":"on_tool_start"}"#,
            r#"{"data":[{"traceId":"t","level":"info","type":"SPAN"}]}"#,
            r#"{"text":"{\"type\":\"function_call\",\"call_id\":\"c\"}"}"#,
        ] {
            assert_eq!(names(text), Vec::<&str>::new(), "{text}");
        }
        // A trace of our own stays one, even with such fields in its arguments.
        let own = r#"{"type":"tool_call","tool":"x","call_id":"c","args":{"type":"function_call","call_id":"c"}}"#;
        assert_eq!(names(own), Vec::<&str>::new());
        assert_eq!(names(r#"{"messages":[{"role":"user","content":"use toolUse"}]}"#), ["openai-chat"]);
    }

    #[test]
    fn a_cassette_whose_bodies_are_messages_is_a_cassette() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}"#;
        let cassette =
            format!("interactions:\n- request:\n    body: '{body}'\n    method: POST\n    uri: http://a/b\n");
        assert_eq!(names(&cassette), ["vcr-cassette"]);
        let log = format!("interactions: 3\nSTDIN: {body}\n");
        assert_eq!(names(&log), ["mcp-jsonrpc"], "no cassette");
    }

    #[test]
    fn chats_whose_calls_have_another_form_are_not_claimed() {
        let call = r#"{"function":"pay","args":{},"id":"1"}"#;
        let answer = r#"{"role":"tool","tool_call_id":"1","content":"ok"}"#;
        let chat = format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{call}]}},{answer}]}}"#);
        assert_eq!(names(&chat), Vec::<&str>::new());
        assert_eq!(
            names(r#"{"id":"s","messages":[{"type":"user","content":"hi"},{"type":"model"}]}"#),
            Vec::<&str>::new()
        );
        // Look-alikes: answers alone, calls that are empty, and a chat in which one call has the known form.
        assert_eq!(names(&format!(r#"{{"messages":[{answer}]}}"#)), ["openai-chat"]);
        let empty = r#"{"messages":[{"role":"assistant","tool_calls":[]},{"role":"user"}]}"#;
        assert_eq!(names(empty), ["openai-chat"]);
        let known = r#"{"id":"2","function":{"name":"pay","arguments":"{}"}}"#;
        let mixed = format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{call},{known}]}},{answer}]}}"#);
        assert_eq!(names(&mixed), ["openai-chat"]);
    }

    #[test]
    fn every_format_that_comes_with_the_program_is_valid_and_has_a_mark() {
        for format in &FORMATS {
            if let Some(text) = format.text() {
                let mapping = mapping::parse(Source::whole(format.name, text));
                assert!(mapping.is_ok_and(|mapping| mapping.has_mark()), "{}", format.name);
            }
        }
        assert!(FORMATS.is_sorted_by_key(|format| format.name));
    }
}
