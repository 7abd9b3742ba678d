//! The history for people: one record a card, oldest first, with its reason and its rows.

use crate::changed_rows::changed_rows;
use crate::doc::{Block, Doc, Text, Tone};
use crate::style::Extent;
use crate::text::counted;
use playproof_formats::golden::RowChange;
use playproof_formats::history::{HistoryEntry, Record, RecordKind};

/// Rows of a record that are shown where not all are asked for.
const SHOWN: usize = 8;

/// The characters of a whole row that are shown then: it stands in the playbook for all to read.
const WHOLE_ROW: usize = 70;

/// The page.
pub fn page(entries: &[&HistoryEntry], extent: Extent) -> Doc {
    let records = entries.iter().map(|entry| record(entry, extent));
    Doc::with("What was accepted, and why", records.collect())
}

fn record(entry: &HistoryEntry, extent: Extent) -> Block {
    let record = &entry.record;
    let title = Text::from(format!("{:04}  ", entry.number)).name(&record.playbook);
    let title = title.say(format!("  {}: {}", how(record), tally(&record.rows)));
    let mut pairs = vec![("why", Text::from(&*record.reason))];
    if let RecordKind::Proposal(taken) = &record.kind {
        pairs.push(("ADR", Text::code(&taken.adr)));
        pairs.push(("fixtures", Text::code(taken.fixtures.join(", "))));
        pairs.push(("goldens", Text::code(taken.goldens.join(", "))));
    }
    let mut all: Vec<&RowChange> = record.rows.iter().collect();
    all.sort_by_key(|row| weight(row)); // stable: by name within a weight
    let (left_out, most) = match extent {
        Extent::Some => (all.split_off(all.len().min(SHOWN)).len(), WHOLE_ROW),
        Extent::All => (0, usize::MAX),
    };
    let mut inside = vec![Block::pairs(pairs), changed_rows(all, most)];
    if left_out > 0 {
        let more = counted(left_out as u64, "more row", "more rows");
        inside.push(Block::Para(Text::new(Tone::Soft, format!("and {more}; `--all` shows them"))));
    }
    Block::card(title, inside)
}

/// What says most of a playbook comes first.
fn weight(row: &RowChange) -> u8 {
    match row.name.split(' ').next() {
        Some("verdict") => 0,
        Some("rule") => 1,
        _ => 2,
    }
}

/// How it was accepted, in words.
fn how(record: &Record) -> String {
    match &record.kind {
        RecordKind::Approval => "approved".to_owned(),
        RecordKind::Proposal(taken) => format!("proposal {} accepted", taken.id),
    }
}

/// Such as `3 added, 1 changed`.
fn tally(rows: &[RowChange]) -> String {
    let count = |word| rows.iter().filter(|row| row.became() == word).count();
    let parts = ["added", "changed", "removed"].map(|word| (count(word), word));
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    parts.join(", ")
}
