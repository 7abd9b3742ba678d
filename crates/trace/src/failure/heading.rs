//! A text with a heading: a document, or an error below the word for one.

use std::sync::LazyLock;

use super::excerpt::SHORT;
use super::message::{Sign, message};
use super::patterns::{self, LazyPattern};

/// What a text with a heading says: it is a document, unless one of its first two headings is the word for an error, or its
/// only paragraph is the error of a tool, below the name of what was read. `says` reads the start of a text without headings.
pub(super) fn below_heading<'t>(text: &'t str, says: impl Fn(&'t str) -> Option<Sign<'t>>) -> Option<Sign<'t>> {
    let (heading, below) = text.split_once('\n')?;
    if !is_error_heading(heading) {
        let is_name = !heading.trim_start_matches('#').trim().contains(' ');
        if let Some(sign) = error_below_heading(below).filter(|_| is_name) {
            return Some(sign);
        }
        if !below.trim_start().lines().next().is_some_and(is_error_heading) {
            return None;
        }
    }
    let mut rest = below.trim_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, below)| below.trim_start());
    }
    let paragraph = rest.split("\n\n").next().unwrap_or(rest);
    let of = |text| says(text).filter(|sign| sign.sure);
    of(rest).or_else(|| of(paragraph))
}

/// The error of a tool that is the only paragraph below a heading: `# a.md`, `Error reading file: ...`.
fn error_below_heading(rest: &str) -> Option<Sign<'_>> {
    static ERROR: LazyPattern =
        LazyLock::new(|| patterns::one(r"^(Error|Failed to|Could not|Unable to) [a-z]+[^\n:]{0,80}: \S"));
    let rest = rest.trim();
    let is_alone = rest.len() <= SHORT * 2 && !rest.contains("\n\n") && !rest.contains("\n#");
    (is_alone && patterns::matches(&ERROR, rest)).then(|| Sign { sure: true, message: message(rest) })
}

/// Whether a line is a heading, and the word for an error.
fn is_error_heading(line: &str) -> bool {
    const WORDS: [&str; 8] =
        ["error", "system error", "search failed", "错误", "錯誤", "系统错误", "系統錯誤", "ошибка"];
    let words = line.trim_start_matches('#').trim().to_lowercase();
    let is_refusal = match words.split_once(' ') {
        Some(("invalid" | "missing" | "unknown", what)) => {
            ["argument", "arguments", "input", "parameter", "parameters", "request"].contains(&what)
        }
        _ => false,
    };
    line.starts_with('#') && (WORDS.contains(&words.as_str()) || is_refusal)
}
