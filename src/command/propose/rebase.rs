//! `playproof propose rebase ID`: puts the edited copy of a proposal on top of the playbook as it is, by a three-way merge.

use super::args::Rebase;
use super::playbooks::{own_playbook, playbook_of};
use super::stored::{self, BASE, COPY};
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::proposal::{Rebased, apply, copy_of, has_base, parse, rebased};
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::merge_conflict;
use playproof_formats::playbook;
use playproof_formats::shell::Command;
use playproof_formats::text::escape_page;
use playproof_report::proposal::rows;
use playproof_report::text::counted;

/// Rebases.
///
/// # Errors
/// No such proposal; files that cannot be used.
pub fn run(args: &Rebase, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let id = stored::find(&workspace, &args.id)?;
    let folder = workspace.proposals().join(&id);
    let copy = workspace.read(&folder.join(COPY))?;
    let check = Command::new("playproof propose check").name(&id);
    let (name, used, merged) = if has_base(&copy.text) || merge_conflict(&copy.text).is_some() {
        let stored = stored::load(&workspace, &id)?;
        let (name, used) = playbook_of(&workspace, &stored)?;
        let merged = rebased(&used.loaded.places.source, &stored.proposal)
            .map_err(|report| Failure::from(report).next(check.clone()))?;
        (name, used, merged)
    } else {
        // A copy that somebody made: it is taken to be one of the playbook as it is.
        let named = playbook::parse(copy.clone()).map_err(|report| Failure::from(report).next(check.clone()))?;
        let (name, used) = own_playbook(&workspace, Some(&named.playbook.name))?;
        let text = copy_of(&workspace.playbook_name(&name), &used.loaded.places.source.text, &copy.text);
        (name, used, Some(Rebased { text, conflicts: Vec::new() }))
    };
    let Some(Rebased { text, conflicts }) = merged else {
        output.lines(&[format!("{id} was made for `{name}` as it is"), format!("next: {check}")])?;
        return Ok(Exit::Clean);
    };
    let current = &used.loaded.places.source.text;
    let since = parse(Source::whole(COPY, text.clone()), None).ok();
    let changes = [
        Change::Write(folder.join(COPY), text.into_bytes()),
        Change::Write(folder.join(BASE), current.clone().into_bytes()),
    ];
    let file = workspace.here(&folder.join(COPY));
    project_lock.commit(&changes, output)?;
    if conflicts.is_empty() {
        let applied = since.and_then(|proposal| apply(&used.loaded, &proposal).ok());
        let mut lines = vec![format!("{id} is made for `{name}` as it is now")];
        lines.extend(applied.map(|applied| terminal.out.drawn(&[rows(&applied.rows)])));
        lines.push(format!("next: {check}"));
        output.page(&lines.join("\n"))?;
        return Ok(Exit::Clean);
    }
    let both = counted(conflicts.len() as u64, "place was changed", "places were changed");
    output
        .page(&format!("{both} in `{name}` and in {id}: decide in {file}\n\n{}", escape_page(&conflicts.join("\n"))))?;
    output.page(&format!("next: {check}"))?;
    Ok(Exit::Found)
}
