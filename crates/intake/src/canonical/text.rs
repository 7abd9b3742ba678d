//! The text of JSON by meaning. Hashes nothing.

use std::borrow::Cow;
use std::fmt::Write;

use crate::number::Decimal;
use crate::scan::{JsonCursor, MAX_DEPTH, RawString};

/// The content of a string; as written if an escape is invalid (a lone surrogate).
pub(super) fn plain(string: RawString<'_>) -> Cow<'_, str> {
    if !string.escaped {
        return Cow::Borrowed(string.inner);
    }
    serde_json::from_str(string.quoted).map_or(Cow::Borrowed(string.inner), Cow::Owned)
}

/// JSON by meaning: sorted keys, no white space, numbers in lowest terms. Text that is not JSON stays as written.
pub fn text_of(json: &str) -> String {
    let mut cursor = JsonCursor::new(json);
    let mut out = String::with_capacity(json.len());
    match write_value(&mut cursor, &mut out, MAX_DEPTH) {
        Some(()) if cursor.at_end() => out,
        _ => json.to_owned(),
    }
}

fn write_value(cursor: &mut JsonCursor<'_>, out: &mut String, depth: u32) -> Option<()> {
    cursor.skip_space();
    match cursor.peek()? {
        b'"' => write_string(cursor.string()?, out)?,
        b'{' => write_object(cursor, out, depth.checked_sub(1)?)?,
        b'[' => write_array(cursor, out, depth.checked_sub(1)?)?,
        b't' | b'f' | b'n' => out.push_str(cursor.value(depth)?),
        _ => write!(out, "{}", Decimal::parse(cursor.number()?)?).ok()?,
    }
    Some(())
}

fn write_string(string: RawString<'_>, out: &mut String) -> Option<()> {
    out.push_str(&serde_json::to_string(&plain(string)).ok()?);
    Some(())
}

fn write_array(cursor: &mut JsonCursor<'_>, out: &mut String, depth: u32) -> Option<()> {
    cursor.eat(b'[');
    out.push('[');
    if !cursor.eat(b']') {
        loop {
            write_value(cursor, out, depth)?;
            if !cursor.eat(b',') {
                break;
            }
            out.push(',');
        }
        if !cursor.eat(b']') {
            return None;
        }
    }
    out.push(']');
    Some(())
}

fn write_object(cursor: &mut JsonCursor<'_>, out: &mut String, depth: u32) -> Option<()> {
    let mut entries = Vec::new();
    cursor.eat(b'{');
    if !cursor.eat(b'}') {
        loop {
            let (mut key, mut value) = (String::new(), String::new());
            write_string(cursor.key()?, &mut key)?;
            write_value(cursor, &mut value, depth)?;
            entries.push((key, value));
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.eat(b'}') {
            return None;
        }
    }
    entries.sort();
    out.push('{');
    for (n, (key, value)) in entries.iter().enumerate() {
        let comma = if n > 0 { "," } else { "" };
        write!(out, "{comma}{key}:{value}").ok()?;
    }
    out.push('}');
    Some(())
}
