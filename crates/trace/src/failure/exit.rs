//! How a tool prints the exit code of a command beside its output. Knows no other words of failures.

use std::sync::LazyLock;

use regex::Regex;

use super::patterns;
use super::program::is_reader;
use super::text::{EXAMINED, ceil, cut};

/// The error code of a failure that nothing but the exit code of a program tells: what the program did before stays done.
pub(super) const NONZERO_EXIT: &str = "nonzero_exit";

/// A text that begins with an exit code other than 0.
pub(super) const AT_START: &str = r"(?i)^((the )?(process|command|script|program|shell|task) )?(exited|exit|finished|completed|failed|terminated|returned)( with)?( non-zero)?( exit)? (code|status)[: ]+(\d*[1-9]\d*|-\d+)\b|^exit [1-9]\d*\s*(\n|$)|^command '.{1,200}' returned non-zero";

/// Whether a text says, at its start or behind an output, that a program ended with another exit code than 0.
pub(super) fn says_nonzero(text: &str, tool: Option<&str>) -> bool {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| patterns::one(AT_START));
    let starts = START.as_ref().is_some_and(|start| start.is_match(cut(text, EXAMINED)));
    starts || trailer(text).is_some() || marked_exit(text, tool).is_some()
}

/// The exit code of a command in the frame that some programs put around its output; `true`: it failed for sure.
pub(super) fn trailer(text: &str) -> Option<bool> {
    static FRAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        patterns::one(
            r"(?im)^(?:\[?(?:the )?(?:command|process) (?:finished|completed|exited) with (?:exit )?code (-?\d+)|(?:process )?exit(?:ed)?(?: with)?(?: exit)? code:? (-?\d+))[\].]*\s*$",
        )
    });
    let framed = text.starts_with("Command: ")
        || text.starts_with("Chunk ID: ")
        || text.starts_with("Wall time: ")
        || text.starts_with("Output: ");
    let head = framed.then(|| cut(text, EXAMINED));
    let tail = text.len().checked_sub(200).map_or(text, |at| text.get(ceil(text, at)..).unwrap_or(text));
    let tail_only =
        tail.lines().rev().find(|line| !line.trim().is_empty()).filter(|line| line.starts_with('[') || framed);
    let found = head.into_iter().chain(tail_only).chain(framed.then_some(tail)).find_map(|part| {
        let code = FRAME.as_ref()?.captures(part)?;
        code.get(1).or_else(|| code.get(2))?.as_str().parse::<i64>().ok()
    })?;
    failed(found, text)
}

/// The exit code that a tool marks with a sign, on a line of its own behind the output of a command: `⚠️ Exit code: 2`.
pub(super) fn marked_exit(text: &str, tool: Option<&str>) -> Option<bool> {
    static MARKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        patterns::one(
            r"(?im)^(?:⚠\x{fe0f}?|❌|✗|✘|⛔) ?(?:process |command )?(?:exit|exited with|return)(?: exit)? (?:code|status):? (-?\d+)\s*$",
        )
    });
    let tail = text.len().checked_sub(400).map_or(text, |at| text.get(ceil(text, at)..).unwrap_or(text));
    let code = MARKED.as_ref()?.captures_iter(tail).last().filter(|_| !tool.is_some_and(is_reader))?;
    failed(code.get(1)?.as_str().parse().ok()?, text)
}

/// Whether a command with this exit code and output failed for sure.
fn failed(code: i64, text: &str) -> Option<bool> {
    match code {
        0 => None,
        // Programs such as `grep` end with 1 if they find nothing.
        1 => Some(text.len() > 120),
        _ => Some(true),
    }
}
