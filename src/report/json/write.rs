//! Writes JSON objects into a buffer, key by key. Knows no values of ours but durations.

use crate::time::Duration;

/// A JSON object that is being written; it is closed by [`Object::end`].
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Object<'a> {
    /// Opens an object at the end of `out`.
    pub fn open(out: &'a mut Vec<u8>) -> Object<'a> {
        out.push(b'{');
        Object { out, first: true }
    }

    /// A text.
    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        quote(self.out, value);
        self
    }

    /// A text or null.
    pub fn text_or_null(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.null(key),
        }
    }

    /// A text, left out where there is none.
    pub fn text_if(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// A whole number.
    pub fn number(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key);
        digits(self.out, value);
        self
    }

    /// A whole number, left out where there is none.
    pub fn number_if(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(key, value),
            None => self,
        }
    }

    /// A span in milliseconds, with decimals only where it is not whole.
    pub fn millis(&mut self, key: &str, span: Duration) -> &mut Self {
        self.key(key);
        millis(self.out, span.as_micros());
        self
    }

    /// True, left out where it is not.
    pub fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        if value {
            self.key(key);
            self.out.extend_from_slice(b"true");
        }
        self
    }

    /// Null.
    pub fn null(&mut self, key: &str) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(b"null");
        self
    }

    /// An object.
    pub fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.key(key);
        let mut inner = Object::open(self.out);
        fill(&mut inner);
        inner.end();
        self
    }

    /// A list of texts.
    pub fn texts<'t>(&mut self, key: &str, values: impl IntoIterator<Item = &'t str>) -> &mut Self {
        self.list(key, values, quote)
    }

    /// A list of objects.
    pub fn objects<T>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        fill: impl Fn(&mut Object<'_>, T),
    ) -> &mut Self {
        self.list(key, values, |out, value| {
            let mut inner = Object::open(out);
            fill(&mut inner, value);
            inner.end();
        })
    }

    /// A list of values that write themselves.
    pub fn raws<T>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>),
    ) -> &mut Self {
        self.list(key, values, |out, value| write(value, out))
    }

    /// JSON that is already written.
    pub fn raw(&mut self, key: &str, json: &[u8]) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(json);
        self
    }

    /// Closes the object.
    pub fn end(&mut self) {
        self.out.push(b'}');
    }

    fn list<T>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Vec<u8>, T),
    ) -> &mut Self {
        self.key(key);
        self.out.push(b'[');
        for (n, value) in values.into_iter().enumerate() {
            if n > 0 {
                self.out.push(b',');
            }
            write(self.out, value);
        }
        self.out.push(b']');
        self
    }

    fn key(&mut self, key: &str) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}

/// A JSON string that no terminal obeys: also what JSON would let through is escaped where it is treacherous.
pub(super) fn quote(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        quote_carefully(out, text);
    }
    out.push(b'"');
}

/// Whether all bytes are printable ASCII that JSON takes as they are.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        return words.iter().fold(odd_bytes(last), |odd, word| odd | odd_bytes(word)) == 0; // the last may overlap
    }
    let mut word = [b' '; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    odd_bytes(&word) == 0
}

/// Not zero if one of eight bytes is a control character, a quote, a backslash, or beyond `~`. All are looked at at
/// once: to take one from each sets the highest bit of those that had nothing to give.
#[inline]
const fn odd_bytes(word: &[u8; 8]) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    const fn less(word: u64, than: u8) -> u64 {
        word.wrapping_sub(ONES * than as u64) & !word
    }
    const fn is(word: u64, byte: u8) -> u64 {
        less(word ^ (ONES * byte as u64), 1)
    }
    let word = u64::from_le_bytes(*word);
    (word | less(word, b' ') | is(word, b'"') | is(word, b'\\') | is(word, 0x7f)) & HIGHEST
}

#[cold]
fn quote_carefully(out: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            c if crate::text::is_unsafe_to_print(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

pub(super) fn millis(out: &mut Vec<u8>, micros: u64) {
    digits(out, micros / 1_000);
    let rest = micros % 1_000;
    if rest > 0 {
        let decimals = format!(".{rest:03}");
        out.extend_from_slice(decimals.trim_end_matches('0').as_bytes());
    }
}

pub(super) fn digits(out: &mut Vec<u8>, mut value: u64) {
    const LONGEST: usize = 20;
    const PAIRS: &[u8; 200] =
        b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    if let Ok(digit @ 0..=9) = u8::try_from(value) {
        return out.push(b'0' + digit); // most counts are small
    }
    let mut buffer = [b'0'; LONGEST];
    let mut at = LONGEST;
    while value >= 10 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]); // a pair is below 100, and 20 digits are ten pairs
    }
    if value > 0 {
        at -= 1;
        buffer[at] += value.to_le_bytes()[0]; // one digit is left
    }
    out.extend_from_slice(&buffer[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(fill: impl FnOnce(&mut Object<'_>)) -> String {
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        fill(&mut object);
        object.end();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_keep_their_order_and_absent_ones_are_left_out() {
        let text = object(|o| {
            o.text("b", "x").number("a", 10).flag("f", false).flag("t", true).text_if("n", None).null("z");
        });
        assert_eq!(text, r#"{"b":"x","a":10,"t":true,"z":null}"#);
    }

    #[test]
    fn texts_are_valid_json_and_no_terminal_obeys_them() {
        let hostile = "q\"\\\n\u{1b}[2J\u{7f}\u{9b}\u{202e}é\u{e0001}";
        let text = object(|o| {
            o.text("t", hostile);
        });
        assert!(!text.chars().any(|c| c.is_control()), "{text:?}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["t"], hostile);
    }

    #[test]
    fn spans_are_milliseconds_with_decimals_only_where_needed() {
        let text = object(|o| {
            o.millis("a", Duration::from_millis(200))
                .millis("b", Duration::from_micros(1_500))
                .millis("c", Duration::ZERO);
        });
        assert_eq!(text, r#"{"a":200,"b":1.5,"c":0}"#);
        assert_eq!(
            object(|o| {
                o.number("n", u64::MAX);
            }),
            r#"{"n":18446744073709551615}"#
        );
    }

    #[test]
    fn every_number_is_written_as_the_standard_library_does() {
        let edges = (0..20).flat_map(|n| [10_u64.pow(n) - 1, 10_u64.pow(n), 10_u64.pow(n) + 1]);
        for value in (0..12_345).chain(edges).chain([u64::MAX]) {
            let mut out = Vec::new();
            digits(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }

    #[test]
    fn a_text_is_plain_exactly_if_each_of_its_bytes_is() {
        for length in 0..40 {
            for at in 0..length {
                for byte in 0..=255 {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let plain = (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
                    assert_eq!(is_plain(&text), plain, "{byte} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn lists_and_objects_nest() {
        let text = object(|o| {
            o.texts("l", ["a", "b"]).objects("o", [1, 2], |o, n| {
                o.number("n", n);
            });
        });
        assert_eq!(text, r#"{"l":["a","b"],"o":[{"n":1},{"n":2}]}"#);
    }
}
