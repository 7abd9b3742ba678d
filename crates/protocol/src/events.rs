//! Every decision event of a simulation, one object a line. Written in whole fragments rather than key by key:
//! a trace has millions of them.

use std::ops::Range;

use crate::fragment::{digits, millis, number, quote, quoted, raw, span, text, text_if};
use playproof_engine::event::{
    Decision, DecisionEvent, ErrorFacts, FieldKey, FieldValue, Headers, KindFrom, Outcome, Status, Transcript,
};
use playproof_engine::time::Instant;

/// Where lines of events say what the call's own line says again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Under which playbook, and of which call.
    pub head: Range<usize>,
    /// How the call ended.
    pub outcome: Range<usize>,
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

/// Each event as an object without the call that it is about.
pub fn event_objects(transcript: &Transcript<'_>) -> Vec<String> {
    let object = |event| {
        let mut out = Vec::new();
        write_event(&mut out, transcript, event);
        String::from_utf8_lossy(&out).into_owned()
    };
    transcript.events.iter().map(object).collect()
}

/// An error as an object.
pub fn error_object(error: &ErrorFacts) -> String {
    let mut out = Vec::new();
    failure(&mut out, error);
    String::from_utf8_lossy(&out).into_owned()
}

/// An event as an object without the call that it is about.
pub fn write_event(out: &mut Vec<u8>, transcript: &Transcript<'_>, event: &DecisionEvent) {
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
    let mut is_value = true;
    event.what.each_field(
        #[inline(always)]
        |key, said| {
            if !is_value {
                return field(out, transcript, key, said);
            }
            is_value = false;
            raw(out, ",\"event\":");
            raw(out, event.what.kind().as_quoted());
            if key != FieldKey::Outcome {
                raw(out, key.as_json()); // the fields of an outcome follow with their keys
                value(out, transcript, said);
            }
        },
    );
}

/// How a call ended, behind what was written before.
pub fn ended(out: &mut Vec<u8>, transcript: &Transcript<'_>, outcome: &Outcome) {
    outcome.each_field(
        #[inline(always)]
        |key, value| field(out, transcript, key, value),
    );
}

/// A key and its value; what is not so, and an error that is not there, are left out.
#[inline(always)]
fn field(out: &mut Vec<u8>, transcript: &Transcript<'_>, key: FieldKey, said: FieldValue) {
    let is_absent = match said {
        FieldValue::Nothing => true,
        FieldValue::Flag(flag) => !flag,
        FieldValue::Error(error) => transcript.error(error).is_none(),
        _ => false,
    };
    if !is_absent {
        raw(out, key.as_json());
        value(out, transcript, said);
    }
}

#[inline(always)]
fn value(out: &mut Vec<u8>, transcript: &Transcript<'_>, value: FieldValue) {
    match value {
        FieldValue::Nothing | FieldValue::Latency(None) => raw(out, "null"),
        FieldValue::Number(value) => digits(out, value.into()),
        FieldValue::Flag(flag) => raw(out, if flag { "true" } else { "false" }),
        FieldValue::Status(status) => how(out, transcript, status),
        FieldValue::Latency(Some(value)) | FieldValue::Span(value) => millis(out, value.as_micros()),
        FieldValue::Instant(at) => millis(out, at.since(Instant::ZERO).as_micros()),
        FieldValue::Draw(draw) => out.extend_from_slice(draw.to_string().as_bytes()),
        FieldValue::Left(left) => out.extend_from_slice(left.to_string().as_bytes()),
        FieldValue::Word(word) => quoted(out, word),
        FieldValue::Code(code) => raw(out, code),
        FieldValue::Lacks(asked) => quote(out, &asked.to_string()),
        FieldValue::Error(error) => failure_or_null(out, transcript.error(error)),
        FieldValue::Name(name) => quote(out, transcript.name(name)),
    }
}

/// How an attempt or a refresh ended.
fn how(out: &mut Vec<u8>, transcript: &Transcript<'_>, status: Status) {
    quoted(out, status.as_str());
    if let Status::Failed(error) | Status::Suspected(error) | Status::Unfinished(error) = status {
        raw(out, ",\"error\":");
        failure_or_null(out, error.and_then(|id| transcript.error(id)));
    }
}

fn failure_or_null(out: &mut Vec<u8>, error: Option<&ErrorFacts>) {
    match error {
        Some(error) => failure(out, error),
        None => raw(out, "null"),
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
    if let Some(should) = error.should_retry {
        raw(out, if should { ",\"should_retry\":true" } else { ",\"should_retry\":false" });
    }
    if let Some(may) = error.retriable {
        raw(out, if may { ",\"retriable\":true" } else { ",\"retriable\":false" });
    }
    if !error.headers.is_empty() {
        headers(out, &error.headers);
    }
    text_if(out, ",\"kind_from\":", error.kind_from.map(KindFrom::as_str));
    match out.get_mut(start) {
        Some(comma) => *comma = b'{', // the first key has none before it
        None => out.push(b'{'),
    }
    out.push(b'}');
}

fn headers(out: &mut Vec<u8>, headers: &Headers) {
    for (n, values) in headers.by_name().enumerate() {
        raw(out, if n == 0 { ",\"headers\":{" } else { "," });
        for (n, header) in values.iter().enumerate() {
            match n {
                0 => {
                    quote(out, &header.name);
                    raw(out, if values.len() > 1 { ":[" } else { ":" });
                }
                _ => raw(out, ","),
            }
            quote(out, &header.value);
        }
        raw(out, if values.len() > 1 { "]" } else { "" });
    }
    raw(out, "}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_written_with_its_headers_and_what_it_says_of_retrying() {
        let headers = Headers::new([("X-B", "1"), ("retry-after", "a \"few\" s"), ("x-b", "2")]);
        let error = ErrorFacts { status: Some(503), should_retry: Some(false), headers, ..ErrorFacts::default() };
        let expected = r#"{"status":503,"should_retry":false,"headers":{"retry-after":"a \"few\" s","x-b":["1","2"]}}"#;
        assert_eq!(error_object(&error), expected);
        let alone = ErrorFacts { should_retry: None, status: None, ..error };
        assert_eq!(error_object(&alone), expected.replace(r#""status":503,"should_retry":false,"#, ""));
        assert_eq!(error_object(&ErrorFacts::default()), "{}");
    }
}
