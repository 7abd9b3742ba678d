//! Rows of a foreign recording whose trace line would be too long or too deep: reports them at their place in the user's
//! file, or skips and counts them. Knows no foreign format.

use std::sync::Arc;

use crate::bad_line::OR_SKIP;
use crate::imported::{ImportWarning, Imported, LossReport};
use crate::json;
use crate::origin::Origin;
use crate::pieces::MAX_LINE;
use crate::wire;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

/// A line with fewer opening brackets is never too deep, however they are nested.
const SURE_DEPTH: usize = 64;

/// Bytes of the user's line that are shown.
const SHOWN: usize = 60;

/// Checks that our reader accepts every line that was imported from `bytes`, called `name`; `skip` removes the others.
///
/// # Errors
/// The first line that our reader refuses, unless such lines are skipped.
pub fn checked(imported: Imported, bytes: &[u8], name: &str, skip: bool) -> Result<Imported, Report> {
    checked_from(1, imported, bytes, name, skip)
}

/// [`checked`] for bytes that begin at line `first` of their source.
///
/// # Errors
/// As [`checked`].
pub(crate) fn checked_from(
    first: u64,
    imported: Imported,
    bytes: &[u8],
    name: &str,
    skip: bool,
) -> Result<Imported, Report> {
    let Imported { lines, origins, mut loss } = imported;
    let mut dropped = Vec::new();
    for (number, line) in numbered(&lines) {
        let Some(error) = error_of(line) else { continue };
        let origin = origins.find(number).unwrap_or(Origin { line: 0, path: None });
        if !skip {
            return Err(report(&error, (origin, first), bytes, name));
        }
        uncount(line, &format!("line {}", origin.line), &mut loss);
        dropped.push(number);
    }
    if dropped.is_empty() {
        return Ok(Imported { lines, origins, loss });
    }
    let kept = numbered(&lines).filter(|(number, _)| dropped.binary_search(number).is_err());
    let lines: Vec<u8> = kept.flat_map(|(_, line)| line.iter().copied()).collect();
    Ok(Imported { lines, origins: origins.without(&dropped), loss })
}

/// The lines with their ends, numbered from 1. Our own writer ends each.
fn numbered(lines: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    debug_assert!(lines.is_empty() || lines.ends_with(b"\n"), "the last line has no end");
    let ends = memchr::memchr_iter(b'\n', lines).map(|newline| newline + 1);
    let mut start = 0;
    let line = move |end| lines.get(std::mem::replace(&mut start, end)..end).unwrap_or_default();
    (1u64..).zip(ends.map(line))
}

/// Whether our reader may refuse a trace line that is made from this line of a source. A mapping nests a value less deep, and
/// repeats it less often, than what is left here of the limits.
pub(crate) fn may_be_refused(source: &[u8]) -> bool {
    let is_bracket = |at: usize| {
        let escape = source.get(at + 1..at + 6);
        matches!(escape, Some(b"u005b" | b"u005B" | b"u007b" | b"u007B"))
    };
    source.len() > MAX_LINE / 16
        || memchr::memchr2_iter(b'[', b'{', source).take(SURE_DEPTH / 2).count() == SURE_DEPTH / 2
        || memchr::memchr_iter(b'\\', source).any(is_bracket)
}

fn error_of(line: &[u8]) -> Option<String> {
    if line.len() > MAX_LINE {
        let mib = |bytes: usize| bytes.div_ceil(1 << 20);
        return Some(format!("it makes {} MiB, and the limit of a line is {} MiB", mib(line.len()), mib(MAX_LINE)));
    }
    let refused = || wire::parse_line(std::str::from_utf8(line).ok()?.trim_end()).err().map(|error| error.message);
    // Our own writer made the line: nothing but its depth can be wrong.
    if memchr::memchr2_iter(b'[', b'{', line).take(SURE_DEPTH).count() < SURE_DEPTH {
        debug_assert_eq!(refused(), None, "{}", String::from_utf8_lossy(line));
        return None;
    }
    refused()
}

/// Subtracts a skipped line from the counts, and counts it as skipped.
fn uncount(line: &[u8], place: &str, loss: &mut LossReport) {
    let text = std::str::from_utf8(line).unwrap_or_default();
    let fields = json::parse(text.trim_end()).ok().and_then(json::object).unwrap_or_default();
    match fields.text("type").as_deref() {
        Some("tool_call") => loss.calls = loss.calls.saturating_sub(1),
        Some("tool_result") => {
            let failed = fields.text("status").as_deref() == Some("error");
            loss.results = loss.results.saturating_sub(1);
            loss.failures = loss.failures.saturating_sub(u64::from(failed));
        }
        _ => {}
    }
    loss.warn(ImportWarning::BeyondLimits, place);
}

fn report(error: &str, (origin, first): (Origin<'_>, u64), bytes: &[u8], name: &str) -> Report {
    let index = usize::try_from(origin.line.saturating_sub(first)).unwrap_or(usize::MAX);
    let line = bytes.split(|byte| *byte == b'\n').nth(index).unwrap_or_default();
    let text = String::from_utf8_lossy(line.get(..SHOWN).unwrap_or(line)).into_owned();
    let first = text.chars().next().map_or(0, char::len_utf8);
    let label = origin.path.map_or_else(|| "this row".to_owned(), |path| format!("`{path}` in this line"));
    let number = usize::try_from(origin.line).unwrap_or(usize::MAX);
    let mut source = Source::lines(name, text, number);
    Arc::make_mut(&mut source).goes_on = line.len() > SHOWN;
    let diagnostic = Diagnostic::error("beyond_limits", format!("this row makes no valid trace line: {error}"))
        .at(0..first, label)
        .help(format!("shorten the row{OR_SKIP}"));
    Report::one(source, diagnostic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping;
    use crate::mapping::Mapping;
    use crate::redact::RedactionRules;

    fn map() -> Mapping {
        let text = "format: mapping/1\ncall: { tool: t, args: a }\n";
        mapping::parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"))
    }

    fn check_log(log: &str, skip: bool) -> Result<Imported, Report> {
        let imported = mapping::apply(&map(), log.as_bytes(), "log", &RedactionRules::default())?;
        checked(imported, log.as_bytes(), "log", skip)
    }

    #[test]
    fn a_row_that_is_too_deep_or_too_long_is_reported_at_its_place() {
        let deep = format!("{{\"t\":\"x\"}}\n\n{{\"t\":\"x\",\"a\":{}{}}}\n", "[".repeat(1_000), "]".repeat(1_000));
        let long = format!("{{\"t\":\"x\"}}\n{{\"t\":\"x\",\"a\":\"{}\"}}\n", "x".repeat(MAX_LINE));
        for (log, place, expected) in [(deep, "log:3:1: ", "128"), (long, "log:2:1: ", "it makes 17 MiB")] {
            let report = check_log(&log, false).expect_err("a report").to_string();
            assert!(report.starts_with(place) && report.contains(expected), "{report}");
            let skipped = check_log(&log, true).unwrap_or_else(|report| panic!("{report}"));
            assert_eq!((skipped.loss.calls, skipped.loss.count(ImportWarning::BeyondLimits)), (1, 1));
            assert_eq!(skipped.lines.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(skipped.origins.find(1).map(|origin| origin.line), Some(1));
            assert_eq!(skipped.origins.find(2), None);
        }
    }

    #[test]
    fn a_skipped_result_counts_neither_as_a_result_nor_as_a_failure() {
        let text = "format: mapping/1\ncall: { tool: t }\nresult: { code: m }\nfailed: { ok: false }\n";
        let map = mapping::parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        let long = "x".repeat(MAX_LINE);
        let log = format!("{{\"t\":\"x\",\"ok\":false}}\n{{\"t\":\"tool_call\",\"ok\":false,\"m\":\"{long}\"}}\n");
        let imported = mapping::apply(&map, log.as_bytes(), "log", &RedactionRules::default())
            .unwrap_or_else(|report| panic!("{report}"));
        assert_eq!((imported.loss.calls, imported.loss.results, imported.loss.failures), (2, 2, 2));
        let loss = checked(imported, log.as_bytes(), "log", true).unwrap_or_else(|report| panic!("{report}")).loss;
        assert_eq!((loss.calls, loss.results, loss.failures), (2, 1, 1));
    }
}
