//! The `playproof` program. Everything it does is in the library; see `playproof::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    playproof::cli::run(std::env::args_os())
}
