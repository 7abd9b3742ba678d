//! The conversation in a document that is one request: its messages, and which of them a row lies in. Knows no mapping.

use crate::json::{self, Fields, Parsed};
use crate::raw_value::RawValue;

/// Where requests of the known interfaces have the messages of their conversation.
const LISTS: [&str; 3] = ["messages", "contents", "input"];
/// Where a line of Bedrock's model invocation log has them.
const LOGGED: &str = "input.inputBodyJson.messages";
/// The fields that name the conversation of a request: an `id` is its own.
const NAMES: [&str; 9] = [
    "conversation",
    "conversation_id",
    "conversationId",
    "session_id",
    "sessionId",
    "thread_id",
    "threadId",
    "run_id",
    "runId",
];

/// The conversation of a request.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    /// The path of its messages.
    list: &'static str,
    pub(super) messages: Vec<RawValue<'a>>,
    /// How many of them stand at that path. Behind the `input` of an exchange stand the items of its `output`, as the next
    /// request will repeat them.
    listed: usize,
    /// What the request calls it; empty: nothing.
    pub(super) name: &'a str,
}

impl<'a> Conversation<'a> {
    /// The conversation of a document, if that is a request.
    pub(super) fn of(document: &Parsed<'a>) -> Option<Conversation<'a>> {
        let fields = document.fields.as_ref()?;
        let (list, found) = listed(fields).or_else(|| logged(fields))?;
        let mut messages = json::array(found)?;
        let listed = messages.len();
        if list == "input" {
            messages.extend(fields.get("output").and_then(json::array).unwrap_or_default());
        }
        let name = NAMES.iter().find_map(|name| fields.get(name)).map_or("", RawValue::get);
        Some(Conversation { list, messages, listed, name })
    }

    /// The number of the message in which the row at `path` lies.
    pub(super) fn message_of(&self, path: &str) -> Option<usize> {
        let number = |list: &str| path.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?.0.parse::<usize>().ok();
        number(self.list).or_else(|| Some(self.listed + number("output").filter(|_| self.list == "input")?))
    }
}

fn listed<'a>(fields: &Fields<'a>) -> Option<(&'static str, RawValue<'a>)> {
    let list = |name| fields.get(name).filter(|value| value.get().starts_with('['));
    LISTS.iter().find_map(|name| Some((*name, list(name)?)))
}

fn logged<'a>(fields: &Fields<'a>) -> Option<(&'static str, RawValue<'a>)> {
    fields.get("schemaType")?;
    let body = json::object(fields.get("input")?)?.get("inputBodyJson")?;
    Some((LOGGED, json::object(body)?.get("messages")?))
}
