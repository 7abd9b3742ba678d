//! The list of proposals.

use crate::doc::{Block, Doc, Table, Text};
use crate::text::counted;
use playproof_analysis::proposal::{Applied, GateKind, ProposalReport, verdicts};
use playproof_formats::shell::Command;

/// The list; a proposal that does not fit its playbook has no trial, one whose files cannot be read no playbook either.
#[derive(Debug)]
pub struct ProposalList(Table);

impl Default for ProposalList {
    fn default() -> ProposalList {
        ProposalList(Table::named(["proposal", "playbook", "verdicts", "state", "base"]))
    }
}

impl ProposalList {
    /// Adds a proposal whose files cannot be read.
    pub fn unreadable(&mut self, id: &str) {
        self.add([id, "", "", "cannot be read", ""]);
    }

    /// Adds a proposal with its trial; none if it does not fit its playbook.
    pub fn tried(&mut self, id: &str, playbook: &str, tried: Option<(&Applied, &ProposalReport)>) {
        let Some((applied, ProposalReport { playbook, gates, .. })) = tried else {
            return self.add([id, playbook, "", "does not fit the playbook", ""]);
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
        self.add([id, playbook, &verdicts, &state, if has_moved { "moved" } else { "current" }]);
    }

    fn add(&mut self, cells: [&str; 5]) {
        self.0.row(cells.map(Text::from));
    }

    /// The list as a page.
    pub fn page(self) -> Doc {
        Doc::with("", vec![Block::Table(self.0), Block::next(Command::new("playproof propose check"))])
    }
}
