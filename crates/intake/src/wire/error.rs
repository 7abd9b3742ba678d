//! From the error of a line to its facts. Caches nothing.

use super::lower::{LineResult, Lowering};
use super::names::{ERROR_FIELDS, ERROR_NAMES, ErrorFields};
use crate::number::Decimal;
use crate::wire::fields;
use crate::{headers, json};
use playproof_engine::event::{ErrorFacts, Headers, KindFrom};
use playproof_engine::time::Duration;

impl<'a> Lowering<'a> {
    /// The facts of an error object, or of a message; adds its unknown fields to `unknown`.
    pub(super) fn error_facts(self, raw: &'a str, unknown: &mut u32) -> LineResult<ErrorFacts> {
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
            kind_from: fields.field(5).and_then(|raw| KindFrom::parse(raw.trim_matches('"'))),
            should_retry: fields.field(6).map(|raw| self.flag(raw, "should_retry")).transpose()?,
            retriable: fields.field(8).map(|raw| self.flag(raw, "retriable")).transpose()?,
            headers: fields.field(7).map(|raw| self.headers(raw)).transpose()?.unwrap_or_default(),
        })
    }

    fn flag(self, raw: &'a str, name: &str) -> LineResult<bool> {
        raw.parse().map_err(|_| self.wrong_type(raw, name, "`true` or `false`"))
    }

    fn headers(self, raw: &'a str) -> LineResult<Headers> {
        const EXPECTED: &str = "an object of texts, numbers, booleans or lists of them";
        let value = json::parse(raw).map_err(|_| self.wrong_type(raw, "headers", EXPECTED))?;
        headers::strict(value).map_err(|wrong| self.wrong_type(wrong.get(), "headers", EXPECTED))
    }

    /// A message may be any JSON value; one that is no string is taken as its JSON text.
    fn message(self, raw: &'a str) -> LineResult<Box<str>> {
        match raw.starts_with('"') {
            true => self.text(raw, "message").map(Into::into),
            false => Ok(raw.into()),
        }
    }

    fn status_number(self, raw: &'a str) -> LineResult<u16> {
        let text = raw.trim_matches('"');
        let value =
            Decimal::parse(text).and_then(|number| number.scaled(0)).and_then(|number| u16::try_from(number).ok());
        value.ok_or_else(|| self.wrong_type(raw, "status", "a status number such as 503"))
    }
}
