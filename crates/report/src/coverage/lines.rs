//! The playbook's text, each line marked with its coverage, as coverage tools for source code do.

use crate::style::Palette;
use crate::text::escape_unprintable;
use playproof_analysis::coverage::{CoverageReport, TargetState};
use playproof_formats::diagnostic::Source;

/// The targets of one line.
#[derive(Clone, Copy, Default)]
struct Mark {
    covered: usize,
    coverable: usize,
    unreachable: usize,
}

/// The lines, each after `covered/coverable` and a mark: `!` something is not exercised, `x` nothing can be.
pub fn lines(report: &CoverageReport, source: &Source, palette: Palette) -> String {
    let mut marks = vec![Mark::default(); source.text.lines().count()];
    for result in &report.targets {
        let line = result.place.as_ref().map(|place| source.place(place.start).0 - source.first_line);
        let Some(mark) = line.and_then(|line| marks.get_mut(line)) else { continue };
        match result.state {
            TargetState::Unreachable(_) => mark.unreachable += 1,
            TargetState::Covered(_) => {
                mark.covered += 1;
                mark.coverable += 1;
            }
            TargetState::Reachable(_) | TargetState::Undecided => mark.coverable += 1,
        }
    }
    let numbered = source.text.lines().zip(&marks).zip(source.first_line..);
    let lines = numbered.map(|((line, mark), number)| {
        let (share, sign) = match *mark {
            Mark { coverable: 0, unreachable: 0, .. } => (String::new(), " "),
            Mark { coverable: 0, .. } => (String::new(), "x"),
            Mark { covered, coverable, .. } => {
                (format!("{covered}/{coverable}"), if covered < coverable { "!" } else { " " })
            }
        };
        let front = format!("{share:>7} {sign} {number:>4} |");
        let front = match sign {
            "!" => palette.doubtful(&front),
            _ => palette.faint(&front),
        };
        format!("{front} {}", escape_unprintable(line)).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
