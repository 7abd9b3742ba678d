//! The list of proposals, and what has changed since one was made.

use crate::table;
use crate::table::Align;
use crate::text::escape_unprintable;
use playproof_analysis::proposal::{Applied, ChangedSince, GateKind, Proposal, ProposalReport, verdicts};
use playproof_formats::golden::RowChange;

/// A proposal in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    cells: [String; 5],
}

impl Listed {
    /// A proposal whose files cannot be read.
    pub fn unreadable(id: &str) -> Listed {
        Listed::of([id, "", "", "cannot be read", ""])
    }

    /// A proposal with its trial; none if it does not fit its playbook.
    pub fn new(id: &str, proposal: &Proposal, tried: Option<(&Applied, &ProposalReport)>) -> Listed {
        let playbook = proposal.playbook.text.as_str();
        let verdicts = verdicts(proposal, tried.map(|(applied, _)| &applied.loaded.playbook)).join(", ");
        let Some((_, ProposalReport { gates, .. })) = tried else {
            return Listed::of([id, playbook, &verdicts, "does not fit the playbook", ""]);
        };
        let has_moved = gates.iter().any(|gate| gate.kind == GateKind::BaseMoved);
        let state = match gates.as_slice() {
            [] => "ready".to_owned(),
            [only] => only.kind.to_string(),
            [first, more @ ..] => format!("{}, and {} more objections", first.kind, more.len()),
        };
        Listed::of([id, playbook, &verdicts, &state, if has_moved { "moved" } else { "current" }])
    }

    fn of(cells: [&str; 5]) -> Listed {
        Listed { cells: cells.map(|cell| escape_unprintable(cell).into_owned()) }
    }
}

/// The list as a page of `width` columns.
pub fn list(proposals: &[Listed], width: usize) -> String {
    let rows: Vec<Vec<String>> = proposals.iter().map(|listed| listed.cells.to_vec()).collect();
    let header = ["proposal", "playbook", "verdicts", "state", "base"].map(str::to_owned);
    table::render(&header, &rows, &[Align::Left; 5], width)
}

/// How the rows that a proposal changes have changed since it was made, in lines.
pub fn since(since: &ChangedSince) -> Vec<String> {
    let changed = match since {
        ChangedSince::Unknown(rows) if rows.is_empty() => return Vec::new(),
        ChangedSince::Unknown(rows) => {
            let rows: Vec<String> = rows.iter().map(|row| format!("`{row}`")).collect();
            let said = "its base playbook is not in the history: check whether it still fits";
            return vec![format!("{said} {}", rows.join(", "))];
        }
        ChangedSince::Changed(rows) => rows,
    };
    let lines = |row: &RowChange| {
        let head = format!("`{}` has changed since the proposal was made; check whether it still fits:", row.name);
        let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        let parts = row.parts();
        let parts =
            parts.iter().map(|part| format!("  {}: {} became {}", part.path, or(&part.before), or(&part.after)));
        std::iter::once(head).chain(parts).collect::<Vec<_>>()
    };
    changed.iter().flat_map(lines).collect()
}
