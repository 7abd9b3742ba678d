//! A check as one JSON document, `check/1`: every run, in a stable order, without timestamps.

use serde::Serialize;

use super::changes::CheckPage;
use super::problems::{Directions, Problem, place_of};
use crate::json::{Map, Millis, RowJson, document};
use playproof_analysis::check::{CaseResult, Cause, CheckStatus, GoldenState, PlaybookRows};
use playproof_analysis::kept::JudgedKept;
use playproof_engine::time::Instant;
use playproof_formats::golden::{Class, Comparison, Divergence, DivergencePlace, FirstChange};
use playproof_formats::shell::Command;

#[derive(Serialize)]
struct CheckJson<'a> {
    format: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ended_early: bool,
    project: Map<&'a str>,
    counts: Map<usize>,
    in_the_way: Vec<ObstacleJson<'a>>,
    rows: Vec<RowsJson<'a>>,
    orphans: &'a [String],
    results: Vec<ResultJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<KeptJson<'a>>,
    next: Option<String>,
}

#[derive(Serialize)]
struct KeptJson<'a> {
    id: &'a str,
    right: bool,
    expected: &'a str,
    verdict: Option<&'a str>,
    rule: Option<&'a str>,
}

#[derive(Serialize)]
struct ObstacleJson<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

#[derive(Serialize)]
struct RowsJson<'a> {
    playbook: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    locked: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    used: bool,
    changes: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    id: String,
    playbook: &'a str,
    fixture: &'a str,
    status: &'static str,
    contradictions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(flatten)]
    diverged: Option<DivergedJson<'a>>,
}

#[derive(Serialize)]
struct DivergedJson<'a> {
    class: Option<&'static str>,
    headline: String,
    effects: EffectsJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<FirstJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<PlaceJson<'a>>,
    divergences: Vec<DivergenceJson<'a>>,
}

#[derive(Serialize)]
struct EffectsJson {
    golden: u32,
    run: u32,
}

#[derive(Serialize)]
struct FirstJson<'a> {
    call: &'a str,
    at_ms: Millis,
    golden: Option<&'a str>,
    run: Option<&'a str>,
    rule: Option<&'a str>,
    verdict: Option<&'a str>,
    compensation: Option<&'static str>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    row: Option<&'a str>,
}

#[derive(Serialize)]
struct DivergenceJson<'a> {
    class: &'static str,
    part: &'static str,
    name: &'a str,
    field: &'a str,
    golden: Option<&'a str>,
    run: Option<&'a str>,
}

/// The report as one JSON document. `next` is the next command to run, if any.
pub fn json(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> String {
    let report = shown.report;
    let verdict = match report.verdict() {
        _ if !directions.in_the_way.is_empty() => "unusable",
        CheckStatus::Clean => "clean",
        CheckStatus::Differs => "differs",
        CheckStatus::Unusable => "unusable",
    };
    document(&CheckJson {
        format: "check/1",
        verdict,
        ended_early: report.ended_early,
        project: Map(directions.project.iter().map(|(part, named)| (*part, named.as_str())).collect()),
        counts: counts(shown),
        in_the_way: directions.in_the_way.iter().map(obstacle).collect(),
        rows: report.rows.iter().map(rows).collect(),
        orphans: &report.orphans,
        results: report.results.iter().map(|result| one(result, shown.causes.get(&result.id))).collect(),
        kept: report.kept.iter().map(kept).collect(),
        next: next.map(ToString::to_string),
    })
}

fn kept(kept: &JudgedKept) -> KeptJson<'_> {
    let (verdict, rule) = kept.now.as_ref().map(|(verdict, rule)| (verdict.as_str(), rule.as_str())).unzip();
    KeptJson { id: &kept.id, right: kept.is_right(), expected: &kept.expect, verdict, rule }
}

fn counts(shown: &CheckPage<'_>) -> Map<usize> {
    let counts = shown.report.counts();
    let mut rows = vec![("runs", shown.report.results.len()), ("passed", counts.passed)];
    rows.extend([("unreadable", counts.unreadable), ("contradicting", counts.contradicting)]);
    rows.extend(Class::WORDS.into_iter().zip(counts.diverged));
    rows.push(("missing", counts.missing));
    Map(rows)
}

fn obstacle(problem: &Problem) -> ObstacleJson<'_> {
    let spot = &problem.spot;
    ObstacleJson { file: &spot.file, line: spot.line, column: spot.column, message: &problem.message }
}

fn rows(rows: &PlaybookRows) -> RowsJson<'_> {
    let changes = rows.changes.iter().map(RowJson::from);
    RowsJson { playbook: &rows.playbook, locked: rows.is_locked, used: rows.is_used, changes: changes.collect() }
}

fn one<'a>(result: &'a CaseResult, cause: Option<&'a Cause>) -> ResultJson<'a> {
    let (problem, diverged) = match &result.golden {
        GoldenState::Unreadable(report) => (Some(report.to_string()), None),
        GoldenState::Diverged(diverged) => (None, Some(diverges(&diverged.comparison, cause))),
        GoldenState::Same | GoldenState::Missing => (None, None),
    };
    ResultJson {
        id: result.id.to_string(),
        playbook: &result.id.playbook,
        fixture: &result.id.fixture,
        status: status(result),
        contradictions: result.contradictions.iter().map(ToString::to_string).collect(),
        problem,
        diverged,
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

fn diverges<'a>(comparison: &'a Comparison, cause: Option<&'a Cause>) -> DivergedJson<'a> {
    let (golden, run) = comparison.effects;
    let place = cause.and_then(|cause| {
        let (line, column, file) = place_of(cause)?;
        Some(PlaceJson { file, line, column, row: Some(&cause.row) })
    });
    DivergedJson {
        class: comparison.worst().map(Class::as_str),
        headline: comparison.headline(),
        effects: EffectsJson { golden, run },
        first: comparison.first.as_ref().map(|first| first_change(first, cause)),
        place,
        divergences: comparison.divergences.iter().map(divergence).collect(),
    }
}

fn first_change<'a>(first: &'a FirstChange, cause: Option<&Cause>) -> FirstJson<'a> {
    let because = first.actual.as_ref().or(first.expected.as_ref());
    FirstJson {
        call: &first.call,
        at_ms: Millis(first.at.since(Instant::ZERO)),
        golden: first.golden.as_deref(),
        run: first.run.as_deref(),
        rule: because.map(|because| because.rule.as_str()),
        verdict: because.map(|because| because.verdict.as_str()),
        compensation: cause.and_then(|cause| cause.compensation),
    }
}

fn divergence(divergence: &Divergence) -> DivergenceJson<'_> {
    let (part, name) = match &divergence.place {
        DivergencePlace::Call(call) => ("call", call.as_str()),
        DivergencePlace::Ledger(intent) => ("ledger", intent.as_str()),
        DivergencePlace::Finding(call) => ("finding", call.as_str()),
        DivergencePlace::Event(call, _) => ("event", call.as_str()),
        DivergencePlace::Whole => ("golden", ""),
    };
    DivergenceJson {
        class: divergence.class.as_str(),
        part,
        name,
        field: &divergence.field,
        golden: divergence.expected.as_deref(),
        run: divergence.actual.as_deref(),
    }
}
