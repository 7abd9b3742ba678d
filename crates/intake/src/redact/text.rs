//! Redacts one text: what patterns match, and the values under redacted keys where the text holds JSON or something like it,
//! whole or broken. Nothing is parsed, so no text is too broken: quotes, backslashes and brackets tell where a value ends,
//! and where they do not, the rest of the text is redacted.

use std::borrow::Cow;
use std::ops::Range;

use super::rules::{REDACTED, RedactionRules};

/// The longest key, in bytes between its quotes.
const MAX_KEY: usize = 1_024;

impl RedactionRules {
    /// Redacts a text.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut ranges = if self.is_empty() { Vec::new() } else { self.redacted_ranges(text) };
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
        for range in ranges {
            if range.start >= end {
                shown.push_str(text.get(end..range.start).unwrap_or_default());
                shown.push_str(REDACTED);
            }
            end = end.max(range.end);
        }
        shown.push_str(text.get(end..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// Redacts the text under `key`.
    pub(super) fn text_under<'t>(&self, key: &str, text: &'t str) -> Cow<'t, str> {
        if self.hides(key) { Cow::Borrowed(REDACTED) } else { self.text(text) }
    }

    fn redacted_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        self.matches(&UnescapedText::plain(text), &mut ranges);
        match UnescapedText::unescaped(text) {
            None => self.keyed(&UnescapedText::plain(text), &mut ranges),
            Some(unescaped) => {
                self.matches(&unescaped, &mut ranges);
                self.keyed(&unescaped, &mut ranges);
            }
        }
        ranges
    }

    fn matches(&self, unescaped: &UnescapedText<'_>, ranges: &mut Vec<Range<usize>>) {
        for pattern in &self.patterns {
            let found = pattern.find_iter(&unescaped.text).map(|found| found.range()).filter(|range| !range.is_empty());
            ranges.extend(found.map(|range| unescaped.original(range)));
        }
    }

    /// Adds the values under redacted keys. A key is a quoted name before a colon.
    fn keyed(&self, unescaped: &UnescapedText<'_>, ranges: &mut Vec<Range<usize>>) {
        if self.has_no_keys() {
            return;
        }
        let (bytes, mut at) = (unescaped.text.as_bytes(), 0);
        while let Some(open) = unescaped.quote_from(at) {
            at = open + 1;
            let Some(close) = unescaped.end_of_key(open) else { continue };
            let colon = unescaped.past_space(close + 1);
            let is_key = bytes.get(colon) == Some(&b':');
            if is_key && unescaped.text.get(at..close).is_some_and(|key| self.hides(key)) {
                let value = unescaped.value(colon + 1, open);
                at = value.end.max(colon);
                if !value.is_empty() {
                    ranges.push(unescaped.original(value));
                }
            }
        }
    }
}

/// A text without its escapes, at any depth of escaping.
struct UnescapedText<'t> {
    text: Cow<'t, str>,
    /// The text as written.
    written: &'t str,
    /// Where each byte begins in the written text, and the end of that text; none where nothing is escaped.
    starts: Option<Vec<usize>>,
}

impl<'t> UnescapedText<'t> {
    fn plain(text: &'t str) -> UnescapedText<'t> {
        UnescapedText { text: Cow::Borrowed(text), written: text, starts: None }
    }

    /// The unescaped form of a text; none where nothing is escaped.
    fn unescaped(written: &'t str) -> Option<UnescapedText<'t>> {
        memchr::memchr(b'\\', written.as_bytes())?;
        let (mut text, mut starts) = (String::with_capacity(written.len()), Vec::with_capacity(written.len() + 1));
        let mut at = 0;
        while let Some(rest) = written.get(at..).filter(|rest| !rest.is_empty()) {
            match unescape(rest) {
                Some((c, length)) => {
                    text.push(c);
                    starts.resize(text.len(), at);
                    at += length;
                }
                // Backslashes that escape nothing, and the text up to the next backslash.
                None => {
                    let slashes = rest.len() - rest.trim_start_matches('\\').len();
                    let after = rest.get(slashes..).unwrap_or_default();
                    let length = slashes + after.find('\\').unwrap_or(after.len());
                    text.push_str(rest.get(..length).unwrap_or_default());
                    starts.extend(at..at + length);
                    at += length;
                }
            }
        }
        starts.push(at);
        Some(UnescapedText { text: Cow::Owned(text), written, starts: Some(starts) })
    }

    /// The place of a part of the text in the written text.
    fn original(&self, part: Range<usize>) -> Range<usize> {
        let Some(starts) = &self.starts else { return part };
        let place = |at: usize| starts.get(at).copied().unwrap_or(self.written.len());
        place(part.start)..place(part.end)
    }

    /// The bytes that escape a quote: more for a text deeper inside other texts.
    fn slashes(&self, quote: usize) -> usize {
        self.original(quote..quote + 1).len() - 1
    }

    fn quote_from(&self, at: usize) -> Option<usize> {
        Some(at + memchr::memchr2(b'"', b'\'', self.text.as_bytes().get(at..)?)?)
    }

    /// The closing quote of the key whose opening quote is at `open`.
    fn end_of_key(&self, open: usize) -> Option<usize> {
        let (bytes, slashes) = (self.text.as_bytes(), self.slashes(open));
        let quote = bytes.get(open)?;
        let end = bytes.len().min(open + MAX_KEY);
        (open + 1..end).find(|&at| bytes.get(at) == Some(quote) && self.slashes(at) == slashes)
    }

    fn past_space(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The value after `from`, without its quotes. Its key has quotes like the one at `quote`.
    fn value(&self, from: usize, quote: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let start = self.past_space(from);
        match bytes.get(start) {
            Some(b'"' | b'\'') => start + 1..self.end_of_string(start),
            Some(b'{' | b'[') => start..self.end_of_brackets(start, quote),
            _ => {
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'\n' | b'"' | b'\'');
                let rest = bytes.get(start..).unwrap_or_default();
                start..start + rest.iter().position(is_end).unwrap_or(rest.len())
            }
        }
    }

    /// The end of the string at `open`. A quote with fewer escapes ends an outer text; one with more is inside.
    fn end_of_string(&self, open: usize) -> usize {
        let (bytes, slashes) = (self.text.as_bytes(), self.slashes(open));
        let quote = bytes.get(open).copied().unwrap_or(b'"');
        let mut at = open + 1;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(quote, rest)) {
            if self.slashes(at + found) <= slashes {
                return at + found;
            }
            at += found + 1;
        }
        bytes.len()
    }

    fn end_of_brackets(&self, start: usize, quote: usize) -> usize {
        let bytes = self.text.as_bytes();
        let quote = bytes.get(quote).copied().unwrap_or(b'"');
        let (mut at, mut depth) = (start, 0_usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                byte if *byte == quote => at = self.end_of_string(at),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at.min(bytes.len())
    }
}

/// The escaped character at the start of `rest`, and the bytes that it takes.
fn unescape(rest: &str) -> Option<(char, usize)> {
    let after = rest.trim_start_matches('\\');
    let slashes = rest.len() - after.len();
    let one = |c: char| Some((c, slashes + 1));
    if slashes == 0 {
        return None;
    }
    match after.as_bytes().first() {
        Some(b'"') => one('"'),
        Some(b'\'') => one('\''),
        Some(b'/') => one('/'),
        Some(b'n') => one('\n'),
        Some(b'r') => one('\r'),
        Some(b't') => one('\t'),
        Some(b'u') => unicode(after).map(|(c, length)| (c, slashes + length)),
        _ => None,
    }
}

/// `u` and four hexadecimal digits, with the second escape of a surrogate pair.
fn unicode(after: &str) -> Option<(char, usize)> {
    let unit = |text: &str| u32::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok();
    let first = unit(after)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 5));
    }
    let rest = after.get(5..)?;
    let second = rest.trim_start_matches('\\');
    let low = unit(second).filter(|low| (0xDC00..0xE000).contains(low))?;
    let high = first.checked_sub(0xD800).filter(|high| *high < 0x400)?;
    let c = char::from_u32(0x1_0000 + (high << 10) + (low - 0xDC00))?;
    Some((c, 5 + rest.len() - second.len() + 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let rules = RedactionRules::new(&["*token*", "password"], &[r"\b\d{16}\b", "sk_[a-z]+"]).unwrap();
        rules.text(text).into_owned()
    }

    #[test]
    fn matches_are_redacted_and_overlapping_matches_are_replaced_once() {
        assert_eq!(shown("pay 4111111111111111 with sk_abc, now"), "pay [redacted] with [redacted], now");
        let rules = RedactionRules::new(&[], &["abc", "bcd", "x*"]).unwrap();
        assert_eq!(rules.text("-abcd-xx"), "-[redacted]-[redacted]");
        assert!(matches!(rules.text("nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn values_under_redacted_keys_are_redacted_at_any_depth_in_broken_text_too() {
        for (text, wanted) in [
            (r#"{"password":"pw1","a":2}"#, r#"{"password":"[redacted]","a":2}"#),
            (r#"said {"a": {"password" : 17}} to"#, r#"said {"a": {"password" : [redacted]}} to"#),
            (r#"{"password":{"x":["}"]},"y":1}"#, r#"{"password":[redacted],"y":1}"#),
            (r#"{"b":"{\"password\":\"p\\\"w\",\"c\":1}"}"#, r#"{"b":"{\"password\":\"[redacted]\",\"c\":1}"}"#),
            (r#"{\"b\":\"{\\\"password\\\":\\\"pw\\\"}\"}"#, r#"{\"b\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"#),
            (r#"{"p\u0061ssword":"pw"}"#, r#"{"p\u0061ssword":"[redacted]"}"#),
            (r#"can't take {'password': 'pw'}"#, r#"can't take {'password': '[redacted]'}"#),
            (r#"{"api_token":"half of it"#, r#"{"api_token":"[redacted]"#),
            (r#"{"password":pw1"#, r#"{"password":[redacted]"#),
            (r#"{"password":["#, r#"{"password":[redacted]"#),
            (r#"no "password" here"#, r#"no "password" here"#),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }

    #[test]
    fn escapes_hide_nothing() {
        assert_eq!(shown(r"a \u0034111111111111111 b"), "a [redacted] b");
        assert_eq!(shown(r#"{\"a\":\"\\u0073k_abc\"}"#), r#"{\"a\":\"[redacted]\"}"#);
        assert_eq!(unescape(r"\ud83d\ude00x"), Some(('\u{1f600}', 12)));
        assert_eq!(unescape(r"\ud83dx"), None);
        assert_eq!(shown(r"d:\new\4111111111111111"), r"d:\new\[redacted]");
    }

    #[test]
    fn long_texts_take_linear_time() {
        for text in ["\"".repeat(100_000), "{\"password\":[".repeat(20_000), "\\".repeat(100_000), "'\"".repeat(9_999)]
        {
            let _ = shown(&text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_redacted(text in r#"[\\"'{}:\[\], pu0-9a-fé]{0,60}"#) {
            let rules = RedactionRules::new(&["*"], &["[0-9]"]).unwrap();
            let shown = rules.text(&text);
            proptest::prop_assert!(!shown.contains(|c: char| c.is_ascii_digit()), "{}", shown);
        }
    }
}
