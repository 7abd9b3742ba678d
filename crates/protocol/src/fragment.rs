//! JSON written in whole fragments: keys with their commas and colons as they stand, each followed by a value.
//! For what a trace has millions of; knows no values of ours but durations.

use std::io::{self, Write};

use playproof_engine::time::Duration;
use playproof_formats::plain::is_plain;
use playproof_formats::text::{JsonEscape, is_unsafe_to_print};

/// A fragment as it stands.
#[inline]
pub fn raw(out: &mut Vec<u8>, fragment: &'static str) {
    out.extend_from_slice(fragment.as_bytes());
}

/// A fragment and a text.
#[inline]
pub fn text(out: &mut Vec<u8>, fragment: &'static str, value: &str) {
    raw(out, fragment);
    quote(out, value);
}

/// The same, left out where there is no text.
#[inline]
pub fn text_if(out: &mut Vec<u8>, fragment: &'static str, value: Option<&str>) {
    if let Some(value) = value {
        text(out, fragment, value);
    }
}

/// A fragment that ends with a quote, and a word of the files: such words need no escapes.
#[inline]
pub fn word(out: &mut Vec<u8>, fragment: &'static str, word: &'static str) {
    raw(out, fragment);
    raw(out, word);
    out.push(b'"');
}

/// A word of the files in quotes.
#[inline]
pub fn quoted(out: &mut Vec<u8>, word: &'static str) {
    out.push(b'"');
    raw(out, word);
    out.push(b'"');
}

/// A fragment and a whole number.
#[inline]
pub fn number(out: &mut Vec<u8>, fragment: &'static str, value: impl Into<u64>) {
    raw(out, fragment);
    digits(out, value.into());
}

/// A fragment and a span in milliseconds.
#[inline]
pub fn span(out: &mut Vec<u8>, fragment: &'static str, value: Duration) {
    raw(out, fragment);
    millis(out, value.as_micros());
}

/// `[`, what `write` makes of each value with commas between, and `]`.
pub fn list<T>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>, write: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (n, value) in values.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write(out, value);
    }
    out.push(b']');
}

/// A JSON string that no terminal obeys: also what JSON would let through is escaped where it is treacherous.
pub fn quote(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        quote_carefully(out, text);
    }
    out.push(b'"');
}

#[cold]
fn quote_carefully(out: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        if matches!(c, '"' | '\\') || c.is_control() || is_unsafe_to_print(c) {
            let written = escape(out, c);
            debug_assert!(written.is_ok(), "memory takes everything");
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// A character as JSON escapes it.
///
/// # Errors
/// Those of `out`.
pub fn escape<W: Write + ?Sized>(out: &mut W, c: char) -> io::Result<()> {
    match c {
        '"' => out.write_all(b"\\\""),
        '\\' => out.write_all(b"\\\\"),
        '\n' => out.write_all(b"\\n"),
        '\r' => out.write_all(b"\\r"),
        '\t' => out.write_all(b"\\t"),
        c => write!(out, "{}", JsonEscape(c)),
    }
}

/// A span of so many microseconds in milliseconds, with decimals only where it is not whole.
pub fn millis(out: &mut Vec<u8>, micros: u64) {
    digits(out, micros / 1_000);
    let rest = micros % 1_000;
    if rest > 0 {
        let decimals = format!(".{rest:03}");
        out.extend_from_slice(decimals.trim_end_matches('0').as_bytes());
    }
}

/// A whole number.
#[inline]
pub fn digits(out: &mut Vec<u8>, value: u64) {
    match u8::try_from(value) {
        Ok(digit @ 0..=9) => out.push(b'0' + digit), // most counts are small
        _ => long_digits(out, value),
    }
}

/// The numbers below 100 as two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [*b"00"; 100];
    let mut n: u8 = 0;
    while n < 100 {
        pairs[n as usize] = [b'0' + n / 10, b'0' + n % 10];
        n += 1;
    }
    pairs
};

fn long_digits(out: &mut Vec<u8>, mut value: u64) {
    const LONGEST: usize = 20;
    let mut buffer = [*b"00"; LONGEST]; // the second half is padding
    let mut at = LONGEST / 2;
    while value > 0 {
        at -= 1; // 20 digits are ten pairs
        buffer[at] = PAIRS[(value % 100) as usize];
        value /= 100;
    }
    let start = at * 2 + usize::from(buffer[at][0] == b'0');
    let end = out.len() + LONGEST - start;
    out.extend_from_slice(&buffer.as_flattened()[start..start + LONGEST]); // a copy of a fixed length costs less
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_written_as_the_standard_library_does() {
        let edges = (0..20).flat_map(|n| [10_u64.pow(n) - 1, 10_u64.pow(n), 10_u64.pow(n) + 1]);
        for value in (0..12_345).chain(edges).chain([u64::MAX]) {
            let mut out = Vec::new();
            digits(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
