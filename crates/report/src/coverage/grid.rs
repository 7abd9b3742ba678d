//! The cells of every verdict as one line of sixteen marks.

use crate::style::Palette;
use crate::text::{fitted, width};
use playproof_explore::coverage::{Cell, CoverageReport, Target, TargetKind, TargetState};

/// The width of the longest name.
const NAME_MAX: usize = 32;

/// The meaning of the marks.
const LEGEND: &str = "\
each group: no key, token, key, key and token
# exercised  . not exercised  - cannot be  ? unknown";

/// The grid with its legend.
pub(super) fn grid(report: &CoverageReport, palette: Palette) -> String {
    let rows = rows(report);
    let name_width = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let pad = |name: &str| format!("  {name}{}", " ".repeat(name_width.saturating_sub(width(name))));
    let mut lines = vec![format!("{}  read         write", pad("")), format!("{}  first later  first later", pad(""))];
    for (name, marks) in rows {
        let mut line = pad(&name);
        for (n, group) in marks.chunks(4).enumerate() {
            line.push_str(if n == 2 { "   " } else { "  " });
            let group: String = group.iter().collect();
            line.push_str(&if group.contains('.') { palette.doubtful(&group) } else { group });
        }
        lines.push(line);
    }
    lines.extend(LEGEND.lines().map(|line| format!("  {}", palette.faint(line))));
    lines.join("\n")
}

/// The verdict's name, and a mark for each of its cells, in the order of the targets.
pub(crate) fn rows(report: &CoverageReport) -> Vec<(String, Vec<char>)> {
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
