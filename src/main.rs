//! The `playproof` program. Everything it does is in the library; see `playproof::run`.

use std::process::ExitCode;

fn main() -> ExitCode {
    playproof::run(std::env::args_os())
}
