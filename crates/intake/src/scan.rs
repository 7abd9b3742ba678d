//! A strict scanner of JSON text. It accepts valid JSON and gives up on anything unusual, which serde_json then decides.
//! Knows where lines end, but no field names; allocates nothing.

use crate::number::leading_digits;
use crate::simd::{BLOCK, special_bits};

/// The deepest nesting of a line, its outermost object included.
pub const MAX_DEPTH: u32 = 128;

/// A position in JSON text, or in lines of JSON.
#[derive(Clone, Debug)]
pub struct JsonCursor<'a> {
    text: &'a str,
    at: usize,
    /// The start of the block that was scanned last.
    block: usize,
    /// The quotes, backslashes and control characters of that block, a bit each.
    special: u64,
    /// A line break was passed since the line began.
    passed_line: bool,
}

/// The start of no block.
const NOWHERE: usize = 1 << (usize::BITS - 1);

/// A string as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawString<'a> {
    /// With its quotes.
    pub quoted: &'a str,
    /// The text between the quotes.
    pub inner: &'a str,
    /// Whether it holds a backslash.
    pub escaped: bool,
}

/// The powers of ten from 0 to 7.
const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

impl<'a> JsonCursor<'a> {
    /// A cursor at the start of `text`.
    pub fn new(text: &'a str) -> JsonCursor<'a> {
        JsonCursor { text, at: 0, block: NOWHERE, special: 0, passed_line: false }
    }

    /// The byte offset in the text.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text from byte `start` to here; empty if `start` is no valid index.
    #[inline]
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// The byte here.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves past white space; returns the next byte.
    #[inline(always)]
    pub fn next_byte(&mut self) -> Option<u8> {
        match self.peek()? {
            ..=b' ' => self.next_byte_after_space(),
            here => Some(here),
        }
    }

    #[inline(always)]
    fn next_byte_after_space(&mut self) -> Option<u8> {
        if self.peek() == Some(b' ') {
            self.at += 1; // the usual white space is one blank
        }
        match self.peek()? {
            ..=b' ' => self.next_byte_after_more_space(),
            here => Some(here),
        }
    }

    #[inline(never)]
    fn next_byte_after_more_space(&mut self) -> Option<u8> {
        while let Some(space @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.passed_line |= space == b'\n';
            self.at += 1;
        }
        self.peek()
    }

    /// Moves past white space.
    #[inline(always)]
    pub fn skip_space(&mut self) {
        self.next_byte();
    }

    /// Moves past white space, then past `byte` if that is next; returns whether it was.
    #[inline(always)]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.next_byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Moves past white space, then past a comma or the bracket `end`; returns whether it was the comma. None for any other
    /// byte.
    #[inline(always)]
    pub fn goes_on(&mut self, end: u8) -> Option<bool> {
        let here = self.next_byte()?;
        self.at += 1;
        (here == b',' || here == end).then_some(here == b',')
    }

    /// Moves past white space; returns whether the text ends there.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Moves past the end of a line that holds one value; returns the text of the line from `start`, without its break. None if
    /// something follows the value, or if the value spans lines.
    #[inline]
    pub fn end_line(&mut self, start: usize) -> Option<&'a str> {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        if self.passed_line || !matches!(self.peek(), None | Some(b'\n')) {
            return None;
        }
        let line = self.since(start);
        self.at += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Begins a line here.
    #[inline]
    pub fn begin_line(&mut self) {
        self.passed_line = false;
    }

    /// Moves back to `start`, then past the end of its line; returns the text of the line without its break (LF or CRLF).
    pub fn take_line(&mut self, start: usize) -> &'a str {
        let rest = self.text.get(start..).unwrap_or("");
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        *self = JsonCursor { at: start + length + 1, ..JsonCursor::new(self.text) };
        let line = rest.get(..length).unwrap_or("");
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Moves past `bytes` bytes that the caller has checked.
    #[inline]
    pub fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The bytes from here on.
    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Moves past a string without escapes whose opening quote is here; returns where its content begins and ends. None,
    /// without moving, for anything else.
    #[inline(always)]
    pub fn plain_string(&mut self) -> Option<(usize, usize)> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let end = self.next_special(start);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        Some((start, end))
    }

    /// The bytes from `start` to `end`.
    #[inline(always)]
    pub fn bytes(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.as_bytes().get(start..end).unwrap_or_default()
    }

    /// Moves past a string whose opening quote is here; returns it.
    #[inline]
    pub fn string(&mut self) -> Option<RawString<'a>> {
        let start = self.at;
        let escaped = self.pass_string()?;
        let quoted = self.since(start);
        Some(RawString { quoted, inner: quoted.get(1..quoted.len() - 1)?, escaped })
    }

    /// Moves past a string; returns whether it holds a backslash.
    #[inline(always)]
    pub fn pass_string(&mut self) -> Option<bool> {
        match self.plain_string() {
            Some(_) => Some(false),
            None => self.pass_escaped_string().map(|()| true),
        }
    }

    #[inline(never)]
    fn pass_escaped_string(&mut self) -> Option<()> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut at = self.next_special(self.at + 1);
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at = self.next_special(past_escape(bytes, at)?),
                _ => return None, // JSON forbids raw control characters
            }
        }
        self.at = at + 1;
        Some(())
    }

    /// The index of the first quote, backslash or control character at or after `at`; the end if there is none.
    #[inline]
    fn next_special(&mut self, mut at: usize) -> usize {
        loop {
            let within = at.wrapping_sub(self.block);
            if within < BLOCK {
                let special = self.special >> within;
                if special != 0 {
                    return at + special.trailing_zeros() as usize;
                }
                at = self.block + BLOCK;
            }
            self.scan_block(at);
        }
    }

    /// Scans the block that begins at `at`. Bytes after the end count as control characters.
    #[inline]
    fn scan_block(&mut self, at: usize) {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        self.block = at;
        self.special = rest.first_chunk().map_or_else(|| last_bits(rest), special_bits);
    }

    /// Moves past a number; returns its text.
    #[inline]
    pub fn number(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.pass_number()?;
        Some(self.since(start))
    }

    fn pass_number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits()?,
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// Moves past a whole number of one to fifteen digits without a sign; returns it. None, without moving, for any other
    /// number, and near the end of the text.
    #[inline]
    pub fn short_number(&mut self) -> Option<u64> {
        let block = self.block::<8>(self.at)?;
        let (mut length, mut value) = leading_digits(*block);
        if length == block.len() {
            let (more, behind) = leading_digits(*self.block(self.at + length)?);
            length += more;
            value = value * POWERS.get(more)? + behind;
        }
        let begins_with_zero = block[0] == b'0' && length > 1;
        if length == 0 || begins_with_zero || matches!(self.text.as_bytes().get(self.at + length)?, b'.' | b'e' | b'E')
        {
            return None;
        }
        self.at += length;
        Some(value)
    }

    /// The next `N` bytes, if there are as many.
    #[inline(always)]
    pub fn ahead<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.block(self.at)
    }

    /// The `N` bytes from `at` on, if there are as many.
    #[inline(always)]
    fn block<const N: usize>(&self, at: usize) -> Option<&'a [u8; N]> {
        self.text.as_bytes().get(at..)?.first_chunk()
    }

    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(block) = self.rest().first_chunk() {
            let (length, _) = leading_digits(*block);
            self.at += length;
            if length < block.len() {
                return (self.at > start).then_some(());
            }
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Moves past `word`; none, without moving, if something else is here.
    #[inline]
    pub fn word(&mut self, word: &str) -> Option<()> {
        let here = self.text.get(self.at..)?.starts_with(word);
        self.at += if here { word.len() } else { 0 };
        here.then_some(())
    }

    /// Moves past any value, nested `depth` levels at most; returns its text.
    pub fn value(&mut self, depth: u32) -> Option<&'a str> {
        self.skip_space();
        let start = self.at;
        self.pass_value(depth)?;
        Some(self.since(start))
    }

    /// Moves past any value, nested `depth` levels at most.
    #[inline(always)]
    pub fn pass_value(&mut self, depth: u32) -> Option<()> {
        match self.next_byte()? {
            b'"' => self.pass_string().map(drop),
            b'n' => self.word("null"),
            other => self.pass_rare_value(other, depth),
        }
    }

    /// A value that begins with `first` and is neither a string nor `null`.
    #[inline(never)]
    fn pass_rare_value(&mut self, first: u8, depth: u32) -> Option<()> {
        match first {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            _ => self.pass_number(),
        }
    }

    fn object(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.at += 1;
        if self.eat(b'}') {
            return Some(());
        }
        loop {
            self.skip_space();
            self.pass_string()?;
            if !self.eat(b':') {
                return None;
            }
            self.pass_value(depth)?;
            if !self.goes_on(b'}')? {
                return Some(());
            }
        }
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.at += 1;
        if self.eat(b']') {
            return Some(());
        }
        loop {
            self.pass_value(depth)?;
            if !self.goes_on(b']')? {
                return Some(());
            }
        }
    }

    /// The end of the string whose opening quote is here; escapes are not checked.
    fn string_end(&mut self) -> usize {
        let mut at = self.at + 1;
        loop {
            at = self.next_special(at);
            match self.text.as_bytes().get(at) {
                Some(b'\\') => at += 2,
                Some(b'"') | None => return at,
                Some(_) => at += 1,
            }
        }
    }

    /// Moves past the key of an object's entry, its colon and white space; returns the key.
    #[inline]
    pub fn key(&mut self) -> Option<RawString<'a>> {
        self.skip_space();
        let key = self.string()?;
        if !self.eat(b':') {
            return None;
        }
        self.skip_space();
        Some(key)
    }

    /// The same for a key without escapes; none for any other key.
    #[inline]
    pub fn plain_key(&mut self) -> Option<&'a str> {
        self.skip_space();
        let (start, end) = self.plain_string()?;
        if !self.eat(b':') {
            return None;
        }
        self.skip_space();
        self.text.get(start..end)
    }
}

/// The index after the escape whose backslash is at `at`.
fn past_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// [`special_bits`] of less than a block; missing bytes count as control characters.
fn last_bits(rest: &[u8]) -> u64 {
    let mut block = [0; BLOCK];
    if let Some(start) = block.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    special_bits(&block)
}

/// The index of the first bracket that nests deeper than [`MAX_DEPTH`]; `text` need not be JSON.
pub fn too_deep(text: &str) -> Option<usize> {
    let (mut cursor, mut depth) = (JsonCursor::new(text), 0_u32);
    while let Some(byte) = cursor.peek() {
        match byte {
            b'"' => cursor.at = cursor.string_end(),
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(cursor.at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &str) -> bool {
        let mut cursor = JsonCursor::new(text);
        cursor.value(MAX_DEPTH).is_some() && cursor.at_end()
    }

    #[test]
    fn valid_json_is_accepted_and_other_text_is_not() {
        for good in [
            "{}",
            " [ ] ",
            r#"{"a" : [1, -0.5e+3, true,null , "x\"\u00e9"]}"#,
            "0",
            "\"é\"",
            r#""long enough \\ text""#,
        ] {
            assert!(accepts(good), "{good}");
        }
        for bad in [
            "",
            "{",
            "[1,]",
            "{\"a\":}",
            "01",
            "1.",
            "-",
            "1e",
            "\"\t\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "nul",
            "{}x",
            "{a:1}",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused_and_located() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(accepts(&nested(128)));
        assert!(!accepts(&nested(129)));
        assert_eq!(too_deep(&nested(128)), None);
        assert_eq!(too_deep(&nested(100_000)), Some(128));
        assert_eq!(too_deep(&format!("\"\\\"{}\"", "[".repeat(500))), None);
    }

    proptest! {
        #[test]
        fn special_bytes_are_found_where_a_plain_search_finds_them(text in "[a-zé \"\\\\\n]{0,200}", skip in 1..90_usize) {
            let is_special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
            let (mut cursor, mut at) = (JsonCursor::new(&text), 0);
            while at <= text.len() {
                let plain = text.as_bytes()[at..].iter().position(is_special);
                prop_assert_eq!(cursor.next_special(at), plain.map_or(text.len(), |found| at + found));
                at += skip;
            }
        }

        #[test]
        fn accepted_text_is_json(text in r#"[\[\]{}",:0-9a-e\\.tru\- ]{0,24}"#) {
            if accepts(&text) {
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
            }
        }
    }
}
