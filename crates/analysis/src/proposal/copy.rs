//! The edited copy of a playbook that a proposal is: what its first line names, the rows that it changes, and its merge
//! with a playbook that has changed since. Reads and writes no file.

use std::fmt::Write as _;
use std::sync::Arc;

use diffy::merge;
use sha2::{Digest, Sha256};

use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{RowChange, merge_conflict, row_changes};
use playproof_formats::playbook;
use playproof_formats::playbook::{Loaded, rows};
use playproof_formats::yaml::lines::{line_break, line_end};

const HEAD: &str = "# proposal for ";
const AT: &str = " at sha256:";

/// A change of a playbook that waits for review: an edited copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The copy as it lies in the proposal's folder, with its first line.
    pub source: Arc<Source>,
    /// The playbook, as the first line names it.
    pub playbook: String,
    /// The SHA-256 of the text that was copied.
    pub base: String,
    /// The text that was copied, if it is kept beside the copy.
    pub copied: Option<Arc<Source>>,
}

/// The playbook with the change in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The playbook with its text, which may begin with the first line of the copy.
    pub loaded: Loaded,
    /// The rows that change, by name.
    pub rows: Vec<RowChange>,
    /// The rows of the playbook that others have changed since it was copied.
    pub since: Vec<RowChange>,
}

impl Applied {
    /// The text of the playbook, without the first line of the copy.
    pub fn text(&self) -> &str {
        body(&self.loaded.places.source.text)
    }
}

/// A copy on top of the playbook as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// The text of the copy, with its first line.
    pub text: String,
    /// The lines that both sides changed, each with both sides between markers; the text has them too.
    pub conflicts: Vec<String>,
}

/// The text of a copy of `playbook`, whose text is `copied`, with `edited` as its content.
pub fn copy_of(playbook: &str, copied: &str, edited: &str) -> String {
    format!("{HEAD}{playbook}{AT}{}{}{edited}", digest(copied), line_break(copied))
}

fn digest(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(text) {
        let _ = write!(digits, "{byte:02x}"); // writing to a String cannot fail
    }
    digits
}

fn body(text: &str) -> &str {
    if text.starts_with(HEAD) { text.get(line_end(text, 0)..).unwrap_or("") } else { text }
}

/// Whether the text names what it is a copy of.
pub fn has_base(text: &str) -> bool {
    named(text).is_some()
}

fn named(text: &str) -> Option<(&str, &str)> {
    let (playbook, base) = text.lines().next()?.strip_prefix(HEAD)?.split_once(AT)?;
    let is_digest = base.len() == 64 && base.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_digest && !playbook.is_empty()).then_some((playbook, base))
}

/// Reads what the first line of a copy names; `copied` is the text that was copied.
///
/// # Errors
/// A merge conflict; a first line that names no base; a `copied` that is not the text that it names.
pub fn parse(source: Arc<Source>, copied: Option<Arc<Source>>) -> Result<Proposal, Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(source, said.help("decide which side is meant, then run `playproof propose check`")));
    }
    let first = 0..source.text.lines().next().map_or(0, str::len);
    let Some((playbook, base)) = named(&source.text) else {
        let said = Diagnostic::error("no_base", "the first line does not say what this is a copy of")
            .at(first, format!("expected `{HEAD}PLAYBOOK{AT}...`"))
            .help("`playproof propose rebase ID` writes it");
        return Err(Report::one(source, said));
    };
    if copied.as_ref().is_some_and(|copied| digest(&copied.text) != base) {
        let said = Diagnostic::error("base_edited", "the base beside this copy is not the text that was copied")
            .at(first, "this names another text")
            .help("restore it from git: only `playbook.yaml` is to be edited");
        return Err(Report::one(source, said));
    }
    let (playbook, base) = (playbook.to_owned(), base.to_owned());
    Ok(Proposal { source, playbook, base, copied })
}

/// The playbook `current` with the change in it: the copy, or its merge with what others have changed since.
///
/// # Errors
/// A text that cannot be read; one that has changed in the same lines; a base that is not kept.
pub fn apply(current: &Loaded, proposal: &Proposal) -> Result<Applied, Report> {
    let (text, since) = match rebase(&current.places.source, proposal)? {
        None => (Arc::clone(&proposal.source), Vec::new()),
        Some((merged, copied)) => {
            if let Some(said) = merge_conflict(&merged.text) {
                let said = Diagnostic { message: "the playbook has changed in the same lines".to_owned(), ..said };
                let said = said.help("`playproof propose rebase ID` writes both sides into the copy");
                return Err(Report::one(
                    Source::whole(format!("{} (merged)", proposal.source.name), merged.text),
                    said,
                ));
            }
            let then = playbook::parse(copied)?;
            (Source::whole(&*proposal.source.name, merged.text), changed(&then, current))
        }
    };
    let loaded = playbook::parse(text)?;
    Ok(Applied { rows: changed(current, &loaded), loaded, since })
}

/// The copy on top of the playbook as it is now; none if it was made for that.
///
/// # Errors
/// A base that is not kept.
pub fn rebased(current: &Source, proposal: &Proposal) -> Result<Option<Rebased>, Report> {
    Ok(rebase(current, proposal)?.map(|(rebased, _)| rebased))
}

fn rebase(current: &Source, proposal: &Proposal) -> Result<Option<(Rebased, Arc<Source>)>, Report> {
    if digest(&current.text) == proposal.base {
        return Ok(None);
    }
    let Some(copied) = proposal.copied.clone() else {
        let said = Diagnostic::error("no_base", "the playbook has changed, and the text that was copied is not kept")
            .at(0..line_end(&proposal.source.text, 0).saturating_sub(1), "it names this text")
            .help("write the text that was copied into `base.yaml` beside it");
        return Err(Report::one(Arc::clone(&proposal.source), said));
    };
    let (text, conflicts) = match merge(&copied.text, &current.text, body(&proposal.source.text)) {
        Ok(merged) => (merged, Vec::new()),
        Err(marked) => decided(&marked),
    };
    Ok(Some((Rebased { text: copy_of(&proposal.playbook, &current.text, &text), conflicts }, copied)))
}

/// The sides of a conflict that `diffy` marks: the playbook as it is, the text that was copied, and the copy.
#[derive(Default)]
struct Sides([String; 3]);

impl Sides {
    /// Rows that both sides add at one place stand one after the other; anything else is for people to decide.
    fn decided(self) -> Result<String, String> {
        let Sides([current, copied, proposed]) = self;
        match copied.is_empty() {
            true => Ok(current + &proposed),
            false => Err(format!("<<<<<<< the playbook as it is\n{current}=======\n{proposed}>>>>>>> as proposed\n")),
        }
    }
}

/// A merged text with fewer markers, and the conflicts that are left.
fn decided(marked: &str) -> (String, Vec<String>) {
    let (mut text, mut left, mut sides, mut side) = (String::new(), Vec::new(), Sides::default(), None);
    for line in marked.split_inclusive('\n') {
        match (line.trim_end(), side) {
            ("<<<<<<< ours", None) => side = Some(0),
            ("||||||| original", Some(0)) => side = Some(1),
            ("=======", Some(1)) => side = Some(2),
            (">>>>>>> theirs", Some(2)) => {
                side = None;
                match std::mem::take(&mut sides).decided() {
                    Ok(both) => text += &both,
                    Err(conflict) => {
                        text += &conflict;
                        left.push(conflict);
                    }
                }
            }
            (_, side) => side.and_then(|side: usize| sides.0.get_mut(side)).unwrap_or(&mut text).push_str(line),
        }
    }
    (text, left)
}

/// The rows that differ between two playbooks, by name.
fn changed(before: &Loaded, after: &Loaded) -> Vec<RowChange> {
    let (before, after) = (rows(&before.playbook), rows(&after.playbook));
    row_changes(before.iter().map(|row| (&*row.name, &*row.text)), after.iter().map(|row| (&*row.name, &*row.text)))
}

/// Whether only the order of a rule changes.
pub fn is_order_alone(change: &RowChange) -> bool {
    change.name.starts_with("rule ")
        && change.before.is_some()
        && change.after.is_some()
        && change.parts().iter().all(|part| part.path == "after")
}
