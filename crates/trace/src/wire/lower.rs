//! From the fields of a line to what they mean. Knows nothing of other lines, files and line numbers.
//!
//! What `type` does not say, the fields do: a line with `tool` and an answer (`status` or `error`) is a call and its
//! result in one, `tool` alone is a call, an answer with `call_id` alone is a result. `null` counts as absent.
//! A result without `status` failed if it has an `error`; with neither it is an error. An `error` may be a plain
//! string, its message. On a combined line `at_ms` is when the call was made, unless `started_ms` says that: then
//! `at_ms` is when the answer came.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::number::Decimal;
use crate::text::{BYTE_ORDER_MARK, STRAY_MARK, WITHOUT_MARK};
use crate::wire::errors::KnownErrors;
use crate::wire::fields;
use crate::wire::fields::Fields;
use crate::wire::line::{AnswerLine, CallLine, LineError, Listener, OtherJson};
use crate::wire::names::{
    ANSWERS, ARGS, AT, AT_MS, ATTEMPT, ERROR, ERROR_FIELDS, ERROR_NAMES, EVIDENCE, ErrorFields, ID, KEY, LINE_FIELDS,
    NAMES, ROW, RUN, SOURCE, STARTED, STATUS, STATUS_FROM, TIMEOUT, TOKEN, TOOL, TYPE, WORDS, WORDY,
};
use crate::{canonical, hash, iso};
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, Reply};
use playproof_engine::event::ErrorFacts;
use playproof_engine::time::{Duration, Instant};
use playproof_formats::diagnostic::did_you_mean;

pub(super) type Outcome<T> = Result<T, Box<LineError>>;

/// Tells a line from others that say the same as far as anyone knows.
pub fn hash_of_line(line: &str) -> u32 {
    hash::row(line.trim_end()).max(1) // 32 bits tell the answers of one call apart
}

/// What lowering a line adds to on its way.
struct Beside<'k> {
    unknown_fields: u32,
    known: &'k mut KnownErrors,
}

/// Turns the fields of `line` into what they mean.
#[derive(Clone, Copy)]
pub(super) struct Lowering<'a> {
    line: &'a str,
}

impl<'a> Lowering<'a> {
    /// Of this line.
    #[inline]
    pub(super) fn of(line: &'a str) -> Lowering<'a> {
        Lowering { line }
    }

    /// Tells `listener` what `fields` mean; returns how many of them nobody knows.
    #[inline(always)]
    pub(super) fn line(
        self,
        fields: &Fields<'a, LINE_FIELDS>,
        known: &mut KnownErrors,
        listener: &mut impl Listener<'a>,
    ) -> Outcome<u32> {
        let mut beside = Beside { unknown_fields: fields.unknown, known };
        let answered = self.word(fields, STATUS).or(fields.field(ERROR)).is_some();
        match self.word(fields, TYPE) {
            Some("\"tool_call\"") if answered => self.both(fields, &mut beside, listener)?,
            Some("\"tool_call\"") => listener.call(self.call(fields)?, None),
            Some("\"tool_result\"") => listener.answer(self.answer_line(fields, &mut beside)?),
            Some("\"run_end\"") => listener.run_end(self.label(fields, RUN)?),
            Some(other) => {
                self.text(other, "type")?;
                listener.other();
                return Ok(0);
            }
            None if fields.field(TOOL).is_some() && answered => self.both(fields, &mut beside, listener)?,
            None if fields.field(TOOL).is_some() => listener.call(self.call(fields)?, None),
            None if answered && fields.field(ID).is_some() => {
                listener.answer(self.answer_line(fields, &mut beside)?);
            }
            None => return Err(self.nothing_known(fields)),
        }
        Ok(beside.unknown_fields)
    }

    fn both(
        self,
        fields: &Fields<'a, LINE_FIELDS>,
        beside: &mut Beside<'_>,
        listener: &mut impl Listener<'a>,
    ) -> Outcome<()> {
        let mut call = self.call(fields)?;
        let mut answer = self.answer(fields, beside)?;
        match answer.started.take() {
            Some(started) => call.at = Some(started),
            None => answer.at = None,
        }
        listener.call(call, Some(answer));
        Ok(())
    }

    #[inline(always)]
    fn call(self, fields: &Fields<'a, LINE_FIELDS>) -> Outcome<CallLine<'a>> {
        let Some(tool) = self.text_of(fields, TOOL)?.filter(|tool| !tool.is_empty()) else {
            let message = "a tool_call needs a `tool`: the name of what was called";
            return Err(self.wrong("missing_field", self.whole(), message, "no tool is named in this line"));
        };
        let args = fields.field(ARGS);
        Ok(CallLine {
            run: self.label(fields, RUN)?,
            id: self.label(fields, ID)?,
            tool,
            at: self.time(fields)?,
            timeout: self.millis_of(fields, TIMEOUT)?.map(Duration::from_micros),
            args,
            args_hash: args.map_or(0, |args| fields.hash.unwrap_or_else(|| canonical::hash_of(args))),
            key: self.label(fields, KEY)?.filter(|key| !key.is_empty()), // an upstream knows nothing again by it
            evidence: fields.field(EVIDENCE),
            token: self.label(fields, TOKEN)?,
        })
    }

    #[inline(always)]
    fn answer_line(self, fields: &Fields<'a, LINE_FIELDS>, beside: &mut Beside<'_>) -> Outcome<AnswerLine<'a>> {
        let answer = self.answer(fields, beside)?;
        let tool = self.text_of(fields, TOOL)?;
        Ok(AnswerLine { run: self.label(fields, RUN)?, id: self.label(fields, ID)?, tool, answer })
    }

    #[inline(always)]
    fn answer(self, fields: &Fields<'a, LINE_FIELDS>, beside: &mut Beside<'_>) -> Outcome<RecordedAnswer> {
        let reply = self.reply(fields, beside)?;
        Ok(RecordedAnswer {
            to: self.word(fields, ANSWERS).map_or(Ok(AnswerTo::Attempt), |raw| self.answer_to(raw))?,
            attempt: self.attempt(fields)?,
            started: self.millis_of(fields, STARTED)?.map(Instant::from_micros),
            at: self.time(fields)?,
            reply,
            inferred: false,
            from_text: self.word(fields, STATUS_FROM) == Some("\"text\""),
            line_hash: self.line_hash(fields, beside),
            place: Place::default(),
        })
    }

    /// What tells the line from others that say the same: of an imported one its row, for its place alone differs from
    /// that of a row which says the same. No import writes fields that nobody knows.
    #[inline(always)]
    fn line_hash(self, fields: &Fields<'a, LINE_FIELDS>, beside: &Beside<'_>) -> u32 {
        if beside.unknown_fields > 0 {
            return hash_of_line(self.line);
        }
        match (fields.field(ROW).and_then(|row| row.parse().ok()), fields.field(SOURCE)) {
            (Some(row), _) => row,
            (None, Some(_)) => hash_of_line(self.line),
            (None, None) => 0,
        }
    }

    #[inline(always)]
    fn reply(self, fields: &Fields<'a, LINE_FIELDS>, beside: &mut Beside<'_>) -> Outcome<Reply> {
        let error = fields.field(ERROR);
        match self.word(fields, STATUS) {
            Some("\"ok\"") => match error {
                None => Ok(Reply::Ok),
                Some(raw) => {
                    let message = "the status is `ok`, but there is an error";
                    Err(self.wrong("contradiction", self.span(raw), message, "only one of the two can be"))
                }
            },
            Some("\"error\"") | None if error.is_some() => {
                let error = error.map(|raw| self.known_error(raw, beside)).transpose()?;
                Ok(Reply::Failed(error))
            }
            Some("\"error\"") => Ok(Reply::Failed(None)),
            Some(other) => {
                let mut error =
                    self.wrong("unknown_value", self.span(other), "a status is `ok` or `error`", "neither of the two");
                error.help = did_you_mean(other.trim_matches('"'), ["ok", "error"])
                    .map(|near| format!("did you mean `{near}`?"));
                Err(error)
            }
            None => {
                let message = "a tool_result needs a `status` (`ok` or `error`) or an `error`";
                Err(self.wrong("missing_field", self.whole(), message, "neither is here"))
            }
        }
    }

    /// The error that `raw` says, shared with the lines that said the same in the same words.
    fn known_error(self, raw: &'a str, beside: &mut Beside<'_>) -> Outcome<Arc<ErrorFacts>> {
        if let Some((error, unknown_fields)) = beside.known.find(raw) {
            beside.unknown_fields = beside.unknown_fields.saturating_add(unknown_fields);
            return Ok(error);
        }
        let mut unknown_fields = 0;
        let error = Arc::new(self.error(raw, &mut unknown_fields)?);
        beside.known.note(raw, &error, unknown_fields);
        beside.unknown_fields = beside.unknown_fields.saturating_add(unknown_fields);
        Ok(error)
    }

    fn error(self, raw: &'a str, unknown: &mut u32) -> Outcome<ErrorFacts> {
        match raw.as_bytes().first() {
            Some(b'"') => {
                let message = self.text(raw, "error")?;
                return Ok(ErrorFacts { message: Some(message.into()), ..ErrorFacts::default() });
            }
            Some(b'{') => {}
            _ => return Err(self.wrong_type(raw, "error", "an object or a message")),
        }
        let fields = match fields::accept_whole::<ErrorFields, ERROR_FIELDS>(raw) {
            Some(fields) => fields,
            None => fields::read::<ErrorFields, ERROR_FIELDS>(raw).map_err(|error| self.no_object(&error))?,
        };
        if let Some((number, value)) = fields.twice {
            return Err(self.twice(ERROR_NAMES.get(number).copied().unwrap_or_default(), value));
        }
        *unknown = unknown.saturating_add(fields.unknown);
        let name = |raw, name| self.name(raw, name).map(Into::into);
        Ok(ErrorFacts {
            kind: fields.field(0).map(|raw| name(raw, "kind")).transpose()?,
            message: fields.field(1).map(|raw| self.message(raw)).transpose()?,
            status: fields.field(2).map(|raw| self.status_number(raw)).transpose()?,
            code: fields.field(3).map(|raw| name(raw, "code")).transpose()?,
            retry_after: fields
                .field(4)
                .map(|raw| self.millis(raw, "retry_after_ms"))
                .transpose()?
                .map(Duration::from_micros),
        })
    }

    /// A message may be any JSON; what is no string is taken as its text.
    fn message(self, raw: &'a str) -> Outcome<Box<str>> {
        match raw.starts_with('"') {
            true => self.text(raw, "message").map(Into::into),
            false => Ok(raw.into()),
        }
    }

    fn status_number(self, raw: &'a str) -> Outcome<u16> {
        let text = raw.trim_matches('"');
        let value =
            Decimal::parse(text).and_then(|number| number.scaled(0)).and_then(|number| u16::try_from(number).ok());
        value.ok_or_else(|| self.wrong_type(raw, "status", "a status number such as 503"))
    }

    fn answer_to(self, raw: &'a str) -> Outcome<AnswerTo> {
        match raw {
            "\"attempt\"" => Ok(AnswerTo::Attempt),
            "\"refresh\"" => Ok(AnswerTo::Refresh),
            "\"reversal\"" => Ok(AnswerTo::Reversal),
            _ => {
                let message = "a result answers an `attempt`, a `refresh` or a `reversal`";
                let mut error = self.wrong("unknown_value", self.span(raw), message, "none of the three");
                error.help = did_you_mean(raw.trim_matches('"'), ["attempt", "refresh", "reversal"])
                    .map(|near| format!("did you mean `{near}`?"));
                Err(error)
            }
        }
    }

    #[inline(always)]
    fn attempt(self, fields: &Fields<'a, LINE_FIELDS>) -> Outcome<Option<u32>> {
        if let Some(number @ 1..=1_000) = fields.counted(ATTEMPT) {
            return Ok(u32::try_from(number).ok());
        }
        let Some(raw) = fields.field(ATTEMPT) else { return Ok(None) };
        let number =
            Decimal::parse(raw).and_then(|number| number.small()).and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|&number| number > 0);
        number.map(Some).ok_or_else(|| self.wrong_type(raw, "attempt", "a number from 1"))
    }

    /// `at_ms`, else `at`; the latter is a time in any case.
    #[inline(always)]
    fn time(self, fields: &Fields<'a, LINE_FIELDS>) -> Outcome<Option<Instant>> {
        let millis = self.millis_of(fields, AT_MS)?.map(Instant::from_micros);
        match fields.field(AT) {
            Some(raw) => self.moment(raw).map(|moment| Some(millis.unwrap_or(moment))),
            None => Ok(millis),
        }
    }

    fn moment(self, raw: &'a str) -> Outcome<Instant> {
        let text = self.text(raw, "at")?;
        let Some(micros) = iso::parse_micros(&text) else {
            return Err(self.wrong_type(raw, "at", "an ISO 8601 time such as `2026-11-21T10:00:00.250Z`"));
        };
        let micros = u64::try_from(micros).map_err(|_| {
            self.wrong("negative_time", self.span(raw), "`at` is before 1970", "times count from there")
        })?;
        Ok(Instant::from_micros(micros))
    }

    /// A field's number of milliseconds, in microseconds.
    #[inline(always)]
    fn millis_of(self, fields: &Fields<'a, LINE_FIELDS>, number: usize) -> Outcome<Option<u64>> {
        if let Some(whole) = fields.counted(number) {
            return Ok(Some(whole * 1_000)); // it has at most 15 digits
        }
        let Some(raw) = fields.field(number) else { return Ok(None) };
        self.millis(raw, NAMES.get(number).copied().unwrap_or_default()).map(Some)
    }

    /// A number of milliseconds, in microseconds.
    fn millis(self, raw: &'a str, name: &str) -> Outcome<u64> {
        let Some(number) = Decimal::parse(raw) else {
            return Err(self.wrong_type(raw, name, "a number of milliseconds"));
        };
        if number.negative {
            let message = format!("`{name}` is negative");
            return Err(self.wrong("negative_time", self.span(raw), message, "times count up from 0"));
        }
        number.scaled(3).ok_or_else(|| {
            let message = format!("`{name}` is beyond {} milliseconds", u64::MAX / 1_000);
            self.wrong("out_of_range", self.span(raw), message, "too large")
        })
    }

    /// What a wordy field says, in its quotes; escapes do not make it another word.
    #[inline]
    fn word(self, fields: &Fields<'a, LINE_FIELDS>, number: usize) -> Option<&'a str> {
        let word = fields.field(number)?;
        match fields.is_plain(number) || !word.contains('\\') {
            true => Some(word),
            false => self.escaped_word(word, number),
        }
    }

    #[cold]
    fn escaped_word(self, word: &'a str, number: usize) -> Option<&'a str> {
        let plain = self.text(word, "").ok();
        let known = number.checked_sub(WORDY).and_then(|place| WORDS.get(place)).copied().unwrap_or_default();
        let same = known.iter().find(|known| plain.as_deref() == Some(known.trim_matches('"')));
        Some(same.copied().unwrap_or(word))
    }

    /// A name in a field, which machines also write as a number.
    #[inline(always)]
    fn label(self, fields: &Fields<'a, LINE_FIELDS>, number: usize) -> Outcome<Option<Cow<'a, str>>> {
        self.plain_or(fields, number, Self::name)
    }

    /// The text in a field.
    #[inline(always)]
    fn text_of(self, fields: &Fields<'a, LINE_FIELDS>, number: usize) -> Outcome<Option<Cow<'a, str>>> {
        self.plain_or(fields, number, Self::text)
    }

    /// What a field says: `read` is asked where that is not known to be a string without escapes.
    #[inline(always)]
    fn plain_or(
        self,
        fields: &Fields<'a, LINE_FIELDS>,
        number: usize,
        read: impl FnOnce(Self, &'a str, &str) -> Outcome<Cow<'a, str>>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        if let Some(text) = fields.plain(number) {
            return Ok(Some(Cow::Borrowed(text)));
        }
        let Some(raw) = fields.field(number) else { return Ok(None) };
        read(self, raw, NAMES.get(number).copied().unwrap_or_default()).map(Some)
    }

    fn name(self, raw: &'a str, name: &str) -> Outcome<Cow<'a, str>> {
        match raw.as_bytes().first() {
            Some(b'"') => self.text(raw, name),
            Some(b'-' | b'0'..=b'9') => Ok(Cow::Borrowed(raw)),
            _ => Err(self.wrong_type(raw, name, "a string or a number")),
        }
    }

    fn text(self, raw: &'a str, name: &str) -> Outcome<Cow<'a, str>> {
        let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        match inner {
            Some(inner) if memchr::memchr(b'\\', inner.as_bytes()).is_none() => Ok(Cow::Borrowed(inner)),
            _ => serde_json::from_str::<fields::Text<'a>>(raw).map(|text| text.0).map_err(|_| {
                let expected =
                    if raw.starts_with('"') { "valid text: an escape stands for no character" } else { "a string" };
                self.wrong_type(raw, name, expected)
            }),
        }
    }

    fn whole(self) -> Range<usize> {
        let start = self.line.len() - self.line.trim_start().len();
        start..self.line.trim_end().len().max(start)
    }

    /// Where `part`, a slice of the line, stands.
    fn span(self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.line.as_ptr() as usize);
        start..start + part.len()
    }

    pub(super) fn wrong(
        self,
        id: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        label: &'static str,
    ) -> Box<LineError> {
        Box::new(LineError { id, message: message.into(), span, label, help: None, foreign: None })
    }

    fn wrong_type(self, raw: &str, name: &str, expected: &str) -> Box<LineError> {
        self.wrong("wrong_type", self.span(raw), format!("`{name}` must be {expected}"), "not that")
    }

    pub(super) fn twice(self, name: &str, value: &str) -> Box<LineError> {
        self.wrong(
            "duplicate_field",
            self.span(value),
            format!("`{name}` stands twice in one line"),
            "the second value",
        )
    }

    fn nothing_known(self, fields: &Fields<'a, LINE_FIELDS>) -> Box<LineError> {
        if fields.none_known() {
            let message = "the line has none of the fields of a trace";
            let mut error =
                self.wrong("missing_field", self.whole(), message, "expected `tool`, `call_id`, `status`, …");
            error.foreign = Some(OtherJson::Row);
            return error;
        }
        let message =
            "the line is neither a call (it has no `tool`) nor a result (it has no `call_id` with a `status`)";
        self.wrong("missing_field", self.whole(), message, "cannot be told what this is")
    }

    /// Why the line is no JSON object.
    pub(super) fn no_object(self, error: &serde_json::Error) -> Box<LineError> {
        let whole = self.whole();
        let first = self.line.as_bytes().get(whole.start).copied();
        if self.line.starts_with(BYTE_ORDER_MARK) {
            let message = "a byte order mark stands before the line; it may begin a file, and nothing else";
            let mut error = self.wrong(STRAY_MARK, self.character(0), message, "this character");
            error.help = Some(format!("{WITHOUT_MARK}."));
            return error;
        }
        if first != Some(b'{') {
            let message = "a line of a trace is a JSON object";
            let mut error = self.wrong("not_json", self.character(whole.start), message, "expected `{`");
            error.foreign = (first == Some(b'[')).then_some(OtherJson::Document);
            return error;
        }
        if error.is_eof() {
            let message = "the line ends in the middle of its JSON: it was cut off";
            let last = self.character(whole.end.saturating_sub(1));
            let mut error = self.wrong("truncated_line", last, message, "the last character");
            error.foreign = (whole.len() == 1).then_some(OtherJson::Document); // of a document in several lines
            return error;
        }
        let said = error.to_string();
        let said = said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said);
        let place = error.column().saturating_sub(1).min(self.line.len().saturating_sub(1));
        let behind = self.line.bytes().enumerate().skip(place); // of a control character serde_json tells the place before
        let control = behind.take(2).find(|(_, byte)| *byte < b' ').filter(|_| said.starts_with("control character"));
        let place = control.map_or(place, |(place, _)| place);
        self.wrong("not_json", self.character(place), format!("the line is no JSON: {said}"), "here")
    }

    /// The character that byte `place` of the line belongs to.
    fn character(&self, place: usize) -> Range<usize> {
        let start = self.line.floor_char_boundary(place);
        let width = self.line.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        start..start + width
    }
}
