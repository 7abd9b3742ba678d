//! A mutant: one small change of a playbook. It is a valid playbook; its id names the row and the change, never a place
//! in the file.

use std::fmt;

use crate::coverage::Target;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::Playbook;

type Edit = Box<dyn Fn(&mut Playbook) + Send + Sync>;

/// One small change of a playbook.
pub struct Mutant {
    /// Its id: `rule timeout/drop`, `verdict policy_denied/queue-unclassified`.
    pub id: String,
    /// The row that is changed: `rule timeout`.
    pub row: String,
    /// What is done to it, in words.
    pub what: String,
    /// Whether it changes what is known of tools: then calls are others too.
    pub(in crate::mutation) changes_tools: bool,
    /// What every run that the change can show must exercise without the change, where that is known.
    pub(in crate::mutation) needs: Option<Target>,
    edit: Edit,
}

impl Mutant {
    /// The changed playbook.
    pub fn apply(&self, playbook: &Playbook) -> Playbook {
        let mut changed = playbook.clone();
        (self.edit)(&mut changed);
        changed
    }
}

impl fmt::Debug for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutant").field("id", &self.id).field("what", &self.what).finish_non_exhaustive()
    }
}

/// The mutants of one row, as they are collected.
pub(super) struct MutantRow<'a> {
    name: String,
    changes_tools: bool,
    needs: Option<Target>,
    all: &'a mut Vec<Mutant>,
}

impl<'a> MutantRow<'a> {
    /// The row `name`.
    pub fn new(name: String, all: &'a mut Vec<Mutant>) -> MutantRow<'a> {
        MutantRow { name, changes_tools: false, needs: None, all }
    }

    /// The same, of tool facts.
    pub fn of_tools(name: String, all: &'a mut Vec<Mutant>) -> MutantRow<'a> {
        MutantRow { changes_tools: true, ..MutantRow::new(name, all) }
    }

    /// The row of a verdict: a run in which no failure gets the verdict does not depend on it.
    pub fn of_verdict(name: String, id: VerdictId, all: &'a mut Vec<Mutant>) -> MutantRow<'a> {
        MutantRow { needs: Some(Target::Verdict(id)), ..MutantRow::new(name, all) }
    }

    /// One more mutant of this row.
    pub fn add(
        &mut self,
        operation: impl fmt::Display,
        what: impl Into<String>,
        edit: impl Fn(&mut Playbook) + Send + Sync + 'static,
    ) {
        self.all.push(Mutant {
            id: format!("{}/{operation}", self.name),
            row: self.name.clone(),
            what: what.into(),
            changes_tools: self.changes_tools,
            needs: self.needs,
            edit: Box::new(edit),
        });
    }
}

/// A text as part of an id: letters, digits and single dashes.
pub(in crate::mutation) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() || matches!(c, '_' | '.' | '*') {
            true => slug.push(c),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}
