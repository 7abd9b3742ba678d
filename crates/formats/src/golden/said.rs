//! One value of a golden: made from what a simulation says, read from the golden's text, and written into it.

use std::fmt;

use crate::yaml::scalar;
use playproof_engine::event::{
    Asked, EffectClaim, Key, OutcomeWord, Provenance, RefusedWhy, Status, StopReason, SuppressedWhy, Transcript,
    TurnedAway, Value,
};
use playproof_engine::time::{Duration, Instant};

/// What stands behind a key, with names instead of a simulation's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A number, or a count.
    Number(u32),
    /// It is so.
    Flag(bool),
    /// A span of time.
    Span(Duration),
    /// A span of time that is not known.
    Unknown,
    /// One of a closed set of words.
    Word(&'static str),
    /// Why a reversal was refused.
    Refused(RefusedWhy),
    /// The answer that a call lacks.
    Lacks(Asked),
    /// A name or a text of the playbook or of the upstream.
    Name(String),
    /// Verdicts, in order.
    Names(Vec<String>),
}

/// What a golden says and what it leaves to be understood: that something is not so, and times that delta times tell.
pub(super) fn is_written(field: &(Key, Value)) -> bool {
    let is_understood = matches!(
        field,
        (Key::Evidence, Value::Number(0)) | (_, Value::Flag(false) | Value::Latency(Some(_)) | Value::Instant(_))
    );
    !is_understood
}

impl Said {
    /// What a simulation says.
    pub(super) fn of(value: Value, transcript: &Transcript<'_>) -> Said {
        let names = transcript.names;
        let name = |name: &str| Said::Name(name.to_owned());
        match value {
            Value::Number(number) => Said::Number(number),
            Value::Flag(is_so) => Said::Flag(is_so),
            Value::Status(Status::Ok) => name("ok"),
            Value::Status(Status::Unanswered) => name("unanswered"),
            Value::Status(Status::Failed(error)) => name(transcript.error_kind(error)),
            Value::Latency(None) => Said::Unknown,
            Value::Latency(Some(span)) | Value::Span(span) => Said::Span(span),
            Value::Instant(at) => Said::Span(at.since(Instant::ZERO)),
            Value::Provenance(provenance) => Said::Word(provenance.as_str()),
            Value::Refused(why) => Said::Refused(why),
            Value::Word(word) => Said::Word(word),
            Value::Verdict(verdict) => name(names.verdict(verdict)),
            Value::Rule(rule) => name(names.rule(rule)),
            Value::Queue(queue) => name(names.queue(queue)),
            Value::Reason(reason) => name(names.reason(reason)),
            Value::GivenUp(why) => name(names.deprecated_why(why)),
            Value::Lacks(asked) => Said::Lacks(asked),
            Value::Error(error) => name(transcript.error_kind(Some(error))),
        }
    }

    /// What the text behind a key says; none if no golden says that there.
    pub(super) fn read(key: Key, text: &str) -> Option<Said> {
        let refused = || RefusedWhy::parse(text).map(Said::Refused);
        let turned_away = || TurnedAway::parse(text).map(|why| Said::Word(why.as_str()));
        match key {
            Key::Attempt | Key::Attempts | Key::Evidence => text.parse().ok().map(Said::Number),
            Key::OverTimeout | Key::Ignored => (text == "true").then_some(Said::Flag(true)),
            Key::Delay => millis(text).map(Said::Span),
            Key::Latency => (text == "?").then_some(Said::Unknown),
            Key::Due => None,
            Key::From => Provenance::parse(text).map(|from| Said::Word(from.as_str())),
            Key::Why => {
                SuppressedWhy::parse(text).map(|why| Said::Word(why.as_str())).or_else(refused).or_else(turned_away)
            }
            Key::Outcome => OutcomeWord::parse(text).map(|outcome| Said::Word(outcome.as_str())),
            Key::Stop => StopReason::parse(text).map(|stop| Said::Word(stop.as_str())),
            Key::Effect => EffectClaim::parse(text).map(|claim| Said::Word(claim.as_str())),
            Key::Lacks => text.strip_prefix("answer to ").and_then(Asked::parse).map(Said::Lacks),
            Key::Verdicts => Some(Said::Names(vec![text.to_owned()])),
            Key::Status | Key::Verdict | Key::Rule | Key::Queue | Key::Reason | Key::LastError | Key::FirstError => {
                Some(Said::Name(text.to_owned()))
            }
        }
    }

    /// As the golden's text has it behind a key. Verdicts and rules have names that need no quotes.
    pub(super) fn written(&self, key: Key) -> String {
        match self {
            Said::Name(name) if !matches!(key, Key::Verdict | Key::Rule) => scalar(name).into_owned(),
            Said::Names(names) => format!("[{}]", names.join(", ")),
            Said::Unknown => "'?'".to_owned(),
            said => said.to_string(),
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Number(number) => write!(f, "{number}"),
            Said::Flag(is_so) => write!(f, "{is_so}"),
            Said::Span(span) => write!(f, "{span}"),
            Said::Unknown => f.write_str("?"),
            Said::Word(word) => f.write_str(word),
            Said::Refused(why) => f.write_str(why.as_str()),
            Said::Lacks(asked) => write!(f, "answer to {asked}"),
            Said::Name(name) => f.write_str(name),
            Said::Names(names) => f.write_str(&names.join(", ")),
        }
    }
}

/// Milliseconds with up to three decimals.
pub(super) fn millis(text: &str) -> Option<Duration> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let micros: u64 = format!("{decimals:0<3}").parse().ok()?;
    Some(Duration::from_millis(whole.parse().ok()?).plus(Duration::from_micros(micros)))
}
