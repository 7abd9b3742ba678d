//! The values that selectors find in rows, as text and as parts of calls and results. Writes no lines.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::condition::{ResultParts, any};
use super::model::{CallMap, Mapping, NamedKind, ResultMap, Selector, ValueSource};
use super::path::{PathStep, Root};
use super::row::SourceRow;
use crate::imported::Missing;
use crate::json;
use crate::raw_value::RawValue;
use crate::source_value::SourceValue;

impl CallMap {
    /// Whether the row is a call: by `where`, else by whether it names a tool.
    pub(super) fn is_for(&self, row: &SourceRow<'_>) -> bool {
        match &self.when {
            Some(when) => any(when, row, &ResultParts::default()),
            None => value_of(&self.tool, row).is_some(),
        }
    }
}

impl ResultMap {
    pub(super) fn is_for(&self, row: &SourceRow<'_>) -> bool {
        self.when.as_ref().is_none_or(|when| any(when, row, &ResultParts::default()))
    }
}

/// The first value of a selector that a row has.
pub(super) fn value_of<'a>(selector: &Selector, row: &SourceRow<'a>) -> Option<SourceValue<'a>> {
    selector.sources.iter().find_map(|source| match source {
        ValueSource::Path(path) => row.find(path),
        ValueSource::Constant(text) => Some(SourceValue::string(text)),
    })
}

/// Whether the first value of a selector that a row has is the id of the request around the row.
pub(super) fn names_request(selector: &Selector, row: &SourceRow<'_>) -> bool {
    let mut paths = selector.sources.iter().filter_map(ValueSource::path);
    let found = paths.find(|path| row.find(path).is_some());
    found.is_some_and(|path| {
        let is_around = matches!(path.root, Root::Row(ups) if ups > 0);
        let is_id = matches!(path.steps.as_slice(), [PathStep::Key(name)] if name == "id" || name == "requestId");
        is_around && is_id
    })
}

/// The first value of a selector that a row has, as text.
pub(super) fn scalar_of<'a>(selector: &Selector, row: &SourceRow<'a>) -> Option<Cow<'a, str>> {
    stripped(selector, value_of(selector, row)?)
}

pub(super) fn scalar_in<'a>(selector: Option<&Selector>, row: &SourceRow<'a>) -> Option<Cow<'a, str>> {
    scalar_of(selector?, row)
}

/// A text, a number or a boolean as text, without the prefixes of its selector.
pub(super) fn stripped<'a>(selector: &Selector, found: SourceValue<'a>) -> Option<Cow<'a, str>> {
    let text = found.scalar()?;
    match selector.stripped(&text).len() {
        rest if rest == text.len() => Some(text),
        rest => Some(Cow::Owned(text.get(text.len() - rest..)?.to_owned())),
    }
}

/// The content of a result as text.
pub(super) fn content(found: SourceValue<'_>) -> Cow<'_, str> {
    found.read(json::content_text)
}

/// The first error kind whose condition holds.
pub(super) fn kind_of<'k>(kinds: &'k [NamedKind], row: &SourceRow<'_>, parts: &ResultParts<'_>) -> Option<&'k str> {
    kinds.iter().find(|kind| any(&kind.when, row, parts)).map(|kind| kind.name.as_str())
}

/// The place of a value at `path` of the document at `place`, which is a line or empty.
pub(super) fn of_document<'p>(place: &'p str, path: &'p str) -> Cow<'p, str> {
    match (place, path) {
        (place, "") => Cow::Borrowed(place),
        ("", path) => Cow::Borrowed(path),
        (place, path) => Cow::Owned(format!("{place}{}{path}", if path.starts_with('[') { "" } else { ": " })),
    }
}

/// Evidence as a list: a single reference becomes a list of one.
pub(super) fn listed(raw: RawValue<'_>) -> Cow<'_, str> {
    match raw.get().starts_with('[') {
        true => Cow::Borrowed(raw.get()),
        false => Cow::Owned(format!("[{}]", raw.get())),
    }
}

/// What the source lacks because the mapping has no path for it.
pub(super) fn missing(mapping: &Mapping) -> BTreeSet<Missing> {
    let call = |part: fn(&CallMap) -> &Option<Selector>| mapping.calls.iter().any(|call| part(call).is_some());
    let part = |part: fn(&ResultMap) -> &Option<Selector>| mapping.results.iter().any(|result| part(result).is_some());
    let timed = part(|result| &result.at) || part(|result| &result.latency);
    // An end and a latency make a start.
    let ends = mapping.results.iter().any(|result| result.at.is_some() && result.latency.is_some());
    let starts = call(|call| &call.at) || part(|result| &result.started) || ends;
    let kinds = !mapping.kinds.is_empty() || part(|result| &result.kind);
    let coded = part(|result| &result.status) || part(|result| &result.code);
    let provided = [
        (Missing::Times, starts),
        (Missing::Latencies, timed),
        (Missing::Kinds, kinds || coded),
        (Missing::KindNames, kinds || !coded),
        (Missing::Status, coded),
        (Missing::Attempts, part(|result| &result.attempt)),
        (Missing::Keys, call(|call| &call.key)),
        (Missing::Tokens, call(|call| &call.evidence) && call(|call| &call.token)),
        (Missing::Effects, false),
    ];
    provided.into_iter().filter(|(_, provided)| !provided).map(|(missing, _)| missing).collect()
}
