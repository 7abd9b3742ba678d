//! `playproof tools`.

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs.
pub fn run(_args: &Args, _output: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::said("not yet"))
}
