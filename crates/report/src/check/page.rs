//! The page of a check: worst results first, each with its first changed decision and the playbook lines behind it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::changes;
use super::changes::{CheckPage, class_word};
use crate::diagnostic;
use crate::style::Palette;
use crate::text;
use crate::text::counted;
use playproof_analysis::check::{CaseResult, Cause, CheckCounts, CheckReport, GoldenState};
use playproof_analysis::kept::JudgedKept;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::Class;

/// The most runs without a golden that are listed.
const LISTED: usize = 20;

/// The whole page, without the command to run next.
pub fn page(shown: &CheckPage<'_>) -> String {
    let mut sections = Vec::new();
    let mut drawn = BTreeSet::new();
    let failing = shown.report.failing();
    let (new, failing): (Vec<_>, Vec<_>) = failing.into_iter().partition(|result| is_new(result));
    // One is shown in full. Many are a project's first check.
    let (listed, shown_apart) = if new.len() > 1 { (new, Vec::new()) } else { (Vec::new(), new) };
    for group in alike(&[failing, shown_apart].concat()) {
        let Some((first, others)) = group.split_first() else { continue };
        let mut section = result(shown, first, &mut drawn);
        if let Some(comparison) = first.comparison() {
            section += &format!("\n\n{}", changes::events(comparison, shown.width, shown.palette));
        }
        if !others.is_empty() {
            let runs = counted(others.len() as u64, "more run", "more runs");
            section += &format!("\n  the same in {runs}:");
            for other in others {
                section += &format!("\n    {}", text::escape_unprintable(&other.id.to_string()));
            }
        }
        sections.push(section);
    }
    sections.extend(without_golden(&listed, shown));
    for rows in &shown.report.rows {
        sections.push(changes::rows_to_approve(rows, shown.width, shown.palette));
    }
    if !shown.report.orphans.is_empty() {
        let mut lines = vec![shown.palette.strong("goldens without a fixture")];
        lines.extend(
            shown.report.orphans.iter().map(|path| format!("  {}{}", shown.above, text::escape_unprintable(path))),
        );
        sections.push(lines.join("\n"));
    }
    if !shown.report.kept.is_empty() {
        let kept = shown.report.kept.iter().map(|kept| kept_call(kept, shown));
        sections.push(kept.collect::<Vec<_>>().join("\n"));
    }
    sections.push(summary(shown.report, shown.palette));
    sections.join("\n\n")
}

/// Whether the playbook handles a kept call right, in a line.
fn kept_call(kept: &JudgedKept, shown: &CheckPage<'_>) -> String {
    let id = text::escape_unprintable(&kept.id);
    let file = format!("{}kept/{id}", shown.above);
    match &kept.now {
        Some((verdict, rule)) if kept.is_right() => {
            format!("{}  {file}: {verdict}, by the rule {rule}", shown.palette.good("handled right"))
        }
        now => {
            let now = now.as_ref().map_or("no verdict", |(verdict, _)| verdict);
            format!("{}  {file}: {now}, expected {}", shown.palette.doubtful("not right yet"), kept.expect)
        }
    }
}

/// Whether a result only lacks a golden.
fn is_new(result: &CaseResult) -> bool {
    matches!(result.golden, GoldenState::Missing) && result.contradictions.is_empty()
}

/// Results that only lack a golden, one per line.
fn without_golden(results: &[&CaseResult], shown: &CheckPage<'_>) -> Option<String> {
    if results.is_empty() {
        return None;
    }
    let runs = counted(results.len() as u64, "run not accepted yet", "runs not accepted yet");
    let mut lines = vec![shown.palette.doubtful(&format!("no golden: {runs}"))];
    for result in results.iter().take(LISTED) {
        lines.push(format!("  {}", text::fitted(&result.id.to_string(), shown.width.saturating_sub(2))));
    }
    if let Some(more) = results.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(shown.palette.faint(&format!("  and {more} more")));
    }
    Some(lines.join("\n"))
}

/// Groups results that differ in the same words, in the order of their first members.
pub(crate) fn alike<'a>(failing: &[&'a CaseResult]) -> Vec<Vec<&'a CaseResult>> {
    let mut groups: Vec<(Option<String>, Vec<&CaseResult>)> = Vec::new();
    for result in failing {
        let words = changes::in_words(result);
        match groups.iter_mut().find(|(known, _)| words.is_some() && *known == words) {
            Some((_, group)) => group.push(result),
            None => groups.push((words, vec![result])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// One result that does not pass. The playbook lines behind it are drawn unless `drawn` contains them.
pub fn result(shown: &CheckPage<'_>, result: &CaseResult, drawn: &mut BTreeSet<String>) -> String {
    let palette = shown.palette;
    let mut lines = vec![format!(
        "{}  {}",
        word(result, palette),
        palette.strong(&text::escape_unprintable(&result.id.to_string()))
    )];
    lines.extend(
        text::broken(&result.title, shown.width.saturating_sub(2))
            .into_iter()
            .map(|line| format!("  {}", palette.faint(&text::escape_unprintable(&line)))),
    );
    for contradiction in &result.contradictions {
        let said = text::escape_unprintable(&contradiction.to_string()).into_owned();
        lines.push(format!("  {} {said}", palette.bad("contradicts the fixture:")));
    }
    match &result.golden {
        GoldenState::Unreadable(report) => {
            lines.push(drawn_from(shown, report));
        }
        GoldenState::Missing => lines.push("  this run is not accepted yet".to_owned()),
        GoldenState::Diverged(diverged) => {
            let cause = shown.causes.get(&result.id);
            let first = diverged.comparison.first.iter();
            lines.extend(first.flat_map(|first| changes::first_change(first, cause, shown.width, palette)));
            lines.extend(cause.and_then(|cause| drawing(shown, cause, drawn)));
            lines.push(changes::divergences(&diverged.comparison, shown));
        }
        GoldenState::Same => {}
    }
    lines.join("\n")
}

fn word(result: &CaseResult, palette: Palette) -> String {
    match (&result.golden, result.worst()) {
        (GoldenState::Unreadable(_), _) => palette.bad("unreadable golden"),
        (_, Some(class)) => class_word(class, class.words(), palette),
        (GoldenState::Missing, _) => palette.doubtful("no golden"),
        _ => palette.bad("contradicts its fixture"),
    }
}

/// The playbook's lines, underlined; each drawing appears once.
fn drawing(shown: &CheckPage<'_>, cause: &Cause, drawn: &mut BTreeSet<String>) -> Option<String> {
    let picture = drawn_from(shown, &cause.report);
    drawn.insert(picture.clone()).then_some(picture)
}

/// A diagnostic report, with file names for the reader.
fn drawn_from(shown: &CheckPage<'_>, report: &Report) -> String {
    let drawn = match shown.above.is_empty() || report.source.name.starts_with(['/', '<']) {
        true => diagnostic::render(report, shown.width, shown.palette.is_on()),
        false => {
            let source = Source { name: format!("{}{}", shown.above, report.source.name), ..(*report.source).clone() };
            let report = Report { source: Arc::new(source), diagnostics: report.diagnostics.clone() };
            diagnostic::render(&report, shown.width, shown.palette.is_on())
        }
    };
    drawn.trim_end().to_owned()
}

/// The last line: counts.
pub(crate) fn summary(report: &CheckReport, palette: Palette) -> String {
    let counts = report.counts();
    let total = report.results.len();
    let mut line = format!(
        "{}: {}",
        counted(total as u64, "run", "runs"),
        palette.good(&format!("{} as accepted", counts.passed))
    );
    for (words, count) in parts(report, &counts) {
        line += &format!(", {}", palette.strong(&format!("{count} {words}")));
    }
    match counts.contradicting {
        0 => {}
        1 => line += &palette.strong("; 1 run contradicts its fixture"),
        more => line += &palette.strong(&format!("; {more} runs contradict their fixtures")),
    }
    if report.ended_early {
        line += &palette.faint("; the rest was not run");
    }
    line
}

/// What does not pass, worst first, with counts.
pub(super) fn parts(report: &CheckReport, counts: &CheckCounts) -> Vec<(String, usize)> {
    let mut parts = vec![("unreadable".to_owned(), counts.unreadable)];
    parts.extend(Class::ALL.iter().zip(counts.diverged).map(|(class, count)| (class.words().to_owned(), count)));
    parts.push(("without a golden".to_owned(), counts.missing));
    parts.push((
        if report.orphans.len() == 1 { "orphan golden" } else { "orphan goldens" }.to_owned(),
        report.orphans.len(),
    ));
    let rows = report.rows.iter().map(|rows| rows.changes.len()).sum();
    parts.push((if rows == 1 { "row not approved" } else { "rows not approved" }.to_owned(), rows));
    let left_over = report.rows.iter().filter(|rows| !rows.is_used).count();
    let playbooks = if left_over == 1 { "playbook" } else { "playbooks" };
    parts.push((format!("unused {playbooks} in the lock"), left_over));
    parts.into_iter().filter(|(_, count)| *count > 0).collect()
}
