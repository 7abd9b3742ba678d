//! The possible contents and errors of one line of a trace. Reads nothing.

use std::borrow::Cow;
use std::ops::Range;

use playproof_engine::call::{RecordedAnswer, Recorder};
use playproof_engine::event::Act;
use playproof_engine::time::{Duration, Instant};

/// Whether this field name suggests a line of a trace. `source` and `row` do not: many logs have them.
pub fn is_field(name: &str) -> bool {
    super::names::NAMES.contains(&name) && !["source", "row", "parent", "step", "transaction"].contains(&name)
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceLine<'a> {
    /// A call.
    Call(CallLine<'a>),
    /// An answer to an earlier call.
    Answer(AnswerLine<'a>),
    /// A call and its answer.
    Both(CallLine<'a>, RecordedAnswer),
    /// The end of a run.
    RunEnd(Option<Cow<'a, str>>),
    /// The death of the dispatcher of a run, or of all runs, and when.
    Crash(Option<Cow<'a, str>>, Option<Instant>),
    /// What a program does with a transaction: its run, its label, and what.
    Act(Option<Cow<'a, str>>, Option<Cow<'a, str>>, Act),
    /// What a dispatcher did with an earlier call.
    Dispatch(DispatchLine<'a>),
    /// What makes the decisions of the lines after it.
    Recording(Recorder),
    /// A line of a type that this version does not know.
    Other,
}

/// A line, and how much of it was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedLine<'a> {
    /// Its content.
    pub line: TraceLine<'a>,
    /// Unknown fields.
    pub unknown_fields: u32,
}

/// Receives the content of lines, one call of a method a line. Contents are large and traces have millions of lines, so they
/// are passed on where they are made instead of being returned.
pub trait Listener<'a> {
    /// A call, with its answer where the line has one.
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>);
    /// An answer to an earlier call.
    fn answer(&mut self, answer: AnswerLine<'a>);
    /// The end of a run.
    fn run_end(&mut self, run: Option<Cow<'a, str>>);
    /// What a program does with a transaction.
    fn act(&mut self, run: Option<Cow<'a, str>>, label: Option<Cow<'a, str>>, act: Act);
    /// The death of the dispatcher of a run, or of all runs.
    fn crash(&mut self, run: Option<Cow<'a, str>>, at: Option<Instant>);
    /// What a dispatcher did with an earlier call.
    fn dispatch(&mut self, line: DispatchLine<'a>);
    /// What makes the decisions of the lines after it.
    fn recording(&mut self, recorder: Recorder);
    /// A line of a type that this version does not know.
    fn other(&mut self);
}

/// Keeps the content of the latest line.
impl<'a> Listener<'a> for Option<TraceLine<'a>> {
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>) {
        *self = Some(match answer {
            Some(answer) => TraceLine::Both(call, answer),
            None => TraceLine::Call(call),
        });
    }

    fn answer(&mut self, answer: AnswerLine<'a>) {
        *self = Some(TraceLine::Answer(answer));
    }

    fn run_end(&mut self, run: Option<Cow<'a, str>>) {
        *self = Some(TraceLine::RunEnd(run));
    }

    fn act(&mut self, run: Option<Cow<'a, str>>, label: Option<Cow<'a, str>>, act: Act) {
        *self = Some(TraceLine::Act(run, label, act));
    }

    fn crash(&mut self, run: Option<Cow<'a, str>>, at: Option<Instant>) {
        *self = Some(TraceLine::Crash(run, at));
    }

    fn dispatch(&mut self, line: DispatchLine<'a>) {
        *self = Some(TraceLine::Dispatch(line));
    }

    fn recording(&mut self, recorder: Recorder) {
        *self = Some(TraceLine::Recording(recorder));
    }

    fn other(&mut self) {
        *self = Some(TraceLine::Other);
    }
}

/// The call of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLine<'a> {
    /// `run_id`.
    pub run: Option<Cow<'a, str>>,
    /// `call_id`.
    pub id: Option<Cow<'a, str>>,
    /// `tool`.
    pub tool: Cow<'a, str>,
    /// `at_ms` or `at`.
    pub at: Option<Instant>,
    /// `timeout_ms`.
    pub timeout: Option<Duration>,
    /// `answer_within_ms`.
    pub answer_within: Option<Duration>,
    /// `args`, as JSON text.
    pub args: Option<&'a str>,
    /// The hash of `args` by meaning.
    pub args_hash: u128,
    /// `idempotency_key`.
    pub key: Option<Cow<'a, str>>,
    /// `evidence_refs`, as JSON text.
    pub evidence: Option<&'a str>,
    /// `reversal_token`.
    pub token: Option<Cow<'a, str>>,
    /// `dispatcher_id`.
    pub dispatcher: Option<Cow<'a, str>>,
    /// `parent` and `step`.
    pub step: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// `transaction`.
    pub transaction: Option<Cow<'a, str>>,
}

/// The answer of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerLine<'a> {
    /// `run_id`.
    pub run: Option<Cow<'a, str>>,
    /// `call_id`.
    pub id: Option<Cow<'a, str>>,
    /// `tool`.
    pub tool: Option<Cow<'a, str>>,
    /// The answer itself.
    pub answer: RecordedAnswer,
}

/// What a line says of a dispatcher and a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchLine<'a> {
    /// `run_id`.
    pub run: Option<Cow<'a, str>>,
    /// `call_id`.
    pub id: Cow<'a, str>,
    /// `at_ms` or `at`.
    pub at: Instant,
    /// What it did.
    pub what: DispatchWhat,
    /// The line.
    pub text: &'a str,
    /// The bytes of the line with its `call_id`.
    pub id_span: Range<usize>,
    /// Those with its time.
    pub at_span: Range<usize>,
}

/// What a dispatcher did with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchWhat {
    /// It heard that the caller went away.
    Cancelled,
    /// It decided what the line says.
    Decided,
    /// The same, and an attempt was sent.
    Sent,
    /// The same, and the call ended.
    Ended,
}

/// What is wrong with a line, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// A stable id.
    pub id: &'static str,
    /// What is wrong. It quotes nothing of the line.
    pub message: String,
    /// The bytes of the line that are wrong.
    pub span: Range<usize>,
    /// The text under the marked bytes.
    pub label: &'static str,
    /// How to fix it, where that is more than "fix or skip the line".
    pub help: Option<String>,
    /// What the line is instead, if no line before it is a line of a trace.
    pub foreign: Option<NonTrace>,
}

/// What a line is that is no line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonTrace {
    /// An object with other fields.
    Row,
    /// A document, or the beginning of one.
    Document,
    /// No JSON at all.
    Text,
}
