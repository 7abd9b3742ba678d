//! What the messages of a connection say of calls, as lines of our trace format: read by the importer of such messages, so
//! that a recording says what an import of the same messages says.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;

use playproof_engine::time::Instant;
use playproof_formats::yaml::GUESSED;
use playproof_intake::mcp_messages::{McpMessages, Way};
use playproof_intake::redact::RedactionRules;

use crate::message::{Kind, Message, Params};

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

/// The most calls whose runs are kept.
const MAX_RUNS: usize = 10_000;

/// Reads the messages of a connection.
#[derive(Debug)]
pub(crate) struct Reading {
    messages: McpMessages,
    /// The run of the connection.
    connection: String,
    run_from: RunFrom,
    /// The run of each call that names one, by its id, and the ids, oldest first.
    runs: BTreeMap<String, String>,
    oldest: VecDeque<String>,
}

/// What matters of a line of our trace format.
#[derive(Debug, Deserialize)]
pub(crate) struct TraceLine<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) run_id: Option<String>,
    pub(crate) call_id: Option<String>,
    #[serde(borrow)]
    pub(crate) at_ms: Option<&'a RawValue>,
    pub(crate) tool: Option<String>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
    pub(crate) idempotency_key: Option<String>,
    #[serde(borrow)]
    pub(crate) answers: Option<Cow<'a, str>>,
    pub(crate) attempt: Option<u32>,
    #[serde(borrow)]
    pub(crate) status: Option<Cow<'a, str>>,
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
        let messages = McpMessages::new(redaction)?;
        Some(Reading { messages, connection, run_from, runs: BTreeMap::new(), oldest: VecDeque::new() })
    }

    /// The lines that follow from a message.
    pub(crate) fn read(&mut self, way: Way, at: Instant, message: &Message<'_>, line: &str) -> String {
        match (message.kind(), way) {
            (Kind::Call, Way::ToServer) => self.learn_run(message),
            (Kind::Request | Kind::Answer, _) | (Kind::Cancelled, Way::ToServer) => {}
            // A server calls no tools.
            (Kind::Call | Kind::Cancelled, Way::ToClient) | (Kind::Progress | Kind::Other, _) => return String::new(),
        }
        let id = match message.kind() {
            Kind::Cancelled => message.params().and_then(|params| crate::message::name_of(params.request_id?)),
            _ => message.name(),
        };
        let run = id.and_then(|id| self.runs.get(&id)).unwrap_or(&self.connection);
        self.messages.read(way, run, at, line.trim_end())
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

    fn learn_run(&mut self, message: &Message<'_>) {
        let named = message.params().and_then(|params| self.run_from.named(&params));
        let Some((id, run)) = message.name().zip(named) else { return };
        if self.runs.insert(id.clone(), run).is_none() {
            self.oldest.push_back(id);
        }
        if self.oldest.len() > MAX_RUNS {
            self.oldest.pop_front().map(|id| self.runs.remove(&id));
        }
    }
}
