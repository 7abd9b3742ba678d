//! What the messages of calls say, as lines of our trace format: read by the importer of such messages, so that a recording
//! says what an import of the same messages says; only the flag of the protocol tells of a failure.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use playproof_engine::time::Instant;
use playproof_formats::yaml::GUESSED;
use playproof_intake::hash;
use playproof_intake::mcp_messages::{McpMessages, Way};
use playproof_intake::pieces::MAX_LINE;
use playproof_intake::redact::RedactionRules;

use crate::cut::Cuts;
use crate::message::Params;

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFrom {
    /// The connection.
    Connection,
    /// The trace of `traceparent` in `_meta`.
    Traceparent,
    /// The value of a key of `_meta`.
    Meta(String),
}

impl RunFrom {
    /// Reads a word of the command line.
    pub fn parse(word: &str) -> Option<RunFrom> {
        match word {
            "connection" => Some(RunFrom::Connection),
            "traceparent" => Some(RunFrom::Traceparent),
            _ => word.strip_prefix("meta:").filter(|key| !key.is_empty()).map(|key| RunFrom::Meta(key.to_owned())),
        }
    }

    /// The run that a call names; none: it names none.
    fn named(&self, params: &Params<'_>) -> Option<String> {
        let key = match self {
            RunFrom::Connection => return None,
            RunFrom::Traceparent => "traceparent",
            RunFrom::Meta(key) => key,
        };
        let value = params.of_meta(key)?.get();
        let text = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
        match self {
            RunFrom::Traceparent => text.split('-').nth(1).map(str::to_owned),
            RunFrom::Connection | RunFrom::Meta(_) => Some(text),
        }
    }
}

/// What a journal may add to a line, in bytes.
const ROOM: usize = 64 << 10;

/// Reads the messages of a connection.
#[derive(Debug)]
pub(crate) struct Reading {
    messages: McpMessages,
    /// The run of the connection.
    connection: String,
    run_from: RunFrom,
}

/// What matters of a line of our trace format.
#[derive(Debug, Deserialize)]
pub(crate) struct TraceLine<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) run_id: Option<String>,
    pub(crate) call_id: Option<String>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
    pub(crate) idempotency_key: Option<String>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> TraceLine<'a> {
    /// The lines of a trace.
    pub(crate) fn all(lines: &'a str) -> impl Iterator<Item = TraceLine<'a>> {
        lines.lines().filter_map(|line| serde_json::from_str(line).ok())
    }
}

impl Reading {
    /// None: the program lacks the format.
    pub(crate) fn new(connection: String, run_from: RunFrom, redaction: &RedactionRules) -> Option<Reading> {
        Some(Reading { messages: McpMessages::new(redaction)?, connection, run_from })
    }

    /// The lines that follow from a message of a call; whether its arguments were left out.
    pub(crate) fn read(&mut self, way: Way, run: &str, at: Instant, message: &str) -> (String, bool) {
        readable(self.messages.read(way, run, at, message.trim_end()), MAX_LINE - ROOM)
    }

    /// Learns what a server's list says of its tools.
    pub(crate) fn learn_hints(&mut self, message: &str) {
        self.messages.learn_hints(message);
    }

    /// The run of a call.
    pub(crate) fn run_of(&self, params: &Params<'_>) -> String {
        self.run_from.named(params).unwrap_or_else(|| self.connection.clone())
    }

    /// The tools file that the hints of the server's lists suggest; none: there was no list.
    pub(crate) fn guesses(&self) -> Option<String> {
        let hints = self.messages.hints();
        let mut rows = String::from("format: tools/1\ntools:\n");
        for (tool, hint) in hints {
            let access = if hint.read_only == Some(true) { "read" } else { "write" };
            let idempotent = if hint.idempotent == Some(true) && access == "write" { ", idempotent: true" } else { "" };
            let tool = serde_json::Value::from(tool.as_str()); // quoted as YAML reads it, too
            rows.push_str(&format!("  {tool}: {{ access: {access}{idempotent} }} {GUESSED}\n"));
        }
        (!hints.is_empty()).then_some(rows)
    }
}

/// Lines of at most so many bytes: longer ones have the hash of their arguments instead, so that equal ones stay equal.
fn readable(lines: String, most: usize) -> (String, bool) {
    if lines.len() <= most {
        return (lines, false);
    }
    let args = TraceLine::all(&lines).find_map(|line| line.args);
    let cut = args.map(|args| {
        let hash = hash::half(hash::bytes(args.get().as_bytes(), 0));
        let instead = format!("{{\"left_out\":{},\"hash\":\"{hash:016x}\"}}", args.get().len());
        Cuts::of(&lines).replace(args, instead).line()
    });
    (cut.unwrap_or_default(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_a_reader_takes() {
        let line = |args: &str| format!("{{\"type\":\"tool_call\",\"args\":\"{args}\",\"tool\":\"t\"}}\n");
        assert_eq!(readable(line("a"), 80), (line("a"), false));
        let [one, same, other] = ["a", "a", "b"].map(|letter| readable(line(&letter.repeat(90)), 100));
        assert!(one.0.contains("\"args\":{\"left_out\":92,") && one.0.ends_with("\"tool\":\"t\"}\n"), "{one:?}");
        assert!(one.1 && one == same && one != other);
    }
}
