//! From the fields of a line to their meaning. Knows nothing of other lines, files and line numbers.
//!
//! Without a `type`, the fields decide: a line with `tool` and an answer (`status` or `error`) is a call and its result,
//! a line with `tool` and no answer is a call, and a line with an answer and `call_id` but no `tool` is a result. `null`
//! counts as absent. A result without `status` failed if it has an `error`; a result with neither is an error. An `error`
//! may be a string: its message. On a combined line `at_ms` is the time of the call, unless `started_ms` gives that; then
//! `at_ms` is the time of the answer.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::args_meaning;
use crate::json::BorrowedText;
use crate::number::{Decimal, mismatch};
use crate::pieces::{BYTE_ORDER_MARK, REMOVE_MARKS, STRAY_MARK};
use crate::wire::error_cache::ErrorCache;
use crate::wire::fields::FieldSlices;
use crate::wire::line::{AnswerLine, CallLine, DispatchWhat, LineError, Listener, NonTrace};
use crate::wire::names::{
    ANSWER_WITHIN, ANSWERS, ARGS, AT, AT_MS, ATTEMPT, DISPATCHER, DRAW, ENUM_FIELDS, ENUM_VALUES, ERROR, EVIDENCE, ID,
    KEY, LINE_FIELDS, NAMES, PARENT, ROW, RUN, SOURCE, STARTED, STATUS, STATUS_FROM, TIMEOUT, TOKEN, TOOL, TRANSACTION,
    TYPE,
};
use crate::{hash, iso};
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, Reply};
use playproof_engine::event::{Act, Draw, ErrorFacts, StatusFrom};
use playproof_engine::time::{Duration, Instant};
use playproof_formats::diagnostic::did_you_mean;

pub(super) type LineResult<T> = Result<T, Box<LineError>>;

/// What a draw is.
pub(super) const DRAW_VALUE: &str = "a number from 0 to 1 with at most nine decimal places";

/// Distinguishes a line from others with the same known content.
pub fn hash_of_line(line: &str) -> u32 {
    hash::row(line.trim_end()).max(1) // 32 bits distinguish the answers of one call
}

/// What lowering a line changes.
struct LoweringState<'k> {
    unknown_fields: u32,
    errors: &'k mut ErrorCache,
}

/// Turns the fields of `line` into their meaning.
#[derive(Clone, Copy)]
pub(super) struct Lowering<'a> {
    pub(super) line: &'a str,
}

impl<'a> Lowering<'a> {
    /// The lowering of this line.
    #[inline]
    pub(super) fn of(line: &'a str) -> Lowering<'a> {
        Lowering { line }
    }

    /// Passes the meaning of `fields` to `listener`; returns the number of unknown fields.
    #[inline(always)]
    pub(super) fn line(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        errors: &mut ErrorCache,
        listener: &mut impl Listener<'a>,
    ) -> LineResult<u32> {
        let mut state = LoweringState { unknown_fields: fields.unknown, errors };
        let answered = self.enum_value(fields, STATUS).or(fields.field(ERROR)).is_some();
        match self.enum_value(fields, TYPE) {
            Some("\"tool_call\"") if answered => self.both(fields, &mut state, listener)?,
            Some("\"tool_call\"") => listener.call(self.only_call(fields)?, None),
            Some("\"tool_result\"") => listener.answer(self.answer_line(fields, &mut state)?),
            Some("\"run_end\"") => listener.run_end(self.label(fields, RUN)?),
            Some(word) if let Some(act) = Act::parse(word.trim_matches('"')) => {
                listener.act(self.label(fields, RUN)?, self.transaction(fields)?, act);
                return Ok(0); // state has a name and a value of its own
            }
            Some("\"crash\"") => listener.crash(self.label(fields, RUN)?, self.time(fields)?),
            Some("\"cancel\"") => {
                listener.dispatch(self.dispatch_line(fields, DispatchWhat::Cancelled)?);
            }
            Some("\"decision\"") => {
                listener.dispatch(self.decision_line(fields)?);
                return Ok(0); // its fields are those of an event
            }
            Some("\"recording\"") => {
                listener.recording(self.recorder()?);
                return Ok(0); // its fields are its own
            }
            Some(other) => {
                self.text(other, "type")?;
                listener.other();
                return Ok(0);
            }
            None if fields.field(TOOL).is_some() && answered => self.both(fields, &mut state, listener)?,
            None if fields.field(TOOL).is_some() => listener.call(self.only_call(fields)?, None),
            None if answered && fields.field(ID).is_some() => {
                listener.answer(self.answer_line(fields, &mut state)?);
            }
            None => return Err(self.not_a_trace_line(fields)),
        }
        Ok(state.unknown_fields)
    }

    fn both(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        state: &mut LoweringState<'_>,
        listener: &mut impl Listener<'a>,
    ) -> LineResult<()> {
        let mut call = self.call(fields)?;
        let mut answer = self.answer(fields, state)?;
        match answer.started.take() {
            Some(started) => call.at = Some(started),
            None => answer.at = None,
        }
        listener.call(call, Some(answer));
        Ok(())
    }

    #[inline(always)]
    fn only_call(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<CallLine<'a>> {
        match fields.field(DRAW) {
            None => self.call(fields),
            Some(draw) => {
                let message = "a `draw` comes with a result, and this line has none";
                Err(self.error("draw_of_call", self.span(draw), message, "write it with the result before the wait"))
            }
        }
    }

    #[inline(always)]
    fn call(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<CallLine<'a>> {
        let Some(tool) = self.text_of(fields, TOOL)?.filter(|tool| !tool.is_empty()) else {
            let message = "a tool_call needs a `tool`: the name of the called tool";
            return Err(self.error("missing_field", self.whole(), message, "this line names no tool"));
        };
        let args = fields.field(ARGS);
        let key = self.label(fields, KEY)?.filter(|key| !key.is_empty()); // an empty key identifies nothing
        let (args_hash, key) = args_meaning::of(args, fields.hash.map(|hash| (hash, fields.noted)), key);
        Ok(CallLine {
            run: self.label(fields, RUN)?,
            id: self.label(fields, ID)?,
            tool,
            at: self.time(fields)?,
            timeout: self.millis_of(fields, TIMEOUT)?.map(Duration::from_micros),
            answer_within: self.millis_of(fields, ANSWER_WITHIN)?.map(Duration::from_micros),
            args,
            args_hash,
            key,
            evidence: fields.field(EVIDENCE),
            token: self.label(fields, TOKEN)?,
            dispatcher: self.label(fields, DISPATCHER)?.filter(|id| !id.is_empty()),
            step: if fields.field(PARENT).is_some() { self.step(fields)? } else { None },
            transaction: if fields.field(TRANSACTION).is_some() { self.transaction(fields)? } else { None },
        })
    }

    #[inline(always)]
    fn answer_line(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        state: &mut LoweringState<'_>,
    ) -> LineResult<AnswerLine<'a>> {
        let answer = self.answer(fields, state)?;
        let tool = self.text_of(fields, TOOL)?;
        Ok(AnswerLine { run: self.label(fields, RUN)?, id: self.label(fields, ID)?, tool, answer })
    }

    #[inline(always)]
    fn answer(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        state: &mut LoweringState<'_>,
    ) -> LineResult<RecordedAnswer> {
        let reply = self.reply(fields, state)?;
        let to = self.enum_value(fields, ANSWERS).map_or(Ok(AnswerTo::Attempt), |raw| self.answer_to(raw))?;
        let attempt = self.attempt(fields)?;
        if to == AnswerTo::Late && attempt.is_none() {
            return Err(self.late_without_attempt(fields));
        }
        Ok(RecordedAnswer {
            to,
            attempt,
            started: self.millis_of(fields, STARTED)?.map(Instant::from_micros),
            at: self.time(fields)?,
            reply,
            inferred: false,
            status_from: self.status_from(fields),
            draw: self.draw(fields)?,
            line_hash: self.line_hash(fields, state),
            place: Place::default(),
        })
    }

    /// Distinguishes the line from others with the same known content. An imported line has its `row`, because rows with the
    /// same content differ in their `source` alone; no import writes unknown fields.
    #[inline(always)]
    fn line_hash(self, fields: &FieldSlices<'a, LINE_FIELDS>, state: &LoweringState<'_>) -> u32 {
        if state.unknown_fields > 0 {
            return hash_of_line(self.line);
        }
        match (fields.field(ROW).and_then(|row| row.parse().ok()), fields.field(SOURCE)) {
            (Some(row), _) => row,
            (None, Some(_)) => hash_of_line(self.line),
            (None, None) => 0,
        }
    }

    /// What tells the status. Any other word is ignored: it decides nothing.
    #[inline(always)]
    fn status_from(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> StatusFrom {
        match self.enum_value(fields, STATUS_FROM) {
            None => StatusFrom::Flag,
            Some(word) => StatusFrom::parse(word.trim_matches('"')).unwrap_or(StatusFrom::Flag),
        }
    }

    #[inline(always)]
    fn reply(self, fields: &FieldSlices<'a, LINE_FIELDS>, state: &mut LoweringState<'_>) -> LineResult<Reply> {
        let error = fields.field(ERROR);
        match self.enum_value(fields, STATUS) {
            Some("\"ok\"") => match error {
                None => Ok(Reply::Ok),
                Some(raw) => {
                    let message = "the status is `ok`, but there is an error";
                    Err(self.error("contradiction", self.span(raw), message, "an error contradicts `ok`"))
                }
            },
            Some("\"error\"") | None if error.is_some() => {
                let error = error.map(|raw| self.cached_error(raw, state)).transpose()?;
                Ok(Reply::Failed(error))
            }
            Some("\"error\"") => Ok(Reply::Failed(None)),
            Some("\"unfinished\"") => {
                Ok(Reply::Unfinished(error.map(|raw| self.cached_error(raw, state)).transpose()?))
            }
            Some("\"suspected\"") => Ok(Reply::Suspected(error.map(|raw| self.cached_error(raw, state)).transpose()?)),
            Some(other) => {
                let mut error = self.error(
                    "unknown_value",
                    self.span(other),
                    "a status is `ok`, `error`, `suspected` or `unfinished`",
                    "none of these",
                );
                error.help = did_you_mean(other.trim_matches('"'), ["ok", "error", "suspected", "unfinished"])
                    .map(|near| format!("did you mean `{near}`?"));
                Err(error)
            }
            None => {
                let message =
                    "a tool_result needs a `status` (`ok`, `error`, `suspected` or `unfinished`) or an `error`";
                Err(self.error("missing_field", self.whole(), message, "neither is here"))
            }
        }
    }

    /// The error of `raw`, shared with the lines that have the same text.
    fn cached_error(self, raw: &'a str, state: &mut LoweringState<'_>) -> LineResult<Arc<ErrorFacts>> {
        if let Some((error, unknown_fields)) = state.errors.find(raw) {
            state.unknown_fields = state.unknown_fields.saturating_add(unknown_fields);
            return Ok(error);
        }
        let mut unknown_fields = 0;
        let error = Arc::new(self.error_facts(raw, &mut unknown_fields)?);
        state.errors.insert(raw, &error, unknown_fields);
        state.unknown_fields = state.unknown_fields.saturating_add(unknown_fields);
        Ok(error)
    }

    fn answer_to(self, raw: &'a str) -> LineResult<AnswerTo> {
        match raw {
            "\"attempt\"" => Ok(AnswerTo::Attempt),
            "\"refresh\"" => Ok(AnswerTo::Refresh),
            "\"reversal\"" => Ok(AnswerTo::Reversal),
            "\"late\"" => Ok(AnswerTo::Late),
            _ => {
                let message = "a result answers an `attempt`, a `refresh` or a `reversal`, or an attempt `late`";
                let mut error = self.error("unknown_value", self.span(raw), message, "none of these");
                error.help = did_you_mean(raw.trim_matches('"'), ["attempt", "refresh", "reversal", "late"])
                    .map(|near| format!("did you mean `{near}`?"));
                Err(error)
            }
        }
    }

    #[inline(always)]
    fn attempt(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<Option<u32>> {
        if let Some(number @ 1..=1_000) = fields.number(ATTEMPT) {
            return Ok(u32::try_from(number).ok());
        }
        let Some(raw) = fields.field(ATTEMPT) else { return Ok(None) };
        let number =
            Decimal::parse(raw).and_then(|number| number.small()).and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|&number| number > 0);
        number.map(Some).ok_or_else(|| self.wrong_type(raw, "attempt", "a number from 1"))
    }

    fn draw(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<Option<Draw>> {
        let Some(raw) = fields.field(DRAW) else { return Ok(None) };
        // A JSON zero may be negative.
        let unsigned = raw.strip_prefix('-').filter(|number| number.trim_matches(['0', '.']).is_empty());
        let draw = Draw::parse(unsigned.unwrap_or(raw)).map(Some);
        draw.ok_or_else(|| self.wrong_type(raw, "draw", DRAW_VALUE))
    }

    /// `at_ms`, else `at`, which must be a time even if it is not used.
    #[inline(always)]
    pub(super) fn time(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<Option<Instant>> {
        let millis = self.millis_of(fields, AT_MS)?.map(Instant::from_micros);
        match fields.field(AT) {
            Some(raw) => self.moment(raw).map(|moment| Some(millis.unwrap_or(moment))),
            None => Ok(millis),
        }
    }

    fn moment(self, raw: &'a str) -> LineResult<Instant> {
        let text = self.text(raw, "at")?;
        let Some(micros) = iso::parse_micros(&text) else {
            return Err(self.wrong_type(raw, "at", "an ISO 8601 time such as `2026-11-21T10:00:00.250Z`"));
        };
        let micros = u64::try_from(micros)
            .map_err(|_| self.error("negative_time", self.span(raw), "`at` is before 1970", "times count from 1970"))?;
        Ok(Instant::from_micros(micros))
    }

    /// A field's milliseconds, as microseconds.
    #[inline(always)]
    fn millis_of(self, fields: &FieldSlices<'a, LINE_FIELDS>, number: usize) -> LineResult<Option<u64>> {
        if let Some(whole) = fields.number(number) {
            return Ok(Some(whole * 1_000)); // it has at most 15 digits
        }
        let Some(raw) = fields.field(number) else { return Ok(None) };
        self.millis(raw, NAMES.get(number).copied().unwrap_or_default()).map(Some)
    }

    /// Milliseconds, as microseconds.
    pub(super) fn millis(self, raw: &'a str, name: &str) -> LineResult<u64> {
        let Some(number) = Decimal::parse(raw) else {
            return Err(self.wrong_type(raw, name, "a number of milliseconds"));
        };
        if number.negative {
            let message = format!("`{name}` is negative");
            return Err(self.error("negative_time", self.span(raw), message, "times count up from 0"));
        }
        number.scaled(3).ok_or_else(|| {
            let message = format!("`{name}` is beyond {} milliseconds", u64::MAX / 1_000);
            self.error("out_of_range", self.span(raw), message, "too large")
        })
    }

    /// The value of an enum field, with its quotes and without escapes.
    #[inline]
    fn enum_value(self, fields: &FieldSlices<'a, LINE_FIELDS>, number: usize) -> Option<&'a str> {
        let value = fields.field(number)?;
        match fields.is_plain(number) || !value.contains('\\') {
            true => Some(value),
            false => self.unescaped_enum_value(value, number),
        }
    }

    #[cold]
    fn unescaped_enum_value(self, value: &'a str, number: usize) -> Option<&'a str> {
        let plain = self.text(value, "").ok();
        let known =
            number.checked_sub(ENUM_FIELDS).and_then(|index| ENUM_VALUES.get(index)).copied().unwrap_or_default();
        let same = known.iter().find(|known| plain.as_deref() == Some(known.trim_matches('"')));
        Some(same.copied().unwrap_or(value))
    }

    /// A name in a field; a number is a name too.
    #[inline(always)]
    pub(super) fn label(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        number: usize,
    ) -> LineResult<Option<Cow<'a, str>>> {
        self.plain_or(fields, number, Self::name)
    }

    /// The text in a field.
    #[inline(always)]
    pub(super) fn text_of(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        number: usize,
    ) -> LineResult<Option<Cow<'a, str>>> {
        self.plain_or(fields, number, Self::text)
    }

    /// The content of a plain field; `read` reads any other.
    #[inline(always)]
    fn plain_or(
        self,
        fields: &FieldSlices<'a, LINE_FIELDS>,
        number: usize,
        read: impl FnOnce(Self, &'a str, &str) -> LineResult<Cow<'a, str>>,
    ) -> LineResult<Option<Cow<'a, str>>> {
        if let Some(text) = fields.plain(number) {
            return Ok(Some(Cow::Borrowed(text)));
        }
        let Some(raw) = fields.field(number) else { return Ok(None) };
        read(self, raw, NAMES.get(number).copied().unwrap_or_default()).map(Some)
    }

    pub(super) fn name(self, raw: &'a str, name: &str) -> LineResult<Cow<'a, str>> {
        match raw.as_bytes().first() {
            Some(b'"') => self.text(raw, name),
            Some(b'-' | b'0'..=b'9') => Ok(Cow::Borrowed(raw)),
            _ => Err(self.wrong_type(raw, name, "a string or a number")),
        }
    }

    pub(super) fn text(self, raw: &'a str, name: &str) -> LineResult<Cow<'a, str>> {
        let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        match inner {
            Some(inner) if memchr::memchr(b'\\', inner.as_bytes()).is_none() => Ok(Cow::Borrowed(inner)),
            _ => serde_json::from_str::<BorrowedText<'a>>(raw).map(|text| text.0).map_err(|_| {
                let expected =
                    if raw.starts_with('"') { "valid text: an escape stands for no character" } else { "a string" };
                self.wrong_type(raw, name, expected)
            }),
        }
    }

    pub(super) fn whole(self) -> Range<usize> {
        let start = self.line.len() - self.line.trim_start().len();
        start..self.line.trim_end().len().max(start)
    }

    /// The place of `part`, a slice of the line.
    pub(super) fn span(self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.line.as_ptr() as usize);
        start..start + part.len()
    }

    pub(super) fn error(
        self,
        id: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        label: &'static str,
    ) -> Box<LineError> {
        Box::new(LineError { id, message: message.into(), span, label, help: None, foreign: None })
    }

    pub(super) fn wrong_type(self, raw: &str, name: &str, expected: &str) -> Box<LineError> {
        self.error("wrong_type", self.span(raw), format!("`{name}` must be {expected}"), mismatch(raw, expected))
    }

    pub(super) fn twice(self, name: &str, value: &str) -> Box<LineError> {
        self.error(
            "duplicate_field",
            self.span(value),
            format!("`{name}` appears twice in one line"),
            "the second value",
        )
    }

    fn not_a_trace_line(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> Box<LineError> {
        if fields.none_known() {
            let message = "the line has none of the fields of a trace";
            let mut error =
                self.error("missing_field", self.whole(), message, "expected `tool`, `call_id`, `status`, …");
            error.foreign = Some(NonTrace::Row);
            return error;
        }
        let message =
            "the line is neither a call (it has no `tool`) nor a result (it has no `call_id` with a `status`)";
        self.error("missing_field", self.whole(), message, "neither a call nor a result")
    }

    /// The error of a line that is no JSON object.
    pub(super) fn no_object(self, error: &serde_json::Error) -> Box<LineError> {
        let whole = self.whole();
        let first = self.line.as_bytes().get(whole.start).copied();
        if self.line.starts_with(BYTE_ORDER_MARK) {
            let message = "a byte order mark begins the line; it may only begin a file";
            let mut error = self.error(STRAY_MARK, self.character(0), message, "this character");
            error.help = Some(format!("{REMOVE_MARKS}."));
            return error;
        }
        if first != Some(b'{') {
            let message = "a line of a trace is a JSON object";
            let mut error = self.error("not_json", self.character(whole.start), message, "expected `{`");
            error.foreign = Some(if first == Some(b'[') { NonTrace::Document } else { NonTrace::Text });
            return error;
        }
        if error.is_eof() {
            let message = "the JSON of the line is cut off";
            let last = self.character(whole.end.saturating_sub(1));
            let mut error = self.error("truncated_line", last, message, "the last character");
            error.foreign = (whole.len() == 1).then_some(NonTrace::Document); // the first line of a document
            return error;
        }
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
        let place = error.column().saturating_sub(1).min(self.line.len().saturating_sub(1));
        let rest = self.line.bytes().enumerate().skip(place); // serde_json may report the place before a control character
        let control = rest.take(2).find(|(_, byte)| *byte < b' ').filter(|_| message.starts_with("control character"));
        let place = control.map_or(place, |(place, _)| place);
        self.error("not_json", self.character(place), format!("the line is not JSON: {message}"), "here")
    }

    /// The span of the character that contains byte `place` of the line.
    fn character(&self, place: usize) -> Range<usize> {
        let start = self.line.floor_char_boundary(place);
        let width = self.line.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        start..start + width
    }
}
