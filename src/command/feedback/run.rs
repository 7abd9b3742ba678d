//! `playproof feedback`: dispatches to its subcommands.

use super::{add, change, list, show};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;

/// What is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof feedback add trace.jsonl --call r1#3 --note 'a rate limit is no reason to call people'
  playproof feedback add trace.jsonl --call r1#3 --note '...' --expected rate_limited
  playproof feedback list
  playproof feedback show crm-update-ticket-429-3fa2c1
  playproof feedback close crm-update-ticket-429-3fa2c1 --reason 'the tool was taken out of use'

Feedback is open until the playbook gives the failure its expected verdict; then it is answered. Close feedback that
needs no change, and give the reason. Nothing is deleted: the next person who sees the same call finds it.

Each feedback is two files in the folder `feedback` beside the proposals: the note, and the slice of the trace that
replays the call. `playproof propose new VERDICT --from-feedback ID` drafts a change that answers it.")]
pub struct Args {
    /// The question.
    #[command(subcommand)]
    pub question: FeedbackQuestion,
}

/// What can be asked.
#[derive(Debug, clap::Subcommand)]
pub enum FeedbackQuestion {
    /// Keep a call that the playbook handled wrong, with the slice of its trace
    Add(add::Args),
    /// List open feedback, and feedback that the playbook now handles as expected
    List(list::Args),
    /// Show one: the note, what the playbook did then and does now, and the call explained
    Show(show::Args),
    /// Change the expected verdict or the note
    Edit(change::Edit),
    /// Close one that needs no change, with the reason
    Close(change::Close),
    /// Open one again
    Reopen(change::Reopen),
}

/// Answers.
///
/// # Errors
/// Those of the question.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.question {
        FeedbackQuestion::Add(args) => add::run(args, output),
        FeedbackQuestion::List(args) => list::run(args, terminal, output),
        FeedbackQuestion::Show(args) => show::run(args, terminal, output),
        FeedbackQuestion::Edit(args) => change::edit(args, output),
        FeedbackQuestion::Close(args) => change::close(args, output),
        FeedbackQuestion::Reopen(args) => change::reopen(args, output),
    }
}
