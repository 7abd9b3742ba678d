//! One accepted change: what it is, the name of its file and its text. Reading it back is `read`'s.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::name;
use crate::golden::RowChange;
use crate::yaml::quoted;

const HEAD: &str = "\
# Rows of a playbook that changed, and why; written when the change was accepted. `playproof history` shows all of them.
format: history/1
";

/// One accepted change of one playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How it was accepted.
    pub kind: RecordKind,
    /// The playbook, by the name that the lock knows it by.
    pub playbook: String,
    /// Why it was accepted.
    pub reason: String,
    /// The rows that it changed, before and after; never empty, and no row twice.
    pub rows: Vec<RowChange>,
}

/// How a change was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The rows of a playbook that was edited by hand.
    Approval,
    /// A proposal.
    Proposal(AcceptedProposal),
}

/// What was taken in with a proposal; paths are those that people know, with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedProposal {
    /// The proposal's id.
    pub id: String,
    /// The path of its ADR, where it lies now.
    pub adr: String,
    /// Its fixtures, by name.
    pub fixtures: Vec<String>,
    /// The goldens that came or changed with it, as `PLAYBOOK/FIXTURE`.
    pub goldens: Vec<String>,
    /// Those of them that changed dangerously, and so keep the record's reason.
    pub explained: Vec<String>,
}

impl Record {
    /// The name of its file. An approval's ends in a short hash of what it says, so that two branches which approve
    /// different rows in the same words write different files.
    pub fn file_name(&self, number: u32) -> String {
        let words = match &self.kind {
            RecordKind::Proposal(taken) => taken.id.clone(),
            RecordKind::Approval => format!("{} {}", self.playbook, self.reason),
        };
        let mut slug = name::slug(&words);
        if matches!(self.kind, RecordKind::Approval) {
            slug += &format!("-{}", self.short_hash());
        } else if slug.is_empty() {
            slug = self.short_hash();
        }
        name::file_name(number, &slug)
    }

    fn short_hash(&self) -> String {
        let mut text = String::new();
        for byte in Sha256::digest(self.render()).iter().take(3) {
            let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        }
        text
    }

    /// The record's text.
    pub fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        let mut line = |key: &str, value: &str| text += &format!("{key}: {}\n", quoted(value));
        match &self.kind {
            RecordKind::Approval => line("kind", "approval"),
            RecordKind::Proposal(taken) => {
                line("kind", "proposal");
                line("proposal", &taken.id);
                line("adr", &taken.adr);
            }
        }
        line("playbook", &self.playbook);
        line("reason", &self.reason);
        if let RecordKind::Proposal(taken) = &self.kind {
            let lists = [("fixtures", &taken.fixtures), ("goldens", &taken.goldens), ("explained", &taken.explained)];
            for (key, names) in lists {
                if !names.is_empty() {
                    text += &format!("{key}:\n");
                }
                for name in names {
                    text += &format!("  - {}\n", quoted(name));
                }
            }
        }
        text += "rows:\n";
        for row in &self.rows {
            text += &format!("  - {}: {}\n", row.became(), quoted(&row.name));
            for (key, side) in [("before", &row.before), ("after", &row.after)] {
                if let Some(side) = side {
                    text += &format!("    {key}: {}\n", quoted(side));
                }
            }
        }
        text
    }
}
