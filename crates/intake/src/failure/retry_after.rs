//! How long an upstream asks to wait: numbers, HTTP dates and phrases of messages. Reads no clock.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use crate::iso;
use crate::json;
use crate::json::Fields;
use crate::number::Decimal;
use crate::raw_value::RawValue;

/// The longest wait that counts, in milliseconds: a year.
const MAX_MS: u64 = 366 * 86_400_000;
/// Characters of a message that are searched.
const SEARCHED: usize = 1_000;

/// A wait that a source asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Millis(u64),
    /// Until a time, in microseconds since 1970; the sender's own time, if it gives one.
    Until {
        at: u64,
        sent: Option<u64>,
    },
}

impl Wait {
    /// In milliseconds, for an answer that came at `at` (microseconds since 1970).
    pub(super) fn millis(&self, at: Option<u64>) -> Option<u64> {
        let millis = match self {
            Wait::Millis(millis) => *millis,
            Wait::Until { at: until, sent } => until.saturating_sub(sent.or(at)?) / 1_000,
        };
        (millis <= MAX_MS).then_some(millis)
    }
}

/// `Retry-After` as a header has it: seconds, or an HTTP date.
pub(super) fn of_header(text: &str, sent: Option<u64>) -> Option<Wait> {
    let text = text.trim();
    let seconds = Decimal::parse(text).and_then(|number| number.scaled(3)).map(Wait::Millis);
    let until = || Some(Wait::Until { at: u64::try_from(iso::parse_rfc2822(text)?).ok()?, sent });
    seconds.or_else(until).or_else(|| of_duration(text))
}

/// The wait in the fields of an error object or of its headers.
pub(super) fn of_fields(fields: &Fields<'_>) -> Option<Wait> {
    let sent = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("date")).and_then(|(_, raw)| first(raw));
    let sent = sent.and_then(|text| u64::try_from(iso::parse_rfc2822(&text)?).ok());
    let mut seconds = None;
    for (name, raw) in fields.iter() {
        let name = name.bytes().filter(u8::is_ascii_alphanumeric);
        let name: Vec<u8> = name.map(|byte| byte.to_ascii_lowercase()).collect();
        match name.as_slice() {
            b"retryafterms" | b"retryinms" | b"retrydelayms" => {
                let millis = first(raw).and_then(|text| Decimal::parse(text.trim())?.scaled(0));
                if millis.is_some() {
                    return millis.map(Wait::Millis);
                }
            }
            b"retryafter" | b"retryafterseconds" | b"retryafters" | b"retryafterhint" | b"retrydelay" => {
                seconds = seconds.or_else(|| of_header(&first(raw)?, sent));
            }
            b"headers" | b"responseheaders" => {
                seconds = seconds.or_else(|| of_headers(raw));
            }
            _ => {}
        }
    }
    seconds
}

fn of_headers(raw: RawValue<'_>) -> Option<Wait> {
    let fields = json::object(raw)?;
    let is_wait = |name: &str| name.to_ascii_lowercase().starts_with("retry-after");
    fields.iter().any(|(name, _)| is_wait(name)).then(|| of_fields(&fields))?
}

/// A scalar, or the first item of a list of values, as headers are often written.
fn first(raw: RawValue<'_>) -> Option<String> {
    let scalar = json::scalar(raw).map(std::borrow::Cow::into_owned);
    scalar.or_else(|| Some(json::scalar(*json::array(raw)?.first()?)?.into_owned()))
}

/// `34.4s`, `1m30s`, `500ms`, `2 minutes`.
fn of_duration(text: &str) -> Option<Wait> {
    static PART: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^\s*(\d+(?:\.\d+)?)\s*(ms|milliseconds?|msecs?|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)",
        )
    });
    let (mut rest, mut total, mut found) = (text, 0_u64, false);
    for _ in 0..3 {
        let Some(part) = PART.find(rest) else { break };
        let (number, unit) = (part.get(1)?, part.get(2)?.to_ascii_lowercase());
        let millis = match unit.as_bytes() {
            [b'm', b's', ..] | [b'm', b'i', b'l', ..] => Decimal::parse(number)?.scaled(0)?,
            [b'h', ..] => Decimal::parse(number)?.scaled(3)?.checked_mul(3_600)?,
            [b'm', ..] => Decimal::parse(number)?.scaled(3)?.checked_mul(60)?,
            _ => Decimal::parse(number)?.scaled(3)?,
        };
        total = total.checked_add(millis)?;
        found = true;
        rest = rest.get(part.end()..)?;
    }
    found.then_some(Wait::Millis(total))
}

/// The wait that a message asks for: `retry after 2 s`, `Please try again in 20s`, `retry in 34.4s`.
pub(super) fn of_text(message: &str) -> Option<Wait> {
    static ASKED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r#"(?i)\b(?:(?:re)?try(?:ing)?(?:\s+(?:again|your request|the request|this request))?\s+(?:in|after)|retry[-_ ]?after(?:[-_ ]?(?:seconds|secs?))?["']?\s*[:=]?|retry[-_]?delay["']?\s*[:=]|wait(?:\s+for)?(?:\s+(?:at least|about|another))?|available\s+(?:again\s+)?in|resets?\s+in)\s*["']?\s*(?:about\s+|at least\s+|approximately\s+)?(\d+(?:\.\d+)?\s*(?:[a-z]+)?(?:\s*\d+(?:\.\d+)?\s*s\b)?)"#,
        )
    });
    let message = super::excerpt::cut(message, SEARCHED);
    let millis = message.to_ascii_lowercase();
    if let Some(at) = ["retry-after-ms", "retry_after_ms", "retryafterms"].iter().find_map(|name| millis.find(name)) {
        let digits = message.get(at..)?.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        return digits.get(..end)?.parse().ok().map(Wait::Millis);
    }
    // A text that asks for a wait has a digit, which is cheaper to look for than the pattern.
    let asked = ASKED.find(Some(message).filter(|message| message.bytes().any(|byte| byte.is_ascii_digit()))?)?;
    let (whole, text) = (asked.get(0)?, asked.get(1)?);
    // A bare number is seconds, but only where a wait is surely meant: "wait 2 attempts" is none.
    of_duration(text).or_else(|| {
        let bare = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
        let named = whole.to_ascii_lowercase().contains("retry");
        let unitless = bare.len() == text.trim_end().len();
        (named && unitless).then(|| Decimal::parse(bare)?.scaled(3).map(Wait::Millis))?
    })
}
