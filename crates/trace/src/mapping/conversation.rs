//! The messages of a document that is one request: what it says again of its conversation, and what is new. Knows no mapping.

use crate::raw_value::RawValue;

use crate::json::{self, Fields, Parsed};

/// Where requests of the known interfaces have the messages of their conversation.
const LISTS: [&str; 3] = ["messages", "contents", "input"];

/// Where a line of Bedrock's model invocation log has them.
const LOGGED: &str = "input.inputBodyJson.messages";

/// The path and the messages of the conversation; none of a document without one, or if none of the `rows` lies in it. Behind
/// the `input` of an exchange stand the items of its `output`, as the next request will repeat them.
pub(super) fn messages<'a, 'r>(
    document: &Parsed<'a>,
    mut rows: impl Iterator<Item = &'r str>,
) -> (&'static str, Vec<RawValue<'a>>) {
    let fields = document.fields.as_ref();
    let found = fields.and_then(|fields| listed(fields).or_else(|| logged(fields)));
    let Some((list, messages)) = found.filter(|(list, _)| rows.any(|row| is_among(row, list, usize::MAX))) else {
        return ("", Vec::new());
    };
    let answered = fields.filter(|_| list == "input").and_then(|fields| fields.get("output")).and_then(json::array);
    (list, json::array(messages).into_iter().chain(answered).flatten().collect())
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

/// Whether the row at `path` lies in one of the first `known` messages of `list`.
pub(super) fn is_among(path: &str, list: &str, known: usize) -> bool {
    let number = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('[')?.split_once(']'));
    known > 0 && number.is_some_and(|(number, _)| number.parse().is_ok_and(|number: usize| number < known))
}
