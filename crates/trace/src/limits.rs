//! Rows of a foreign recording of which no line of a trace can be made, because it would be too long or too deep: they
//! are refused where they stand in the user's file, or left out and counted. Knows no foreign format.

use std::sync::Arc;

use crate::foreign::{Imported, LossReport, Oddity};
use crate::json;
use crate::origin::Origin;
use crate::pieces::MAX_LINE;
use crate::trouble::OR_SKIP;
use crate::wire;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

/// Bytes of the user's line that are shown.
const SHOWN: usize = 60;

/// What was imported of `bytes`, called `name`, with lines only that our own reader reads; `skip` leaves out the others.
///
/// # Errors
/// The first line that our own reader would refuse, unless such lines are left out.
pub fn checked(imported: Imported, bytes: &[u8], name: &str, skip: bool) -> Result<Imported, Report> {
    let Imported { lines, origins, mut loss } = imported;
    let mut dropped = Vec::new();
    for (number, line) in (1u64..).zip(lines.split_inclusive(|byte| *byte == b'\n')) {
        let Some(error) = wrong_with(line) else { continue };
        let origin = origins.of(number).unwrap_or(Origin { line: 0, path: None });
        if !skip {
            return Err(report(&error, origin, bytes, name));
        }
        leave_out(line, &format!("line {}", origin.line), &mut loss);
        dropped.push(number);
    }
    if dropped.is_empty() {
        return Ok(Imported { lines, origins, loss });
    }
    let kept = (1u64..).zip(lines.split_inclusive(|byte| *byte == b'\n'));
    let kept = kept.filter(|(number, _)| dropped.binary_search(number).is_err());
    let lines: Vec<u8> = kept.flat_map(|(_, line)| line.iter().copied()).collect();
    Ok(Imported { lines, origins: origins.without(&dropped), loss })
}

fn wrong_with(line: &[u8]) -> Option<String> {
    if line.len() > MAX_LINE {
        let mib = |bytes: usize| bytes.div_ceil(1 << 20);
        return Some(format!("it makes {} MiB, and a line of a trace may have {} MiB", mib(line.len()), mib(MAX_LINE)));
    }
    let text = std::str::from_utf8(line).ok()?;
    wire::parse_line(text.trim_end()).err().map(|error| error.message)
}

/// Takes a line out of the account of what was written.
fn leave_out(line: &[u8], place: &str, loss: &mut LossReport) {
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
    loss.saw(Oddity::BeyondLimits, place);
}

fn report(error: &str, origin: Origin<'_>, bytes: &[u8], name: &str) -> Report {
    let index = usize::try_from(origin.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = bytes.split(|byte| *byte == b'\n').nth(index).unwrap_or_default();
    let text = String::from_utf8_lossy(line.get(..SHOWN).unwrap_or(line)).into_owned();
    let first = text.chars().next().map_or(0, char::len_utf8);
    let label = origin.path.map_or_else(|| "this row".to_owned(), |path| format!("`{path}` in this line"));
    let mut source = Source::lines(name, text, index.saturating_add(1));
    Arc::make_mut(&mut source).goes_on = line.len() > SHOWN;
    let diagnostic = Diagnostic::error("beyond_limits", format!("no line of a trace can be made of this row: {error}"))
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

    fn taken(log: &str, skip: bool) -> Result<Imported, Report> {
        let imported = mapping::apply(&map(), log.as_bytes(), "log", &RedactionRules::default())?;
        checked(imported, log.as_bytes(), "log", skip)
    }

    #[test]
    fn a_row_that_is_too_deep_or_too_long_is_refused_where_it_stands() {
        let deep = format!("{{\"t\":\"x\"}}\n\n{{\"t\":\"x\",\"a\":{}{}}}\n", "[".repeat(1_000), "]".repeat(1_000));
        let long = format!("{{\"t\":\"x\"}}\n{{\"t\":\"x\",\"a\":\"{}\"}}\n", "x".repeat(MAX_LINE));
        for (log, place, said) in [(deep, "log:3:1: ", "128"), (long, "log:2:1: ", "it makes 17 MiB")] {
            let report = taken(&log, false).expect_err("a report").to_string();
            assert!(report.starts_with(place) && report.contains(said), "{report}");
            let skipped = taken(&log, true).unwrap_or_else(|report| panic!("{report}"));
            assert_eq!((skipped.loss.calls, skipped.loss.count(Oddity::BeyondLimits)), (1, 1));
            assert_eq!(skipped.lines.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(skipped.origins.of(1).map(|origin| origin.line), Some(1));
            assert_eq!(skipped.origins.of(2), None);
        }
    }

    #[test]
    fn a_result_that_is_left_out_is_counted_neither_as_a_result_nor_as_a_failure() {
        let text = "format: mapping/1\ncall: { tool: t }\nresult: { message: m }\nfailed: { ok: false }\n";
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
