//! The history, and what a verification objects to, as JSON documents.

use crate::history::{Entry, Kind, Objection};
use crate::report::json::Object;
use crate::shell::Command;

/// The history, without a line break at its end.
pub fn json(entries: &[&Entry]) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "history-report/1");
    document.objects("records", entries, |object, entry| fill(object, entry));
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

fn fill(object: &mut Object<'_>, entry: &Entry) {
    let record = &entry.record;
    object.number("number", entry.number.into()).text("file", &entry.source.name);
    match &record.kind {
        Kind::Approval => {
            object.text("kind", "approval");
        }
        Kind::Proposal(taken) => {
            object.text("kind", "proposal").text("proposal", &taken.id).text("adr", &taken.adr);
            object.texts("fixtures", taken.fixtures.iter().map(String::as_str));
            object.texts("goldens", taken.goldens.iter().map(String::as_str));
            object.texts("explained", taken.explained.iter().map(String::as_str));
        }
    }
    object.text("playbook", &record.playbook).text("reason", &record.reason);
    object.objects("rows", &record.rows, |object, row| {
        object.text("became", row.became()).text("row", &row.name);
        object.text_if("before", row.before.as_deref()).text_if("after", row.after.as_deref());
    });
}

/// What a verification found, without a line break at its end; `next` is the one command to run.
pub fn objections_json(records: usize, rows: usize, objections: &[Objection], next: Option<&Command>) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "history-verification/1");
    document.number("records", records as u64).number("rows", rows as u64);
    document.objects("objections", objections, |object, objection| {
        object.text("id", objection.id()).text_if("playbook", objection.playbook.as_deref());
        object.text("file", &objection.report.source.name);
        let Some(said) = objection.report.diagnostics.first() else { return };
        object.text("message", &said.message);
        if let Some(label) = said.labels.first() {
            let (line, column) = objection.report.source.place(label.span.start);
            object.number("line", line as u64).number("column", column as u64).text("place", &label.text);
        }
        object.text_if("help", said.help.as_deref());
    });
    document.text_if("next", next.map(ToString::to_string).as_deref());
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}
