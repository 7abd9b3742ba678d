//! Writes the lines of our own trace format. Reads nothing and pairs nothing.

use std::sync::Arc;

use crate::args_meaning::without_key;
use crate::failure::{Assessment, Failure};
use crate::hash;
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::json;
use crate::origin::{Origins, SourceSpan};
use crate::repeated_calls::RepeatedCalls;
use crate::second_results::{Ends, ResultIs, Said, SecondResults};
use playproof_engine::call::{Recorder, Reply};
use playproof_engine::classify::reads_as_unanswered;
use playproof_engine::event::{Act, Draw, ErrorFacts, Headers, KeyDialect, KindFrom, StatusFrom};
use playproof_engine::time::{Duration, Instant};
use playproof_formats::plain::is_plain;
use playproof_formats::text::escape_json;

/// Writes lines of a trace, one object each.
#[derive(Debug, Default)]
pub(crate) struct TraceWriter {
    bytes: Vec<u8>,
    origins: Origins,
    has_keys: bool,
    repeated: RepeatedCalls,
    /// Of a recognised format, which records one result a call. None: each result without a number is an attempt.
    results: Option<SecondResults>,
}

/// The most bytes that are reserved for lines to come.
const MOST_RESERVED: usize = 128 << 10;

/// A time as our format writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At<'a> {
    /// ISO 8601 text.
    Text(&'a str),
    /// Microseconds since the source's zero.
    Micros(u64),
}

/// A call to write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputCall<'a> {
    pub(crate) run: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) tool: &'a str,
    pub(crate) at: Option<At<'a>>,
    /// JSON text.
    pub(crate) args: Option<&'a str>,
    pub(crate) key: Option<&'a str>,
    /// JSON text.
    pub(crate) evidence: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
    pub(crate) transaction: Option<&'a str>,
    pub(crate) dispatcher: Option<&'a str>,
    /// Of a step: the id of the action's call, and its own name.
    pub(crate) step: Option<(&'a str, &'a str)>,
    /// Microseconds.
    pub(crate) timeout: Option<u64>,
    pub(crate) answer_within: Option<u64>,
    pub(crate) source: &'a str,
    pub(crate) span: SourceSpan,
}

/// What is done with a transaction, to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputAct<'a> {
    pub(crate) act: Act,
    pub(crate) run: Option<&'a str>,
    pub(crate) label: Option<&'a str>,
    pub(crate) at: Option<At<'a>>,
    /// Of a write of state: its name, and its value as JSON text.
    pub(crate) state: Option<(&'a str, &'a str)>,
    pub(crate) source: &'a str,
    pub(crate) span: SourceSpan,
}

/// A result to write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputResult<'a> {
    pub(crate) run: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) attempt: Option<u32>,
    /// Microseconds.
    pub(crate) started: Option<u64>,
    pub(crate) at: Option<At<'a>>,
    /// `refresh`, `reversal` or `late`; none: it answers an attempt.
    pub(crate) answers: Option<&'a str>,
    /// What was answered; none: a success.
    pub(crate) reply: Option<&'a Reply>,
    /// What tells its status; none: the source's own flag.
    pub(crate) status_from: Option<StatusFrom>,
    pub(crate) draw: Option<Draw>,
    /// The text of a result; that of a success is kept beside the lines.
    pub(crate) text: Option<&'a str>,
    /// Distinguishes its source row from other rows.
    pub(crate) row: Option<u32>,
    /// The source is known to repeat its rows.
    pub(crate) repeats: bool,
    pub(crate) source: &'a str,
    pub(crate) span: SourceSpan,
}

impl TraceWriter {
    /// A writer of the lines of a recognised format.
    pub(crate) fn of_format() -> TraceWriter {
        TraceWriter { results: Some(SecondResults::default()), ..TraceWriter::default() }
    }

    /// All lines so far.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes of the lines so far.
    pub(crate) fn written(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the lines so far and their origins, for a caller that streams.
    pub(crate) fn take_imported(&mut self) -> Imported {
        let next = Vec::with_capacity(self.bytes.len().min(MOST_RESERVED));
        let lines = std::mem::replace(&mut self.bytes, next);
        Imported { lines, origins: std::mem::take(&mut self.origins), loss: LossReport::default() }
    }

    /// Reports what the calls so far tell of their source: whether it has idempotency keys, and calls that it repeats.
    pub(crate) fn report(&self, loss: &mut LossReport) {
        if self.has_keys {
            loss.missing.remove(&Missing::Keys);
        }
        loss.warn_of(ImportWarning::RepeatedCall, self.repeated.count, || self.repeated.first.clone());
    }

    pub(crate) fn call(&mut self, call: &OutputCall<'_>) {
        let keyed = call.args.filter(|_| call.key.is_none()).and_then(without_key);
        let (args, key) = match &keyed {
            Some((args, Some(key))) => (Some(args.as_str()), Some(key.as_str())),
            _ => (call.args, call.key), // arguments are shown as they were, also with a key that is none
        };
        self.has_keys |= key.is_some();
        if let (Some(run), Some(id)) = (call.run, call.id) {
            self.repeated.see(run, [id, call.tool, args.unwrap_or_default()], call.source);
        }
        if let (Some(results), Some(id)) = (&mut self.results, call.id) {
            results.call(call.run, id);
        }
        self.origins.push(call.span, call.source);
        let mut object = self.begin("tool_call");
        object.text("run_id", call.run);
        object.text("call_id", call.id);
        object.text("tool", Some(call.tool));
        object.at(call.at, "at_ms");
        object.json("args", args);
        object.text("idempotency_key", key);
        object.json("evidence_refs", call.evidence);
        object.text("reversal_token", call.token);
        object.text("transaction", call.transaction);
        object.text("dispatcher_id", call.dispatcher);
        object.text("parent", call.step.map(|(parent, _)| parent));
        object.text("step", call.step.map(|(_, step)| step));
        object.millis("timeout_ms", call.timeout);
        object.millis("answer_within_ms", call.answer_within);
        object.end(call.source);
    }

    /// Writes a result; false: it is a copy, and is left out.
    pub(crate) fn result(&mut self, result: &OutputResult<'_>) -> bool {
        let of_format = self.results.as_mut().filter(|_| result.attempt.is_none()).zip(result.id);
        let Some((results, id)) = of_format else {
            self.write_result(result);
            return true;
        };
        let late = |attempt, row| OutputResult { answers: Some("late"), attempt: Some(attempt), row, ..*result };
        match results.result(result.run, id, result.said(), result.repeats) {
            ResultIs::Copy => return false,
            ResultIs::Answer => self.write_result(result),
            ResultIs::Late(attempt) => self.write_result(&late(attempt, result.row)),
            ResultIs::Again(attempt, row) => self.write_result(&late(attempt, row)),
        }
        true
    }

    fn write_result(&mut self, result: &OutputResult<'_>) {
        self.origins.push(result.span, result.source);
        if let (None | Some(Reply::Ok), Some(text)) = (result.reply, result.text) {
            self.origins.push_ok(text);
        }
        let mut object = self.begin("tool_result");
        object.text("run_id", result.run);
        object.text("call_id", result.id);
        object.text("answers", result.answers);
        object.number("attempt", result.attempt.map(u64::from));
        object.at(result.started.map(At::Micros), "started_ms");
        object.at(result.at, "at_ms");
        let status = match result.reply {
            None | Some(Reply::Ok) => "ok",
            Some(Reply::Failed(_)) => "error",
            Some(Reply::Suspected(_)) => "suspected",
            Some(Reply::Unfinished(_)) => "unfinished",
        };
        object.text("status", Some(status));
        // A flag is the rule.
        let status_from = result.status_from.filter(|from| *from != StatusFrom::Flag);
        object.text("status_from", status_from.map(StatusFrom::as_str));
        let is_known =
            |error: &&Arc<ErrorFacts>| ***error != ErrorFacts { kind_from: error.kind_from, ..ErrorFacts::default() };
        if let Some(error) = result.reply.and_then(Reply::error).filter(is_known) {
            object.error(error);
        }
        object.raw("draw", result.draw.map(|draw| draw.to_string()));
        object.number("row", result.row.map(u64::from));
        object.end(result.source);
    }

    /// What makes the decisions of the lines after it.
    pub(crate) fn recording(&mut self, recorder: &Recorder) {
        let mut object = self.begin("recording");
        object.text("playbook", Some(&recorder.playbook));
        object.text("fingerprint", Some(&recorder.fingerprint));
        object.number("seed", Some(recorder.seed));
        object.text("keys", recorder.keys.map(KeyDialect::as_str));
        object.end("");
        self.origins.push(SourceSpan::default(), "");
    }

    /// The caller of a call goes away.
    pub(crate) fn cancel(&mut self, run: Option<&str>, id: &str, at: Instant) {
        self.write_cancel(run, id, at.as_micros(), (SourceSpan::default(), ""));
    }

    /// The same at a row of a source, after which an answer comes late. False: the call has its answer, and nothing is written.
    pub(crate) fn goes_away(&mut self, run: Option<&str>, id: &str, at: u64, source: (SourceSpan, &str)) -> bool {
        let said = Said { content: hash::seed(b"cancel"), row: None, at: Some(at), ends: Ends::Unanswered };
        let results = self.results.as_mut();
        let is_open = results.is_none_or(|results| results.result(run, id, said, false) == ResultIs::Answer);
        if is_open {
            self.write_cancel(run, id, at, source);
        }
        is_open
    }

    fn write_cancel(&mut self, run: Option<&str>, id: &str, at: u64, (span, source): (SourceSpan, &str)) {
        self.origins.push(span, source);
        let mut object = self.begin("cancel");
        object.text("run_id", run);
        object.text("call_id", Some(id));
        object.at(Some(At::Micros(at)), "at_ms");
        object.end(source);
    }

    /// A decision about a call; `event` is its line or the event alone, as JSON.
    pub(crate) fn decision(&mut self, run: Option<&str>, id: &str, event: &str) {
        let mut object = self.begin("decision");
        object.text("run_id", run);
        object.text("call_id", Some(id));
        let fields = json::parse(event).ok().and_then(json::object);
        for (key, value) in fields.iter().flat_map(|fields| fields.iter()) {
            if !["type", "run_id", "call_id"].contains(&key) {
                object.foreign_name(key);
                object.value(value.get());
            }
        }
        object.end("");
        self.origins.push(SourceSpan::default(), "");
    }

    /// Writes what is done with a transaction.
    pub(crate) fn act(&mut self, act: &OutputAct<'_>) {
        self.origins.push(act.span, act.source);
        let mut object = self.begin(act.act.as_str());
        object.text("run_id", act.run);
        object.text("transaction", act.label);
        object.at(act.at, "at_ms");
        object.text("name", act.state.map(|(name, _)| name));
        object.json("args", act.state.map(|(_, value)| value));
        object.end(act.source);
    }

    pub(crate) fn run_end(&mut self, run: &str) {
        self.origins.push(SourceSpan::default(), "");
        let mut object = self.begin("run_end");
        object.text("run_id", Some(run));
        object.end("");
    }

    fn begin(&mut self, kind: &str) -> ObjectWriter<'_> {
        self.bytes.push(b'{');
        let mut object = ObjectWriter { bytes: &mut self.bytes, first: true };
        object.text("type", Some(kind));
        object
    }
}

impl OutputResult<'_> {
    /// What it says, for comparison with other results of its call.
    fn said(&self) -> Said {
        let error = self.reply.and_then(Reply::error);
        let is_unanswered = || error.is_some_and(|error| reads_as_unanswered(error));
        let (word, ends) = match self.reply {
            None | Some(Reply::Ok) => ("ok", Ends::Yes),
            Some(Reply::Failed(_)) => ("failed", if is_unanswered() { Ends::Unanswered } else { Ends::Yes }),
            Some(Reply::Suspected(_)) => ("suspected", Ends::Yes),
            Some(Reply::Unfinished(_)) => ("unfinished", Ends::Unfinished),
        };
        let of_error = error.map(|error| [&error.message, &error.code, &error.kind].map(Option::as_deref));
        let texts = [Some(word), self.text].into_iter().chain(of_error.unwrap_or_default());
        let texts = texts.map(Option::unwrap_or_default);
        let content = texts.fold(0, |sum, text| hash::half(hash::bytes(text.as_bytes(), sum)));
        let time = |at| match at {
            At::Text(text) => hash::seed(text.as_bytes()),
            At::Micros(micros) => micros,
        };
        Said { content, row: self.row, at: self.at.map(time), ends }
    }
}

impl Assessment {
    /// What was answered, as our reader gives it.
    pub(crate) fn reply(&self) -> Reply {
        let error = |failure: &Failure| {
            Some(Arc::new(ErrorFacts {
                kind: Some(failure.kind.as_str().into()),
                message: Some(failure.message.as_str().into()),
                status: failure.status,
                code: failure.code.as_deref().map(Into::into),
                retry_after: failure.retry_after_ms.map(Duration::from_millis),
                should_retry: None, // its header says it
                retriable: failure.retriable,
                headers: failure.headers.clone(),
                kind_from: failure.kind_from,
            }))
        };
        match self {
            Assessment::Ok => Reply::Ok,
            Assessment::Failed(failure) => Reply::Failed(error(failure)),
            Assessment::Suspected(failure) => Reply::Suspected(error(failure)),
            Assessment::Unfinished(failure) => Reply::Unfinished(error(failure)),
        }
    }
}

/// An error as an object of our format, which the dispatch protocol shares.
pub fn error_object(error: &ErrorFacts) -> String {
    let mut bytes = Vec::new();
    ObjectWriter { bytes: &mut bytes, first: true }.error_fields(error);
    String::from_utf8_lossy(&bytes).into_owned()
}

struct ObjectWriter<'l> {
    bytes: &'l mut Vec<u8>,
    first: bool,
}

impl ObjectWriter<'_> {
    /// A name of the format: it has no letter to escape.
    fn name(&mut self, name: &'static str) {
        self.bytes.extend_from_slice(if std::mem::take(&mut self.first) { b"\"" } else { b",\"" });
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    fn foreign_name(&mut self, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.bytes.push(b',');
        }
        quote(self.bytes, name);
        self.bytes.push(b':');
    }

    fn text(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.name(name);
            quote(self.bytes, value);
        }
    }

    fn raw(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.name(name);
            self.bytes.extend_from_slice(value.as_bytes());
        }
    }

    fn number(&mut self, name: &'static str, value: Option<u64>) {
        if let Some(value) = value {
            self.name(name);
            self.whole(value);
        }
    }

    fn whole(&mut self, value: u64) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn json(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.name(name);
            self.value(value);
        }
    }

    /// JSON text.
    fn value(&mut self, value: &str) {
        self.bytes.extend_from_slice(escape_json(&json::compact(value)).as_bytes());
    }

    fn at(&mut self, at: Option<At<'_>>, millis_name: &'static str) {
        match at {
            None => {}
            Some(At::Text(text)) => self.text("at", Some(text)),
            Some(At::Micros(micros)) => self.millis(millis_name, Some(micros)),
        }
    }

    /// Microseconds, written as milliseconds.
    fn millis(&mut self, name: &'static str, micros: Option<u64>) {
        if let Some(micros) = micros {
            self.name(name);
            let (millis, rest) = (micros / 1_000, micros % 1_000);
            self.whole(millis);
            if rest > 0 {
                self.bytes.extend_from_slice(format!(".{rest:03}").trim_end_matches('0').as_bytes());
            }
        }
    }

    fn error(&mut self, error: &ErrorFacts) {
        self.name("error");
        ObjectWriter { bytes: self.bytes, first: true }.error_fields(error);
    }

    fn error_fields(self, error: &ErrorFacts) {
        self.bytes.push(b'{');
        let mut inner = self;
        inner.text("kind", error.kind.as_deref());
        inner.text("message", error.message.as_deref());
        inner.number("status", error.status.map(u64::from));
        inner.text("code", error.code.as_deref());
        inner.millis("retry_after_ms", error.retry_after.map(Duration::as_micros));
        inner.text("kind_from", error.kind_from.map(KindFrom::as_str));
        inner.json("should_retry", error.should_retry.map(|should| if should { "true" } else { "false" }));
        inner.json("retriable", error.retriable.map(|may| if may { "true" } else { "false" }));
        if !error.headers.is_empty() {
            inner.headers(&error.headers);
        }
        inner.bytes.push(b'}');
    }

    fn headers(&mut self, headers: &Headers) {
        self.name("headers");
        self.bytes.push(b'{');
        let mut inner = ObjectWriter { bytes: self.bytes, first: true };
        for values in headers.by_name() {
            inner.foreign_name(&values[0].name); // each name has a value
            match values {
                [one] => quote(inner.bytes, &one.value),
                several => {
                    for (n, header) in several.iter().enumerate() {
                        inner.bytes.push(if n == 0 { b'[' } else { b',' });
                        quote(inner.bytes, &header.value);
                    }
                    inner.bytes.push(b']');
                }
            }
        }
        self.bytes.push(b'}');
    }

    fn end(mut self, source: &str) {
        self.text("source", (!source.is_empty()).then_some(source));
        self.bytes.extend_from_slice(b"}\n");
    }
}

/// `text` as a JSON string.
fn quote(bytes: &mut Vec<u8>, text: &str) {
    if is_plain(text.as_bytes()) {
        bytes.push(b'"');
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'"');
        return;
    }
    let quoted = serde_json::to_string(text).unwrap_or_default(); // writing a text cannot fail
    bytes.extend_from_slice(escape_json(&quoted).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::text::is_unsafe_to_print;

    #[test]
    fn every_line_is_one_json_object_whatever_the_texts_hold() {
        let mut lines = TraceWriter::default();
        let nasty = "a\"b\\c\nd\u{1}é\u{2028}\u{e0041}\u{7f}";
        let args = "{ \"a\":\n1, \"\u{202e}\": \"\u{ad}\" }";
        let call = OutputCall { run: Some(nasty), tool: nasty, args: Some(args), ..OutputCall::default() };
        lines.call(&call);
        let error = ErrorFacts { message: Some(nasty.into()), status: Some(409), ..ErrorFacts::default() };
        let (reply, at) = (Reply::Failed(Some(Arc::new(error))), Some(At::Micros(1_500)));
        lines.result(&OutputResult { reply: Some(&reply), at, ..OutputResult::default() });
        lines.run_end(nasty);
        let text = String::from_utf8(lines.into_bytes()).expect("text");
        assert!(!text.contains(|c| c != '\n' && is_unsafe_to_print(c)), "{text:?}");
        let read: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0]["tool"], nasty);
        assert_eq!((&read[0]["args"]["a"], &read[0]["args"]["\u{202e}"]), (&1.into(), &"\u{ad}".into()));
        assert_eq!(read[1]["error"]["message"], nasty);
        assert_eq!(read[1]["at_ms"], 1.5);
    }

    #[test]
    fn an_argument_that_is_the_idempotency_key_becomes_the_key() {
        let call = |args: &str, key: Option<&str>| {
            let mut lines = TraceWriter::default();
            lines.call(&OutputCall { tool: "t", args: Some(args), key, ..OutputCall::default() });
            let line: serde_json::Value = serde_json::from_slice(&lines.into_bytes()).expect("a line");
            format!("{} {}", line["args"], line["idempotency_key"])
        };
        assert_eq!(call(r#"{"a": [1], "idempotency_key": "k", "b": 1.50}"#, None), r#"{"a":[1],"b":1.5} "k""#);
        assert_eq!(call(r#"{"idempotencyKey": 7}"#, None), r#"{} "7""#);
        for kept in
            [r#"{"idempotency_key":null}"#, r#"{"idempotency_key":{"a":1}}"#, r#"{"a":{"idempotency_key":"k"}}"#]
        {
            assert_eq!(call(kept, None), format!("{kept} null"));
        }
        assert_eq!(call(r#"{"idempotency_key":"k"}"#, Some("own")), r#"{"idempotency_key":"k"} "own""#);
    }

    #[test]
    fn a_failure_without_known_details_has_no_error_object() {
        let mut lines = TraceWriter::default();
        for reply in [Reply::Failed(None), Reply::Failed(Some(Arc::default()))] {
            lines.result(&OutputResult { reply: Some(&reply), ..OutputResult::default() });
        }
        let line = "{\"type\":\"tool_result\",\"status\":\"error\"}\n";
        assert_eq!(lines.into_bytes(), [line, line].concat().into_bytes());
    }
}
