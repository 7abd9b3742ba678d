//! `playproof propose rebase ID`: a proposal made for the playbook as it is now, and what it may not know of that.

use std::collections::BTreeMap;

use super::args::Rebase;
use super::desk::playbook_of;
use super::stored::{self, Stored};
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::workspace::Workspace;
use playproof_analysis::proposal::{Applied, apply, rebased, touched};
use playproof_formats::golden::{RowChange, row_changes};
use playproof_formats::history::History;
use playproof_formats::playbook::{fingerprint, fingerprint_of};
use playproof_formats::shell::Command;

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
    lines.extend(since(&workspace.read_history()?, &stored, &name, &applied));
    lines.push(format!("next: {next}"));
    project_lock.commit(&[Change::Write(file, text.into_bytes())], output)?;
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// What became, since the proposal was made, of the rows that it changes or takes away: its author has not seen that.
fn since(history: &History, stored: &Stored, name: &str, applied: &Applied) -> Vec<String> {
    let names: Vec<&str> = touched(&applied.rows).collect();
    let now = applied.rows.iter().filter(|row| names.contains(&row.name.as_str()));
    let now: Vec<(&str, &str)> = now.filter_map(|row| Some((row.name.as_str(), row.before.as_deref()?))).collect();
    let base = |rows: &BTreeMap<&str, &str>| {
        fingerprint_of(rows.iter().map(|(name, text)| (*name, *text))).to_string() == stored.proposal.base.text
    };
    let Some(then) = history.rows_when(name, base) else {
        let rows: Vec<String> = now.iter().map(|(name, _)| format!("`{name}`")).collect();
        let said = "what it was made for is not in the history: look whether it still fits";
        return if rows.is_empty() { Vec::new() } else { vec![format!("{said} {}", rows.join(", "))] };
    };
    let then = then.into_iter().filter(|(name, _)| now.iter().any(|(known, _)| known == name));
    let changed = row_changes(then, now.iter().copied());
    let line = |row: &RowChange| {
        let mut lines = vec![format!(
            "`{}`, which it changes, has changed since it was made; look whether it still fits:",
            row.name
        )];
        let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        lines.extend(
            row.parts().iter().map(|part| format!("  {}: {} became {}", part.path, or(&part.before), or(&part.after))),
        );
        lines
    };
    changed.iter().flat_map(line).collect()
}
