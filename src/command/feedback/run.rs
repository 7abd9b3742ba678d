//! `playproof feedback`: which of its questions is asked.

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

A feedback is open until the playbook gives its failure the verdict that is expected of it; then it is answered. What
nothing is to be done about is closed, with the reason. Nothing is deleted: it is there for whoever sees the same.

Each is two files in the folder `feedback` beside the proposals: what people say of the call, and the slice of the
trace that replays it. What answers one is drafted by `playproof propose new VERDICT --from-feedback ID`.")]
pub struct Args {
    /// The question.
    #[command(subcommand)]
    pub question: Question,
}

/// What can be asked.
#[derive(Debug, clap::Subcommand)]
pub enum Question {
    /// Keep a call that the playbook handled wrong, with the slice of its trace
    Add(add::Args),
    /// List what is open, and what the playbook answers by now
    List(list::Args),
    /// Show one: the note, what the playbook made of it then and now, and the call explained
    Show(show::Args),
    /// Say another expected verdict, or another note
    Edit(change::Edit),
    /// Say that nothing is to be done about one, and why
    Close(change::Close),
    /// Take the closing back
    Reopen(change::Reopen),
}

/// Answers.
///
/// # Errors
/// Those of the question.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.question {
        Question::Add(args) => add::run(args, output),
        Question::List(args) => list::run(args, terminal, output),
        Question::Show(args) => show::run(args, terminal, output),
        Question::Edit(args) => change::edit(args, output),
        Question::Close(args) => change::close(args, output),
        Question::Reopen(args) => change::reopen(args, output),
    }
}
