//! `playproof lint`.

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal::Terminal;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs.
pub fn run(_args: &Args, _terminal: &Terminal, _output: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::said("not yet"))
}
