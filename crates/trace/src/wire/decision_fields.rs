//! What the fields of a recorded decision may hold. Reads one value at a time.

use crate::number::Decimal;
use crate::wire::lower::DRAW_VALUE;
use playproof_engine::event::{Draw, EffectClaim, EventKind, FieldKey, OutcomeWord, Provenance};

/// How an attempt or a refresh can end, as decisions say it.
const STATUSES: [&str; 5] = ["ok", "error", "suspected", "unfinished", "unanswered"];

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldShape {
    /// A whole number from this one.
    Number(u32),
    /// A span or a time in milliseconds.
    Millis,
    /// The same, or `null`.
    OptionalMillis,
    /// Tokens of a budget.
    Tokens,
    /// A code of JSON-RPC.
    Code,
    List,
    /// A number from 0 to 1.
    Draw,
    Flag,
    Text,
    /// A JSON object, or `null`.
    Object,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl FieldShape {
    /// What the field of a decision may hold.
    pub(super) const fn of(key: FieldKey) -> FieldShape {
        match key {
            FieldKey::Attempt | FieldKey::Place => FieldShape::Number(1),
            FieldKey::Attempts | FieldKey::Evidence => FieldShape::Number(0),
            FieldKey::Delay
            | FieldKey::Due
            | FieldKey::Told
            | FieldKey::Age
            | FieldKey::RetryAfter
            | FieldKey::Until => FieldShape::Millis,
            FieldKey::Latency => FieldShape::OptionalMillis,
            FieldKey::Draw => FieldShape::Draw,
            FieldKey::OverTimeout | FieldKey::Ignored | FieldKey::ActsAgain | FieldKey::Retriable => FieldShape::Flag,
            FieldKey::Status => FieldShape::Word(&STATUSES),
            FieldKey::From => FieldShape::Word(&Provenance::WORDS),
            FieldKey::Outcome | FieldKey::Ended => FieldShape::Word(&OutcomeWord::WORDS),
            FieldKey::Effect => FieldShape::Word(&EffectClaim::WORDS),
            FieldKey::Error | FieldKey::LastError | FieldKey::FirstError => FieldShape::Object,
            FieldKey::Verdict
            | FieldKey::Rule
            | FieldKey::Why
            | FieldKey::Queue
            | FieldKey::Reason
            | FieldKey::Stop
            | FieldKey::Lacks
            | FieldKey::Leader
            | FieldKey::By
            | FieldKey::Cause
            | FieldKey::Instead
            | FieldKey::Server
            | FieldKey::Action
            | FieldKey::Step
            | FieldKey::Class => FieldShape::Text,
            FieldKey::Left => FieldShape::Tokens,
            FieldKey::Code => FieldShape::Code,
            FieldKey::Verdicts | FieldKey::Next | FieldKey::Withheld | FieldKey::Completed | FieldKey::Skipped => {
                FieldShape::List
            }
        }
    }

    /// Whether it may hold this JSON value.
    pub(super) fn fits(self, raw: &str) -> bool {
        let number = || Decimal::parse(raw).filter(|number| number.scaled(3).is_some());
        let millis = || number().is_some_and(|number| !number.negative);
        match self {
            FieldShape::Number(least) => {
                Decimal::parse(raw).and_then(|number| number.small()).is_some_and(|number| number >= least.into())
            }
            FieldShape::Millis | FieldShape::Tokens => millis(),
            FieldShape::OptionalMillis => raw == "null" || millis(),
            FieldShape::Draw => Draw::parse(raw).is_some(),
            FieldShape::Flag => matches!(raw, "true" | "false"),
            FieldShape::Text => raw.starts_with('"'),
            FieldShape::Object => raw == "null" || raw.starts_with('{'),
            FieldShape::Word(words) => words.iter().any(|word| is_word(raw, word)),
            FieldShape::Code => Decimal::parse(raw).is_some(),
            FieldShape::List => raw.starts_with('['),
        }
    }

    /// The words of which it holds one; empty if it holds something else.
    pub(super) const fn words(self) -> &'static [&'static str] {
        match self {
            FieldShape::Word(words) => words,
            _ => &[],
        }
    }

    /// What it must hold, in words.
    pub(super) fn expected(self) -> String {
        match self {
            FieldShape::Number(least) => format!("a number from {least}"),
            FieldShape::Millis => "a number of milliseconds from 0".to_owned(),
            FieldShape::OptionalMillis => "a number of milliseconds from 0, or `null`".to_owned(),
            FieldShape::Draw => DRAW_VALUE.to_owned(),
            FieldShape::Flag => "`true` or `false`".to_owned(),
            FieldShape::Text => "a text".to_owned(),
            FieldShape::Object => "an object or `null`".to_owned(),
            FieldShape::Word(words) => format!("one of {}", words.join(", ")),
            FieldShape::Tokens => "a number from 0".to_owned(),
            FieldShape::Code => "a number".to_owned(),
            FieldShape::List => "a list".to_owned(),
        }
    }
}

/// Whether a JSON value is this word as a text.
pub(super) fn is_word(raw: &str, word: &str) -> bool {
    raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) == Some(word)
}

/// The key that a decision of this kind cannot lack; of a cancelled call, nothing else is said.
pub(super) const fn required(kind: EventKind) -> Option<FieldKey> {
    match kind {
        EventKind::Outcome => Some(FieldKey::Outcome),
        EventKind::Cancelled => None,
        kind => Some(kind.keys().0),
    }
}
