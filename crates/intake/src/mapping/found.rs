//! What each path of a mapping finds in the first calls and results of a recording. Writes no lines.

use std::sync::Arc;

use super::documents::{Document, Documents};
use super::model::{CallMap, Mapping, ResultMap, Selector};
use super::row::{SourceRow, rows_of};
use super::values::{of_document, value_of};
use crate::json;
use crate::prefixed;
use crate::raw_value::RawValue;
use crate::redact::RedactionRules;
use crate::source_text::SourceText;
use playproof_formats::diagnostic::Report;

/// A row that a mapping makes a call or a result of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// `call` or `result`.
    pub role: &'static str,
    /// Its place in the recording.
    pub place: String,
    /// What each part found.
    pub values: Vec<FoundValue>,
}

/// What one part of a mapping found in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundValue {
    /// The part, such as `call.args`.
    pub field: String,
    /// Its paths, as the mapping writes them.
    pub paths: String,
    /// The value as text, redacted; none: the row has none.
    pub value: Option<String>,
}

/// The first rows of `bytes`, called `name`, that are calls or results by `mapping`: `most` of each.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place.
pub fn first_rows(
    mapping: &Mapping,
    bytes: &[u8],
    name: &str,
    most: usize,
    redaction: &RedactionRules,
) -> Result<Vec<FoundRow>, Report> {
    let (bytes, ..) = prefixed::objects(bytes);
    let source = SourceText::new(&bytes, name).map_err(|report| redaction.report(report))?;
    let file: Arc<str> = name.into();
    let mut documents = Documents::new(source);
    let mut found: Vec<FoundRow> = Vec::new();
    let is_enough = |found: &[FoundRow], role: &str| found.iter().filter(|row| row.role == role).count() >= most;
    while let Some(next) = documents.next() {
        let Document { value, line } = match next {
            Ok(document) => document,
            Err(broken) if broken.is_line && mapping.skip_invalid => continue,
            Err(broken) => return Err(redaction.report(broken.report)),
        };
        let whole = value.text.len() == source.text.trim().len();
        let document = if whole { String::new() } else { format!("line {line}") };
        for (row, lists) in rows_of(&value, &mapping.records, |list| mapping.has_only_results(list), &file) {
            let place = of_document(&document, &row.path);
            let call = mapping.calls.iter().find(|call| lists.contains(&call.records) && call.is_for(&row));
            let result = mapping.results.iter().find(|result| lists.contains(&result.records) && result.is_for(&row));
            let parts = [("call", call.map(CallMap::selectors)), ("result", result.map(ResultMap::selectors))];
            for (role, selectors) in parts {
                if let Some(selectors) = selectors.filter(|_| !is_enough(&found, role)) {
                    let values = selectors.into_iter().map(|selector| found_value(selector, &row, redaction)).collect();
                    found.push(FoundRow { role, place: place.clone().into_owned(), values });
                }
            }
        }
        if is_enough(&found, "call") && (mapping.results.is_empty() || is_enough(&found, "result")) {
            break;
        }
    }
    Ok(found)
}

fn found_value(selector: &Selector, row: &SourceRow<'_>, redaction: &RedactionRules) -> FoundValue {
    let shown = |raw: RawValue<'_>| {
        let text = json::text(raw);
        redaction.text(selector.stripped(&text)).into_owned()
    };
    let around = || selector.sources.iter().find_map(|source| row.place_around(source.path()?)).map(str::to_owned);
    FoundValue {
        field: selector.field.clone(),
        paths: selector.written().replace('`', ""),
        value: around().or_else(|| value_of(selector, row).map(|raw| shown(raw.raw()))),
    }
}
