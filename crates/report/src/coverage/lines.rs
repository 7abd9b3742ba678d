//! The playbook's text, each line marked with its coverage, as coverage tools for source code do.

use crate::doc::{Block, Listed};
use playproof_explore::coverage::{CoverageReport, TargetState};
use playproof_formats::diagnostic::Source;

/// The targets of one line.
#[derive(Clone, Copy, Default)]
struct Tally {
    covered: usize,
    coverable: usize,
    unreachable: usize,
}

/// The lines, each with how many of the things that it declares fixtures exercise, of how many they can.
pub fn lines(report: &CoverageReport, source: &Source) -> Block {
    let mut tallies = vec![Tally::default(); source.text.lines().count()];
    for result in &report.targets {
        let line = result.place.as_ref().map(|place| source.place(place.start).0 - source.first_line);
        let Some(tally) = line.and_then(|line| tallies.get_mut(line)) else { continue };
        match result.state {
            TargetState::Unreachable(_) => tally.unreachable += 1,
            TargetState::Covered(_) => {
                tally.covered += 1;
                tally.coverable += 1;
            }
            TargetState::Reachable(_) | TargetState::Undecided => tally.coverable += 1,
        }
    }
    let listed = source.text.lines().zip(tallies).zip(source.first_line..).map(|((line, tally), number)| {
        let Tally { covered, coverable, unreachable } = tally;
        let mark = match (coverable, unreachable) {
            (0, 0) => String::new(),
            (0, _) => "cannot be".to_owned(),
            _ => format!("{covered}/{coverable}"),
        };
        Listed { mark, number, text: line.to_owned(), is_marked: covered < coverable }
    });
    Block::Listing(listed.collect())
}
