//! One value of a golden: made from a simulation, parsed from the golden's text, and written into it.

use std::fmt;

use crate::yaml::scalar;
use playproof_engine::event::{
    AdmissionRefusal, Draw, EffectClaim, FailureClass, FieldKey, FieldValue, OpenReason, OutcomeWord, Provenance,
    RequestKind, ReversalRefusal, Status, StopReason, SuppressionReason, TokensLeft, Transcript,
};
use playproof_engine::time::{Duration, Instant};

/// The value of a key, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoldenValue {
    /// A number, or a count.
    Number(u32),
    /// A flag.
    Flag(bool),
    /// A span of time.
    Span(Duration),
    /// An unknown span of time.
    Unknown,
    /// A draw.
    Draw(Draw),
    /// What a retry budget has left.
    Left(TokensLeft),
    /// One of a closed set of words.
    Word(&'static str),
    /// Why a reversal was refused.
    Refused(ReversalRefusal),
    /// The missing answer.
    Lacks(RequestKind),
    /// A name or a text of the playbook or of the upstream.
    Name(String),
    /// Verdicts or actions, in order.
    Names(Vec<String>),
}

/// Whether a golden writes a field. It omits false flags, times that follow from delta times, what the upstream said, which
/// the fixture has, and an error that the outcome names.
pub(super) fn is_written(field: &(FieldKey, FieldValue)) -> bool {
    let is_implied = matches!(
        field,
        (FieldKey::Evidence, FieldValue::Number(0))
            | (FieldKey::Error | FieldKey::Code | FieldKey::Instead, _)
            | (
                _,
                FieldValue::Flag(false)
                    | FieldValue::Latency(Some(_))
                    | FieldValue::Instant(_)
                    | FieldValue::OptionalSpan(_)
                    | FieldValue::Draw(None)
                    | FieldValue::Left(None)
            )
    );
    !is_implied
}

impl GoldenValue {
    /// The value of a simulation's field.
    pub(super) fn of(value: FieldValue, transcript: &Transcript<'_>) -> GoldenValue {
        let names = transcript.names;
        let name = |name: &str| GoldenValue::Name(name.to_owned());
        match value {
            FieldValue::Number(number) => GoldenValue::Number(number),
            FieldValue::Flag(is_so) => GoldenValue::Flag(is_so),
            FieldValue::Status(Status::Ok) => name("ok"),
            FieldValue::Status(Status::Unanswered) => name("unanswered"),
            FieldValue::Status(Status::Suspected(_)) => name("suspected"),
            FieldValue::Status(Status::Unfinished(_)) => name("unfinished"),
            FieldValue::Status(Status::Failed(error)) => name(transcript.error_kind(error)),
            FieldValue::Latency(None) => GoldenValue::Unknown,
            FieldValue::Latency(Some(span)) | FieldValue::Span(span) => GoldenValue::Span(span),
            // These two are left out where there is nothing.
            FieldValue::OptionalSpan(span) => GoldenValue::Span(span.unwrap_or_default()),
            FieldValue::Draw(draw) => GoldenValue::Draw(draw.unwrap_or(Draw::ZERO)),
            FieldValue::Left(left) => GoldenValue::Left(left.unwrap_or(TokensLeft::from_thousandths(0))),
            FieldValue::Instant(at) => GoldenValue::Span(at.since(Instant::ZERO)),
            FieldValue::Provenance(provenance) => GoldenValue::Word(provenance.as_str()),
            FieldValue::Refused(why) => GoldenValue::Refused(why),
            FieldValue::Word(word) | FieldValue::Code(word) => GoldenValue::Word(word),
            FieldValue::Verdict(verdict) => name(names.verdict(verdict)),
            FieldValue::Rule(rule) => name(names.rule(rule)),
            FieldValue::Queue(queue) => name(names.queue(queue)),
            FieldValue::Reason(reason) => name(names.reason(reason)),
            FieldValue::GivenUp(why) => name(names.deprecated_why(why)),
            FieldValue::Lacks(asked) => GoldenValue::Lacks(asked),
            FieldValue::Call(call) => name(transcript.call(call)),
            FieldValue::Action(action) => name(names.action(action)),
            FieldValue::Step(action, step) => name(names.step(action, step)),
            FieldValue::Server(server) => name(transcript.server(server)),
            FieldValue::Error(error) => name(transcript.error_kind(Some(error))),
        }
    }

    /// Parses the text of a key; none if the text is not a value of the key.
    pub(super) fn read(key: FieldKey, text: &str) -> Option<GoldenValue> {
        let refused = || ReversalRefusal::parse(text).map(GoldenValue::Refused);
        let opened = || OpenReason::parse(text).map(|why| GoldenValue::Word(why.as_str()));
        let turned_away = || AdmissionRefusal::parse(text).map(|why| GoldenValue::Word(why.as_str()));
        match key {
            FieldKey::Attempt | FieldKey::Attempts | FieldKey::Evidence | FieldKey::Place => {
                text.parse().ok().map(GoldenValue::Number)
            }
            FieldKey::OverTimeout | FieldKey::Ignored | FieldKey::ActsAgain => {
                (text == "true").then_some(GoldenValue::Flag(true))
            }
            FieldKey::Delay | FieldKey::Age => Duration::parse_millis(text).map(GoldenValue::Span),
            FieldKey::Latency => (text == "?").then_some(GoldenValue::Unknown),
            FieldKey::Code | FieldKey::Instead => None,
            FieldKey::Due | FieldKey::Told | FieldKey::Error | FieldKey::RetryAfter | FieldKey::Until => None,
            FieldKey::Draw => Draw::parse(text).map(GoldenValue::Draw),
            FieldKey::Left => TokensLeft::parse(text).map(GoldenValue::Left),
            FieldKey::From => Provenance::parse(text).map(|from| GoldenValue::Word(from.as_str())),
            FieldKey::Why => SuppressionReason::parse(text)
                .map(|why| GoldenValue::Word(why.as_str()))
                .or_else(refused)
                .or_else(turned_away)
                .or_else(opened),
            FieldKey::Class => FailureClass::parse(text).map(|class| GoldenValue::Word(class.as_str())),
            FieldKey::Retriable => text.parse().ok().map(GoldenValue::Flag),
            FieldKey::By => (text == "caller").then_some(GoldenValue::Word("caller")),
            FieldKey::Outcome | FieldKey::Ended => {
                OutcomeWord::parse(text).map(|outcome| GoldenValue::Word(outcome.as_str()))
            }
            FieldKey::Stop => StopReason::parse(text).map(|stop| GoldenValue::Word(stop.as_str())),
            FieldKey::Effect => EffectClaim::parse(text).map(|claim| GoldenValue::Word(claim.as_str())),
            FieldKey::Lacks => text.strip_prefix("answer to ").and_then(RequestKind::parse).map(GoldenValue::Lacks),
            key if key.is_list() => Some(GoldenValue::Names(vec![text.to_owned()])),
            FieldKey::Verdicts | FieldKey::Next | FieldKey::Withheld | FieldKey::Completed | FieldKey::Skipped => None,
            FieldKey::Status
            | FieldKey::Verdict
            | FieldKey::Rule
            | FieldKey::Queue
            | FieldKey::Reason
            | FieldKey::Leader
            | FieldKey::Cause
            | FieldKey::Server
            | FieldKey::Action
            | FieldKey::Step
            | FieldKey::LastError
            | FieldKey::FirstError => Some(GoldenValue::Name(text.to_owned())),
        }
    }

    /// The text in the golden. Names of verdicts and rules need no quotes.
    pub(super) fn written(&self, key: FieldKey) -> String {
        match self {
            GoldenValue::Name(name) if !matches!(key, FieldKey::Verdict | FieldKey::Rule) => scalar(name).into_owned(),
            GoldenValue::Names(names) => format!("[{}]", names.join(", ")),
            GoldenValue::Unknown => "'?'".to_owned(),
            said => said.to_string(),
        }
    }
}

impl fmt::Display for GoldenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoldenValue::Number(number) => write!(f, "{number}"),
            GoldenValue::Flag(is_so) => write!(f, "{is_so}"),
            GoldenValue::Span(span) => write!(f, "{span}"),
            GoldenValue::Unknown => f.write_str("?"),
            GoldenValue::Draw(draw) => write!(f, "{draw}"),
            GoldenValue::Left(left) => write!(f, "{left}"),
            GoldenValue::Word(word) => f.write_str(word),
            GoldenValue::Refused(why) => f.write_str(why.as_str()),
            GoldenValue::Lacks(asked) => write!(f, "answer to {asked}"),
            GoldenValue::Name(name) => f.write_str(name),
            GoldenValue::Names(names) => f.write_str(&names.join(", ")),
        }
    }
}
