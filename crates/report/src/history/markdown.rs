//! The history for a pull request or a wiki: nothing in it is markup.

use super::page::{how, tally, values};
use crate::table;
use crate::table::Align;
use crate::text::{markdown as escaped, markdown_code};
use playproof_formats::history::{HistoryEntry, RecordKind};

/// The history as Markdown, ending without a line break.
pub fn markdown(entries: &[&HistoryEntry]) -> String {
    let sections: Vec<String> = entries.iter().map(|entry| section(entry)).collect();
    format!("# What was accepted, and why\n\n{}", sections.join("\n\n"))
}

fn section(entry: &HistoryEntry) -> String {
    let record = &entry.record;
    let mut parts = vec![
        format!("## {:04} {}: {}", entry.number, markdown_code(&record.playbook), escaped(&how(record))),
        escaped(&record.reason),
    ];
    if let RecordKind::Proposal(taken) = &record.kind {
        let codes = |names: &[String]| names.iter().map(|name| markdown_code(name)).collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("- ADR: {}", markdown_code(&taken.adr))];
        for (label, taken) in [("fixtures", &taken.fixtures), ("goldens", &taken.goldens)] {
            if !taken.is_empty() {
                lines.push(format!("- {label}: {}", codes(taken)));
            }
        }
        parts.push(lines.join("\n"));
    }
    let header = [tally(&record.rows), "row".to_owned(), "value".to_owned()];
    let rows = record.rows.iter().flat_map(|row| {
        let line = |value: String| vec![row.became().to_owned(), markdown_code(&row.name), markdown_code(&value)];
        values(row).into_iter().map(line)
    });
    parts.push(table::markdown(&header, &rows.collect::<Vec<_>>(), &[Align::Left; 3]));
    parts.join("\n\n")
}
