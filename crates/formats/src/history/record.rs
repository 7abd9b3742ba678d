//! One accepted change: its content, its file name and its text. `read` parses it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

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
    /// The playbook, by its name in the lock.
    pub playbook: String,
    /// Why it was accepted.
    pub reason: String,
    /// The changed rows, before and after; never empty, and no row twice.
    pub rows: Vec<RowChange>,
}

/// How a change was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// An approval of rows that were edited by hand.
    Approval,
    /// A proposal.
    Proposal(AcceptedProposal),
}

/// What was accepted with a proposal; paths are relative to the project, with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedProposal {
    /// The proposal's id.
    pub id: String,
    /// The current path of its ADR.
    pub adr: String,
    /// Its fixtures, by name.
    pub fixtures: Vec<String>,
    /// The goldens that it added or changed, as `PLAYBOOK/FIXTURE`.
    pub goldens: Vec<String>,
    /// The goldens that changed dangerously, and keep the record's reason.
    pub explained: Vec<String>,
}

impl Record {
    /// Its file name. The name of an approval ends in a short hash of its content, so that two branches that approve
    /// different rows with the same reason write different files.
    pub fn file_name(&self, number: u32) -> String {
        let words = match &self.kind {
            RecordKind::Proposal(taken) => taken.id.clone(),
            RecordKind::Approval => format!("{} {}", self.playbook, self.reason),
        };
        let mut slug = slug(&words);
        if matches!(self.kind, RecordKind::Approval) {
            slug += &format!("-{}", self.short_hash());
        } else if slug.is_empty() {
            slug = self.short_hash();
        }
        file_name(number, &slug)
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

/// The longest slug of a file name.
const SLUG_MAX: usize = 48;

const ENDING: &str = ".yaml";

/// The number that the next record takes: one past the highest of `existing`, which are file names.
///
/// Two branches may take the same number: records are in the order of number and name.
pub fn next_number<'a>(existing: impl IntoIterator<Item = &'a str>) -> u32 {
    existing.into_iter().filter_map(number_of).max().unwrap_or(0).saturating_add(1)
}

/// The number in a record's file name; none if this is not the name of a record.
pub fn number_of(name: &str) -> Option<u32> {
    let (number, slug) = name.strip_suffix(ENDING)?.split_once('-')?;
    let is_number = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number && !slug.is_empty())
}

/// The file name of a record.
fn file_name(number: u32, slug: &str) -> String {
    format!("{number:04}-{slug}{ENDING}")
}

/// A text as part of a file name: lowercase words of letters and digits, joined by `-`, as many as fit.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let left = SLUG_MAX.saturating_sub(out.len() + usize::from(!out.is_empty()));
        if word.len() > left && !out.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.extend(word.chars().take(left).map(|c| c.to_ascii_lowercase()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_one_past_the_highest_and_ignores_other_files() {
        assert_eq!(next_number([]), 1);
        assert_eq!(next_number(["0001-a.yaml", "0007-b.yaml", "README.md", "0009.yaml", "9-c.yaml"]), 8);
    }

    #[test]
    fn a_name_of_a_record_has_four_digits_or_more_and_a_slug() {
        assert_eq!(number_of("0012-a-b.yaml"), Some(12));
        assert_eq!(number_of("12345-x.yaml"), Some(12345));
        for bad in ["012-a.yaml", "0012-.yaml", "0012-a.yml", "+012-a.yaml", "99999999999-a.yaml"] {
            assert_eq!(number_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_slug_is_made_of_whole_words_as_far_as_they_fit() {
        assert_eq!(slug("The gateway's `answer`: 300 ms!"), "the-gateway-s-answer-300-ms");
        assert_eq!(slug("study/old"), "study-old");
        assert!(slug(&"word ".repeat(40)).len() <= SLUG_MAX);
        assert_eq!(slug(&"x".repeat(100)).len(), SLUG_MAX);
        assert_eq!(slug("…"), "");
    }
}
