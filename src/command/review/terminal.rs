//! The terminal of a review: shows pages and reads single keys. The terminal's settings change only while a key is
//! read, so an interrupt leaves nothing behind.

use console::Term;

use super::session::{Item, Screen};
use crate::changeset::Change;
use crate::checking::Checked;
use crate::command::accept::{EditedRows, Proposed, proposed, tried_out};
use crate::command::propose::context::Trials;
use crate::command::propose::stored;
use crate::command::reject;
use crate::exit::Failure;
use crate::output::Output;
use crate::pending;
use crate::terminal::StreamStyle;
use crate::terminal::{KeyPress, read_key};
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_formats::shell::Command;
use playproof_report::check::{CheckPage, events, result};
use playproof_report::{proposal, text};

/// A person at a terminal.
pub struct AtTerminal<'a> {
    /// The terminal.
    pub term: Term,
    /// How pages look on it.
    pub out: StreamStyle,
    /// The project.
    pub workspace: &'a Workspace,
    /// What was found.
    pub checked: &'a Checked,
    /// How it is shown.
    pub shown: CheckPage<'a>,
    /// Remembers what was done.
    pub output: &'a mut Output,
}

impl Screen for AtTerminal<'_> {
    fn show(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.term.write_line(text)?)
    }

    fn key(&mut self) -> Result<Option<char>, Failure> {
        let key = read_key(&self.term)?;
        Ok(key.map(|key| match key {
            KeyPress::Char(key) => key,
            KeyPress::Escape | KeyPress::Interrupt => 'q',
            KeyPress::Enter | KeyPress::Other => '?',
        }))
    }

    fn line(&mut self, prompt: &str) -> Result<Option<String>, Failure> {
        self.term.write_str(&text::escape_unprintable(prompt))?;
        match self.term.read_line() {
            Ok(line) => Ok(Some(line)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn page(&mut self, item: &Item<'_>) -> Result<String, Failure> {
        let out = self.out;
        Ok(match item {
            Item::Golden(of) => out.drawn(&[result(&self.shown, of)]),
            Item::Rows(playbook) => match out.drawn(&self.rows(playbook)?.page()) {
                page if page.is_empty() => {
                    format!("{playbook}: its rows are those of the lock, and no record explains them")
                }
                page => page,
            },
            Item::Proposal(id) => {
                let trials = Trials::open(self.workspace, Threads::default().number())?;
                match stored::load(self.workspace, id).and_then(|stored| tried_out(&trials, &stored)) {
                    Ok(trial) => out.drawn(&[proposal::page(&trial.judged, None, Vec::new())]),
                    Err(_) => format!("{id}: {}", unusable(id)),
                }
            }
        })
    }

    fn events(&mut self, item: &Item<'_>) -> String {
        let Item::Golden(of) = item else { return "only a run has events".to_owned() };
        let nothing = || "there is no golden to compare with".to_owned();
        let events = of.comparison().and_then(|one| events(one, ["golden", "run"]));
        events.map_or_else(nothing, |events| self.out.drawn(&[events]))
    }

    fn objection(&mut self, item: &Item<'_>) -> Result<Option<String>, Failure> {
        let Item::Proposal(id) = item else { return Ok(None) };
        let trials = Trials::open(self.workspace, Threads::default().number())?;
        Ok(match stored::load(self.workspace, id).and_then(|stored| tried_out(&trials, &stored)) {
            Ok(trial) if trial.judged.gates.is_empty() => None,
            Ok(_) => Some("see its objections above".to_owned()),
            Err(_) => Some(unusable(id)),
        })
    }

    fn accept(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure> {
        let project_lock = self.workspace.project_lock()?;
        let changes = match item {
            Item::Golden(of) => pending::acceptance(self.workspace, &[of], reason)?.changes,
            Item::Rows(playbook) => self.rows(playbook)?.accept(self.workspace, reason.unwrap_or_default()).0,
            Item::Proposal(id) => match proposed(self.workspace, id, reason.unwrap_or_default()) {
                Ok(Proposed::Acceptable(changes)) => changes,
                Ok(Proposed::Refused(_)) => {
                    return Ok(Some("it cannot be accepted, see its objections above".to_owned()));
                }
                Err(_) => return Ok(Some(unusable(id))),
            },
        };
        project_lock.commit(&changes, self.output)?;
        Ok(None)
    }

    fn reject(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure> {
        let project_lock = self.workspace.project_lock()?;
        let changes: Vec<Change> = match item {
            Item::Golden(of) => pending::rejection(self.workspace, std::slice::from_ref(&of.id)),
            Item::Rows(playbook) => {
                let file = self.workspace.playbook_argument(playbook);
                return Ok(Some(format!("rows cannot be rejected; undo the edit in {file}")));
            }
            Item::Proposal(id) => reject::rejected_proposal(self.workspace, id, reason)?.0,
        };
        project_lock.commit(&changes, self.output)?;
        Ok(None)
    }
}

impl AtTerminal<'_> {
    fn rows(&self, playbook: &str) -> Result<EditedRows<'_>, Failure> {
        EditedRows::find(self.workspace, self.checked, &[playbook.to_owned()])
    }
}

/// Where a proposal that cannot be used says why.
fn unusable(id: &str) -> String {
    format!("it cannot be used as it is; {} says why", Command::new("playproof propose check").name(id))
}
