//! Divergences in outcomes, ledger and findings.

use super::divergence::{Divergence, DivergencePlace};
use crate::golden::body::{CallEnd, FindingLine, GoldenBody, GoldenField, field};
use crate::golden::value::GoldenValue;
use playproof_engine::event::{Class, FieldKey};

/// All divergences outside the events, in the order of the golden.
pub(super) fn divergences(expected: &GoldenBody, actual: &GoldenBody) -> Vec<Divergence> {
    let mut found = Vec::new();
    calls(expected, actual, &mut found);
    ledger(expected, actual, &mut found);
    findings(expected, actual, &mut found);
    found
}

fn calls(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    for call in &expected.calls {
        match actual.call(&call.name) {
            Some(other) => fields(call, other, found),
            None => found.push(whole_call(call, Some(outcome(call)), None)),
        }
    }
    for call in actual.calls.iter().filter(|call| expected.call(&call.name).is_none()) {
        found.push(whole_call(call, None, Some(outcome(call))));
    }
}

fn outcome(call: &CallEnd) -> String {
    call.field(FieldKey::Outcome).map(GoldenValue::to_string).unwrap_or_default()
}

fn whole_call(call: &CallEnd, expected: Option<String>, actual: Option<String>) -> Divergence {
    Divergence {
        class: Class::OutcomeChanged,
        place: DivergencePlace::Call(call.name.clone()),
        field: "outcome".to_owned(),
        span: expected.is_some().then(|| call.span.clone()),
        expected,
        actual,
    }
}

fn fields(expected: &CallEnd, actual: &CallEnd, found: &mut Vec<Divergence>) {
    let offered = match field(&actual.fields, FieldKey::Next) {
        Some(GoldenValue::Names(names)) => names.as_slice(),
        _ => &[],
    };
    for (key, before, after) in changed(&expected.fields, &actual.fields) {
        found.push(Divergence {
            class: class_of(key, before, after, offered),
            place: DivergencePlace::Call(expected.name.clone()),
            field: key.as_str().to_owned(),
            expected: before.map(GoldenValue::to_string),
            actual: after.map(GoldenValue::to_string),
            span: Some(expected.span.clone()),
        });
    }
}

/// The class of a changed field. A list of verdicts that continues the other one means more or fewer attempts; an action
/// that was withheld and is `offered` now may still be at work.
fn class_of(key: FieldKey, before: Option<&GoldenValue>, after: Option<&GoldenValue>, offered: &[String]) -> Class {
    let continues = |short: &[String], long: &[String]| !short.is_empty() && long.starts_with(short);
    match (before, after) {
        (Some(GoldenValue::Names(a)), Some(GoldenValue::Names(b)))
            if key == FieldKey::Verdicts && (continues(a, b) || continues(b, a)) =>
        {
            Class::AttemptsChanged
        }
        // The agent acts on what it is told: now it would send what it was told not to.
        (Some(before), Some(after)) if key == FieldKey::Retriable && before.is("false") && after.is("true") => {
            Class::GuardWeakened
        }
        (Some(GoldenValue::Names(before)), _) if key == FieldKey::Withheld => {
            if before.iter().any(|name| offered.contains(name)) { Class::GuardWeakened } else { Class::OutcomeChanged }
        }
        _ => key.class(),
    }
}

/// The changed fields, in the order of the golden, then fields that only the run has.
pub(super) fn changed<'a>(
    expected: &'a [GoldenField],
    actual: &'a [GoldenField],
) -> impl Iterator<Item = (FieldKey, Option<&'a GoldenValue>, Option<&'a GoldenValue>)> {
    let only_actual = actual.iter().filter(|(key, _)| field(expected, *key).is_none());
    let both = expected.iter().chain(only_actual);
    let sides = both.map(|(key, _)| (*key, field(expected, *key), field(actual, *key)));
    sides.filter(|(_, before, after)| before != after)
}

fn ledger(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    let of = |body: &GoldenBody, intent: &str| {
        body.ledger.iter().find(|line| line.intent == intent).map(|line| (line.words(), line.span.clone()))
    };
    let only_actual = actual.ledger.iter().filter(|line| of(expected, &line.intent).is_none());
    for line in expected.ledger.iter().chain(only_actual) {
        let (before, after) = (of(expected, &line.intent), of(actual, &line.intent));
        if before.as_ref().map(|(words, _)| words) == after.as_ref().map(|(words, _)| words) {
            continue;
        }
        found.push(Divergence {
            class: Class::EffectChanged,
            place: DivergencePlace::Ledger(line.intent.clone()),
            field: "ledger".to_owned(),
            span: before.as_ref().map(|(_, span)| span.clone()),
            expected: before.map(|(words, _)| words),
            actual: after.map(|(words, _)| words),
        });
    }
}

/// Findings are matched by id and call; repeated ones by their order.
fn findings(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    let same = |a: &FindingLine, b: &FindingLine| a.id == b.id && a.call == b.call;
    let mut left: Vec<&FindingLine> = actual.findings.iter().collect();
    for line in &expected.findings {
        let other = left.iter().position(|other| same(line, other)).map(|at| left.remove(at));
        if other.is_none_or(|other| (other.by, other.count) != (line.by, line.count)) {
            found.push(finding(line, Some(line.words()), other.map(FindingLine::words)));
        }
    }
    found.extend(left.into_iter().map(|line| finding(line, None, Some(line.words()))));
}

fn finding(line: &FindingLine, expected: Option<String>, actual: Option<String>) -> Divergence {
    Divergence {
        class: Class::EffectChanged,
        place: DivergencePlace::Finding(line.call.clone()),
        field: line.id.as_str().to_owned(),
        span: expected.is_some().then(|| line.span.clone()),
        expected,
        actual,
    }
}
