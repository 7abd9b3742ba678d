//! The page of a check: worst results first, each with its first changed decision and the playbook lines behind it.

use super::changes::{self, CheckPage};
use super::problems::Directions;
use super::result::result;
use crate::doc::{Block, Doc, Text, Tone, first};
use crate::text::{counted, fitted};
use playproof_analysis::check::{CaseResult, CheckCounts, CheckReport, GoldenState};
use playproof_analysis::kept::JudgedKept;
use playproof_formats::golden::Class;
use playproof_formats::shell::Command;

/// The most names that are listed.
const LISTED: usize = 100;

/// The most runs without a golden.
const NEW: usize = 20;

/// The most lines of a problem that prevented the check.
const LINES: usize = 40;

/// The whole page.
pub fn page(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> Doc {
    let report = shown.report;
    let mut doc = Doc::new("Check");
    doc.blocks = directions
        .in_the_way
        .iter()
        .take(LISTED)
        .map(|problem| {
            let lines: Vec<_> = problem.body.lines().take(LINES).map(|line| fitted(line, 400)).collect();
            Block::card(Text::new(Tone::Bad, &*problem.message), vec![Block::Lines(lines.join("\n"))])
        })
        .collect();
    let (new, failing): (Vec<_>, Vec<_>) = report.failing().into_iter().partition(|result| is_new(result));
    // One is shown in full. Many are a project's first check.
    let (listed, shown_apart) = if new.len() > 1 { (new, Vec::new()) } else { (Vec::new(), new) };
    let groups = alike(&[failing, shown_apart].concat());
    let section = |id: &str, title: &str, inside| Block::section(id, title, inside);
    doc.add(section("runs", "Runs that differ", groups.iter().filter_map(|group| of_group(shown, group)).collect()));
    let runs = counted(listed.len() as u64, "run not accepted yet", "runs not accepted yet");
    let listed = first(NEW, listed.iter().map(|result| Text::code(result.id.to_string())));
    doc.add(section("new", &format!("No golden: {runs}"), vec![listed]));
    let rows = report.rows.iter().take(LISTED).map(changes::rows_to_approve);
    doc.add(section("rows", "Rows that are not approved", rows.collect()));
    let orphans = first(LISTED, report.orphans.iter().map(|path| Text::code(format!("{}{path}", shown.above))));
    doc.add(section("orphans", "Goldens without a fixture", vec![orphans]));
    doc.add(Block::List(report.kept.iter().map(|kept| kept_call(kept, shown).into()).collect()));
    doc.answer = match directions.in_the_way.is_empty() {
        true => vec![Block::Para(summary(report))],
        false => vec![Block::Para(Text::new(Tone::Strong, "Nothing was checked."))],
    };
    doc.answer.extend(next.cloned().map(Block::next));
    doc
}

/// Whether the playbook handles a kept call right, in a line.
fn kept_call(kept: &JudgedKept, shown: &CheckPage<'_>) -> Text {
    let file = format!("{}kept/{}", shown.above, kept.id);
    match &kept.now {
        Some((verdict, rule)) if kept.is_right() => {
            Text::new(Tone::Good, "handled right").say("  ").name(file).say(format!(": {verdict}, by the rule {rule}"))
        }
        now => {
            let now = now.as_ref().map_or("no verdict", |(verdict, _)| verdict);
            let said = format!(": {now}, expected {}", kept.expect);
            Text::new(Tone::Doubt, "not right yet").say("  ").name(file).say(said)
        }
    }
}

/// Whether a result only lacks a golden.
fn is_new(result: &CaseResult) -> bool {
    matches!(result.golden, GoldenState::Missing) && result.contradictions.is_empty()
}

/// Groups results that differ in the same words, in the order of their first members.
fn alike<'a>(failing: &[&'a CaseResult]) -> Vec<Vec<&'a CaseResult>> {
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

/// The first of some results that differ alike, then the names of the others.
fn of_group(shown: &CheckPage<'_>, group: &[&CaseResult]) -> Option<Block> {
    let (one, others) = group.split_first()?;
    let Block::Card { title, mut inside, .. } = result(shown, one) else { return None };
    if !others.is_empty() {
        inside.push(Block::para(format!("the same in {}:", counted(others.len() as u64, "more run", "more runs"))));
        inside.push(first(LISTED, others.iter().map(|other| Text::code(other.id.to_string()))));
    }
    Some(Block::card(title, inside))
}

/// The counts.
fn summary(report: &CheckReport) -> Text {
    let counts = report.counts();
    let runs = counted(report.results.len() as u64, "run", "runs");
    let mut line = Text::from(format!("{runs}: ")).and(Tone::Good, format!("{} as accepted", counts.passed));
    for (words, count) in parts(report, &counts) {
        line = line.say(", ").and(Tone::Strong, format!("{count} {words}"));
    }
    match counts.contradicting {
        0 => {}
        1 => line = line.and(Tone::Strong, "; 1 run contradicts its fixture"),
        more => line = line.and(Tone::Strong, format!("; {more} runs contradict their fixtures")),
    }
    if report.ended_early { line.and(Tone::Soft, "; the rest was not run") } else { line }
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
