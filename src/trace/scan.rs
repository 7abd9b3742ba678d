//! A strict scanner over JSON text that may only accept: on anything unusual it gives up, and serde_json decides.
//! Knows no field names; allocates nothing.

use crate::trace::number::leading_digits;
use crate::trace::processor::special_bits;

/// Nesting that a line may have, its outermost object counted.
pub const MAX_DEPTH: u32 = 128;

/// A position in JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A string as it stands in the text, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawString<'a> {
    /// What stands between the quotes.
    pub inner: &'a str,
    /// Whether it holds a backslash.
    pub escaped: bool,
}

/// The first 0 to 15 bytes of a block.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

impl<'a> Cursor<'a> {
    /// At the start of `text`.
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// The byte offset in the text.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text from byte `start` to here; empty if `start` is no place in it.
    #[inline]
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// The byte here.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Past white space.
    #[inline]
    pub fn skip_space(&mut self) {
        if self.peek().is_some_and(|here| here <= b' ') {
            self.skip_some_space(); // most machines write none
        }
    }

    #[inline(never)]
    fn skip_some_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Past white space, then past `byte` if it is next.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Past white space; whether nothing follows.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Past `bytes` more bytes, which the caller has looked at.
    #[inline]
    pub fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// What is still to come.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Past a string of at most 15 plain bytes whose opening quote is here: the bytes, padded with zeros, and how many
    /// they are. None, and nothing is passed, where it is another string or too near the end to be looked at at once.
    #[inline]
    pub fn short_string(&mut self) -> Option<(u128, usize)> {
        let (&b'"', after) = self.rest().split_first()? else { return None };
        let block = after.first_chunk::<16>()?;
        let length = special_bits(block).trailing_zeros() as usize;
        if block.get(length) != Some(&b'"') {
            return None; // an escape, a control character or more bytes
        }
        self.at += length + 2;
        Some((u128::from_le_bytes(*block) & MASKS.get(length)?, length))
    }

    /// Past a string whose opening quote is here.
    #[inline]
    pub fn string(&mut self) -> Option<RawString<'a>> {
        let start = self.at + 1;
        let escaped = self.pass_string()?;
        Some(RawString { inner: self.text.get(start..self.at - 1)?, escaped })
    }

    /// The same without its text: whether it holds a backslash.
    #[inline]
    pub fn pass_string(&mut self) -> Option<bool> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let bytes = self.text.as_bytes();
        let end = next_special(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Some(false);
        }
        self.pass_escapes(end).map(|()| true)
    }

    /// Past the rest of a string, from its first special byte on, which is not its closing quote.
    fn pass_escapes(&mut self, mut at: usize) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at = next_special(bytes, past_escape(bytes, at)?),
                _ => return None, // a raw control character is not JSON
            }
        }
        self.at = at + 1;
        Some(())
    }

    /// Past a number.
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

    /// Past a whole number of one to seven digits and no sign: the number. None, and nothing is passed, where it is
    /// another one or too near the end to be looked at at once.
    #[inline]
    pub fn short_number(&mut self) -> Option<u64> {
        let block = self.rest().first_chunk()?;
        let (length, value) = leading_digits(*block);
        let plain = match block {
            [b'0', ..] => length == 1,
            _ => length > 0,
        };
        if !plain || matches!(block.get(length)?, b'.' | b'e' | b'E') {
            return None;
        }
        self.at += length;
        Some(value)
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

    /// Past `word`, which must be here.
    #[inline]
    pub fn word(&mut self, word: &str) -> Option<()> {
        let here = self.text.get(self.at..)?.starts_with(word);
        self.at += if here { word.len() } else { 0 };
        here.then_some(())
    }

    /// Past any value, which may nest `depth` deep; returns its text.
    pub fn value(&mut self, depth: u32) -> Option<&'a str> {
        self.skip_space();
        let start = self.at;
        self.pass_value(depth)?;
        Some(self.since(start))
    }

    /// The same without its text.
    fn pass_value(&mut self, depth: u32) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.pass_string().map(drop),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
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
            if !self.eat(b',') {
                return self.eat(b'}').then_some(());
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
            if !self.eat(b',') {
                return self.eat(b']').then_some(());
            }
        }
    }

    /// Past the key of an object's entry, its colon and the white space after it.
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
}

/// The place of the first quote, backslash or control character at or after `at`; the end if there is none.
#[inline]
fn next_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let special = special_bits(block);
        if special != 0 {
            return at + special.trailing_zeros() as usize;
        }
        at += 16;
    }
    last_special(bytes, at)
}

/// The same among the last 15 bytes: within the last block, if there is one, whose first bytes are shifted out.
fn last_special(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some(block) = bytes.last_chunk::<16>() else {
        return at + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len());
    };
    let special = special_bits(block) >> (16 - rest.len().min(16));
    at + rest.len().min(special.trailing_zeros() as usize)
}

const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// The place after the escape whose backslash is at `at`.
fn past_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// The place of the bracket that nests deeper than [`MAX_DEPTH`], if there is one; `text` need not be JSON.
pub fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_u32);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = next_special(bytes, at);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.value(MAX_DEPTH).is_some() && cursor.at_end()
    }

    #[test]
    fn json_is_accepted_and_what_only_looks_like_it_is_not() {
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
    fn nesting_beyond_the_limit_is_given_up_and_found() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(accepts(&nested(128)));
        assert!(!accepts(&nested(129)));
        assert_eq!(too_deep(&nested(128)), None);
        assert_eq!(too_deep(&nested(100_000)), Some(128));
        assert_eq!(too_deep(&format!("\"\\\"{}\"", "[".repeat(500))), None);
    }

    proptest! {
        #[test]
        fn a_special_byte_is_found_where_a_plain_search_finds_it(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let plain = bytes.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            prop_assert_eq!(next_special(&bytes, 0), plain.unwrap_or(bytes.len()));
        }

        #[test]
        fn what_is_accepted_is_json(text in r#"[\[\]{}",:0-9a-e\\.tru\- ]{0,24}"#) {
            if accepts(&text) {
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
            }
        }
    }
}
