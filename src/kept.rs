//! Reads kept calls from disk: the file, and the slice of the trace beside it.

use super::exit::Failure;
use super::input_kind::reject_conflict_markers;
use super::inputs;
use super::workspace::{Used, Workspace};
use playproof_analysis::kept;
use playproof_analysis::kept::{JudgedKept, Kept};
use playproof_formats::diagnostic::{Diagnostic, Report, did_you_mean};
use playproof_formats::shell::Command;
use playproof_intake::redact::RedactionRules;

/// Loads one kept call, by its id or the path of one of its files.
///
/// # Errors
/// An unknown id; unusable files.
pub fn load(workspace: &Workspace, redaction: &RedactionRules, id: &str) -> Result<Kept, Failure> {
    let named = workspace.kept_named(id).filter(|named| !named.is_empty() && !named.contains('/'));
    let is_there = |named: &String| super::folders::has_file(&workspace.kept_path(named, "yaml"));
    let Some(named) = named.filter(is_there) else { return Err(unknown(workspace, id)) };
    let (id, path) = (&*named, workspace.kept_path(&named, "yaml"));
    let with_next = |failure: Failure| failure.next(Command::new("git log --oneline --").path(&workspace.here(&path)));
    let source = workspace.read(&path)?;
    let said = kept::parse(source.clone()).map_err(Failure::from).map_err(with_next)?;
    let slice = workspace.kept_path(id, "jsonl");
    workspace.read(&slice).and_then(|source| Ok(reject_conflict_markers(&source)?)).map_err(with_next)?;
    let input = inputs::trace(&slice.to_string_lossy(), &inputs::Reading::default(), redaction).map_err(with_next)?;
    let calls = input.calls(redaction).map_err(Failure::from).map_err(with_next)?;
    Kept::new(id, said, source, &workspace.name(&slice), calls).map_err(Failure::from).map_err(with_next)
}

/// What the playbooks of all kept calls make of them, by id.
///
/// # Errors
/// Files that cannot be used; a playbook that is not there.
pub fn judge_all(workspace: &Workspace, redaction: &RedactionRules) -> Result<Vec<JudgedKept>, Failure> {
    let judged = |id: &String| {
        let kept = load(workspace, redaction, id)?;
        let used = playbook(workspace, &kept)?;
        Ok(kept.judged(&kept.plan(&used.loaded.playbook, workspace.tools())))
    };
    workspace.kept_ids()?.iter().map(judged).collect()
}

/// The current playbook of a kept call.
fn playbook(workspace: &Workspace, kept: &Kept) -> Result<Used, Failure> {
    let loaded = workspace.lasting_playbook(&kept.file.playbook);
    let named = |failure: Failure| match failure {
        Failure::Message { message, .. } => {
            let said = Diagnostic::error("dangling_name", message).at(kept.places.playbook.clone(), "not there");
            Failure::from(Report::one(kept.source.clone(), said)).next("playproof check")
        }
        other => other,
    };
    loaded.map(|(_, used)| used).map_err(named)
}

fn unknown(workspace: &Workspace, id: &str) -> Failure {
    let known = workspace.kept_ids().unwrap_or_default();
    let failure = Failure::new(format!("no kept call is called `{id}`"));
    let mut begun = known.iter().map(String::as_str).filter(|known| known.starts_with(id) && !id.is_empty());
    let near = match (begun.next(), begun.next()) {
        (Some(only), None) => Some(only),
        _ => did_you_mean(id, known.iter().map(String::as_str)),
    };
    let failure = failure.next("playproof check");
    match near {
        Some(near) => failure.typo(id, near),
        None => failure,
    }
}
