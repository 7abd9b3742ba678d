//! The hash of JSON by meaning. Keeps nothing.

use std::borrow::Cow;

use crate::canonical::text::plain;
use crate::hash;
use crate::number::Decimal;
use crate::scan::{JsonCursor, MAX_DEPTH};

/// Seeds that distinguish kinds of values in a hash.
mod tag {
    pub const NULL: u64 = 1;
    pub const FALSE: u64 = 2;
    pub const TRUE: u64 = 3;
    pub const INTEGER: u64 = 4;
    pub const DECIMAL: u64 = 5;
    pub const NEGATIVE: u64 = 6;
    pub const STRING: u64 = 7;
    pub const ARRAY: u64 = 8;
    pub const OBJECT: u64 = 9;
    pub const UNREADABLE: u64 = 10;
}

/// The hash of `{}`: a trace has millions of calls whose arguments are compared with it.
pub const EMPTY_OBJECT: u128 = 0xbf5e_9638_db72_80c0_953a_8051_5bdb_5235;

/// The hash of JSON by meaning. Text that is not JSON, or nests too deep, is hashed as written.
pub fn hash_of(json: &str) -> u128 {
    let mut cursor = JsonCursor::new(json);
    match hash_value(&mut cursor, MAX_DEPTH) {
        Some(hash) if cursor.at_end() => hash,
        _ => hash::bytes(json.as_bytes(), tag::UNREADABLE),
    }
}

/// Moves `cursor` past a value; returns its hash. None for anything but strict JSON nested `depth` levels at most.
pub fn hash_value(cursor: &mut JsonCursor<'_>, depth: u32) -> Option<u128> {
    value(cursor, depth, 0)
}

/// The same; gives the names at the top of an object to `note`.
#[inline]
pub fn hash_and_note(cursor: &mut JsonCursor<'_>, depth: u32, note: impl FnMut(&[u8])) -> Option<u128> {
    match cursor.next_byte()? {
        b'{' => object(cursor, depth.checked_sub(1)?, 0, note),
        _ => value(cursor, depth, 0),
    }
}

/// [`hash_value`] under a seed; the seed of an entry is its key.
#[inline(always)]
fn value(cursor: &mut JsonCursor<'_>, depth: u32, seed: u64) -> Option<u128> {
    match cursor.next_byte()? {
        b'"' => string(cursor, seed),
        b'{' => object(cursor, depth.checked_sub(1)?, seed, |_| {}),
        b'[' => array(cursor, depth.checked_sub(1)?, seed),
        b't' => cursor.word("true").map(|()| hash::bytes(&[], seed ^ tag::TRUE)),
        b'f' => cursor.word("false").map(|()| hash::bytes(&[], seed ^ tag::FALSE)),
        b'n' => cursor.word("null").map(|()| hash::bytes(&[], seed ^ tag::NULL)),
        _ => number(cursor, seed),
    }
}

/// The string whose opening quote is at `cursor`.
#[inline(always)]
fn string(cursor: &mut JsonCursor<'_>, seed: u64) -> Option<u128> {
    match cursor.plain_string() {
        Some((start, end)) => Some(hash::bytes(cursor.bytes(start, end), seed ^ tag::STRING)),
        None => escaped_string(cursor).map(|text| hash::bytes(text.as_bytes(), seed ^ tag::STRING)),
    }
}

/// The seed of the entry whose key is at `cursor`; gives the key to `note`.
#[inline(always)]
fn key(cursor: &mut JsonCursor<'_>, note: &mut impl FnMut(&[u8])) -> Option<u64> {
    let mut seed = |name: &[u8]| {
        note(name);
        hash::seed(name)
    };
    match cursor.plain_string() {
        Some((start, end)) => Some(seed(cursor.bytes(start, end))),
        None => escaped_string(cursor).map(|text| seed(text.as_bytes())),
    }
}

#[inline(never)]
fn escaped_string<'a>(cursor: &mut JsonCursor<'a>) -> Option<Cow<'a, str>> {
    cursor.string().map(plain)
}

/// The number at `cursor`.
#[inline]
fn number(cursor: &mut JsonCursor<'_>, seed: u64) -> Option<u128> {
    match cursor.short_number().and_then(|number| i64::try_from(number).ok()) {
        Some(number) => Some(integer(number, seed)),
        None => long_number(cursor.number()?, seed),
    }
}

fn integer(number: i64, seed: u64) -> u128 {
    hash::bytes(&number.to_le_bytes(), seed ^ tag::INTEGER)
}

#[inline(never)]
fn long_number(text: &str, seed: u64) -> Option<u128> {
    let decimal = Decimal::parse(text)?;
    if let Some(small) = decimal.small() {
        return Some(integer(small, seed));
    }
    let sign = if decimal.negative { tag::NEGATIVE } else { tag::DECIMAL };
    let digits = hash::bytes(decimal.digits.as_bytes(), seed ^ sign);
    Some(hash::joined([digits, u128::from(decimal.exponent.cast_unsigned())]))
}

fn array(cursor: &mut JsonCursor<'_>, depth: u32, seed: u64) -> Option<u128> {
    let mut all = hash::bytes(&[], seed ^ tag::ARRAY);
    cursor.skip(1); // the bracket
    let mut goes_on = !cursor.eat(b']');
    while goes_on {
        all = hash::joined([all, hash_value(cursor, depth)?]);
        goes_on = cursor.goes_on(b']')?;
    }
    Some(all)
}

/// Sums the hashes of the entries, so that their order does not matter.
fn object(cursor: &mut JsonCursor<'_>, depth: u32, seed: u64, mut note: impl FnMut(&[u8])) -> Option<u128> {
    let mut sum = 0_u128;
    cursor.skip(1); // the bracket
    let mut goes_on = !cursor.eat(b'}');
    while goes_on {
        cursor.skip_space();
        let seed = key(cursor, &mut note)?;
        if !cursor.eat(b':') {
            return None;
        }
        sum = sum.wrapping_add(value(cursor, depth, seed)?);
        goes_on = cursor.goes_on(b'}')?;
    }
    Some(hash::bytes(&sum.to_le_bytes(), seed ^ tag::OBJECT))
}
