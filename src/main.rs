//! The `playproof` program. Everything it does is in the library; see `playproof::run`.

#![expect(clippy::disallowed_methods, reason = "the one place that asks for the arguments")]

use std::process::ExitCode;

fn main() -> ExitCode {
    playproof::run(std::env::args_os())
}
