//! `playproof feedback edit`, `close` and `reopen`: change the note, the expected verdict and the state. The recorded
//! parts stay.

use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::project::Project;
use crate::verdicts::refuse_misspelt;
use crate::workspace::Workspace;
use crate::{feedback_store, reason};
use playproof_analysis::feedback::{EditRefused, Feedback, Kept};
use playproof_formats::shell::Command;

/// What is to be said from now on.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("said").args(["expected", "note"]).required(true).multiple(true), after_help = "\
Examples:
  playproof feedback edit crm-update-ticket-429-3fa2c1 --expected rate_limited
  playproof feedback edit crm-update-ticket-429-3fa2c1 --note 'the limit is per minute: waiting helps'")]
pub struct Edit {
    /// The feedback, as `playproof feedback list` names it
    #[arg(value_name = "ID")]
    pub id: String,

    /// The verdict that its failure should have: one of the playbook's, or a new one
    #[arg(long, value_name = "VERDICT")]
    pub expected: Option<String>,

    /// The expected verdict is meant to be new, although the playbook has one of a similar name
    #[arg(long, requires = "expected")]
    pub new: bool,

    /// What is wrong with how the playbook handles it
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub note: Option<String>,
}

/// What is closed.
#[derive(Debug, clap::Args)]
pub struct Close {
    /// The feedback, as `playproof feedback list` names it
    #[arg(value_name = "ID")]
    pub id: String,

    /// Why it needs no change; kept with it
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// What is opened again.
#[derive(Debug, clap::Args)]
pub struct Reopen {
    /// The feedback, as `playproof feedback list --all` names it
    #[arg(value_name = "ID")]
    pub id: String,
}

/// Edits.
///
/// # Errors
/// No such feedback, a verdict that is likely misspelt or that nothing can have, a file that cannot be written.
pub fn edit(args: &Edit, output: &mut Output) -> Result<Exit, Failure> {
    change(&args.id, output, |workspace, kept| {
        let edited = kept.feedback.edit(args.expected.as_deref(), args.note.as_deref());
        let feedback = edited.map_err(|why| refused(kept, why))?;
        let is_new = match &args.expected {
            Some(expected) => is_new(args, expected, workspace, kept)?,
            None => false,
        };
        let is_noted = feedback.note != kept.feedback.note;
        let said = match &feedback.expected {
            Some(expected) if feedback.expected != kept.feedback.expected => {
                let noted = if is_noted { ", and has another note" } else { "" };
                let new = match is_new {
                    true => format!(", which {} does not have yet", kept.feedback.playbook),
                    false => String::new(),
                };
                format!("{} expects {expected}{new}{noted}", kept.id)
            }
            _ => format!("{} has another note", kept.id),
        };
        Ok((feedback, said, Command::new("playproof feedback show").name(&kept.id)))
    })
}

/// Whether the playbook does not have the expected verdict. Refuses one that is likely misspelt or that nothing can have.
fn is_new(args: &Edit, expected: &str, workspace: &Workspace, kept: &Kept) -> Result<bool, Failure> {
    let used = feedback_store::playbook(workspace, kept)?;
    if kept.feedback.before.failed.as_ref().is_some_and(|failed| failed.verdict == expected) {
        return Err(Failure::new(format!(
            "`{expected}` is the verdict that the call of `{}` had: nothing was wrong with it",
            kept.id
        ))
        .help("its note can be edited, and it can be closed")
        .next(Command::new("playproof feedback close").name(&kept.id).and("--reason '...'")));
    }
    let playbook = &used.loaded.playbook;
    refuse_misspelt(expected, args.new, playbook, &kept.feedback.playbook)?;
    Ok(playbook.verdicts.iter().all(|verdict| *verdict.name != *expected))
}

/// Closes.
///
/// # Errors
/// No such feedback, no reason, one that is closed already, a file that cannot be written.
pub fn close(args: &Close, output: &mut Output) -> Result<Exit, Failure> {
    change(&args.id, output, |_, kept| {
        let Some(reason) = &args.reason else {
            return Err(Failure::new("a feedback is not closed without a reason")
                .help("the reason is kept with the feedback")
                .next(Command::new("playproof feedback close").name(&kept.id).and("--reason '...'")));
        };
        let feedback = kept.feedback.close(reason).map_err(|why| refused(kept, why))?;
        Ok((feedback, format!("{} is closed", kept.id), "playproof feedback list --all".into()))
    })
}

/// Opens again.
///
/// # Errors
/// No such feedback, one that is not closed, a file that cannot be written.
pub fn reopen(args: &Reopen, output: &mut Output) -> Result<Exit, Failure> {
    change(&args.id, output, |_, kept| {
        let feedback = kept.feedback.reopen().map_err(|why| refused(kept, why))?;
        let next = Command::new("playproof feedback show").name(&kept.id);
        Ok((feedback, format!("{} is no longer closed", kept.id), next))
    })
}

fn refused(kept: &Kept, why: EditRefused) -> Failure {
    let id = &kept.id;
    let close = Command::new("playproof feedback close").name(id).and("--reason '...'");
    match why {
        EditRefused::NothingFailed => {
            Failure::new(format!("no attempt of the call of `{id}` failed, so that it has no verdict"))
                .help("its note can be edited, and it can be closed")
                .next(close)
        }
        EditRefused::ClosedAlready(before) => Failure::new(format!("`{id}` is closed already: {before}"))
            .next(Command::new("playproof feedback reopen").name(id)),
        EditRefused::NotClosed => {
            Failure::new(format!("`{id}` is not closed")).next(Command::new("playproof feedback show").name(id))
        }
    }
}

/// Writes what `other` makes of a feedback, with what to say of it and what to run next.
fn change(
    id: &str,
    output: &mut Output,
    other: impl FnOnce(&Workspace, &Kept) -> Result<(Feedback, String, Command), Failure>,
) -> Result<Exit, Failure> {
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let project_lock = workspace.project_lock()?;
    let kept = feedback_store::load(&workspace, &project.redaction, id)?;
    let (feedback, said, next) = other(&workspace, &kept)?;
    let path = workspace.feedback_path(&kept.id, "yaml");
    let said = match feedback == kept.feedback {
        true => vec![format!("{}: nothing was changed", kept.id)],
        false => {
            let name = workspace.here(&path);
            let text = feedback_store::edited(&kept, &feedback)?;
            project_lock.commit(&[Change::Write(path, text.into_bytes())], output)?;
            vec![said, format!("wrote {name}")]
        }
    };
    let lines: Vec<String> = said.into_iter().chain([format!("next: {next}")]).collect();
    output.lines(&lines)?;
    Ok(Exit::Clean)
}
