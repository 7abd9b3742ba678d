//! Redacts JSON; the result is JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::rules::{REDACTED, RedactionRules, numbered};
use crate::canonical::text_of;
use crate::scan::{JsonCursor, MAX_DEPTH, RawString};

/// The redacted keys of one object with their counts, which keep them different.
type RedactedKeys = BTreeMap<String, u32>;

impl RedactionRules {
    /// Redacts JSON; text that is not strict JSON is redacted as a whole.
    pub fn json(&self, json: &str) -> String {
        let mut cursor = JsonCursor::new(json);
        let mut out = String::with_capacity(json.len());
        match self.value(&mut cursor, &mut out, MAX_DEPTH) {
            Some(()) => out,
            None => format!("\"{REDACTED}\""),
        }
    }

    /// Redacts the JSON under `key`.
    pub(super) fn json_under(&self, key: &str, json: &str) -> String {
        if self.hides(key) { format!("\"{REDACTED}\"") } else { self.json(json) }
    }

    fn value(&self, cursor: &mut JsonCursor<'_>, out: &mut String, depth: u32) -> Option<()> {
        cursor.skip_space();
        match cursor.peek()? {
            b'"' => self.string(cursor.string()?, out)?,
            b'{' => self.entries(cursor, out, depth.checked_sub(1)?, (b'{', b'}'))?,
            b'[' => self.entries(cursor, out, depth.checked_sub(1)?, (b'[', b']'))?,
            _ => self.bare(cursor.value(depth)?, out),
        }
        Some(())
    }

    /// A number, a boolean or null. A number may be written in several ways; patterns also see its canonical form.
    fn bare(&self, written: &str, out: &mut String) {
        let is_hidden = [Cow::Borrowed(written), Cow::Owned(text_of(written))].iter().any(|one| self.text(one) != *one);
        match is_hidden {
            true => out.push_str(&format!("\"{REDACTED}\"")),
            false => out.push_str(written),
        }
    }

    fn string(&self, string: RawString<'_>, out: &mut String) -> Option<()> {
        let (quoted, plain) = unquoted(string)?;
        let shown = self.text(&plain);
        match shown == plain {
            true => out.push_str(&quoted),
            false => out.push_str(&serde_json::to_string(&shown).ok()?),
        }
        Some(())
    }

    fn entries(
        &self,
        cursor: &mut JsonCursor<'_>,
        out: &mut String,
        depth: u32,
        (open, close): (u8, u8),
    ) -> Option<()> {
        cursor.eat(open);
        out.push(char::from(open));
        let mut keys = RedactedKeys::new();
        if !cursor.eat(close) {
            loop {
                if open == b'{' {
                    self.entry(cursor, out, depth, &mut keys)?;
                } else {
                    self.value(cursor, out, depth)?;
                }
                if !cursor.eat(b',') {
                    break;
                }
                out.push(',');
            }
            if !cursor.eat(close) {
                return None;
            }
        }
        out.push(char::from(close));
        Some(())
    }

    fn entry(&self, cursor: &mut JsonCursor<'_>, out: &mut String, depth: u32, keys: &mut RedactedKeys) -> Option<()> {
        let (quoted, plain) = unquoted(cursor.key()?)?;
        let shown = self.text(&plain);
        if shown == plain {
            out.push_str(&quoted);
        } else {
            let times = keys.entry(shown.to_string()).or_default();
            *times += 1;
            out.push_str(&serde_json::to_string(&numbered(&shown, *times)).ok()?);
        }
        out.push(':');
        if self.hides(&plain) {
            cursor.value(depth)?;
            out.push_str(&format!("\"{REDACTED}\""));
            return Some(());
        }
        self.value(cursor, out, depth)
    }
}

/// A string with its quotes, and its content.
fn unquoted(string: RawString<'_>) -> Option<(String, String)> {
    let quoted = format!("\"{}\"", string.inner);
    let plain = serde_json::from_str(&quoted).ok()?;
    Some((quoted, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> RedactionRules {
        RedactionRules::new(&["*token*", "ssn"], &[r"\b\d{16}\b"]).unwrap()
    }

    #[test]
    fn values_under_matching_keys_and_matching_texts_are_redacted_and_nothing_else_is() {
        let json = r#"{"a": {"ssn": {"x": [1]}}, "api_token":"s3", "card":["pay 4111111111111111 now", "caf\u00e9"], "n": 1.50}"#;
        let shown =
            r#"{"a":{"ssn":"[redacted]"},"api_token":"[redacted]","card":["pay [redacted] now","caf\u00e9"],"n":1.50}"#;
        assert_eq!(rules().json(json), shown);
    }

    #[test]
    fn numbers_and_keys_are_redacted_too_and_keys_stay_different() {
        let json = r#"{"card":4111111111111111,"4222222222222222":1,"4333333333333333":-4.111111111111111e15,"n":7}"#;
        let shown = r#"{"card":"[redacted]","[redacted]":1,"[redacted] 2":"[redacted]","n":7}"#;
        assert_eq!(rules().json(json), shown);
    }

    #[test]
    fn keys_are_found_in_json_inside_a_text() {
        let json = r#"{"body":"{\"ssn\":17,\"b\":\"{\\\"ssn\\\":\\\"x\\\"}\"}"}"#;
        let shown = r#"{"body":"{\"ssn\":[redacted],\"b\":\"{\\\"ssn\\\":\\\"[redacted]\\\"}\"}"}"#;
        assert_eq!(rules().json(json), shown);
    }

    #[test]
    fn escapes_do_not_hide_a_key_or_a_number() {
        assert_eq!(rules().json(r#"{"s\u0073n":1}"#), r#"{"s\u0073n":"[redacted]"}"#);
        assert_eq!(rules().json(r#"["\u0034111111111111111"]"#), r#"["[redacted]"]"#);
    }

    #[test]
    fn unreadable_json_is_redacted_as_a_whole() {
        assert_eq!(rules().json(r#"{"a":"\ud800"}"#), r#""[redacted]""#);
        assert_eq!(rules().json("{oops"), r#""[redacted]""#);
    }
}
