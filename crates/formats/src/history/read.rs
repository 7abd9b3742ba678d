//! Reads a record strictly, with the places of its rows. Compares nothing.

use std::ops::Range;
use std::sync::Arc;

use super::record::{AcceptedProposal, Record, RecordKind};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::golden::{RowChange, merge_conflict};
use crate::yaml;
use crate::yaml::{Cursor, MapReader};

/// The JSON Schema of a record, for editors.
pub const SCHEMA: &str = include_str!("../../../../schemas/history.json");

const FORMAT: &str = "history/1";
const ROW: [&str; 5] = ["added", "changed", "removed", "before", "after"];
const KEYS: [&str; 10] =
    ["format", "kind", "proposal", "adr", "playbook", "reason", "fixtures", "goldens", "explained", "rows"];

/// Keys that only a proposal has.
const OF_A_PROPOSAL: [&str; 5] = ["proposal", "adr", "fixtures", "goldens", "explained"];

/// The places of a record's parts in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordPlaces {
    /// The playbook's name.
    pub playbook: Range<usize>,
    /// The reason.
    pub reason: Range<usize>,
    /// The path of the ADR; none for an approval.
    pub adr: Option<Range<usize>>,
    /// The goldens in which the reason is kept.
    pub explained: Vec<Range<usize>>,
    /// The rows, in the order of the record.
    pub rows: Vec<RowPlaces>,
}

/// The places of a row's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPlaces {
    /// Its name.
    pub name: Range<usize>,
    /// The text before; for an added row, its name.
    pub before: Range<usize>,
    /// The text after; for a removed row, its name.
    pub after: Range<usize>,
}

/// Reads a record.
///
/// # Errors
/// All errors, each with its place; a merge conflict is one error.
pub fn parse(source: Arc<Source>) -> Result<(Record, RecordPlaces), Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(source, said.help("take either side: a record describes one change")));
    }
    yaml::parse(source, read)
}

fn read(root: Cursor<'_>) -> Option<(Record, RecordPlaces)> {
    let map = root.record("a record", &KEYS)?;
    let format = map.format(FORMAT)?;
    let is_proposal = map.required("kind")?.word(&[("approval", false), ("proposal", true)])?;
    let text = |key: &'static str| map.required(key).and_then(Cursor::words).map(str::to_owned);
    let (playbook, reason) = (text("playbook"), text("reason"));
    let kind = if is_proposal { taken(&map).map(RecordKind::Proposal) } else { approval(&map) };
    let rows = map.required("rows").and_then(rows);
    let place = |key: &str| map.optional(key).map(Cursor::span);
    let (rows, row_places) = rows?.into_iter().unzip();
    let explained = map.optional("explained").and_then(Cursor::list);
    let places = RecordPlaces {
        playbook: place("playbook")?,
        reason: place("reason")?,
        adr: place("adr"),
        explained: explained.into_iter().flatten().map(Cursor::span).collect(),
        rows: row_places,
    };
    format?;
    Some((Record { kind: kind?, playbook: playbook?, reason: reason?, rows }, places))
}

fn taken(map: &MapReader<'_>) -> Option<AcceptedProposal> {
    let text = |key: &'static str| map.required(key).and_then(Cursor::words).map(str::to_owned);
    let names = |key: &str| match map.optional(key) {
        None => Some(Vec::new()),
        Some(names) => names.list()?.map(|name| name.words().map(str::to_owned)).collect(),
    };
    let (id, adr, fixtures) = (text("proposal"), text("adr"), names("fixtures"));
    let (goldens, explained) = (names("goldens"), names("explained"));
    Some(AcceptedProposal { id: id?, adr: adr?, fixtures: fixtures?, goldens: goldens?, explained: explained? })
}

fn approval(map: &MapReader<'_>) -> Option<RecordKind> {
    let mut odd = OF_A_PROPOSAL.iter().filter_map(|key| Some((key, map.key_span(key)?)));
    let Some((key, span)) = odd.next() else { return Some(RecordKind::Approval) };
    let said = Diagnostic::error("unknown_key", format!("an approval has no `{key}`"))
        .at(span, "only a proposal has this key");
    map.cursor().report(said);
    None
}

fn rows(at: Cursor<'_>) -> Option<Vec<(RowChange, RowPlaces)>> {
    let read: Vec<Option<(RowChange, RowPlaces)>> = at.list()?.map(row).collect();
    let rows: Vec<(RowChange, RowPlaces)> = read.into_iter().collect::<Option<_>>()?;
    if rows.is_empty() {
        at.wrong("empty_list", "a record without rows changes nothing", "name the changed rows");
        return None;
    }
    for (n, (row, places)) in rows.iter().enumerate() {
        if let Some((_, first)) = rows.iter().take(n).find(|(earlier, _)| earlier.name == row.name) {
            let said = Diagnostic::error("duplicate_row", format!("`{}` changes twice in one record", row.name));
            at.report(said.at(places.name.clone(), "again").at(first.name.clone(), "first"));
            return None;
        }
    }
    Some(rows)
}

fn row(at: Cursor<'_>) -> Option<(RowChange, RowPlaces)> {
    const WHAT: [(&str, bool, bool); 3] = [("added", false, true), ("changed", true, true), ("removed", true, false)];
    let map = at.record("a row", &ROW)?;
    let mut chosen = WHAT.iter().filter_map(|&(word, before, after)| Some((map.optional(word)?, word, before, after)));
    let (Some((name, word, before, after)), None) = (chosen.next(), chosen.next()) else {
        at.wrong(
            "nothing_chosen",
            "a row is one of `added`, `changed` and `removed`",
            "expected exactly one of the three",
        );
        return None;
    };
    let side = |key: &'static str, is_there: bool| match (is_there, map.key_span(key)) {
        (false, None) => Some(None),
        (true, _) => map.required(key).and_then(Cursor::string).map(|text| Some(text.to_owned())),
        (false, Some(span)) => {
            let said = Diagnostic::error("unknown_key", format!("a row that is {word} has no `{key}`"));
            at.report(said.at(span, "not here"));
            None
        }
    };
    let (before, after, named) = (side("before", before), side("after", after), name.words());
    let row = RowChange { name: named?.to_owned(), before: before?, after: after? };
    let place = |key: &str| map.optional(key).map_or_else(|| name.span(), Cursor::span);
    Some((row, RowPlaces { name: name.span(), before: place("before"), after: place("after") }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for (at, known) in [("", &KEYS[..]), ("/$defs/row", &ROW)] {
            let part = schema.pointer(at).unwrap();
            let mut known = known.to_vec();
            known.sort_unstable();
            assert_eq!(part["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), known, "{at}");
            assert_eq!(part["additionalProperties"], false, "{at}");
        }
        assert_eq!(schema["properties"]["format"]["const"], FORMAT);
    }
}
