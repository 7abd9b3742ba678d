//! JSON in one normal form: sorted names, no spaces, numbers in lowest terms. Rests on no feature of `serde_json` that another
//! package may switch.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::number::Decimal;

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// A text stays a text.
    AsTexts,
    /// A text that is `true`, `false` or a plain decimal says the same as that value. A decimal is plain without an exponent,
    /// and if its fraction is only zeros or ends in none: `10.00` is 10, and `1.10` may be a version.
    AsValues,
}

/// The fields of an object.
pub type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// JSON in normal form; none: it is no JSON, or has more than `depth` levels.
pub fn normal(json: &str, texts: Texts, depth: u32) -> Option<String> {
    value(serde_json::from_str(json).ok()?, texts, depth)
}

/// An object of these fields in normal form; none: a value has more than `depth` levels.
pub fn object(fields: Fields<'_>, texts: Texts, depth: u32) -> Option<String> {
    let quoted = |(name, raw): (Cow<'_, str>, _)| Some((serde_json::to_string(&name).ok()?, raw));
    let sorted: Option<BTreeMap<String, &RawValue>> = fields.into_iter().map(quoted).collect();
    let field = |(name, raw): (String, &RawValue)| Some(format!("{name}:{}", value(raw, texts, depth)?));
    Some(format!("{{{}}}", sorted?.into_iter().map(field).collect::<Option<Vec<_>>>()?.join(",")))
}

fn value(raw: &RawValue, texts: Texts, depth: u32) -> Option<String> {
    let raw = raw.get();
    match raw.as_bytes().first()? {
        b'"' => text(&serde_json::from_str::<String>(raw).ok()?, texts),
        b'{' => object(serde_json::from_str(raw).ok()?, texts, depth.checked_sub(1)?),
        b'[' => {
            let depth = depth.checked_sub(1)?;
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let items: Option<Vec<String>> = items.into_iter().map(|item| value(item, texts, depth)).collect();
            Some(format!("[{}]", items?.join(",")))
        }
        b't' | b'f' | b'n' => Some(raw.to_owned()),
        _ => Some(Decimal::parse(raw)?.to_string()),
    }
}

fn text(text: &str, texts: Texts) -> Option<String> {
    let is_json = || text.trim() == text && serde_json::from_str::<&RawValue>(text).is_ok();
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') if texts == Texts::AsValues && is_json() && is_plain(text) => {
            Some(Decimal::parse(text)?.to_string())
        }
        Some(b't' | b'f') if texts == Texts::AsValues && is_json() => Some(text.to_owned()),
        _ => serde_json::to_string(text).ok(),
    }
}

fn is_plain(number: &str) -> bool {
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    let is_exact = fraction.bytes().all(|digit| digit == b'0') || !fraction.ends_with('0');
    is_exact && !number.contains(['e', 'E'])
}
