//! The history, and what a verification objects to, as JSON documents.

use crate::json::{Object, document};
use playproof_formats::golden::RowChange;
use playproof_formats::history::{HistoryEntry, RecordKind, Violation};
use playproof_formats::shell::Command;

/// The history, without a line break at its end.
pub fn json(entries: &[&HistoryEntry]) -> String {
    let records: Vec<Object> = entries.iter().map(|entry| record(entry)).collect();
    document(&Object::document("history-report/1").with("records", records))
}

fn record(entry: &HistoryEntry) -> Object {
    let record = &entry.record;
    let said = Object::default().with("number", entry.number).with("file", &entry.source.name);
    let said = match &record.kind {
        RecordKind::Approval => said.with("kind", "approval"),
        RecordKind::Proposal(taken) => said
            .with("kind", "proposal")
            .with("proposal", &taken.id)
            .with("adr", &taken.adr)
            .with("fixtures", &taken.fixtures)
            .with("goldens", &taken.goldens)
            .with("explained", &taken.explained),
    };
    let rows: Vec<Object> = record.rows.iter().map(row).collect();
    said.with("playbook", &record.playbook).with("reason", &record.reason).with("rows", rows)
}

fn row(row: &RowChange) -> Object {
    let said = Object::default().with("became", row.became()).with("row", &row.name);
    said.maybe("before", row.before.as_deref()).maybe("after", row.after.as_deref())
}

/// What a verification found, without a line break at its end; `next` is the one command to run.
pub fn objections_json(records: usize, rows: usize, objections: &[Violation], next: Option<&Command>) -> String {
    document(
        &Object::document("history-verification/1")
            .with("records", records)
            .with("rows", rows)
            .with("objections", objections.iter().map(objection).collect::<Vec<_>>())
            .maybe("next", next.map(ToString::to_string)),
    )
}

fn objection(objection: &Violation) -> Object {
    let source = &objection.report.source;
    let said = objection.report.diagnostics.first();
    let object = Object::default()
        .with("id", objection.id())
        .maybe("playbook", objection.playbook.as_deref())
        .with("file", &source.name)
        .maybe("message", said.map(|said| &said.message));
    let object = match said.and_then(|said| said.labels.first()) {
        Some(label) => {
            let (line, column) = source.place(label.span.start);
            object.with("line", line).with("column", column).with("place", &label.text)
        }
        None => object,
    };
    object.maybe("help", said.and_then(|said| said.help.as_deref()))
}
