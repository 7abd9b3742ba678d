//! What one line of a trace can say, and what can be wrong with it. Reads nothing.

use std::borrow::Cow;
use std::ops::Range;

use playproof_engine::call::RecordedAnswer;
use playproof_engine::time::{Duration, Instant};

/// Whether a field of this name speaks for a line of a trace: `source` and `row` are words of many logs.
pub fn is_field(name: &str) -> bool {
    super::names::NAMES.contains(&name) && !["source", "row"].contains(&name)
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A call.
    Call(CallLine<'a>),
    /// An answer to an earlier call.
    Answer(AnswerLine<'a>),
    /// A call and its answer.
    Both(CallLine<'a>, RecordedAnswer),
    /// The end of a run.
    RunEnd(Option<Cow<'a, str>>),
    /// A line of a type that this version does not know.
    Other,
}

/// A line and what was ignored in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// What it says.
    pub line: Line<'a>,
    /// Fields that nobody knows.
    pub unknown_fields: u32,
}

/// Is told what lines say, one thing a line. What a line says is large: so it is handed on where it is made, for a
/// trace has millions of lines.
pub trait Listener<'a> {
    /// A call, with its answer where the line has one.
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>);
    /// An answer to an earlier call.
    fn answer(&mut self, answer: AnswerLine<'a>);
    /// The end of a run.
    fn run_end(&mut self, run: Option<Cow<'a, str>>);
    /// A line of a type that this version does not know.
    fn other(&mut self);
}

/// Keeps what the latest line said.
impl<'a> Listener<'a> for Option<Line<'a>> {
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>) {
        *self = Some(match answer {
            Some(answer) => Line::Both(call, answer),
            None => Line::Call(call),
        });
    }

    fn answer(&mut self, answer: AnswerLine<'a>) {
        *self = Some(Line::Answer(answer));
    }

    fn run_end(&mut self, run: Option<Cow<'a, str>>) {
        *self = Some(Line::RunEnd(run));
    }

    fn other(&mut self) {
        *self = Some(Line::Other);
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
    /// What came.
    pub answer: RecordedAnswer,
}

/// What is wrong with a line, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// A stable id.
    pub id: &'static str,
    /// What is wrong, in our own words: it quotes nothing of the line.
    pub message: String,
    /// Bytes of the line.
    pub span: Range<usize>,
    /// What is to be said of the place.
    pub label: &'static str,
    /// What to do, where there is more to say than "mend or skip the line".
    pub help: Option<String>,
    /// What else the line is, if no line before it is one of a trace.
    pub foreign: Option<OtherJson>,
}

/// JSON that is no line of a trace at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherJson {
    /// An object with other fields.
    Row,
    /// A document, or the beginning of one.
    Document,
}
