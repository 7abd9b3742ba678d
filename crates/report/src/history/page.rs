//! The history for people: one record a block, oldest first, with its reason and its rows.

use crate::style::{Extent, Palette};
use crate::text;
use crate::text::{counted, escape_unprintable, fitted};
use playproof_formats::golden::{PartChange, RowChange};
use playproof_formats::history::{HistoryEntry, Record, RecordKind};

/// Rows of a record that are shown where not all are asked for.
const SHOWN: usize = 8;

/// The blanks before everything but a record's title.
const INDENT: usize = 6;

/// Names of rows are aligned up to this width.
const NAME_MAX: usize = 32;

/// Prose and rows are not wider.
const WIDEST: usize = 110;

/// The page, ending without a line break.
pub fn page(entries: &[&HistoryEntry], extent: Extent, width: usize, palette: Palette) -> String {
    let blocks: Vec<String> = entries.iter().map(|entry| block(entry, extent, width.min(WIDEST), palette)).collect();
    blocks.join("\n\n")
}

fn block(entry: &HistoryEntry, extent: Extent, width: usize, palette: Palette) -> String {
    let record = &entry.record;
    let mut lines = vec![format!(
        "{:04}  {}  {}",
        entry.number,
        palette.strong(&escape_unprintable(&record.playbook)),
        how(record)
    )];
    let mut say = |said: &str| {
        let broken = text::broken(said, width.saturating_sub(INDENT).max(20));
        lines.extend(broken.into_iter().map(|line| format!("{:INDENT$}{line}", "")));
    };
    say(&format!("why: {}", escape_unprintable(&record.reason)));
    if let RecordKind::Proposal(taken) = &record.kind {
        let names = |names: &[String]| names.iter().map(|name| escape_unprintable(name)).collect::<Vec<_>>().join(", ");
        say(&format!("ADR: {}", escape_unprintable(&taken.adr)));
        for (label, taken) in [("fixtures", &taken.fixtures), ("goldens", &taken.goldens)] {
            if !taken.is_empty() {
                say(&format!("{label}: {}", names(taken)));
            }
        }
    }
    let mut all: Vec<&RowChange> = record.rows.iter().collect();
    all.sort_by_key(|row| weight(row)); // stable: by name within a weight
    let left_out = match extent {
        Extent::Some => all.split_off(all.len().min(SHOWN)).len(),
        Extent::All => 0,
    };
    lines.extend(rows(&all, width, palette));
    if left_out > 0 {
        let more = counted(left_out as u64, "more row", "more rows");
        lines.push(palette.faint(&format!("{:INDENT$}and {more}; `--all` shows them", "")));
    }
    lines.join("\n")
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
pub(super) fn how(record: &Record) -> String {
    match &record.kind {
        RecordKind::Approval => "approved".to_owned(),
        RecordKind::Proposal(taken) => format!("proposal {} accepted", escape_unprintable(&taken.id)),
    }
}

/// Such as `3 added, 1 changed`.
pub(super) fn tally(rows: &[RowChange]) -> String {
    let count = |word| rows.iter().filter(|row| row.became() == word).count();
    let parts = ["added", "changed", "removed"].map(|word| (count(word), word));
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    parts.join(", ")
}

/// The value of a row that was added or removed, or the values that changed, one a line.
pub(super) fn values(row: &RowChange) -> Vec<String> {
    let side = |side: &Option<String>| {
        side.as_deref().map_or_else(|| "nothing".to_owned(), |side| escape_unprintable(side).into())
    };
    match (&row.before, &row.after) {
        (Some(_), Some(_)) => {
            let path = |part: &PartChange| match part.path.as_str() {
                "" => String::new(),
                path => format!("{}: ", escape_unprintable(path)),
            };
            let said = |part: PartChange| format!("{}{} → {}", path(&part), side(&part.before), side(&part.after));
            row.parts().into_iter().map(said).collect()
        }
        (text, None) | (None, text) => vec![side(text)],
    }
}

fn rows(rows: &[&RowChange], width: usize, palette: Palette) -> Vec<String> {
    const WORD: usize = 7; // `changed`, `removed`
    let longest = rows.iter().map(|row| text::width(&escape_unprintable(&row.name))).max().unwrap_or(0).min(NAME_MAX);
    let room = width.saturating_sub(INDENT + WORD + longest + 4).max(20);
    let mut lines = Vec::new();
    for row in rows {
        let became = row.became();
        let word = match became {
            "added" => palette.good(became),
            "removed" => palette.failed(became),
            _ => palette.doubtful(became),
        };
        let name = fitted(&row.name, NAME_MAX);
        let name = format!("{name}{}", " ".repeat(longest.saturating_sub(text::width(&name))));
        let pad = " ".repeat(WORD - became.len());
        let mut head = format!("{:INDENT$}{word}{pad}  {name}  ", "");
        for value in values(row) {
            // Of a change every word counts; a whole row stands in the playbook, for all to read.
            let pieces = match became {
                "changed" => text::broken(&value, room),
                _ => vec![fitted(&value, room).into_owned()],
            };
            for piece in pieces {
                lines.push(format!("{head}{piece}").trim_end().to_owned());
                head = " ".repeat(INDENT + WORD + longest + 4);
            }
        }
    }
    lines
}
