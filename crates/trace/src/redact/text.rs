//! What is taken out of one text: what patterns match, and what stands under a hidden key where the text holds JSON, or
//! something like it, whole or broken. Nothing is parsed, so that nothing can be too broken: quotes, backslashes and
//! brackets tell where a value ends, and where they do not, the rest of the text goes.

use std::borrow::Cow;
use std::ops::Range;

use super::rules::{REDACTED, RedactionRules};

/// Bytes of a key between its quotes; longer ones are no keys.
const KEY_MAX: usize = 1_024;

impl RedactionRules {
    /// Text without what must not be shown.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut taken = if self.is_empty() { Vec::new() } else { self.taken_out(text) };
        if taken.is_empty() {
            return Cow::Borrowed(text);
        }
        taken.sort_unstable_by_key(|range| (range.start, range.end));
        let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
        for range in taken {
            if range.start >= end {
                shown.push_str(text.get(end..range.start).unwrap_or_default());
                shown.push_str(REDACTED);
            }
            end = end.max(range.end);
        }
        shown.push_str(text.get(end..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// A text that stands under `key`.
    pub(super) fn text_under<'t>(&self, key: &str, text: &'t str) -> Cow<'t, str> {
        if self.hides(key) { Cow::Borrowed(REDACTED) } else { self.text(text) }
    }

    fn taken_out(&self, text: &str) -> Vec<Range<usize>> {
        let mut taken = Vec::new();
        self.matches(&View::plain(text), &mut taken);
        match View::unescaped(text) {
            None => self.keyed(&View::plain(text), &mut taken),
            Some(view) => {
                self.matches(&view, &mut taken);
                self.keyed(&view, &mut taken);
            }
        }
        taken
    }

    fn matches(&self, view: &View<'_>, taken: &mut Vec<Range<usize>>) {
        for pattern in &self.patterns {
            let found = pattern.find_iter(&view.text).map(|found| found.range()).filter(|range| !range.is_empty());
            taken.extend(found.map(|range| view.original(range)));
        }
    }

    /// What stands under a hidden key: a quoted name with a colon behind it.
    fn keyed(&self, view: &View<'_>, taken: &mut Vec<Range<usize>>) {
        if self.hides_no_key() {
            return;
        }
        let (bytes, mut at) = (view.text.as_bytes(), 0);
        while let Some(open) = view.quote_from(at) {
            at = open + 1;
            let Some(close) = view.end_of_key(open) else { continue };
            let colon = view.past_space(close + 1);
            let is_key = bytes.get(colon) == Some(&b':');
            if is_key && view.text.get(at..close).is_some_and(|key| self.hides(key)) {
                let value = view.value(colon + 1, open);
                at = value.end.max(colon);
                if !value.is_empty() {
                    taken.push(view.original(value));
                }
            }
        }
    }
}

/// A text as it is meant, without the backslashes that escape its characters, however often they do.
struct View<'t> {
    text: Cow<'t, str>,
    /// The text as it is written.
    written: &'t str,
    /// Of each byte, where it begins in the written text, and where that ends; none where nothing is escaped.
    starts: Option<Vec<usize>>,
}

impl<'t> View<'t> {
    fn plain(text: &'t str) -> View<'t> {
        View { text: Cow::Borrowed(text), written: text, starts: None }
    }

    /// None where nothing is escaped.
    fn unescaped(written: &'t str) -> Option<View<'t>> {
        memchr::memchr(b'\\', written.as_bytes())?;
        let (mut text, mut starts) = (String::with_capacity(written.len()), Vec::with_capacity(written.len() + 1));
        let mut at = 0;
        while let Some(rest) = written.get(at..).filter(|rest| !rest.is_empty()) {
            match meant(rest) {
                Some((meant, length)) => {
                    text.push(meant);
                    starts.resize(text.len(), at);
                    at += length;
                }
                // Backslashes that escape nothing, all at once, and anything else up to the next of them.
                None => {
                    let slashes = rest.len() - rest.trim_start_matches('\\').len();
                    let behind = rest.get(slashes..).unwrap_or_default();
                    let length = slashes + behind.find('\\').unwrap_or(behind.len());
                    text.push_str(rest.get(..length).unwrap_or_default());
                    starts.extend(at..at + length);
                    at += length;
                }
            }
        }
        starts.push(at);
        Some(View { text: Cow::Owned(text), written, starts: Some(starts) })
    }

    /// Where a part of the text stands in the written one.
    fn original(&self, part: Range<usize>) -> Range<usize> {
        let Some(starts) = &self.starts else { return part };
        let place = |at: usize| starts.get(at).copied().unwrap_or(self.written.len());
        place(part.start)..place(part.end)
    }

    /// In how many bytes a quote is escaped: the more, the deeper it is in texts within texts.
    fn slashes(&self, quote: usize) -> usize {
        self.original(quote..quote + 1).len() - 1
    }

    fn quote_from(&self, at: usize) -> Option<usize> {
        Some(at + memchr::memchr2(b'"', b'\'', self.text.as_bytes().get(at..)?)?)
    }

    /// The quote that ends what begins at the quote `open`, as far as it is short enough for a key.
    fn end_of_key(&self, open: usize) -> Option<usize> {
        let (bytes, slashes) = (self.text.as_bytes(), self.slashes(open));
        let quote = bytes.get(open)?;
        let end = bytes.len().min(open + KEY_MAX);
        (open + 1..end).find(|&at| bytes.get(at) == Some(quote) && self.slashes(at) == slashes)
    }

    fn past_space(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The value that begins at `from`, whose key is in quotes like the one at `quote`: without its own quotes.
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

    /// A quote that is less deep ends a text around it; one that is deeper is within.
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

/// The escaped character that `rest` begins with, and in how many bytes it is written; none where it begins otherwise.
fn meant(rest: &str) -> Option<(char, usize)> {
    let behind = rest.trim_start_matches('\\');
    let slashes = rest.len() - behind.len();
    let one = |c: char| Some((c, slashes + 1));
    if slashes == 0 {
        return None;
    }
    match behind.as_bytes().first() {
        Some(b'"') => one('"'),
        Some(b'\'') => one('\''),
        Some(b'/') => one('/'),
        Some(b'n') => one('\n'),
        Some(b'r') => one('\r'),
        Some(b't') => one('\t'),
        Some(b'u') => unicode(behind).map(|(c, length)| (c, slashes + length)),
        _ => None,
    }
}

/// `u` and four hexadecimal digits, with the second escape where two make one character.
fn unicode(behind: &str) -> Option<(char, usize)> {
    let unit = |text: &str| u32::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok();
    let first = unit(behind)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 5));
    }
    let rest = behind.get(5..)?;
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
    fn what_matches_goes_and_what_overlaps_goes_once() {
        assert_eq!(shown("pay 4111111111111111 with sk_abc, now"), "pay [redacted] with [redacted], now");
        let rules = RedactionRules::new(&[], &["abc", "bcd", "x*"]).unwrap();
        assert_eq!(rules.text("-abcd-xx"), "-[redacted]-[redacted]");
        assert!(matches!(rules.text("nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_stands_under_a_hidden_key_goes_however_deep_and_however_broken() {
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
        assert_eq!(meant(r"\ud83d\ude00x"), Some(('\u{1f600}', 12)));
        assert_eq!(meant(r"\ud83dx"), None);
        assert_eq!(shown(r"d:\new\4111111111111111"), r"d:\new\[redacted]");
    }

    #[test]
    fn whatever_the_text_it_is_walked_through_once() {
        for text in ["\"".repeat(100_000), "{\"password\":[".repeat(20_000), "\\".repeat(100_000), "'\"".repeat(9_999)]
        {
            let _ = shown(&text);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in r#"[\\"'{}:\[\], pu0-9a-fé]{0,60}"#) {
            let rules = RedactionRules::new(&["*"], &["[0-9]"]).unwrap();
            let shown = rules.text(&text);
            proptest::prop_assert!(!shown.contains(|c: char| c.is_ascii_digit()), "{}", shown);
        }
    }
}
