//! Every decision event of a simulation, one object a line. Written in whole fragments rather than key by key:
//! a trace has millions of them.

use std::ops::Range;

use super::fragment::{millis, number, quoted, raw, span, text, text_if, word};
use playproof_engine::event::{
    Decision, DecisionEvent, ErrorFacts, EventKind, FieldKey, FieldValue, Outcome, Status, Transcript,
};
use playproof_engine::time::Instant;

/// Where lines of events say what the call's own line says again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Under which playbook, and of which call.
    pub(super) head: Range<usize>,
    /// How the call ended.
    pub(super) outcome: Range<usize>,
}

/// Appends a line for each event to `out`, and says where there the last call's lines say what can be copied.
pub fn write_events(out: &mut Vec<u8>, transcript: &Transcript<'_>) -> Said {
    let (mut said, mut dated, mut last) = (Said::default(), 0..0, None);
    for event in transcript.events {
        raw(out, "{\"type\":\"event\"");
        let start = out.len();
        match last {
            Some((call, at)) if (call, at) == (event.call, event.at) => out.extend_from_within(dated.clone()),
            _ => {
                match last {
                    Some((call, _)) if call == event.call => out.extend_from_within(said.head.clone()),
                    _ => {
                        text(out, ",\"playbook\":", &transcript.names.playbook);
                        text(out, ",\"ref\":", transcript.call(event.call));
                    }
                }
                said.head = start..out.len();
                raw(out, ",\"at_ms\":");
                millis(out, event.at.as_micros());
                dated = start..out.len();
            }
        }
        last = Some((event.call, event.at));
        fields(out, transcript, event);
        if let Decision::Outcome(outcome) = event.what {
            let start = out.len();
            ended(out, transcript, &outcome);
            said.outcome = start..out.len();
        }
        raw(out, "}\n");
    }
    said
}

/// An event as an object without the call that it is about.
pub(super) fn write_event(out: &mut Vec<u8>, transcript: &Transcript<'_>, event: &DecisionEvent) {
    raw(out, "{\"at_ms\":");
    millis(out, event.at.as_micros());
    fields(out, transcript, event);
    if let Decision::Outcome(outcome) = event.what {
        ended(out, transcript, &outcome);
    }
    out.push(b'}');
}

/// What follows the time, but for how the call ended.
fn fields(out: &mut Vec<u8>, transcript: &Transcript<'_>, event: &DecisionEvent) {
    let told = event.what.describe();
    word(out, ",\"event\":\"", told.kind.as_str());
    if told.kind != EventKind::Outcome {
        told.all().for_each(|(key, value)| field(out, transcript, key, value));
    }
}

/// How a call ended, behind what was written before.
pub(super) fn ended(out: &mut Vec<u8>, transcript: &Transcript<'_>, outcome: &Outcome) {
    outcome.fields().for_each(|(key, value)| field(out, transcript, key, value));
}

fn field(out: &mut Vec<u8>, transcript: &Transcript<'_>, key: FieldKey, value: FieldValue) {
    let (names, key) = (transcript.names, key.as_json());
    match value {
        FieldValue::Number(value) => number(out, key, value),
        FieldValue::Flag(false) => {}
        FieldValue::Flag(true) => {
            raw(out, key);
            raw(out, "true");
        }
        FieldValue::Status(status) => how(out, transcript, status),
        FieldValue::Latency(None) => {
            raw(out, key);
            raw(out, "null");
        }
        FieldValue::Latency(Some(value)) | FieldValue::Span(value) => span(out, key, value),
        FieldValue::Instant(at) => span(out, key, at.since(Instant::ZERO)),
        FieldValue::Provenance(provenance) => quoted(out, key, provenance.as_str()),
        FieldValue::Refused(why) => quoted(out, key, why.as_str()),
        FieldValue::Word(word) => quoted(out, key, word),
        FieldValue::Verdict(verdict) => text(out, key, names.verdict(verdict)),
        FieldValue::Rule(rule) => text(out, key, names.rule(rule)),
        FieldValue::Queue(queue) => text(out, key, names.queue(queue)),
        FieldValue::Reason(reason) => text(out, key, names.reason(reason)),
        FieldValue::GivenUp(why) => text(out, key, names.deprecated_why(why)),
        FieldValue::Lacks(asked) => text(out, key, &asked.to_string()),
        FieldValue::Error(error) => {
            if let Some(error) = transcript.error(error) {
                raw(out, key);
                failure(out, error);
            }
        }
    }
}

/// How an attempt or a refresh ended.
fn how(out: &mut Vec<u8>, transcript: &Transcript<'_>, status: Status) {
    match status {
        Status::Ok => raw(out, ",\"status\":\"ok\""),
        Status::Unanswered => raw(out, ",\"status\":\"unanswered\""),
        Status::Failed(error) => {
            raw(out, ",\"status\":\"error\",\"error\":");
            match error.and_then(|id| transcript.error(id)) {
                Some(error) => failure(out, error),
                None => raw(out, "null"),
            }
        }
    }
}

fn failure(out: &mut Vec<u8>, error: &ErrorFacts) {
    let start = out.len();
    text_if(out, ",\"kind\":", error.kind.as_deref());
    text_if(out, ",\"message\":", error.message.as_deref());
    if let Some(status) = error.status {
        number(out, ",\"status\":", status);
    }
    text_if(out, ",\"code\":", error.code.as_deref());
    if let Some(wait) = error.retry_after {
        span(out, ",\"retry_after_ms\":", wait);
    }
    match out.get_mut(start) {
        Some(comma) => *comma = b'{', // the first key has none before it
        None => out.push(b'{'),
    }
    out.push(b'}');
}
