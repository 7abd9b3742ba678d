//! Writes the lines of our own trace format. Reads nothing and pairs nothing.

use std::borrow::Cow;
use std::sync::Arc;

use crate::args_meaning::without_key;
use crate::failure::{Assessment, Failure};
use crate::hash;
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::json;
use crate::ok_texts;
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

/// Arguments as a line of a trace has them.
#[derive(Clone, Debug)]
pub(crate) struct WrittenArgs {
    json: String,
    /// The idempotency key among them.
    key: Option<String>,
    /// The hash of the tool and of what is asked of it.
    asks: u64,
}

impl WrittenArgs {
    /// The arguments of a call of `tool`, as JSON text. Of a call that `has_key`, none of them is its key.
    pub(crate) fn of(args: &str, tool: &str, has_key: bool) -> WrittenArgs {
        // Arguments are shown as they were, also with a key that is none.
        let keyed = if has_key { None } else { without_key(args) };
        let (args, key) = match keyed {
            Some((args, Some(key))) => (Cow::Owned(args), Some(key)),
            _ => (Cow::Borrowed(args), None),
        };
        let asks = hash::of_request(tool, &args);
        WrittenArgs { json: escape_json(&json::compact(&args)).into_owned(), key, asks }
    }
}

/// What a result says, whichever call it answers.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) status_from: StatusFrom,
    /// The hash of all that it says.
    content: u64,
    /// The beginning of the text of a success, which is kept beside the lines.
    ok_text: Option<Box<str>>,
}

impl Answer {
    /// What is said of a result with this text; `flagged`: the source has a flag for failures.
    pub(crate) fn of(said: &Assessment, flagged: bool, text: Option<&str>) -> Answer {
        let reply = said.reply();
        let word = match &reply {
            Reply::Ok => "ok",
            Reply::Failed(_) => "failed",
            Reply::Suspected(_) => "suspected",
            Reply::Unfinished(_) => "unfinished",
        };
        let of_error = reply.error().map(|error| [&error.message, &error.code, &error.kind].map(Option::as_deref));
        let texts = [Some(word), text].into_iter().chain(of_error.unwrap_or_default());
        let texts = texts.map(Option::unwrap_or_default);
        let content = texts.fold(0, |sum, text| hash::half(hash::bytes(text.as_bytes(), sum)));
        let ok_text = text.filter(|_| matches!(reply, Reply::Ok)).map(|text| ok_texts::cut(text).into());
        Answer { status_from: said.evidence(flagged), content, ok_text, reply }
    }

    /// Whether what was asked for has ended with it.
    fn ends(&self) -> Ends {
        match &self.reply {
            Reply::Failed(Some(error)) if reads_as_unanswered(error) => Ends::Unanswered,
            Reply::Unfinished(_) => Ends::Unfinished,
            Reply::Ok | Reply::Failed(_) | Reply::Suspected(_) => Ends::Yes,
        }
    }
}

/// A call to write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputCall<'a> {
    pub(crate) run: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) tool: &'a str,
    pub(crate) at: Option<At<'a>>,
    pub(crate) args: Option<&'a WrittenArgs>,
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
    /// What a result of a foreign source says, in place of `reply` and `status_from`.
    pub(crate) answer: Option<&'a Answer>,
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
        let key = call.key.or(call.args.and_then(|args| args.key.as_deref()));
        self.has_keys |= key.is_some();
        if let (Some(run), Some(id)) = (call.run, call.id) {
            let asks = call.args.map_or_else(|| hash::seed(call.tool.as_bytes()), |args| args.asks);
            self.repeated.see(run, id, asks, call.source);
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
        object.written("args", call.args.map(|args| args.json.as_str()));
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
        let of_format = self.results.as_mut().filter(|_| result.attempt.is_none()).zip(result.id).zip(result.said());
        let Some(((results, id), said)) = of_format else {
            self.write_result(result);
            return true;
        };
        let late = |attempt, row| OutputResult { answers: Some("late"), attempt: Some(attempt), row, ..*result };
        match results.result(result.run, id, said, result.repeats) {
            ResultIs::Copy => return false,
            ResultIs::Answer => self.write_result(result),
            ResultIs::Late(attempt) => self.write_result(&late(attempt, result.row)),
            ResultIs::Again(attempt, row) => self.write_result(&late(attempt, row)),
        }
        true
    }

    fn write_result(&mut self, result: &OutputResult<'_>) {
        self.origins.push(result.span, result.source);
        if let Some(text) = result.answer.and_then(|answer| answer.ok_text.as_deref()) {
            self.origins.push_ok(text);
        }
        let mut object = self.begin("tool_result");
        object.text("run_id", result.run);
        object.text("call_id", result.id);
        object.text("answers", result.answers);
        object.number("attempt", result.attempt.map(u64::from));
        object.at(result.started.map(At::Micros), "started_ms");
        object.at(result.at, "at_ms");
        let reply = result.reply.or(result.answer.map(|answer| &answer.reply));
        let status = match reply {
            None | Some(Reply::Ok) => "ok",
            Some(Reply::Failed(_)) => "error",
            Some(Reply::Suspected(_)) => "suspected",
            Some(Reply::Unfinished(_)) => "unfinished",
        };
        object.text("status", Some(status));
        // A flag is the rule.
        let status_from = result.status_from.or(result.answer.map(|answer| answer.status_from));
        let status_from = status_from.filter(|from| *from != StatusFrom::Flag);
        object.text("status_from", status_from.map(StatusFrom::as_str));
        let is_known =
            |error: &&Arc<ErrorFacts>| ***error != ErrorFacts { kind_from: error.kind_from, ..ErrorFacts::default() };
        if let Some(error) = reply.and_then(Reply::error).filter(is_known) {
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
    fn said(&self) -> Option<Said> {
        let time = |at| match at {
            At::Text(text) => hash::seed(text.as_bytes()),
            At::Micros(micros) => micros,
        };
        let answer = self.answer?;
        Some(Said { content: answer.content, row: self.row, at: self.at.map(time), ends: answer.ends() })
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

    fn written(&mut self, name: &'static str, json: Option<&str>) {
        if let Some(json) = json {
            self.name(name);
            self.bytes.extend_from_slice(json.as_bytes());
        }
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
        let args = WrittenArgs::of(args, nasty, false);
        let call = OutputCall { run: Some(nasty), tool: nasty, args: Some(&args), ..OutputCall::default() };
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
            let args = WrittenArgs::of(args, "t", key.is_some());
            lines.call(&OutputCall { tool: "t", args: Some(&args), key, ..OutputCall::default() });
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
