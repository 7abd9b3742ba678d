//! A check as one JSON document, `check/1`: every run, in a stable order, without timestamps.

use super::changes::CheckPage;
use super::problems::{Directions, Problem, place_of};
use crate::json::{Millis, Object, document, row};
use playproof_analysis::check::{CaseResult, Cause, CheckStatus, GoldenState, PlaybookRows};
use playproof_analysis::kept::JudgedKept;
use playproof_engine::time::Instant;
use playproof_formats::golden::{Class, Comparison, Divergence, DivergencePlace, FirstChange};
use playproof_formats::shell::Command;

/// The report as one JSON document. `next` is the next command to run, if any.
pub fn json(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> String {
    let report = shown.report;
    let verdict = match report.verdict() {
        _ if !directions.in_the_way.is_empty() => "unusable",
        CheckStatus::Clean => "clean",
        CheckStatus::Differs => "differs",
        CheckStatus::Unusable => "unusable",
    };
    let results = report.results.iter().map(|result| one(result, shown.causes.get(&result.id)));
    document(
        &Object::document("check/1")
            .with("verdict", verdict)
            .flag("ended_early", report.ended_early)
            .with("project", directions.project.iter().map(|(part, named)| (part, named)).collect::<Object>())
            .with("counts", counts(shown))
            .with("in_the_way", directions.in_the_way.iter().map(obstacle).collect::<Vec<_>>())
            .with("rows", report.rows.iter().map(rows).collect::<Vec<_>>())
            .with("orphans", &report.orphans)
            .with("results", results.collect::<Vec<_>>())
            .list("kept", report.kept.iter().map(kept).collect())
            .with("next", next.map(ToString::to_string)),
    )
}

fn kept(kept: &JudgedKept) -> Object {
    let (verdict, rule) = kept.now.as_ref().map(|(verdict, rule)| (verdict, rule)).unzip();
    let said = Object::default().with("id", &kept.id).with("right", kept.is_right()).with("expected", &kept.expect);
    said.with("verdict", verdict).with("rule", rule)
}

fn counts(shown: &CheckPage<'_>) -> Object {
    let counts = shown.report.counts();
    let diverged: Object = Class::WORDS.into_iter().zip(counts.diverged).collect();
    Object::default()
        .with("runs", shown.report.results.len())
        .with("passed", counts.passed)
        .with("unreadable", counts.unreadable)
        .with("contradicting", counts.contradicting)
        .and(&diverged)
        .with("missing", counts.missing)
}

fn obstacle(problem: &Problem) -> Object {
    let spot = &problem.spot;
    let place = Object::default().with("file", &spot.file).with("line", spot.line).with("column", spot.column);
    place.with("message", &problem.message)
}

fn rows(rows: &PlaybookRows) -> Object {
    Object::default()
        .with("playbook", &rows.playbook)
        .flag("locked", rows.is_locked)
        .flag("used", rows.is_used)
        .with("changes", rows.changes.iter().map(row).collect::<Vec<_>>())
}

fn one(result: &CaseResult, cause: Option<&Cause>) -> Object {
    let contradictions = result.contradictions.iter().map(ToString::to_string);
    let said = Object::default()
        .with("id", result.id.to_string())
        .with("playbook", &result.id.playbook)
        .with("fixture", &result.id.fixture)
        .with("status", status(result))
        .with("contradictions", contradictions.collect::<Vec<_>>());
    match &result.golden {
        GoldenState::Unreadable(report) => said.with("problem", report.to_string()),
        GoldenState::Diverged(diverged) => said.and(&diverges(&diverged.comparison, cause)),
        GoldenState::Same | GoldenState::Missing => said,
    }
}

/// The status of a run, in one word.
pub(super) fn status(result: &CaseResult) -> &'static str {
    match &result.golden {
        GoldenState::Unreadable(_) => "unreadable",
        _ if !result.contradictions.is_empty() => "contradicts",
        GoldenState::Same => "passed",
        GoldenState::Diverged(_) => "diverged",
        GoldenState::Missing => "missing",
    }
}

fn diverges(comparison: &Comparison, cause: Option<&Cause>) -> Object {
    let (golden, run) = comparison.effects;
    let place = cause.and_then(|cause| {
        let (line, column, file) = place_of(cause)?;
        let place = Object::default().with("file", file).with("line", line).with("column", column);
        Some(place.with("row", &cause.row))
    });
    Object::default()
        .with("class", comparison.worst().map(Class::as_str))
        .with("headline", comparison.headline())
        .with("effects", Object::default().with("golden", golden).with("run", run))
        .maybe("first", comparison.first.as_ref().map(|first| first_change(first, cause)))
        .maybe("place", place)
        .with("divergences", comparison.divergences.iter().map(divergence).collect::<Vec<_>>())
}

fn first_change(first: &FirstChange, cause: Option<&Cause>) -> Object {
    let because = first.actual.as_ref().or(first.expected.as_ref());
    Object::default()
        .with("call", &first.call)
        .with("at_ms", Millis(first.at.since(Instant::ZERO)))
        .with("golden", &first.golden)
        .with("run", &first.run)
        .with("rule", because.map(|because| &because.rule))
        .with("verdict", because.map(|because| &because.verdict))
        .with("compensation", cause.and_then(|cause| cause.compensation))
}

fn divergence(divergence: &Divergence) -> Object {
    let (part, name) = match &divergence.place {
        DivergencePlace::Call(call) => ("call", call.as_str()),
        DivergencePlace::Ledger(intent) => ("ledger", intent.as_str()),
        DivergencePlace::Finding(call) => ("finding", call.as_str()),
        DivergencePlace::Event(call, _) => ("event", call.as_str()),
        DivergencePlace::Whole => ("golden", ""),
    };
    Object::default()
        .with("class", divergence.class.as_str())
        .with("part", part)
        .with("name", name)
        .with("field", &divergence.field)
        .with("golden", &divergence.expected)
        .with("run", &divergence.actual)
}
