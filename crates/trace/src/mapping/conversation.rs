//! The messages of a document that is one request: what it says again of its conversation, and what is new. Knows no mapping.

use serde_json::value::RawValue;

use crate::json::{self, Parsed};

/// Where requests of the known interfaces have the messages of their conversation.
const LISTS: [&str; 4] = ["messages", "contents", "input", "input.inputBodyJson.messages"];

/// The path and the messages of the conversation; none of a document without one, or if none of the `rows` lies in it. Behind
/// the `input` of an exchange stand the items of its `output`, as the next request will repeat them.
pub(super) fn messages<'a, 'r>(
    document: &Parsed<'a>,
    mut rows: impl Iterator<Item = &'r str>,
) -> (&'static str, Vec<&'a RawValue>) {
    let Some(fields) = &document.fields else { return ("", Vec::new()) };
    for list in LISTS {
        let mut names = list.split('.');
        let first = names.next().and_then(|name| fields.get(name));
        let found = names.try_fold(first, |value, name| Some(json::object(value?)?.get(name)));
        let Some(mut messages) = found.flatten().and_then(json::array) else { continue };
        if !rows.any(|row| is_among(row, list, usize::MAX)) {
            break;
        }
        if list == "input" {
            messages.extend(fields.get("output").and_then(json::array).unwrap_or_default());
        }
        return (list, messages);
    }
    ("", Vec::new())
}

/// Whether the row at `path` lies in one of the first `known` messages of `list`.
pub(super) fn is_among(path: &str, list: &str, known: usize) -> bool {
    let number = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('[')?.split_once(']'));
    known > 0 && number.is_some_and(|(number, _)| number.parse().is_ok_and(|number: usize| number < known))
}
