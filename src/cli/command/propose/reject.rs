//! `playproof propose reject ID --reason TEXT`: a proposal goes to `rejected/`, with the reason beside it.

use std::path::PathBuf;

use super::args::Reject;
use super::stored;
use crate::cli::changeset::Change;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::workspace::Workspace;
use crate::cli::{files, folders};
use crate::shell::Command;

/// Puts a proposal aside.
///
/// # Errors
/// No reason, no such proposal, files that cannot be moved.
pub fn run(args: &Reject, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let reason = args.reason.as_deref().ok_or_else(|| {
        Failure::said("a proposal is not rejected without a reason")
            .help("it is kept beside it, for whoever has the same idea")
            .next(Command::new("playproof propose reject").name(&args.id).and("--reason '...'"))
    })?;
    // One that cannot be read can be rejected all the same.
    let id = stored::find(&workspace, &args.id)?;
    let from = workspace.proposals().join(&id);
    let to = free(workspace.proposals().join("rejected").join(&id));
    let mut changes = vec![Change::Create(to.join("reason.md"), format!("{reason}\n").into_bytes())];
    for file in stored::files(&from)? {
        let below = file.strip_prefix(&from).unwrap_or(&file).to_path_buf();
        changes.push(Change::Create(to.join(below), files::bytes(&file)?));
        changes.push(Change::Remove(file));
    }
    project_lock.commit(&changes, output)?;
    output.lines(&[format!("{id} lies in {} now, with the reason", workspace.here(&to))])?;
    Ok(Exit::Clean)
}

/// The folder, with a number behind it where an earlier proposal of that name was rejected.
fn free(folder: PathBuf) -> PathBuf {
    let is_free = |folder: &PathBuf| !folders::has_file(&folder.join("reason.md"));
    if is_free(&folder) {
        return folder;
    }
    let numbered = (2..1_000)
        .map(|n| folder.with_file_name(format!("{}-{n}", folder.file_name().unwrap_or_default().to_string_lossy())));
    numbered.into_iter().find(is_free).unwrap_or(folder)
}
