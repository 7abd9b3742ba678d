//! Fix hints for wrong units: `timeout: 5s` instead of `timeout_ms: 5000`. Only suggests; nothing is parsed this way.

use super::node::{Node, NodeKind};
use playproof_engine::decimal;

/// Suffixes of keys that people write instead of `_ms`, and their units.
const SUFFIXES: [(&str, u64); 9] = [
    ("_milliseconds", 1),
    ("_millis", 1),
    ("_seconds", 1_000),
    ("_secs", 1_000),
    ("_sec", 1_000),
    ("_s", 1_000),
    ("_minutes", 60_000),
    ("_min", 60_000),
    ("_m", 60_000),
];

/// Numbers without a unit below this one may mean seconds.
const MOST_SECONDS: u64 = 1_000;

/// The known key that `key` means if only the unit is wrong, and what to write.
pub(crate) fn in_millis<'k>(key: &str, value: &Node, known: &[&'k str]) -> Option<(&'k str, String)> {
    let named = |stem: &str| {
        let wanted = format!("{stem}_ms");
        known.iter().copied().find(|key| *key == wanted)
    };
    let by_suffix = SUFFIXES.iter().find_map(|(suffix, unit)| Some((named(key.strip_suffix(suffix)?)?, Some(*unit))));
    let (known, unit) = by_suffix.or_else(|| Some((named(key)?, None)))?;
    let help = match (converted(value, unit), bare_seconds(value).filter(|_| unit.is_none())) {
        (Some(value), Some((seconds, ms))) => {
            format!("write `{known}: {ms}` for {seconds} s; `{known}: {value}` is {value} ms")
        }
        (Some(value), None) => format!("write `{known}: {value}`, in milliseconds"),
        (None, Some((seconds, ms))) => format!("write `{known}: {ms}` for {seconds} s"),
        (None, None) => format!("write `{known}`, in milliseconds"),
    };
    Some((known, help))
}

/// A number without a unit, if it may mean seconds, and these in milliseconds.
fn bare_seconds(value: &Node) -> Option<(&str, u64)> {
    let NodeKind::Scalar { text, .. } = &value.kind else { return None };
    decimal::parse(text, 3).filter(|ms| *ms < MOST_SECONDS * 1_000).map(|ms| (&**text, ms))
}

/// The value in milliseconds, as text.
fn converted(value: &Node, unit: Option<u64>) -> Option<String> {
    match &value.kind {
        NodeKind::Scalar { text, .. } => millis(text, unit).or_else(|| text.parse().ok()).map(|ms: u64| ms.to_string()),
        NodeKind::List(items) if items.len() <= 10 => {
            let items: Option<Vec<String>> = items.iter().map(|item| converted(item, unit)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        _ => None,
    }
}

/// The milliseconds of a text such as `5s`, `1.5 min` or, with the unit `bare`, `5`.
pub(crate) fn millis(text: &str, bare: Option<u64>) -> Option<u64> {
    let text = text.trim();
    let number_ends = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_ends);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" => bare?,
        "ms" | "millis" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _ => return None,
    };
    Some(decimal::parse(number, 3)?.checked_mul(unit)? / 1_000)
}

/// `` `a`, `b` or `c` ``.
pub(crate) fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_with_a_unit_become_milliseconds() {
        assert_eq!(millis("5s", None), Some(5_000));
        assert_eq!(millis("1.5 min", None), Some(90_000));
        assert_eq!(millis("250ms", None), Some(250));
        assert_eq!(millis("5", Some(1_000)), Some(5_000));
        assert_eq!(millis("5", None), None);
        assert_eq!(millis("5 parsecs", None), None);
        assert_eq!(millis("99999999999999999999h", None), None);
    }
}
