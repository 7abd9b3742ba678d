//! The list of proposals.

use crate::table;
use crate::table::Align;
use crate::text::{counted, escape_unprintable};
use playproof_analysis::proposal::{Applied, GateKind, ProposalReport, verdicts};

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
    pub fn new(id: &str, playbook: &str, tried: Option<(&Applied, &ProposalReport)>) -> Listed {
        let Some((applied, ProposalReport { playbook, gates, .. })) = tried else {
            return Listed::of([id, playbook, "", "does not fit the playbook", ""]);
        };
        let verdicts = verdicts(applied).join(", ");
        let has_moved = gates.iter().any(|gate| gate.kind == GateKind::BaseMoved);
        let state = match gates.as_slice() {
            [] => "ready".to_owned(),
            [only] => only.kind.to_string(),
            [first, more @ ..] => {
                format!("{}, and {}", first.kind, counted(more.len() as u64, "more objection", "more objections"))
            }
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
