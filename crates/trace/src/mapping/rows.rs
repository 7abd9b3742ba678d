//! The rows of a foreign source: the items of a document, what `records` leads to, or one row a document.
//! Knows nothing of calls and results.

use serde_json::value::RawValue;

use super::model::Mapping;
use crate::json;

/// The rows of one JSON document that stands at `place`; empty where `records` leads nowhere.
pub(super) fn of_document<'a>(mapping: &Mapping, document: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
    let Some(records) = &mapping.records else {
        return items(document, place).unwrap_or_else(|| vec![(place.to_owned(), document)]);
    };
    let found = records.path.all(document, if place.starts_with("line ") { "" } else { place });
    let within = |(path, raw): (String, &'a RawValue)| items(raw, &path).unwrap_or_else(|| vec![(path, raw)]);
    let rows = found.into_iter().flat_map(within);
    match place.starts_with("line ") {
        true => rows.map(|(path, raw)| (format!("{place}: {path}"), raw)).collect(),
        false => rows.collect(),
    }
}

/// The items of an array; none if it is none.
fn items<'a>(raw: &'a RawValue, place: &str) -> Option<Vec<(String, &'a RawValue)>> {
    let items = json::array(raw)?.into_iter().enumerate();
    Some(items.map(|(n, item)| (format!("{place}[{n}]"), item)).collect())
}
