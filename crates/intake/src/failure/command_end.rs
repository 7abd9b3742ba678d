//! The fields of an object that tell how a command ended: an exit code, a timeout, a signal.

use std::borrow::Cow;

use super::details::{Details, Found};
use super::exit;
use crate::json::{self, Fields};

/// How a command ended, if it failed: with an exit code, by a timeout, or by a signal.
pub(super) fn command_end(fields: &Fields<'_>) -> Option<Found> {
    let is_true = |name: &str| fields.text(name).is_some_and(|flag| flag.eq_ignore_ascii_case("true"));
    if exit_code(fields).is_some_and(|exit| exit != 0) {
        return Some(Found::of_body(true, Details::of_object(fields).named(exit::NONZERO_EXIT)));
    }
    if is_true("timed_out") || is_true("timedOut") {
        return Some(Found::of_body(true, Details::of_object(fields).named("timeout")));
    }
    let signal = ending_signal(fields)?;
    let mut details = Details::of_object(fields).named("interrupted");
    if details.message.trim().is_empty() {
        details.message = format!("ended by {signal}");
    }
    Some(Found::of_body(true, details))
}

/// The fields that hold the exit code of a command.
const EXIT_CODES: [&str; 7] =
    ["exit_code", "exitCode", "exit_status", "returncode", "return_code", "returnCode", "exit"];

/// The signal that ended a command, which then has no exit code.
fn ending_signal<'a>(fields: &Fields<'a>) -> Option<Cow<'a, str>> {
    let has_none = |name: &&str| fields.iter().any(|(own, value)| own == *name && value.get() == "null");
    let has_no_code = EXIT_CODES.iter().chain(&["code"]).any(has_none);
    let is_signal = |signal: &str| signal.starts_with("SIG") && signal.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let named = ["signal", "signalCode", "termsig"].iter().find_map(|name| fields.text(name));
    named.filter(|signal| has_no_code && is_signal(signal))
}

/// The exit code of a command.
pub(super) fn exit_code(fields: &Fields<'_>) -> Option<i64> {
    let own = |fields: &Fields<'_>| EXIT_CODES.iter().find_map(|name| fields.text(name)?.parse().ok());
    own(fields).or_else(|| own(&fields.get("metadata").and_then(json::object)?))
}
