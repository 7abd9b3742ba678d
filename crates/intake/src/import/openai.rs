//! Reads OpenAI chat messages. An array of messages is a run. A file holds several runs as an array of arrays, as objects
//! with `messages`, or one a line. It may also hold one run with one message a line.

use std::collections::BTreeMap;

use super::messages::{end_all, walk, walk_on};
use super::names::{RunLabel, unique};
use super::run::ImportOutput;
use crate::imported::ImportWarning;
use crate::json;
use crate::json::Fields;
use crate::raw_value::{RawValue, Tape};
use crate::source_text::SourceText;
use crate::tool_hints;
use playproof_formats::diagnostic::Report;

/// The fields that may name a conversation; the first that is present does.
const NAMES: [&str; 6] = ["run_id", "conversation_id", "session_id", "thread_id", "trace_id", "id"];
/// The fields of a message that may name its conversation: its `id` is its own.
const NAMES_OF_A_MESSAGE: [&str; 5] = ["run_id", "conversation_id", "session_id", "thread_id", "trace_id"];

#[derive(Default)]
pub(super) struct Conversation<'a> {
    pub(super) label: RunLabel,
    /// What it is called if several requests may belong to it: an `id` is that of one request.
    pub(super) thread: String,
    pub(super) messages: Vec<RawValue<'a>>,
    /// The path of the messages.
    pub(super) place: String,
    /// Its messages are on separate lines.
    is_one_a_line: bool,
}

/// Writes every conversation of `source`.
pub(super) fn read(source: &SourceText<'_>, output: &mut ImportOutput) -> Result<(), Report> {
    let documents = source.documents()?;
    let several = documents.len() > 1;
    let mut tapes: Vec<Tape> = documents.iter().map(|_| Tape::default()).collect();
    let mut found = Vec::new();
    let mut lines = BTreeMap::new();
    for (n, (document, tape)) in documents.into_iter().zip(&mut tapes).enumerate() {
        let document = tape.read(document.get()).unwrap_or(document);
        // The index that `jq --slurp` would give.
        let place = if several { format!("[{n}]") } else { String::new() };
        tool_hints::gather(document.get(), &mut output.loss.hints);
        gather(document, &place, (&mut found, &mut lines), output);
    }
    let labels: Vec<RunLabel> = found.iter().map(|conversation| conversation.label.clone()).collect();
    for (conversation, name) in found.iter().zip(unique(&labels)) {
        // Messages on lines of their own may belong to several conversations.
        let Conversation { messages, place, .. } = conversation;
        match conversation.is_one_a_line {
            true => walk(conversation.label.base.as_ref().map(|_| name.as_str()), messages, place, output),
            false => walk_on(&conversation.thread, &name, messages, place, output),
        }
    }
    end_all(output);
    Ok(())
}

/// What a document holds.
pub(super) enum Found<'a> {
    Conversations(Vec<Conversation<'a>>),
    /// One message of the conversation with this name.
    Message(Option<String>, Fields<'a>),
}

/// Reads a document, and notes the places of what it cannot read. Places are those behind the document's own, which is there if
/// it `is_part` of several.
pub(super) fn found<'a>(document: RawValue<'a>, is_part: bool, unreadable: &mut Vec<String>) -> Found<'a> {
    if let Some(fields) = json::object(document) {
        return match of_object(&fields, if is_part { ".messages" } else { "messages" }.to_owned()) {
            Some(conversation) => Found::Conversations(vec![conversation]),
            None if fields.text("role").is_some() => Found::Message(name_of(&fields, &NAMES_OF_A_MESSAGE), fields),
            None => nothing(unreadable),
        };
    }
    let Some(items) = json::array(document) else { return nothing(unreadable) };
    if is_conversation(&items) {
        return Found::Conversations(vec![of_array(items, "")]);
    }
    let mut all = Vec::new();
    for (n, item) in items.into_iter().enumerate() {
        let place = format!("[{n}]");
        match conversation(item, &place) {
            Some(conversation) => all.push(conversation),
            None => unreadable.push(place),
        }
    }
    Found::Conversations(all)
}

fn gather<'a>(
    document: RawValue<'a>,
    place: &str,
    (all, lines): (&mut Vec<Conversation<'a>>, &mut BTreeMap<Option<String>, usize>),
    output: &mut ImportOutput,
) {
    let mut unreadable = Vec::new();
    let found = found(document, !place.is_empty(), &mut unreadable);
    unreadable.iter().for_each(|rest| output.loss.warn(ImportWarning::NotReadable, &format!("{place}{rest}")));
    match found {
        Found::Conversations(conversations) => {
            let placed = |of: Conversation<'a>| Conversation { place: format!("{place}{}", of.place), ..of };
            all.extend(conversations.into_iter().map(placed));
        }
        Found::Message(base, _) => {
            let same = lines.get(&base).and_then(|number: &usize| all.get_mut(*number));
            if let Some(same) = same {
                same.messages.push(document);
            } else {
                lines.insert(base.clone(), all.len());
                all.push(Conversation {
                    label: RunLabel { base, trial: None },
                    messages: vec![document],
                    is_one_a_line: true,
                    ..Conversation::default()
                });
            }
        }
    }
}

fn nothing<'a>(unreadable: &mut Vec<String>) -> Found<'a> {
    unreadable.push(String::new());
    Found::Conversations(Vec::new())
}

/// Reads an array of messages, or an object with such an array.
fn conversation<'a>(raw: RawValue<'a>, place: &str) -> Option<Conversation<'a>> {
    match json::array(raw) {
        Some(messages) => is_conversation(&messages).then(|| of_array(messages, place)),
        None => of_object(&json::object(raw)?, format!("{place}.messages")),
    }
}

fn is_conversation(items: &[RawValue<'_>]) -> bool {
    items.first().is_none_or(|first| is_message(*first))
}

fn of_array<'a>(messages: Vec<RawValue<'a>>, place: &str) -> Conversation<'a> {
    Conversation { messages, place: place.to_owned(), ..Conversation::default() }
}

fn of_object<'a>(fields: &Fields<'a>, place: String) -> Option<Conversation<'a>> {
    let messages = fields.get("messages").and_then(json::array)?;
    let label = RunLabel { base: name_of(fields, &NAMES), trial: None };
    let thread = name_of(fields, &NAMES_OF_A_MESSAGE).unwrap_or_default();
    Some(Conversation { label, thread, messages, place, is_one_a_line: false })
}

/// The name of a conversation in one of the fields `names`.
fn name_of(fields: &Fields<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| fields.text(name)).map(String::from).filter(|name| !name.is_empty())
}

/// Whether a document holds messages with calls or results of this format.
pub(crate) fn is_chat_with_calls(document: RawValue<'_>) -> bool {
    let messages = json::object(document).and_then(|fields| fields.get("messages").and_then(json::array));
    match messages.or_else(|| json::array(document)) {
        Some(messages) => messages.into_iter().any(calls_or_answers),
        None => calls_or_answers(document),
    }
}

/// Whether the messages of documents have another form than this format: calls, but none that names a function as it does, or
/// no message with a role.
pub(crate) fn is_other_chat(documents: &[RawValue<'_>]) -> bool {
    let messages: Vec<Fields<'_>> = documents.iter().flat_map(|document| messages_in(*document)).collect();
    let calls = || messages.iter().flat_map(calls_of);
    let has_no_role = !messages.is_empty() && messages.iter().all(|message| message.text("role").is_none());
    has_no_role || calls().next().is_some() && !calls().any(names_function)
}

/// The messages of a document: its own, those of its conversations, or itself.
fn messages_in(document: RawValue<'_>) -> Vec<Fields<'_>> {
    let own = |raw| json::object(raw).and_then(|fields| fields.get("messages").and_then(json::array));
    let items = own(document).or_else(|| json::array(document)).unwrap_or_else(|| vec![document]);
    let inner =
        items.into_iter().flat_map(|item| own(item).or_else(|| json::array(item)).unwrap_or_else(|| vec![item]));
    inner.filter_map(json::object).collect()
}

fn calls_of<'a>(message: &Fields<'a>) -> Vec<RawValue<'a>> {
    let is_assistant = message.text("role").as_deref() == Some("assistant");
    message.get("tool_calls").filter(|_| is_assistant).and_then(json::array).unwrap_or_default()
}

fn names_function(call: RawValue<'_>) -> bool {
    json::object(call)
        .and_then(|call| call.get("function").or_else(|| call.get("custom")).and_then(json::object))
        .is_some_and(|function| function.text("name").is_some())
}

fn calls_or_answers(message: RawValue<'_>) -> bool {
    let Some(fields) = json::object(message) else { return false };
    match fields.text("role").as_deref() {
        Some("assistant") => calls_of(&fields).into_iter().any(names_function),
        Some("tool") => fields.text("tool_call_id").is_some(),
        _ => false,
    }
}

fn is_message(raw: RawValue<'_>) -> bool {
    json::object(raw).is_some_and(|fields| fields.text("role").is_some())
}
