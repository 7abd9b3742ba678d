//! `playproof accept [ID...]`: from the names of waiting goldens, rows and proposals to the files that change.

use super::named::{ArgumentNames, argument_of_proposal};
use super::proposal::{Proposed, proposed};
use super::rows::EditedRows;
use crate::changeset::{Change, ProjectLock};
use crate::checking;
use crate::checking::{Checked, Selection};
use crate::exit::{Exit, Failure};
use crate::output::{Output, to_stderr};
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use crate::{pending, reason};
use playproof_formats::shell::Command;
use playproof_report::proposal::page;

/// What is accepted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof accept                              every golden that waits
  playproof accept --reason 'keys live a day'   every golden that waits, and every edited row of a playbook
  playproof accept standard/the-worked-refund   one golden
  playproof accept standard --reason 'slower'   the edited rows of a playbook
  playproof accept said-no --reason 'reviewed'  a proposal

Rows, proposals, a changed effect and a weakened guard need a reason. It is kept beside what it explains: in the lock,
in the golden, and in the history (`playproof history`). A proposal is accepted by its name alone, one at a time.

All that is named is accepted, or nothing is. A run that contradicts the `expect` of its fixture cannot be accepted,
and neither can rows under which one does, nor a proposal that `playproof propose check` objects to. A run with an unsafe
finding by the playbook is accepted only where `expect` names the finding.

Where a name has two meanings, say which: `fixtures/NAME`, `playbooks/NAME` or `proposals/NAME`.

Exit codes: 0 accepted, 1 a proposal has objections, 2 nothing waits, or something may not be accepted.")]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, fixtures, playbooks or a proposal [default: all waiting goldens and, with --reason, edited rows]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// Why; needed for rows, for proposals, and for goldens with a changed effect or a weakened guard
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// Accepts.
///
/// # Errors
/// A name that means nothing or two things; nothing that waits; something that may not be accepted.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let reason = args.reason.as_deref();
    let named = ArgumentNames::find(&workspace, &args.ids, &[])?;
    match named.proposals.as_slice() {
        [] => goldens_and_rows(&workspace, &project_lock, &named, reason, terminal, output),
        [one] if named.runs.is_empty() && named.playbooks.is_empty() => {
            accept_proposal(&workspace, &project_lock, one, reason, terminal, output)
        }
        [first, ..] => {
            Err(Failure::new(format!("the proposal `{first}` is accepted alone, and other names are given"))
                .help("a proposal is checked against the project as it is; nothing was changed")
                .next(Command::new("playproof propose check").name(first)))
        }
    }
}

/// Changes that are accepted together.
#[derive(Default)]
struct AcceptBatch {
    changes: Vec<Change>,
    lines: Vec<String>,
    pages: Vec<String>,
}

impl AcceptBatch {
    fn take_goldens(&mut self, workspace: &Workspace, checked: &Checked, reason: Option<&str>) -> Result<(), Failure> {
        let results = pending::waiting(workspace, &checked.report.results);
        for result in &results {
            pending::refuse_stale(workspace, result)?;
        }
        let accepted = pending::acceptance(workspace, &results, reason)?;
        self.lines.extend(accepted.ids.iter().map(|id| format!("accepted {id}")));
        self.changes.extend(accepted.changes);
        Ok(())
    }

    fn take_rows(
        &mut self,
        workspace: &Workspace,
        rows: EditedRows<'_>,
        reason: &str,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        rows.refuse_contradicted()?;
        self.pages.push(terminal.out.drawn(&rows.page()));
        let (changes, said) = rows.accept(workspace, reason);
        self.changes.extend(changes);
        self.pages.push(said);
        Ok(())
    }

    fn commit(self, project_lock: &ProjectLock, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
        if terminal.ci {
            to_stderr("playproof: CI is set; `accept` writes anyway\n");
        }
        project_lock.commit(&self.changes, output)?;
        output.lines(&self.lines)?;
        if !self.pages.is_empty() {
            let above = if self.lines.is_empty() { "" } else { "\n" };
            output.page(&format!("{above}{}", self.pages.join("\n\n")))?;
        }
        Ok(Exit::Clean)
    }
}

/// Accepts the goldens and rows that are named; where nothing is, every golden that waits, and with a reason every row.
fn goldens_and_rows(
    workspace: &Workspace,
    project_lock: &ProjectLock,
    named: &ArgumentNames,
    reason: Option<&str>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut batch = AcceptBatch::default();
    let check = |selection| checking::check(workspace, &selection, Threads::default().number(), false);
    if !named.runs.is_empty() {
        let checked = check(Selection::named(&named.runs))?;
        if pending::waiting(workspace, &checked.report.results).is_empty() {
            named.refuse_decided(workspace)?;
            return Err(pending::nothing_waits(&checked.report.results, &named.runs, terminal.ci));
        }
        batch.take_goldens(workspace, &checked, reason)?;
    }
    if !named.playbooks.is_empty() {
        let checked = check(Selection::default())?;
        let rows = EditedRows::find(workspace, &checked, &named.playbooks)?;
        if rows.is_empty() {
            let said = format!("no row of {} waits to be accepted", quoted(&named.playbooks));
            return Err(Failure::new(said).next("playproof check"));
        }
        let again = Command::new("playproof accept").names(named.runs.iter().chain(&named.playbooks));
        let reason = reason.ok_or_else(|| EditedRows::unexplained(again))?;
        batch.take_rows(workspace, rows, reason, terminal)?;
    }
    if named.is_empty() {
        let checked = check(Selection::default())?;
        let rows = EditedRows::find(workspace, &checked, &[])?;
        let is_golden = !pending::waiting(workspace, &checked.report.results).is_empty();
        match reason {
            _ if !is_golden && rows.is_empty() => {
                workspace.refuse_empty()?;
                return Err(pending::nothing_waits(&checked.report.results, &[], terminal.ci));
            }
            None if !is_golden => {
                let failure = EditedRows::unexplained("playproof accept".into());
                let contradicting = checked.report.results.iter().find(|result| !result.contradictions.is_empty());
                let said = |id| format!("`{id}` cannot be accepted: it contradicts its fixture");
                return Err(contradicting
                    .map(|result| said(&result.id))
                    .iter()
                    .fold(failure, |failure, said| failure.and_help(said)));
            }
            _ => batch.take_goldens(workspace, &checked, reason)?,
        }
        match reason {
            _ if rows.is_empty() => {}
            Some(reason) => batch.take_rows(workspace, rows, reason, terminal)?,
            None => {
                let next = Command::new("playproof accept --reason '...'");
                let strong = terminal.out.palette().strong("next:");
                batch
                    .pages
                    .push(format!("the edited rows of playbooks still wait: they need a reason\n{strong} {next}"));
            }
        }
    }
    batch.commit(project_lock, terminal, output)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn accept_proposal(
    workspace: &Workspace,
    project_lock: &ProjectLock,
    id: &str,
    reason: Option<&str>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let reason = reason.ok_or_else(|| {
        Failure::new("a proposal is not accepted without a reason")
            .help("it is kept in the lock, beside each row that changes")
            .next(Command::new("playproof accept").name(&argument_of_proposal(workspace, id)).and("--reason '...'"))
    })?;
    let changes = match proposed(workspace, id, reason)? {
        Proposed::Acceptable(changes) => changes,
        Proposed::Refused(judged) => {
            output.page(&terminal.out.drawn(&[page(&judged, None, Vec::new())]))?;
            to_stderr("playproof: not accepted; nothing was changed\n");
            return Ok(Exit::Found);
        }
    };
    let wrote = |change: &Change| change.text().map(|_| format!("wrote {}", workspace.here(change.path())));
    let mut batch =
        AcceptBatch { lines: changes.iter().filter_map(wrote).collect(), changes, ..AcceptBatch::default() };
    batch.lines.push(format!("{id} is accepted"));
    batch.lines.push("next: playproof check".to_owned());
    batch.commit(project_lock, terminal, output)
}
