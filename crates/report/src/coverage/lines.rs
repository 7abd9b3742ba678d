//! The playbook's text, each line marked with its coverage, as coverage tools for source code do.

use crate::style::Palette;
use crate::text::escape_unprintable;
use playproof_explore::coverage::{CoverageReport, TargetState};
use playproof_formats::diagnostic::Source;

/// The targets of one line.
#[derive(Clone, Copy, Default)]
struct Tally {
    covered: usize,
    coverable: usize,
    unreachable: usize,
}

/// How a line is covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineMark {
    /// `covered/coverable`; empty without targets that can be exercised.
    pub share: String,
    /// `!` something is not exercised, `x` nothing can be, else a blank.
    pub sign: &'static str,
}

/// The marks of every line of the playbook.
pub(crate) fn marks(report: &CoverageReport, source: &Source) -> Vec<LineMark> {
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
    let mark = |tally: Tally| match tally {
        Tally { coverable: 0, unreachable: 0, .. } => LineMark { share: String::new(), sign: " " },
        Tally { coverable: 0, .. } => LineMark { share: String::new(), sign: "x" },
        Tally { covered, coverable, .. } => {
            LineMark { share: format!("{covered}/{coverable}"), sign: if covered < coverable { "!" } else { " " } }
        }
    };
    tallies.into_iter().map(mark).collect()
}

/// The lines, each after `covered/coverable` and a mark: `!` something is not exercised, `x` nothing can be.
pub fn lines(report: &CoverageReport, source: &Source, palette: Palette) -> String {
    let numbered = source.text.lines().zip(marks(report, source)).zip(source.first_line..);
    let lines = numbered.map(|((line, LineMark { share, sign }), number)| {
        let front = format!("{share:>7} {sign} {number:>4} |");
        let front = match sign {
            "!" => palette.doubtful(&front),
            _ => palette.faint(&front),
        };
        format!("{front} {}", escape_unprintable(line)).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
