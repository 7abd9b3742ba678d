//! A check for programs: `format: check/1`, every run, in a stable order, without time of day.

use super::page::Shown;
use super::problems::Directions;
use crate::check::{CaseResult, Cause, GoldenState, PlaybookRows, Verdict};
use crate::golden::{Class, Comparison, Divergence, FirstChange, Place};
use crate::report::json::Object;
use crate::shell::Command;
use crate::time::Instant;

/// The report as one JSON document. `next` is the command to run next, if there is one to run.
pub fn json(shown: &Shown<'_>, directions: &Directions, next: Option<&Command>) -> String {
    let report = shown.report;
    let counts = report.counts();
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    let verdict = match report.verdict() {
        _ if !directions.in_the_way.is_empty() => "unusable",
        Verdict::Clean => "clean",
        Verdict::Differs => "differs",
        Verdict::Unusable => "unusable",
    };
    document.text("format", "check/1").text("verdict", verdict).flag("ended_early", report.ended_early);
    document.object("counts", |object| {
        object.number("runs", report.results.len() as u64).number("passed", counts.passed as u64);
        object.number("unreadable", counts.unreadable as u64).number("contradicting", counts.contradicting as u64);
        for (class, count) in Class::ALL.iter().zip(counts.diverged) {
            object.number(class.as_str(), count as u64);
        }
        object.number("missing", counts.missing as u64);
    });
    document.objects("in_the_way", &directions.in_the_way, |object, problem| {
        object.text("file", &problem.spot.file).number("line", problem.spot.line as u64);
        object.number("column", problem.spot.column as u64).text("message", &problem.message);
    });
    document.objects("rows", &report.rows, rows);
    document.texts("orphans", report.orphans.iter().map(String::as_str));
    document.objects("results", &report.results, |object, result| one(object, result, shown.causes.get(&result.id)));
    document.text_or_null("next", next.map(ToString::to_string).as_deref());
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

fn rows(object: &mut Object<'_>, rows: &PlaybookRows) {
    object.text("playbook", &rows.playbook).flag("locked", rows.is_locked).flag("used", rows.is_used);
    object.objects("changes", &rows.changes, |object, change| {
        object.text("row", &change.name);
        object.text_or_null("before", change.before.as_deref()).text_or_null("after", change.after.as_deref());
    });
}

fn one(object: &mut Object<'_>, result: &CaseResult, cause: Option<&Cause>) {
    object.text("id", &result.id.to_string());
    object.text("playbook", &result.id.playbook).text("fixture", &result.id.fixture);
    object.text("status", status(result));
    object.texts(
        "contradictions",
        result.contradictions.iter().map(ToString::to_string).collect::<Vec<_>>().iter().map(String::as_str),
    );
    match &result.golden {
        GoldenState::Unreadable(report) => {
            object.text("problem", &report.to_string());
        }
        GoldenState::Diverged(diverged) => diverges(object, &diverged.comparison, cause),
        GoldenState::Same | GoldenState::Missing => {}
    }
}

/// What became of a run, in one word.
pub(super) fn status(result: &CaseResult) -> &'static str {
    match &result.golden {
        GoldenState::Unreadable(_) => "unreadable",
        _ if !result.contradictions.is_empty() => "contradicts",
        GoldenState::Same => "passed",
        GoldenState::Diverged(_) => "diverged",
        GoldenState::Missing => "missing",
    }
}

fn diverges(object: &mut Object<'_>, comparison: &Comparison, cause: Option<&Cause>) {
    object.text_or_null("class", comparison.worst().map(Class::as_str)).text("headline", &comparison.headline());
    object.object("effects", |object| {
        object.number("golden", u64::from(comparison.effects.0)).number("run", u64::from(comparison.effects.1));
    });
    if let Some(first) = &comparison.first {
        object.object("first", |object| first_change(object, first, cause));
    }
    if let Some((line, column, file)) = cause.and_then(place_of) {
        object.object("place", |object| {
            object.text("file", file).number("line", line as u64).number("column", column as u64);
            object.text_or_null("row", cause.map(|cause| cause.row.as_str()));
        });
    }
    object.objects("divergences", &comparison.divergences, divergence);
}

/// The nearest line of the playbook.
pub(super) fn place_of(cause: &Cause) -> Option<(usize, usize, &str)> {
    let label = cause.report.diagnostics.first()?.labels.first()?;
    let (line, column) = cause.report.source.place(label.span.start);
    Some((line, column, &cause.report.source.name))
}

fn first_change(object: &mut Object<'_>, first: &FirstChange, cause: Option<&Cause>) {
    object.text("call", &first.call).millis("at_ms", first.at.since(Instant::ZERO));
    object.text_or_null("golden", first.golden.as_deref()).text_or_null("run", first.run.as_deref());
    let because = first.actual.as_ref().or(first.expected.as_ref());
    object.text_or_null("rule", because.map(|because| because.rule.as_str()));
    object.text_or_null("verdict", because.map(|because| because.verdict.as_str()));
    object.text_or_null("compensation", cause.and_then(|cause| cause.compensation));
}

fn divergence(object: &mut Object<'_>, divergence: &Divergence) {
    let (part, name) = match &divergence.place {
        Place::Call(call) => ("call", call.as_str()),
        Place::Ledger(intent) => ("ledger", intent.as_str()),
        Place::Finding(call) => ("finding", call.as_str()),
        Place::Event(call, _) => ("event", call.as_str()),
        Place::Whole => ("golden", ""),
    };
    object.text("class", divergence.class.as_str()).text("part", part).text("name", name);
    object.text("field", &divergence.field);
    object.text_or_null("golden", divergence.expected.as_deref());
    object.text_or_null("run", divergence.actual.as_deref());
}
