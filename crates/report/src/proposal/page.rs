//! The page of a proposal: rows, changed fixtures, then the reasons against accepting it.

use std::sync::Arc;

use crate::changed_rows::changed_rows;
use crate::check::{class_tone, difference};
use crate::doc::{Block, Doc, Table, Text, Tone};
use crate::text::counted;
use crate::verify::guarantees;
use playproof_analysis::check::row_places;
use playproof_analysis::proposal::{FixtureDiff, ProposalGate, ProposalReport};
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::golden::RowChange;
use playproof_formats::playbook::Loaded;
use playproof_formats::shell::Command;

/// The first line of a comment: a job finds that of an earlier run by it.
pub const MARKER: &str = "<!-- playproof propose check -->";

/// Reasons against a proposal, and contradictions of a fixture, that are shown.
const SHOWN: usize = 50;

/// The page of all proposals.
pub fn proposals(sections: Vec<Block>) -> Doc {
    Doc::with("playproof propose check", sections)
}

/// A proposal that was tried, with the playbook as proposed where its text is to be shown, and what it changes on recorded
/// calls.
pub fn page(judged: &ProposalReport, playbook: Option<&Loaded>, corpus: Vec<Block>) -> Block {
    let rows = counted(judged.rows.len() as u64, "row", "rows");
    let title = format!("{} changes {}: {rows}", judged.id, judged.playbook);
    let mut inside = vec![changed_rows(&judged.rows, usize::MAX)];
    inside.extend(playbook.map(|playbook| Block::Room(underlined(playbook, &judged.rows))));
    inside.extend(judged.shown().into_iter().map(fixture));
    inside.extend(judged.guarantees.iter().flat_map(guarantees));
    let (one, many) = ("fixture run of the project ends as before", "fixture runs of the project end as before");
    inside.push(Block::Para(Text::new(Tone::Soft, counted(judged.unchanged() as u64, one, many))));
    inside.extend(corpus);
    inside.extend(judged.gates.iter().take(SHOWN).map(gate));
    if judged.gates.is_empty() {
        inside.push(Block::Para(Text::new(Tone::Good, "ready to accept")));
        inside.push(Block::next(Command::new("playproof accept").name(&judged.id).and("--reason '...'")));
    }
    Block::section(&judged.id, title, inside)
}

/// Changed rows, each with what is other in it.
pub fn rows(rows: &[RowChange]) -> Block {
    changed_rows(rows, usize::MAX)
}

/// The changed rows in the text of their playbook.
fn underlined(playbook: &Loaded, rows: &[RowChange]) -> Vec<Block> {
    let places: Vec<_> = rows.iter().flat_map(|change| row_places(playbook, change)).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let said = places.into_iter().fold(Diagnostic::error("changed", ""), |said, (span, text)| said.at(span, text));
    vec![Block::Source { report: Report::one(Arc::clone(&playbook.places.source), said), said: String::new() }]
}

fn gate(gate: &ProposalGate) -> Block {
    let reports = gate.report.iter().map(|report| Block::Source { report: report.clone(), said: gate.message.clone() });
    let mut inside: Vec<Block> = reports.collect();
    inside.extend(gate.help.iter().map(|help| Block::Para(Text::new(Tone::Soft, format!("help: {help}")))));
    inside.push(Block::next(gate.next.clone()));
    Block::card(Text::new(Tone::Bad, gate.kind.to_string()).say(format!(": {}", gate.message)), inside)
}

fn fixture(diff: &FixtureDiff) -> Block {
    let (tone, words) = match (diff.class(), diff.is_new) {
        (None, true) => (Tone::Soft, "new fixture, unchanged by the proposal"),
        (Some(_), true) => (Tone::Good, "new fixture"),
        (Some(class), false) => (class_tone(class), class.words()),
        (None, false) => (Tone::Soft, "as before"),
    };
    let mut inside = vec![Block::Para(Text::new(Tone::Soft, &*diff.title))];
    inside.extend(diff.contradictions.iter().take(SHOWN).map(|contradiction| {
        Block::Para(Text::new(Tone::Bad, "contradicts the fixture: ").say(contradiction.to_string()))
    }));
    inside.push(Block::Table(ends(diff)));
    inside.push(Block::Room(difference(&diff.comparison, None, false, ["before", "after"])));
    Block::card(Text::code(diff.id.to_string()).say("  ").and(tone, words), inside)
}

/// How the calls end before and after.
fn ends(diff: &FixtureDiff) -> Table {
    let mut table = Table::named(["", "before", "after"]);
    for (call, lines) in diff.facts() {
        if !call.is_empty() {
            table.head(Text::code(call));
        }
        for (label, before, after) in lines {
            match before == after {
                true => table.row([label.into(), before.into(), "the same".into()]),
                false => table.toned(Tone::Doubt, [label.into(), before.into(), after.into()]),
            }
        }
    }
    table
}
