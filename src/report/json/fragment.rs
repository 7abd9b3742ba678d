//! JSON written in whole fragments: keys with their commas and colons as they stand, each followed by a value.
//! For what a trace has millions of; knows no values of ours but durations.

use super::write::{digits, millis, quote};
use crate::time::Duration;

/// A fragment as it stands.
#[inline]
pub(super) fn raw(out: &mut Vec<u8>, fragment: &'static str) {
    out.extend_from_slice(fragment.as_bytes());
}

/// A fragment and a text.
#[inline]
pub(super) fn text(out: &mut Vec<u8>, fragment: &'static str, value: &str) {
    raw(out, fragment);
    quote(out, value);
}

/// The same, left out where there is no text.
#[inline]
pub(super) fn text_if(out: &mut Vec<u8>, fragment: &'static str, value: Option<&str>) {
    if let Some(value) = value {
        text(out, fragment, value);
    }
}

/// A fragment that ends with a quote, and a word of the files: such words need no escapes.
#[inline]
pub(super) fn word(out: &mut Vec<u8>, fragment: &'static str, word: &'static str) {
    raw(out, fragment);
    raw(out, word);
    out.push(b'"');
}

/// A fragment, and a word of the files in quotes.
#[inline]
pub(super) fn quoted(out: &mut Vec<u8>, fragment: &'static str, word: &'static str) {
    raw(out, fragment);
    out.push(b'"');
    raw(out, word);
    out.push(b'"');
}

/// A fragment and a whole number.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, fragment: &'static str, value: impl Into<u64>) {
    raw(out, fragment);
    digits(out, value.into());
}

/// A fragment and a span in milliseconds.
#[inline]
pub(super) fn span(out: &mut Vec<u8>, fragment: &'static str, value: Duration) {
    raw(out, fragment);
    millis(out, value.as_micros());
}

/// `[`, what `write` makes of each value with commas between, and `]`.
pub(super) fn list<T>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>, write: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (n, value) in values.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write(out, value);
    }
    out.push(b']');
}
