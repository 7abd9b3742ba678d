//! The binary. Holds nothing: everything is in the library, and `playproof::cli` runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    playproof::cli::run(std::env::args_os())
}
