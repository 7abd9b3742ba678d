//! `playproof propose`: dispatches to its subcommands.

use super::args::{Args, What};
use super::{check, list, new, rebase};
use crate::command::{accept, reject};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        What::New(args) => new::run(args, terminal, output),
        What::Check(args) => check::run(args, terminal, output),
        What::Accept(args) => accept::proposal(&args.id, args.reason.as_deref(), terminal, output),
        What::Reject(args) => reject::proposal(&args.id, args.reason.as_deref(), output),
        What::Rebase(args) => rebase::run(args, output),
        What::List => list::run(terminal, output),
        What::Recover => {
            output
                .page("nothing is left unfinished: every command first finishes what an earlier one was killed in")?;
            Ok(Exit::Clean)
        }
    }
}
