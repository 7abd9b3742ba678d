//! The panic hook: a panic is a bug in Playproof, so it is reported as one and ends the program.

use std::panic::PanicHookInfo;

use super::exit::Exit;
use super::output::to_stderr;
use playproof_report::text::escape_unprintable;

/// Ends the program with code 70 if any thread panics, and reports the bug.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a panicking thread must not let the others print a result"
)]
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        to_stderr(&panic_message(panic));
        std::process::exit(i32::from(Exit::Bug.number()));
    }));
}

fn panic_message(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    let message = escape_unprintable(panic.payload_as_str().unwrap_or("no message"));
    format!(
        "playproof: this is a bug in playproof, not in your input\n  it stopped{place}: {message}\n  \
         please report it with the command line and the input (or the smallest part of it that still does this)\n"
    )
}
