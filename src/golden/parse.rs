//! From the text of a golden's body back to its values, each with its place. Strict: what `render` does not write
//! is reported, so that a golden that was edited by hand, or cut short, is never taken for another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::{CallEnd, EventLine, FindingLine, GoldenBody, LedgerLine};
use crate::diagnostic::{Diagnostic, Report, Source, did_you_mean};
use crate::event::{FindingId, LedgerKind};
use crate::time::{Duration, Instant};
use crate::yaml::{self, Cursor, Key, Kind};

type Fields = Vec<(&'static str, String)>;

/// What may be said of a call.
const CALL: &[&str] = &[
    "outcome",
    "queue",
    "stop",
    "lacks",
    "reason",
    "why",
    "effect",
    "attempts",
    "verdicts",
    "last_error",
    "first_error",
];

/// What may be said of a finding, after its id.
const FINDING: &[&str] = &["by", "count"];

/// Each kind of event, and what may be said of it.
const EVENTS: &[(&str, &[&str])] = &[
    ("refused", &[]),
    ("attempt_started", &["evidence"]),
    ("attempt_finished", &["status", "latency_ms", "from", "over_timeout"]),
    ("late_answer", &["status"]),
    ("failure_classified", &["rule", "ignored"]),
    ("retry_scheduled", &["delay_ms"]),
    ("retry_suppressed", &[]),
    ("evidence_refreshed", &["status", "from"]),
    ("escalated", &[]),
    ("reversal_refused", &[]),
    ("reversal_redeemed", &["from"]),
    ("deprecated", &[]),
    ("outcome", &[]),
];

const LEDGER: [LedgerKind; 4] =
    [LedgerKind::Existing, LedgerKind::Applied, LedgerKind::Reversed, LedgerKind::Unobserved];

/// Reads a golden's body.
///
/// # Errors
/// Everything in it that no golden has, with its place.
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
        root.report(said.help("it seems to be cut short"));
        good = false;
    }
    good.then_some(body)
}

fn call(key: &Key<'_>, value: Cursor<'_>) -> Option<CallEnd> {
    let mut fields = Fields::new();
    for (name, value) in value.entries("the end of a call")? {
        fields.push((known(value, &name, "the end of a call", CALL)?, words(value)?));
    }
    for needed in ["outcome", "effect", "attempts", "verdicts"] {
        if !fields.iter().any(|(name, _)| *name == needed) {
            let message = format!("the end of a call needs `{needed}`");
            value.report(Diagnostic::error("missing_key", message).at(key.span.clone(), "of this call"));
            return None;
        }
    }
    Some(CallEnd { name: key.text.to_owned(), fields, span: key.span.clone() })
}

fn ledger(value: Cursor<'_>) -> Option<Vec<LedgerLine>> {
    let line = |(key, value): (Key<'_>, Cursor<'_>)| {
        Some(LedgerLine { intent: key.text.to_owned(), counts: counts(value)?, span: key.span })
    };
    value.entries("a ledger")?.map(line).collect()
}

/// `applied x1, existing x2`.
fn counts(value: Cursor<'_>) -> Option<BTreeMap<&'static str, u32>> {
    let mut counts = BTreeMap::new();
    for part in words(value)?.split(", ") {
        let read = part.rsplit_once(" x").and_then(|(word, count)| {
            let kind = LEDGER.into_iter().find(|kind| kind.as_str() == word)?;
            Some((kind.as_str(), count.parse().ok()?))
        });
        let Some((kind, count)) = read else {
            value.wrong("not_a_count", "this is no line of a ledger", "expected such as `applied x1`");
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
        value.wrong("empty_map", "this finding says nothing", "");
        return None;
    };
    let ids: Vec<&str> = FindingId::ALL.iter().map(|id| id.as_str()).collect();
    let id = FindingId::ALL.iter().find(|id| id.as_str() == key.text);
    let Some(id) = id else {
        value.report(unknown(&key, "finding", ids));
        return None;
    };
    let call = words(call)?;
    let fields: Option<Fields> =
        entries.map(|(name, value)| Some((known(value, &name, "a finding", FINDING)?, words(value)?))).collect();
    Some(FindingLine { id: id.as_str(), call, fields: fields?, span: key.span })
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
        value.wrong("empty_map", "this event says nothing", "expected `+MS: call` and what happened");
        return None;
    };
    let Some(passed) = delta.text.strip_prefix('+').and_then(millis) else {
        let message = format!("`{}` is no delta time", delta.text);
        value.report(Diagnostic::error("not_a_delta", message).at(delta.span, "expected `+` and milliseconds"));
        return None;
    };
    let Some((kind, allowed)) = EVENTS.iter().find(|(kind, _)| *kind == what.text) else {
        value.report(unknown(&what, "event", EVENTS.iter().map(|(kind, _)| *kind)));
        return None;
    };
    let (call, value_of) = (words(call)?, words(of)?);
    let fields: Option<Fields> =
        entries.map(|(name, value)| Some((known(value, &name, "this event", allowed)?, words(value)?))).collect();
    Some(EventLine { at: before.plus(passed), call, kind, value: value_of, fields: fields?, span: value.span() })
}

/// The name of a field, if `what` may have it.
fn known(at: Cursor<'_>, key: &Key<'_>, what: &str, table: &'static [&'static str]) -> Option<&'static str> {
    let found = table.iter().find(|name| **name == key.text).copied();
    if found.is_none() {
        let message = format!("{what} has no key `{}`", key.text);
        at.report(near(
            Diagnostic::error("unknown_key", message).at(key.span.clone(), "unknown key"),
            key.text,
            table.iter().copied(),
        ));
    }
    found
}

fn unknown<'a>(key: &Key<'_>, what: &str, table: impl IntoIterator<Item = &'a str>) -> Diagnostic {
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
        Kind::Scalar { text, .. } => Some(text.to_string()),
        Kind::List(_) => {
            let parts: Option<Vec<String>> = value.list()?.map(words).collect();
            Some(parts?.join(", "))
        }
        Kind::Map(_) => {
            value.wrong("wrong_type", "expected a value or a list, found a map", "no golden has a map here");
            None
        }
    }
}

/// Milliseconds with up to three decimals.
fn millis(text: &str) -> Option<Duration> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let micros: u64 = format!("{decimals:0<3}").parse().ok()?;
    Some(Duration::from_millis(whole.parse().ok()?).plus(Duration::from_micros(micros)))
}
