//! The changes of an accepted proposal: playbook, decision record, fixtures, goldens, lock and history, all or
//! nothing.

use std::path::{Path, PathBuf};

use super::rows;
use crate::changeset::Change;
use crate::command::propose::context::{TrialResult, Trials};
use crate::command::propose::stored::{self, Stored};
use crate::exit::Failure;
use crate::threads::Threads;
use crate::workspace::Workspace;
use crate::{folders, git, pending};
use playproof_analysis::check::CaseId;
use playproof_analysis::proposal::{
    GateKind, NotAccepted, ProposalGate, ProposalReport, accepted_goldens, goldens_elsewhere, numbered, record,
};
use playproof_formats::playbook;
use playproof_formats::shell::Command;
use playproof_report::text::counted;

/// A proposal that was tried.
#[derive(Debug)]
pub enum Proposed {
    /// Nothing speaks against it: what accepting it changes.
    Acceptable(Vec<Change>),
    /// What speaks against it.
    Refused(Box<ProposalReport>),
}

/// Tries a proposal.
///
/// # Errors
/// No such proposal; a file that has uncommitted changes.
pub fn proposed(workspace: &Workspace, id: &str, reason: &str) -> Result<Proposed, Failure> {
    let trials = Trials::open(workspace, Threads::default().number())?;
    let stored = stored::load(workspace, id)?;
    let trial = trials.try_out(&stored)?;
    if !trial.judged.gates.is_empty() {
        return Ok(Proposed::Refused(Box::new(trial.judged)));
    }
    Ok(Proposed::Acceptable(acceptance(&trials, &stored, &trial, reason)?))
}

/// Tries a proposal, and whether it could be accepted.
///
/// # Errors
/// A proposal that cannot be tried.
pub fn tried_out(trials: &Trials<'_>, stored: &Stored) -> Result<TrialResult, Failure> {
    let mut trial = trials.try_out(stored)?;
    if trial.judged.gates.is_empty()
        && let Err(failure) = acceptance(trials, stored, &trial, "tried")
    {
        trial.judged.gates.push(gate(failure, &stored.id));
    }
    Ok(trial)
}

/// The objection that a failure to accept is.
fn gate(failure: Failure, id: &str) -> ProposalGate {
    let (reports, next) = failure.into_reports();
    let report = reports.into_iter().next();
    let said = report.as_ref().and_then(|report| report.diagnostics.first()).cloned();
    let (message, help) = said.map_or_else(Default::default, |said| (said.message, said.help));
    ProposalGate {
        kind: GateKind::NotAcceptable,
        message,
        help,
        next: next.unwrap_or_else(|| Command::new("playproof propose check").name(id)),
        report: report.filter(|report| !report.source.name.is_empty()),
    }
}

/// What accepting a proposal without objections changes.
///
/// # Errors
/// What speaks against it in the project as it is, such as a file that has uncommitted changes.
fn acceptance(trials: &Trials<'_>, stored: &Stored, trial: &TrialResult, reason: &str) -> Result<Vec<Change>, Failure> {
    let changes = changes(trials, stored, trial, reason)?;
    refuse_uncommitted(trials.workspace, stored, &changes)?;
    Ok(changes)
}

/// Every file that changes.
fn changes(trials: &Trials<'_>, stored: &Stored, trial: &TrialResult, reason: &str) -> Result<Vec<Change>, Failure> {
    let (workspace, context) = (trials.workspace, &trials.context);
    let Some(playbook) = &trial.used.path else { return Err(Failure::new("the playbook has no file")) };
    let refused = |why| refused(why, stored, trial);
    let (name, text) = (&trial.judged.playbook, trial.applied.text());
    let mut lock = context.lock.clone().unwrap_or_default();
    let new_rows = playbook::rows(&trial.applied.loaded.playbook);
    lock.approve(name, new_rows.iter().map(|row| (&*row.name, &*row.text)), reason);
    let mut changes = vec![Change::Write(playbook.clone(), text.as_bytes().to_vec())];
    let adr = adr(workspace, stored)?;
    let adr_name = adr.as_ref().map(|adr| workspace.name(adr.path())).unwrap_or_default();
    changes.extend(adr);
    for ((fixture, _), source) in stored.fixtures.iter().zip(&stored.sources) {
        changes.push(Change::Create(workspace.fixture_path(fixture), source.text.clone().into_bytes()));
    }
    for (id, golden) in accepted_goldens(&trial.judged, &trial.goldens, reason).map_err(refused)? {
        let paths = workspace.golden(&id);
        changes.push(Change::Write(paths.accepted, golden.render().into_bytes()));
        if folders::has_file(&paths.pending) {
            changes.push(Change::Remove(paths.pending));
        }
    }
    let others = workspace.load_playbooks(&stored.fixtures)?;
    let others = others.iter().filter(|(other, _)| *other != name);
    let plans = others.map(|(other, used)| (other.as_str(), &used.plan)).collect();
    for (id, golden) in goldens_elsewhere(context, &stored.fixtures, &plans).map_err(refused)? {
        changes.push(Change::Write(workspace.golden(&id).accepted, golden.render().into_bytes()));
    }
    let history = workspace.read_history()?;
    let playbooks = (&trial.used.loaded, &trial.applied);
    let record = record(&history, &trial.judged, playbooks, &stored.fixtures, &adr_name, reason).map_err(refused)?;
    changes.extend(rows::changes(workspace, &history, &[record], Some(&lock)));
    changes.extend(stored::files(&stored.folder)?.into_iter().map(Change::Remove));
    Ok(changes)
}

fn refused(why: NotAccepted, stored: &Stored, trial: &TrialResult) -> Failure {
    let (id, name) = (&stored.id, &trial.judged.playbook);
    let check = Command::new("playproof propose check").name(id);
    match why {
        NotAccepted::Golden(report) => report.into(),
        NotAccepted::PlaybookNotApproved(CaseId { playbook, fixture }) => Failure::new(format!(
            "the new fixture `{fixture}` brings the playbook `{playbook}`, whose rows are not accepted"
        ))
        .help(format!("leave `{playbook}` out of it for now, and add it when this is accepted; nothing was changed"))
        .next(check),
        NotAccepted::Contradicted(id, first) => {
            Failure::new(format!("`{id}` does not show what it is meant to show: {first}"))
                .help("nothing was changed")
                .next(check)
        }
        NotAccepted::Harmful(id, harm) => pending::harmful(&id, &harm).and_help("nothing was changed").next(check),
        NotAccepted::NotRecorded(rows, first) => {
            let rows = counted(rows as u64, "row", "rows");
            Failure::new(format!("the history does not explain {rows} of `{name}` as it is, first `{first}`"))
                .help("record them first: the record of a proposal says what the proposal changes; nothing was changed")
                .next(Command::new("playproof accept").name(name).and("--reason '...'"))
        }
        NotAccepted::NoRow => {
            Failure::new(format!("`{id}` changes no row of the playbook: there is nothing to record"))
        }
    }
}

/// The decision record under the next number.
fn adr(workspace: &Workspace, stored: &Stored) -> Result<Option<Change>, Failure> {
    let Some(adr) = &stored.adr else { return Ok(None) };
    let folder = workspace.root().join("docs/adr");
    let names = folders::files_under(&folder, ".md")?;
    let number = |path: &PathBuf| path.to_str()?.get(..4)?.parse::<u32>().ok();
    let next = names.iter().filter_map(number).max().unwrap_or(0).saturating_add(1);
    let path = folder.join(format!("{next:04}-{}.md", stored.id));
    Ok(Some(Change::Create(path, numbered(&adr.text, next).into_bytes())))
}

/// Refuses to write over uncommitted changes. The proposal's own files may have some.
fn refuse_uncommitted(workspace: &Workspace, stored: &Stored, changes: &[Change]) -> Result<(), Failure> {
    let is_own = |path: &Path| path.starts_with(&stored.folder);
    let written: Vec<PathBuf> =
        changes.iter().map(Change::path).filter(|path| !is_own(path)).map(Path::to_path_buf).collect();
    let dirty = git::uncommitted(workspace.root(), &written);
    let Some(first) = dirty.iter().next() else { return Ok(()) };
    let name = workspace.here(first);
    let more = if dirty.len() > 1 { format!(" (and {} more)", dirty.len() - 1) } else { String::new() };
    Err(Failure::new(format!("`{name}`{more} has changes that are not committed, and this would write over it"))
        .help("commit or stash them; nothing was changed")
        .next(Command::new("git diff HEAD --").path(&name)))
}
