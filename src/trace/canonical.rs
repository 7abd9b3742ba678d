//! Arguments by meaning: one hash and one text for JSON that says the same, whatever its key order, spacing,
//! escapes and spelling of numbers. Knows no calls.

use std::borrow::Cow;
use std::fmt::Write;

use crate::trace::hash;
use crate::trace::number::Decimal;
use crate::trace::scan::{Cursor, MAX_DEPTH, RawString};

/// Tells kinds of values apart in a hash.
mod tag {
    pub const NULL: u64 = 1;
    pub const FALSE: u64 = 2;
    pub const TRUE: u64 = 3;
    pub const INTEGER: u64 = 4;
    pub const DECIMAL: u64 = 5;
    pub const STRING: u64 = 6;
    pub const ARRAY: u64 = 7;
    pub const OBJECT: u64 = 8;
    pub const UNREADABLE: u64 = 9;
}

/// The hash of JSON by meaning. Text that is no JSON, or nests too deep, is hashed as it stands.
pub fn hash_of(json: &str) -> u128 {
    let mut cursor = Cursor::new(json);
    match hash_value(&mut cursor, MAX_DEPTH) {
        Some(hash) if cursor.at_end() => hash,
        _ => hash::bytes(json.as_bytes(), tag::UNREADABLE),
    }
}

/// The hash of the value at `cursor`, which moves past it; none for anything but strict JSON up to `depth`.
#[inline]
pub fn hash_value(cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
    cursor.skip_space();
    match cursor.peek()? {
        b'"' => hash_string(cursor),
        b'{' => hash_object(cursor, depth.checked_sub(1)?),
        b'[' => hash_array(cursor, depth.checked_sub(1)?),
        b't' => cursor.word("true").map(|()| hash::bytes(&[], tag::TRUE)),
        b'f' => cursor.word("false").map(|()| hash::bytes(&[], tag::FALSE)),
        b'n' => cursor.word("null").map(|()| hash::bytes(&[], tag::NULL)),
        _ => match cursor.short_number() {
            Some(number) => Some(hash::short(number.into(), 8, tag::INTEGER)),
            None => hash_number(cursor.number()?),
        },
    }
}

#[inline]
fn hash_string(cursor: &mut Cursor<'_>) -> Option<u128> {
    match cursor.short_string() {
        Some((block, length)) => Some(hash::short(block, length, tag::STRING)),
        None => hash_long_string(cursor),
    }
}

fn hash_long_string(cursor: &mut Cursor<'_>) -> Option<u128> {
    let string = cursor.string()?;
    Some(match string.escaped {
        false => hash::bytes(string.inner.as_bytes(), tag::STRING),
        true => hash::bytes(plain(string).as_bytes(), tag::STRING),
    })
}

/// The text that a string stands for; as written where its escapes stand for no text (a lone surrogate).
fn plain(string: RawString<'_>) -> Cow<'_, str> {
    if !string.escaped {
        return Cow::Borrowed(string.inner);
    }
    serde_json::from_str(&format!("\"{}\"", string.inner)).map_or(Cow::Borrowed(string.inner), Cow::Owned)
}

fn hash_number(text: &str) -> Option<u128> {
    let decimal;
    let small = match text.parse::<i64>() {
        Ok(small) if text.len() <= 18 => Some(small),
        _ => {
            decimal = Decimal::parse(text)?;
            if decimal.small().is_none() {
                let value = hash::bytes(decimal.digits.as_bytes(), tag::DECIMAL + u64::from(decimal.negative));
                return Some(hash::pair(value, u128::from(decimal.exponent.cast_unsigned())));
            }
            decimal.small()
        }
    };
    small.map(|small| hash::bytes(&small.to_le_bytes(), tag::INTEGER))
}

fn hash_array(cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
    let mut all = hash::bytes(&[], tag::ARRAY);
    cursor.eat(b'[');
    if cursor.eat(b']') {
        return Some(all);
    }
    loop {
        all = hash::pair(all, hash_value(cursor, depth)?);
        if !cursor.eat(b',') {
            return cursor.eat(b']').then_some(all);
        }
    }
}

/// The entries' hashes are summed, so that their order does not matter.
fn hash_object(cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
    let mut sum = 0_u128;
    cursor.eat(b'{');
    if !cursor.eat(b'}') {
        loop {
            cursor.skip_space();
            let key = hash_string(cursor)?;
            if !cursor.eat(b':') {
                return None;
            }
            sum = sum.wrapping_add(hash::entry(key, hash_value(cursor, depth)?));
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.eat(b'}') {
            return None;
        }
    }
    Some(hash::pair(hash::bytes(&[], tag::OBJECT), sum))
}

/// JSON by meaning: keys in order, no spacing, numbers in lowest terms. Text that is no JSON stays as it is.
pub fn text_of(json: &str) -> String {
    let mut cursor = Cursor::new(json);
    let mut out = String::with_capacity(json.len());
    match write_value(&mut cursor, &mut out, MAX_DEPTH) {
        Some(()) if cursor.at_end() => out,
        _ => json.to_owned(),
    }
}

fn write_value(cursor: &mut Cursor<'_>, out: &mut String, depth: u32) -> Option<()> {
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

fn write_array(cursor: &mut Cursor<'_>, out: &mut String, depth: u32) -> Option<()> {
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

fn write_object(cursor: &mut Cursor<'_>, out: &mut String, depth: u32) -> Option<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(a: &str, b: &str) {
        assert_eq!(hash_of(a), hash_of(b), "{a} | {b}");
        assert_eq!(text_of(a), text_of(b));
    }

    fn differ(a: &str, b: &str) {
        assert_ne!(hash_of(a), hash_of(b), "{a} | {b}");
        assert_ne!(text_of(a), text_of(b));
    }

    #[test]
    fn key_order_spacing_escapes_and_the_spelling_of_numbers_do_not_matter() {
        same(r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ] , "a" : 1.0 } "#);
        same(r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#);
        same("[100]", "[1e2]");
        same("[0.10]", "[1e-1]");
        same("-0", "0");
    }

    #[test]
    fn what_is_said_matters() {
        differ("[1,2]", "[2,1]");
        differ(r#"{"a":{"b":1}}"#, r#"{"b":{"a":1}}"#);
        differ(r#"{"a":"1"}"#, r#"{"a":1}"#);
        differ("{}", "[]");
        differ("null", "false");
        differ("[[],[]]", "[[[]]]");
        differ(r#"{"a":1,"a":2}"#, r#"{"a":2}"#);
        differ("12345678901234567890", "12345678901234567891");
        differ(&"1".repeat(5_000), &"1".repeat(5_001));
    }

    #[test]
    fn the_text_is_sorted_and_short() {
        assert_eq!(text_of(r#"{ "b": 2.50, "a": {"d": [], "c": "x\n"} }"#), r#"{"a":{"c":"x\n","d":[]},"b":2.5}"#);
    }

    #[test]
    fn what_is_no_strict_json_is_taken_as_it_stands() {
        assert_eq!(text_of("{oops"), "{oops");
        differ("{oops", "{oop");
        same(r#"["\ud800"]"#, r#"[ "\ud800" ]"#);
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(text_of(&deep), deep);
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-c\"\\\\é\\n]{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map("[a-d]{1,2}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_canonical_text_says_what_the_json_said(value in json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let text = text_of(&pretty);
            prop_assert_eq!(hash_of(&pretty), hash_of(&text));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
        }

        #[test]
        fn hashes_agree_exactly_where_texts_do(a in json(), b in json()) {
            let (a, b) = (a.to_string(), b.to_string());
            prop_assert_eq!(hash_of(&a) == hash_of(&b), text_of(&a) == text_of(&b));
        }
    }
}
