//! Lines that say what a dispatcher did. Of a decision its event, its numbers and its outcome are checked.

use serde_json::value::RawValue;

use crate::number::Decimal;
use crate::wire::fields::FieldSlices;
use crate::wire::line::{DispatchLine, DispatchWhat, LineError};
use crate::wire::lower::{DRAW_VALUE, LineResult, Lowering};
use crate::wire::names::{ANSWERS, AT, AT_MS, ID, LINE_FIELDS, RUN};
use playproof_engine::event::{Draw, EventKind, OutcomeWord};
use playproof_formats::diagnostic::did_you_mean;

#[derive(serde::Deserialize)]
struct DecisionFields<'r> {
    #[serde(borrow)]
    event: Option<&'r RawValue>,
    #[serde(borrow)]
    attempt: Option<&'r RawValue>,
    #[serde(borrow)]
    attempts: Option<&'r RawValue>,
    #[serde(borrow)]
    draw: Option<&'r RawValue>,
    #[serde(borrow)]
    outcome: Option<&'r RawValue>,
}

impl<'a> Lowering<'a> {
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

    /// The event of a line with a decision.
    #[cold]
    pub(super) fn event(self) -> LineResult<EventKind> {
        let fields: DecisionFields<'a> = serde_json::from_str(self.line).map_err(|error| self.no_object(&error))?;
        let Some(raw) = fields.event.map(RawValue::get) else {
            let message = "a `decision` needs an `event`: what was decided";
            return Err(self.error("missing_field", self.whole(), message, "it is not here"));
        };
        let message = "the `event` of a `decision` is none of the dispatcher's";
        let events = || EventKind::ALL.iter().map(|kind| kind.as_str());
        self.known(raw, events(), message, "no such event")?;
        let event = EventKind::ALL.iter().copied().find(|kind| kind.as_str() == raw.trim_matches('"'));
        for (name, raw, least) in [("attempt", fields.attempt, 1), ("attempts", fields.attempts, 0)] {
            let Some(raw) = raw.map(RawValue::get) else { continue };
            let number = Decimal::parse(raw).and_then(|number| number.small());
            if number.is_none_or(|number| number < least) {
                return Err(self.wrong_type(raw, name, &format!("a number from {least}")));
            }
        }
        if let Some(raw) = fields.draw.map(RawValue::get).filter(|raw| Draw::parse(raw).is_none()) {
            return Err(self.wrong_type(raw, "draw", DRAW_VALUE));
        }
        if let Some(raw) = fields.outcome.map(RawValue::get) {
            let message = "the `outcome` of a `decision` is none of the dispatcher's";
            self.known(raw, OutcomeWord::ALL.iter().map(|word| word.as_str()), message, "no such outcome")?;
        }
        Ok(event.unwrap_or(EventKind::Outcome))
    }

    /// Refuses a value that is no text, or none of `words`.
    fn known<'w>(
        self,
        raw: &str,
        words: impl Iterator<Item = &'w str> + Clone,
        message: &str,
        label: &'static str,
    ) -> LineResult<()> {
        let word = raw.trim_matches('"');
        if raw.starts_with('"') && words.clone().any(|known| known == word) {
            return Ok(());
        }
        let mut error = self.error("unknown_value", self.span(raw), message, label);
        error.help = did_you_mean(word, words).map(|near| format!("did you mean `{near}`?"));
        Err(error)
    }
}
