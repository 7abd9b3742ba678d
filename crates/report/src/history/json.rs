//! The history, and what a verification objects to, as JSON documents.

use serde::Serialize;

use crate::json::document;
use playproof_formats::golden::RowChange;
use playproof_formats::history::{HistoryEntry, RecordKind, Violation};
use playproof_formats::shell::Command;

#[derive(Serialize)]
struct HistoryJson<'a> {
    format: &'static str,
    records: Vec<RecordJson<'a>>,
}

#[derive(Serialize)]
struct RecordJson<'a> {
    number: u32,
    file: &'a str,
    #[serde(flatten)]
    kind: KindJson<'a>,
    playbook: &'a str,
    reason: &'a str,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum KindJson<'a> {
    Approval,
    Proposal { proposal: &'a str, adr: &'a str, fixtures: &'a [String], goldens: &'a [String], explained: &'a [String] },
}

#[derive(Serialize)]
struct RowJson<'a> {
    became: &'static str,
    row: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a str>,
}

#[derive(Serialize)]
struct VerificationJson<'a> {
    format: &'static str,
    records: usize,
    rows: usize,
    objections: Vec<ObjectionJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct ObjectionJson<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    playbook: Option<&'a str>,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(flatten)]
    place: Option<PlaceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    line: usize,
    column: usize,
    place: &'a str,
}

/// The history, without a line break at its end.
pub fn json(entries: &[&HistoryEntry]) -> String {
    document(&HistoryJson { format: "history-report/1", records: entries.iter().map(|entry| record(entry)).collect() })
}

fn record(entry: &HistoryEntry) -> RecordJson<'_> {
    let record = &entry.record;
    let kind = match &record.kind {
        RecordKind::Approval => KindJson::Approval,
        RecordKind::Proposal(taken) => KindJson::Proposal {
            proposal: &taken.id,
            adr: &taken.adr,
            fixtures: &taken.fixtures,
            goldens: &taken.goldens,
            explained: &taken.explained,
        },
    };
    RecordJson {
        number: entry.number,
        file: &entry.source.name,
        kind,
        playbook: &record.playbook,
        reason: &record.reason,
        rows: record.rows.iter().map(row).collect(),
    }
}

fn row(row: &RowChange) -> RowJson<'_> {
    RowJson { became: row.became(), row: &row.name, before: row.before.as_deref(), after: row.after.as_deref() }
}

/// What a verification found, without a line break at its end; `next` is the one command to run.
pub fn objections_json(records: usize, rows: usize, objections: &[Violation], next: Option<&Command>) -> String {
    document(&VerificationJson {
        format: "history-verification/1",
        records,
        rows,
        objections: objections.iter().map(objection).collect(),
        next: next.map(ToString::to_string),
    })
}

fn objection(objection: &Violation) -> ObjectionJson<'_> {
    let said = objection.report.diagnostics.first();
    let place = said.and_then(|said| said.labels.first()).map(|label| {
        let (line, column) = objection.report.source.place(label.span.start);
        PlaceJson { line, column, place: &label.text }
    });
    ObjectionJson {
        id: objection.id(),
        playbook: objection.playbook.as_deref(),
        file: &objection.report.source.name,
        message: said.map(|said| said.message.as_str()),
        place,
        help: said.and_then(|said| said.help.as_deref()),
    }
}
