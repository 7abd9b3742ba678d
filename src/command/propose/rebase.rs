//! `playproof propose rebase ID`: updates the base of a proposal to the current playbook, and lists the rows that
//! changed since.

use super::args::Rebase;
use super::playbooks::playbook_of;
use super::stored;
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::workspace::Workspace;
use playproof_analysis::proposal::{apply, changed_since, rebased};
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_report::proposal::since;

/// Rebases.
///
/// # Errors
/// No such proposal; one that does not fit the playbook as it is.
pub fn run(args: &Rebase, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let stored = stored::load_to_rebase(&workspace, &args.id)?;
    let (name, used) = playbook_of(&workspace, &stored)?;
    let now = fingerprint(&used.loaded.playbook);
    let next = Command::new("playproof propose check").name(&stored.id);
    if stored.proposal.base.text == now.to_string() {
        output.lines(&[format!("{} was made for `{name}` as it is", stored.id), format!("next: {next}")])?;
        return Ok(Exit::Clean);
    }
    let file = stored.folder.join("proposal.yaml");
    let applied = apply(&used.loaded.places.source, &stored.proposal).map_err(|report| {
        let failure = Failure::from(report).and_help(&format!("mend {}", workspace.here(&file)));
        failure.next(Command::new("playproof propose rebase").name(&stored.id))
    })?;
    let text = rebased(&stored.proposal, &now.to_string());
    let mut lines = vec![format!("{} is made for `{name}` as it is now ({})", stored.id, now.short())];
    let base = &stored.proposal.base.text;
    lines.extend(since(&changed_since(&workspace.read_history()?, base, &name, &applied)));
    lines.push(format!("next: {next}"));
    project_lock.commit(&[Change::Write(file, text.into_bytes())], output)?;
    output.lines(&lines)?;
    Ok(Exit::Clean)
}
