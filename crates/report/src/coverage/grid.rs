//! The cells of every verdict as sixteen marks.

use crate::doc::{Block, Table, Text, Tone};
use crate::text::fitted;
use playproof_explore::coverage::{Cell, CoverageReport, Target, TargetKind, TargetState};

/// The width of the longest name.
const NAME_MAX: usize = 32;

/// What the marks stand for.
const LEGEND: &str = "The four marks stand for a call with no key, with a reversal token, with a key, and with both: \
                      # exercised, . not exercised, - cannot be, ? unknown.";

/// A verdict on the first or a later attempt of a read or a write.
pub(super) fn grid(report: &CoverageReport) -> Vec<Block> {
    let mut table = Table::named(["", "read, first", "read, later", "write, first", "write, later"]);
    for (name, marks) in rows(report) {
        let group = |group: &[char]| {
            let tone = if group.contains(&'.') { Tone::Doubt } else { Tone::Plain };
            Text::code(group.iter().collect::<String>()).toned(tone)
        };
        table.row(std::iter::once(name.into()).chain(marks.chunks(4).map(group)).collect::<Vec<_>>());
    }
    match table.is_empty() {
        true => Vec::new(),
        false => vec![Block::Table(table), Block::Para(Text::new(Tone::Soft, LEGEND))],
    }
}

/// The verdict's name, and a mark for each of its cells, in the order of the targets.
fn rows(report: &CoverageReport) -> Vec<(String, Vec<char>)> {
    let mut rows: Vec<(String, Vec<char>)> = Vec::new();
    let mut last = None;
    for result in report.targets.iter().filter(|result| result.target.kind() == TargetKind::Cells) {
        let Target::Cell(Cell { verdict, .. }) = result.target else { continue };
        if last != Some(verdict) {
            last = Some(verdict);
            let name = result.id.split(' ').nth(1).unwrap_or_default();
            rows.push((fitted(name, NAME_MAX).into_owned(), Vec::new()));
        }
        if let Some((_, marks)) = rows.last_mut() {
            marks.push(mark(&result.state));
        }
    }
    rows
}

const fn mark(state: &TargetState) -> char {
    match state {
        TargetState::Covered(_) => '#',
        TargetState::Reachable(_) => '.',
        TargetState::Unreachable(_) => '-',
        TargetState::Undecided => '?',
    }
}
