//! OpenAI chat messages: an array of them is a run. Several runs stand in an array of arrays, in objects with
//! `messages`, or one a line; messages may also stand one a line, as one run.

use serde_json::value::RawValue;

use super::messages::{after_error_prefix, walk};
use super::names::{RunLabel, unique};
use super::run::Sink;
use crate::foreign::Oddity;
use crate::json;
use crate::text::Foreign;
use playproof_formats::diagnostic::Report;

/// The fields that may name a conversation; the first that is there does.
const NAMES: [&str; 6] = ["run_id", "conversation_id", "session_id", "thread_id", "trace_id", "id"];

#[derive(Default)]
struct Conversation<'a> {
    label: RunLabel,
    messages: Vec<&'a RawValue>,
    /// Where the messages stand.
    place: String,
    /// Its messages stand on lines of their own.
    open: bool,
}

/// Writes every conversation of `foreign`.
pub(super) fn read(foreign: &Foreign<'_>, sink: &mut Sink) -> Result<(), Report> {
    let documents = foreign.documents()?;
    let several = documents.len() > 1;
    let mut found = Vec::new();
    for (n, document) in documents.into_iter().enumerate() {
        // As `jq --slurp` would count them.
        let place = if several { format!("[{n}]") } else { String::new() };
        gather(document, &place, &mut found, sink);
    }
    let labels: Vec<RunLabel> = found.iter().map(|conversation| conversation.label.clone()).collect();
    for (conversation, name) in found.iter().zip(unique(&labels)) {
        walk(&name, &conversation.messages, &conversation.place, after_error_prefix, sink);
    }
    Ok(())
}

fn gather<'a>(document: &'a RawValue, place: &str, found: &mut Vec<Conversation<'a>>, sink: &mut Sink) {
    if let Some(conversation) = conversation(document, place) {
        found.push(conversation);
    } else if is_message(document) {
        match found.last_mut() {
            Some(last) if last.open => last.messages.push(document),
            _ => found.push(Conversation { messages: vec![document], open: true, ..Conversation::default() }),
        }
    } else if let Some(items) = json::array(document) {
        for (n, item) in items.into_iter().enumerate() {
            let place = format!("{place}[{n}]");
            match conversation(item, &place) {
                Some(conversation) => found.push(conversation),
                None => sink.loss.saw(Oddity::NotReadable, &place),
            }
        }
    } else {
        sink.loss.saw(Oddity::NotReadable, place);
    }
}

/// An array of messages, or an object with one.
fn conversation<'a>(raw: &'a RawValue, place: &str) -> Option<Conversation<'a>> {
    if let Some(messages) = json::array(raw) {
        let found = messages.first().is_none_or(|first| is_message(first));
        return found.then(|| Conversation { messages, place: place.to_owned(), ..Conversation::default() });
    }
    let fields = json::object(raw)?;
    let messages = fields.get("messages").and_then(json::array)?;
    let base = NAMES.iter().find_map(|name| fields.text(name)).map(String::from).filter(|name| !name.is_empty());
    let label = RunLabel { base, trial: None };
    let dot = if place.is_empty() { "" } else { "." };
    Some(Conversation { label, messages, place: format!("{place}{dot}messages"), open: false })
}

fn is_message(raw: &RawValue) -> bool {
    json::object(raw).is_some_and(|fields| fields.text("role").is_some())
}
