//! `playproof propose`: from what was asked to the command that does it.

use super::args::{Args, What};
use super::{accept, check, list, new, rebase, reject};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;

/// Does what was asked.
///
/// # Errors
/// Wrong usage, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        What::New(args) => new::run(args, terminal, output),
        What::Check(args) => check::run(args, terminal, output),
        What::Accept(args) => accept::run(args, terminal, output),
        What::Reject(args) => reject::run(args, output),
        What::Rebase(args) => rebase::run(args, output),
        What::List => list::run(terminal, output),
        What::Recover => {
            output
                .page("nothing is left unfinished: every command first finishes what an earlier one was killed in")?;
            Ok(Exit::Clean)
        }
    }
}
