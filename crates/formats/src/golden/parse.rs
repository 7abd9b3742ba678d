//! Parses the body of a golden into values with places. Strict: text that `render` never writes is an error, so that an
//! edited or truncated golden is never misread.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::{CallEnd, EventLine, FindingLine, GoldenBody, GoldenField, LedgerLine, field};
use super::value::GoldenValue;
use crate::diagnostic::{Diagnostic, Report, Source, did_you_mean};
use crate::yaml;
use crate::yaml::{Cursor, Key as YamlKey, NodeKind};
use playproof_engine::event::{EventKind, FieldKey, FieldType, FindingBy, FindingId, LedgerKind};
use playproof_engine::time::{Duration, Instant};

/// The fields of an outcome.
const CALL: &[FieldKey] = &[
    FieldKey::Outcome,
    FieldKey::Queue,
    FieldKey::Stop,
    FieldKey::Lacks,
    FieldKey::Reason,
    FieldKey::Why,
    FieldKey::Leader,
    FieldKey::Ended,
    FieldKey::Effect,
    FieldKey::Attempts,
    FieldKey::Verdicts,
    FieldKey::LastError,
    FieldKey::FirstError,
    FieldKey::Step,
    FieldKey::Completed,
    FieldKey::Skipped,
    FieldKey::Class,
    FieldKey::Retriable,
    FieldKey::Next,
    FieldKey::Withheld,
];

/// Reads a golden's body.
///
/// # Errors
/// All text that no golden has, each with its place.
pub fn parse_body(source: Arc<Source>) -> Result<GoldenBody, Report> {
    yaml::parse(source, body)
}

fn body(root: Cursor<'_>) -> Option<GoldenBody> {
    let mut body = GoldenBody::default();
    let mut missing = vec!["ledger", "findings", "events"];
    let mut good = true;
    for (key, value) in root.entries("a golden")? {
        missing.retain(|part| *part != key.text);
        good &= match key.text {
            "ledger" => ledger(value).map(|ledger| body.ledger = ledger).is_some(),
            "findings" => findings(value).map(|findings| body.findings = findings).is_some(),
            "events" => events(value).map(|events| body.events = events).is_some(),
            _ => call(&key, value).map(|call| body.calls.push(call)).is_some(),
        };
    }
    for part in missing {
        let message = format!("a golden needs `{part}`");
        let said = Diagnostic::error("missing_key", message).at(root.span(), format!("`{part}` is missing"));
        root.report(said.help("the golden seems to be truncated"));
        good = false;
    }
    good.then_some(body)
}

fn call(key: &YamlKey<'_>, value: Cursor<'_>) -> Option<CallEnd> {
    let what = "the end of a call";
    let fields = fields(value, value.entries(what)?, what, CALL)?;
    for needed in [FieldKey::Outcome, FieldKey::Effect, FieldKey::Attempts, FieldKey::Verdicts] {
        if field(&fields, needed).is_none() {
            lacks(value, key, what, needed.as_str(), "of this call");
            return None;
        }
    }
    // Both or neither: a failed call is told both.
    for (told, other) in [(FieldKey::Class, FieldKey::Retriable), (FieldKey::Retriable, FieldKey::Class)] {
        if field(&fields, told).is_some() && field(&fields, other).is_none() {
            lacks(value, key, what, other.as_str(), "of this call");
            return None;
        }
    }
    Some(CallEnd { name: key.text.to_owned(), fields, span: key.span.clone() })
}

/// Reports a missing field.
fn lacks(at: Cursor<'_>, key: &YamlKey<'_>, what: &str, needed: &str, label: &str) {
    let message = format!("{what} needs `{needed}`");
    at.report(Diagnostic::error("missing_key", message).at(key.span.clone(), label));
}

fn ledger(value: Cursor<'_>) -> Option<Vec<LedgerLine>> {
    let line = |(key, value): (YamlKey<'_>, Cursor<'_>)| {
        Some(LedgerLine { intent: key.text.to_owned(), counts: counts(value)?, span: key.span })
    };
    value.entries("a ledger")?.map(line).collect()
}

/// `applied x1, existing x2`.
fn counts(value: Cursor<'_>) -> Option<BTreeMap<LedgerKind, u32>> {
    let mut counts = BTreeMap::new();
    for part in words(value)?.split(", ") {
        let read =
            part.rsplit_once(" x").and_then(|(word, count)| Some((LedgerKind::parse(word)?, count.parse().ok()?)));
        let Some((kind, count)) = read else {
            value.wrong("not_a_count", "this is not a ledger line", "expected a count such as `applied x1`");
            return None;
        };
        counts.insert(kind, count);
    }
    Some(counts)
}

fn findings(value: Cursor<'_>) -> Option<Vec<FindingLine>> {
    value.list()?.map(finding).collect()
}

fn finding(value: Cursor<'_>) -> Option<FindingLine> {
    let mut entries = value.entries("a finding")?;
    let Some((key, call)) = entries.next() else {
        value.wrong("empty_map", "this finding is empty", "");
        return None;
    };
    let Some(id) = FindingId::parse(key.text) else {
        value.report(unknown(&key, "finding", FindingId::WORDS));
        return None;
    };
    let call = words(call)?;
    let (mut by, mut count) = (None, None);
    for (name, at) in entries {
        let said = words(at)?;
        match known(value, &name, "a finding", ["by", "count"])? {
            "by" => by = Some(FindingBy::parse(&said).or_else(|| no_value(at, "by"))?),
            _ => count = Some(said.parse().ok().or_else(|| no_value(at, "count"))?),
        }
    }
    let needed = if by.is_none() { "by" } else { "count" };
    let Some((by, count)) = by.zip(count) else {
        lacks(value, &key, "a finding", needed, "of this finding");
        return None;
    };
    Some(FindingLine { id, call, by, count, span: key.span })
}

fn events(value: Cursor<'_>) -> Option<Vec<EventLine>> {
    let mut now = Instant::ZERO;
    let mut lines = Vec::new();
    for value in value.list()? {
        let line = event(value, now)?;
        now = line.at;
        lines.push(line);
    }
    Some(lines)
}

fn event(value: Cursor<'_>, before: Instant) -> Option<EventLine> {
    let mut entries = value.entries("an event")?;
    let (Some((delta, call)), Some((what, of))) = (entries.next(), entries.next()) else {
        value.wrong("empty_map", "this event is incomplete", "expected `+MS: CALL` and an event");
        return None;
    };
    let Some(passed) = delta.text.strip_prefix('+').and_then(Duration::parse_millis) else {
        let message = format!("`{}` is not a delta time", delta.text);
        value.report(Diagnostic::error("not_a_delta", message).at(delta.span, "expected `+` and milliseconds"));
        return None;
    };
    let Some(kind) = EventKind::parse(what.text) else {
        value.report(unknown(&what, "event", EventKind::WORDS));
        return None;
    };
    let (key, allowed) = kind.keys().split_first()?; // each event has a value
    let (call, value_of) = (words(call)?, said(*key, of)?);
    let fields = fields(value, entries, "this event", allowed)?;
    Some(EventLine { at: before.plus(passed), call, kind, value: value_of, fields, span: value.span() })
}

fn fields<'a>(
    at: Cursor<'_>,
    entries: impl Iterator<Item = (YamlKey<'a>, Cursor<'a>)>,
    what: &str,
    allowed: &[FieldKey],
) -> Option<Vec<GoldenField>> {
    let read = |(name, value): (YamlKey<'_>, Cursor<'_>)| {
        let word = known(at, &name, what, allowed.iter().map(|key| key.as_str()))?;
        let key = *allowed.iter().find(|key| key.as_str() == word)?;
        Some((key, said(key, value)?))
    };
    entries.map(read).collect()
}

fn said(key: FieldKey, value: Cursor<'_>) -> Option<GoldenValue> {
    if let (FieldType::Names, NodeKind::List(_)) = (key.holds(), &value.node().kind) {
        return value.list()?.map(words).collect::<Option<_>>().map(GoldenValue::Names);
    }
    GoldenValue::parse(key, &words(value)?).or_else(|| no_value(value, key.as_str()))
}

/// Reports an invalid value.
fn no_value<T>(at: Cursor<'_>, key: &str) -> Option<T> {
    at.wrong("unknown_value", format!("this is not a value of `{key}`"), "unknown value");
    None
}

/// The name of a field; an unknown one is reported.
fn known<'a>(
    at: Cursor<'_>,
    key: &YamlKey<'_>,
    what: &str,
    table: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let found = table.clone().into_iter().find(|name| *name == key.text);
    if found.is_none() {
        let message = format!("{what} has no key `{}`", key.text);
        let said = Diagnostic::error("unknown_key", message).at(key.span.clone(), "unknown key");
        at.report(near(said, key.text, table));
    }
    found
}

fn unknown<'a>(key: &YamlKey<'_>, what: &str, table: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let message = format!("there is no {what} `{}`", key.text);
    near(Diagnostic::error("unknown_name", message).at(key.span.clone(), format!("unknown {what}")), key.text, table)
}

fn near<'a>(said: Diagnostic, text: &str, table: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    match did_you_mean(text, table) {
        Some(near) => said.help(format!("did you mean `{near}`?")),
        None => said,
    }
}

/// A single value, or a list of them, as one text.
fn words(value: Cursor<'_>) -> Option<String> {
    match &value.node().kind {
        NodeKind::Scalar { text, .. } => Some(text.to_string()),
        NodeKind::List(_) => {
            let parts: Option<Vec<String>> = value.list()?.map(words).collect();
            Some(parts?.join(", "))
        }
        NodeKind::Map(_) => {
            value.wrong("wrong_type", "expected a value or a list, found a map", "not a value");
            None
        }
    }
}
