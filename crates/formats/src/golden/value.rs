//! One value of a golden as text: made from a simulation, parsed from the golden, and written into it.

use std::borrow::Cow;
use std::fmt;

use crate::yaml::scalar;
use playproof_engine::event::{
    Draw, FieldKey, FieldType, FieldValue, InGoldens, RequestKind, Status, TokensLeft, Transcript,
};
use playproof_engine::time::{Duration, Instant};

/// The value of a key, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoldenValue {
    /// The text of a value, without quotes; equal values have equal texts.
    Text(Cow<'static, str>),
    /// Verdicts or actions, in order.
    Names(Vec<String>),
}

/// An unknown span of time.
const UNKNOWN: &str = "?";

/// Before the name of a missing answer.
const LACKS: &str = "answer to ";

impl GoldenValue {
    /// The value of a simulation's field.
    pub(super) fn new(value: FieldValue, transcript: &Transcript<'_>) -> GoldenValue {
        let error_kind = |error| transcript.error_kind(error).to_owned().into();
        GoldenValue::Text(match value {
            FieldValue::Nothing => "".into(),
            FieldValue::Number(number) => number.to_string().into(),
            FieldValue::Flag(flag) => if flag { "true" } else { "false" }.into(),
            FieldValue::Status(Status::Failed(error)) => error_kind(error),
            FieldValue::Status(status) => status.as_str().into(),
            FieldValue::Latency(None) => UNKNOWN.into(),
            FieldValue::Latency(Some(span)) | FieldValue::Span(span) => span.to_string().into(),
            FieldValue::Instant(at) => at.since(Instant::ZERO).to_string().into(),
            FieldValue::Draw(draw) => draw.to_string().into(),
            FieldValue::Left(left) => left.to_string().into(),
            FieldValue::Word(word) | FieldValue::Code(word) => word.into(),
            FieldValue::Lacks(asked) => return GoldenValue::lacks(asked),
            FieldValue::Error(error) => error_kind(Some(error)),
            FieldValue::Name(name) => transcript.name(name).to_owned().into(),
        })
    }

    /// Parses the text of a key; none if no golden has this text for it.
    pub(super) fn parse(key: FieldKey, text: &str) -> Option<GoldenValue> {
        let one_of = |words: &[&'static str]| words.iter().copied().find(|word| *word == text).map(Cow::from);
        let as_read = || Some(text.to_owned().into());
        let text = match (key.in_goldens(), key.holds()) {
            (InGoldens::Never, _) => None,
            (InGoldens::IfUnknown, _) => one_of(&[UNKNOWN]),
            (InGoldens::IfSet, FieldType::Flag) => one_of(&["true"]),
            (_, FieldType::Flag) => one_of(&["true", "false"]),
            (_, FieldType::Number(_)) => text.parse::<u32>().ok().map(|number| number.to_string().into()),
            (_, FieldType::Millis | FieldType::MillisOrUnknown) => normal(Duration::parse_millis(text)),
            (_, FieldType::Draw) => normal(Draw::parse(text)),
            (_, FieldType::Tokens) => normal(TokensLeft::parse(text)),
            (_, FieldType::Word(words)) => one_of(words),
            (_, FieldType::OpenWord(lists)) => lists.iter().copied().find_map(one_of),
            (_, FieldType::Lacks) => {
                return text.strip_prefix(LACKS).and_then(RequestKind::parse).map(GoldenValue::lacks);
            }
            (_, FieldType::Names) => return Some(GoldenValue::Names(vec![text.to_owned()])),
            (_, FieldType::Status | FieldType::Error | FieldType::Code | FieldType::Name) => as_read(),
        };
        text.map(GoldenValue::Text)
    }

    /// The missing answer.
    pub(super) fn lacks(asked: RequestKind) -> GoldenValue {
        GoldenValue::Text(format!("{LACKS}{asked}").into())
    }

    /// Whether it is this text.
    pub fn is(&self, other: &str) -> bool {
        matches!(self, GoldenValue::Text(text) if text == other)
    }

    /// The text in the golden. Names of verdicts and rules need no quotes.
    pub(super) fn written(&self, key: FieldKey) -> Cow<'_, str> {
        match (self, key.holds()) {
            (GoldenValue::Names(names), _) => format!("[{}]", names.join(", ")).into(),
            (GoldenValue::Text(text), FieldType::MillisOrUnknown) => format!("'{text}'").into(),
            (GoldenValue::Text(text), FieldType::Status | FieldType::Error | FieldType::Name)
                if !matches!(key, FieldKey::Verdict | FieldKey::Rule) =>
            {
                scalar(text)
            }
            (GoldenValue::Text(text), _) => Cow::Borrowed(text),
        }
    }
}

/// The one text of a value.
fn normal(value: Option<impl fmt::Display>) -> Option<Cow<'static, str>> {
    value.map(|value| value.to_string().into())
}

impl fmt::Display for GoldenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoldenValue::Text(text) => f.write_str(text),
            GoldenValue::Names(names) => f.write_str(&names.join(", ")),
        }
    }
}
