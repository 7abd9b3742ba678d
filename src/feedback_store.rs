//! Reads feedback from disk: its file, and the slice of the trace beside it.

use super::exit::Failure;
use super::input_kind::reject_conflict_markers;
use super::inputs;
use super::workspace::{Used, Workspace};
use playproof_analysis::feedback;
use playproof_analysis::feedback::{Feedback, Kept};
use playproof_formats::diagnostic::{Diagnostic, Report, did_you_mean};
use playproof_formats::shell::Command;
use playproof_trace::redact::RedactionRules;

/// Loads one feedback, by its id or the path of one of its files.
///
/// # Errors
/// An unknown id; unusable files.
pub fn load(workspace: &Workspace, redaction: &RedactionRules, id: &str) -> Result<Kept, Failure> {
    let named = workspace.feedback_named(id).filter(|named| !named.is_empty() && !named.contains('/'));
    let is_there = |named: &String| super::folders::has_file(&workspace.feedback_path(named, "yaml"));
    let Some(named) = named.filter(is_there) else { return Err(unknown(workspace, id)) };
    let (id, path) = (&*named, workspace.feedback_path(&named, "yaml"));
    let with_next = |failure: Failure| failure.next(Command::new("git log --oneline --").path(&workspace.here(&path)));
    let source = workspace.read(&path)?;
    let said = feedback::parse(source.clone()).map_err(Failure::from).map_err(with_next)?;
    let slice = workspace.feedback_path(id, "jsonl");
    workspace.read(&slice).and_then(|source| Ok(reject_conflict_markers(&source)?)).map_err(with_next)?;
    let input = inputs::trace(&slice.to_string_lossy(), &inputs::Reading::default(), redaction).map_err(with_next)?;
    let calls = input.calls(redaction).map_err(Failure::from).map_err(with_next)?;
    Kept::new(id, said, source, &workspace.name(&slice), calls).map_err(Failure::from).map_err(with_next)
}

/// The current playbook of a feedback.
///
/// # Errors
/// A missing or unusable playbook.
pub fn playbook(workspace: &Workspace, kept: &Kept) -> Result<Used, Failure> {
    let loaded = workspace.lasting_playbook(&kept.feedback.playbook);
    let named = |failure: Failure| match failure {
        Failure::Message { message, .. } => {
            let said = Diagnostic::error("dangling_name", message).at(kept.places.playbook.clone(), "not there");
            Failure::from(Report::one(kept.source.clone(), said)).next("playproof feedback list")
        }
        other => other,
    };
    loaded.map(|(_, used)| used).map_err(named)
}

/// The text of its file with the new values; comments stay.
///
/// # Errors
/// A layout that only people can edit.
pub fn edited(kept: &Kept, new: &Feedback) -> Result<String, Failure> {
    kept.edited(new)
        .map_err(|report| Failure::from(report).next(Command::new("playproof feedback show").name(&kept.id)))
}

fn unknown(workspace: &Workspace, id: &str) -> Failure {
    let known = workspace.feedback_ids().unwrap_or_default();
    let failure = Failure::new(format!("no feedback is called `{id}`"));
    let mut begun = known.iter().map(String::as_str).filter(|known| known.starts_with(id) && !id.is_empty());
    let near = match (begun.next(), begun.next()) {
        (Some(only), None) => Some(only),
        _ => did_you_mean(id, known.iter().map(String::as_str)),
    };
    failure.next("playproof feedback list").near(near, "playproof feedback show")
}
