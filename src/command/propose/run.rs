//! `playproof propose`: dispatches to its subcommands.

use super::args::{Args, What};
use super::{check, find, keep, list, new, rebase};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        What::Find(args) => find::run(args, terminal, output),
        What::New(args) => new::run(args, terminal, output),
        What::Keep(args) => keep::run(args, output),
        What::Check(args) => check::run(args, terminal, output),
        What::Rebase(args) => rebase::run(args, terminal, output),
        What::List => list::run(terminal, output),
    }
}
