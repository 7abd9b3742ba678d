//! Lines that say what a dispatcher did, and which playbook it had. The table of fields says what their values may be.

use serde_json::value::RawValue;

use crate::json::Fields;
use crate::number::Decimal;
use crate::wire::fields::FieldSlices;
use crate::wire::line::{DispatchLine, DispatchWhat, LineError};
use crate::wire::lower::{DRAW_VALUE, LineResult, Lowering};
use crate::wire::names::{ANSWERS, AT, AT_MS, ID, LINE_FIELDS, RUN};
use playproof_engine::call::Recorder;
use playproof_engine::event::{Draw, EventKind, FieldKey, FieldType, KeyDialect, Status};
use playproof_formats::diagnostic::did_you_mean;

#[derive(serde::Deserialize)]
struct RecordingFields<'r> {
    #[serde(borrow)]
    playbook: Option<&'r RawValue>,
    #[serde(borrow)]
    fingerprint: Option<&'r RawValue>,
    #[serde(borrow)]
    seed: Option<&'r RawValue>,
    #[serde(borrow)]
    keys: Option<&'r RawValue>,
}

/// The digits of a fingerprint.
const FINGERPRINT: usize = 64;

impl<'a> Lowering<'a> {
    /// What a line says that a dispatcher decided.
    #[cold]
    pub(super) fn decision_line(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<DispatchLine<'a>> {
        let what = match self.event()? {
            EventKind::Outcome => DispatchWhat::Ended,
            EventKind::AttemptStarted => DispatchWhat::Sent,
            _ => DispatchWhat::Decided,
        };
        self.dispatch_line(fields, what)
    }

    /// What a line says of a dispatcher and a call.
    #[cold]
    pub(super) fn dispatch_line(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        what: DispatchWhat,
    ) -> LineResult<DispatchLine<'a>> {
        let lacks = |message: &str| Err(self.error("missing_field", self.whole(), message, "it is not here"));
        let Some(id) = self.label(fields, ID)? else {
            return lacks("a `cancel` or a `decision` needs a `call_id`: the call that it is about");
        };
        let Some(at) = self.time(fields)? else {
            return lacks("a `cancel` or a `decision` needs a time: `at_ms` or `at`");
        };
        let span = |field: Option<&str>| field.map_or_else(|| self.whole(), |raw| self.span(raw));
        let id_span = span(fields.field(ID));
        let at_span = span(fields.field(AT_MS).or(fields.field(AT)));
        Ok(DispatchLine { run: self.label(fields, RUN)?, id, at, what, text: self.line, id_span, at_span })
    }

    /// What is wrong with a late answer to no attempt.
    #[cold]
    pub(super) fn late_without_attempt(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> Box<LineError> {
        let message = "a `late` answer needs an `attempt`: the one that it came too late for";
        let span = fields.field(ANSWERS).map_or_else(|| self.whole(), |raw| self.span(raw));
        self.error("missing_field", span, message, "late for an attempt without a number")
    }

    /// The event of a line with a decision, whose fields are checked.
    #[cold]
    fn event(self) -> LineResult<EventKind> {
        let fields: Fields<'a> = serde_json::from_str(self.line).map_err(|error| self.no_object(&error))?;
        let lacks = |message: String| Err(self.error("missing_field", self.whole(), message, "it is not here"));
        let mut names: Vec<&str> = Vec::new();
        for (name, value) in fields.iter() {
            if names.contains(&name) {
                return Err(self.twice(name, value.get()));
            }
            names.push(name);
        }
        let Some(raw) = fields.get("event").map(|event| event.get()) else {
            return lacks("a `decision` needs an `event`: what was decided".to_owned());
        };
        let kind = |raw: &str| EventKind::ALL.iter().copied().find(|kind| is_word(raw, kind.as_str()));
        let Some(event) = kind(raw) else {
            let message = "the `event` of a `decision` is none of the dispatcher's";
            return Err(self.no_word(raw, &EventKind::WORDS, message, "no such event"));
        };
        for (name, value) in fields.iter() {
            let Some(key) = FieldKey::ALL.iter().find(|key| key.as_str() == name) else { continue };
            let (holds, raw) = (key.holds(), value.get());
            if !fits(holds, raw) {
                let expected = expected(holds);
                let message = format!("the `{name}` of a `decision` must be {expected}");
                return Err(match holds {
                    FieldType::Word(words) => self.no_word(raw, words, message, "none of them"),
                    FieldType::Status => self.no_word(raw, &Status::WORDS, message, "none of them"),
                    _ => self.wrong_type(raw, name, &expected),
                });
            }
        }
        match required(event).filter(|key| fields.get(key.as_str()).is_none()) {
            None => Ok(event),
            Some(key) => lacks(format!("a decision `{}` needs `{}`", event.as_str(), key.as_str())),
        }
    }

    /// What a `recording` line says made the decisions.
    #[cold]
    pub(super) fn recorder(self) -> LineResult<Recorder> {
        let fields: RecordingFields<'a> = serde_json::from_str(self.line).map_err(|error| self.no_object(&error))?;
        let raw = |name: &str, field: Option<&'a RawValue>| {
            let message = format!("a `recording` needs a `{name}`: it says what made the decisions of the trace");
            field.map(RawValue::get).ok_or_else(|| self.error("missing_field", self.whole(), message, "it is not here"))
        };
        let playbook = raw("playbook", fields.playbook)?;
        let name = serde_json::from_str::<Box<str>>(playbook).ok().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| self.wrong_type(playbook, "playbook", "the name of a playbook"))?;
        let digits = raw("fingerprint", fields.fingerprint)?;
        let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        let of_playbook = |digits: &str| digits.len() == FINGERPRINT && digits.bytes().all(is_digit);
        let fingerprint = serde_json::from_str::<Box<str>>(digits).ok().filter(|digits| of_playbook(digits));
        let expected = "the fingerprint of a playbook: 64 digits from 0 to f";
        let fingerprint = fingerprint.ok_or_else(|| self.wrong_type(digits, "fingerprint", expected))?;
        let seed = raw("seed", fields.seed)?;
        let expected = "a whole number from 0 to 18446744073709551615";
        let seed = seed.parse::<u64>().map_err(|_| self.wrong_type(seed, "seed", expected))?;
        let keys = match fields.keys.map(RawValue::get) {
            None => None,
            Some(raw) => {
                let dialect = KeyDialect::ALL.iter().copied().find(|dialect| is_word(raw, dialect.as_str()));
                let message = "the `keys` of a `recording` must be the key dialect of a simulated upstream";
                Some(dialect.ok_or_else(|| self.no_word(raw, &KeyDialect::WORDS, message, "no such key dialect"))?)
            }
        };
        Ok(Recorder { playbook: name, fingerprint, seed, keys })
    }

    /// The error for a value that is none of `words`.
    fn no_word(self, raw: &str, words: &[&str], message: impl Into<String>, label: &'static str) -> Box<LineError> {
        let mut error = self.error("unknown_value", self.span(raw), message, label);
        let near = did_you_mean(raw.trim_matches('"'), words.iter().copied());
        error.help = near.map(|near| format!("did you mean `{near}`?"));
        error
    }
}

/// The key that a decision of this kind cannot lack; of a cancelled call, nothing else is said.
const fn required(kind: EventKind) -> Option<FieldKey> {
    match kind {
        EventKind::Cancelled => None,
        kind => Some(kind.value_key()),
    }
}

/// Whether a field may hold this JSON value.
fn fits(holds: FieldType, raw: &str) -> bool {
    let number = || Decimal::parse(raw).filter(|number| number.scaled(3).is_some());
    let is_positive = || number().is_some_and(|number| !number.negative);
    let is_one_of = |words: &[&str]| words.iter().any(|word| is_word(raw, word));
    match holds {
        FieldType::Number(least) => {
            Decimal::parse(raw).and_then(|number| number.small()).is_some_and(|number| number >= least.into())
        }
        FieldType::Millis | FieldType::Tokens => is_positive(),
        FieldType::MillisOrUnknown => raw == "null" || is_positive(),
        FieldType::Draw => Draw::parse(raw).is_some(),
        FieldType::Flag => matches!(raw, "true" | "false"),
        FieldType::Word(words) => is_one_of(words),
        FieldType::Status => is_one_of(&Status::WORDS),
        FieldType::OpenWord(_) | FieldType::Lacks | FieldType::Name => raw.starts_with('"'),
        FieldType::Error => raw == "null" || raw.starts_with('{'),
        FieldType::Code => Decimal::parse(raw).is_some(),
        FieldType::Names => raw.starts_with('['),
    }
}

/// What a field must hold, in words.
fn expected(holds: FieldType) -> String {
    match holds {
        FieldType::Number(least) => format!("a number from {least}"),
        FieldType::Word(words) => format!("one of {}", words.join(", ")),
        FieldType::Status => format!("one of {}", Status::WORDS.join(", ")),
        FieldType::Millis => "a number of milliseconds from 0".to_owned(),
        FieldType::MillisOrUnknown => "a number of milliseconds from 0, or `null`".to_owned(),
        FieldType::Draw => DRAW_VALUE.to_owned(),
        FieldType::Tokens => "a number from 0".to_owned(),
        FieldType::Flag => "`true` or `false`".to_owned(),
        FieldType::OpenWord(_) | FieldType::Lacks | FieldType::Name => "a text".to_owned(),
        FieldType::Error => "an object or `null`".to_owned(),
        FieldType::Code => "a number".to_owned(),
        FieldType::Names => "a list".to_owned(),
    }
}

/// Whether a JSON value is this word as a text.
fn is_word(raw: &str, word: &str) -> bool {
    raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) == Some(word)
}
