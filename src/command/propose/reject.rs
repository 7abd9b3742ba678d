//! `playproof propose reject ID --reason TEXT`: a proposal goes to `rejected/`, with the reason beside it.

use super::args::Reject;
use super::stored;
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::workspace::Workspace;
use crate::{files, folders};
use playproof_engine::ids::first_free;
use playproof_formats::shell::Command;

/// Puts a proposal aside.
///
/// # Errors
/// No reason, no such proposal, files that cannot be moved.
pub fn run(args: &Reject, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    // One that cannot be read can be rejected all the same.
    let id = stored::find(&workspace, &args.id)?;
    let reason = args.reason.as_deref().ok_or_else(|| {
        Failure::new("a proposal is not rejected without a reason")
            .help("it is kept beside it, for whoever has the same idea")
            .next(Command::new("playproof propose reject").name(&args.id).and("--reason '...'"))
    })?;
    let from = workspace.proposals().join(&id);
    let rejected = workspace.proposals().join("rejected");
    // An earlier proposal of that name may have been rejected.
    let to = rejected.join(first_free(&id, |id| folders::has_file(&rejected.join(id).join("reason.md"))));
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
