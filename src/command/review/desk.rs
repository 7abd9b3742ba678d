//! The review's terminal: shows pages, reads keys one at a time, and leaves the terminal as it found it. A key is read
//! with the terminal's own settings put back at once, so that an interrupt at any moment leaves nothing behind.

use std::collections::BTreeSet;

use console::{Key, Term};

use super::session::Desk;
use crate::exit::Failure;
use crate::output::Output;
use crate::pending;
use crate::workspace::Workspace;
use playproof_analysis::check::{CaseId, CaseResult};
use playproof_report::check::{Shown, events, result};
use playproof_report::text;

/// A person at a terminal.
pub struct AtTerminal<'a> {
    /// The terminal.
    pub term: Term,
    /// The project.
    pub workspace: &'a Workspace,
    /// What was found.
    pub shown: Shown<'a>,
    /// Remembers what was done.
    pub output: &'a mut Output,
}

impl Desk for AtTerminal<'_> {
    fn show(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.term.write_line(text)?)
    }

    fn key(&mut self) -> Result<Option<char>, Failure> {
        match self.term.read_key() {
            Ok(Key::Char(key)) => Ok(Some(key)),
            Ok(Key::Escape) => Ok(Some('q')),
            // A terminal that went away answers like this for ever.
            Ok(Key::Unknown) => Ok(None),
            Ok(_) => Ok(Some('?')),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn line(&mut self, prompt: &str) -> Result<Option<String>, Failure> {
        self.term.write_str(&text::escape_unprintable(prompt))?;
        match self.term.read_line() {
            Ok(line) => Ok(Some(line)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn page(&mut self, of: &CaseResult) -> String {
        result(&self.shown, of, &mut BTreeSet::new())
    }

    fn events(&mut self, of: &CaseResult) -> String {
        let nothing = || "there is no golden to compare with".to_owned();
        of.comparison().map_or_else(nothing, |one| events(one, self.shown.width, self.shown.palette))
    }

    fn accept(&mut self, of: &CaseResult, reason: Option<&str>) -> Result<(), Failure> {
        let project_lock = self.workspace.project_lock()?;
        project_lock.commit(&pending::acceptance(self.workspace, &[of], reason)?.changes, self.output)
    }

    fn reject(&mut self, id: &CaseId) -> Result<(), Failure> {
        let project_lock = self.workspace.project_lock()?;
        pending::reject(self.workspace, &project_lock, std::slice::from_ref(id), self.output)
    }
}
