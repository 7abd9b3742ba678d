//! The hash of JSON by meaning. Keeps nothing.

use crate::trace::canonical::text::plain;
use crate::trace::hash;
use crate::trace::literal::Bytes;
use crate::trace::number::Decimal;
use crate::trace::scan::{Cursor, MAX_DEPTH};

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
pub fn hash_value(cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
    part(cursor, depth).map(Part::hash)
}

/// A value as far as it is hashed: most are so short that they are hashed at once with what stands before them.
pub(super) enum Part {
    /// At most 16 bytes, padded with zeros, their number and the tag of their kind.
    Short((u128, usize), u64),
    /// The hash of anything else.
    Hash(u128),
}

impl Part {
    #[inline]
    pub(super) fn hash(self) -> u128 {
        match self {
            Part::Short((block, length), tag) => hash::short(block, length, tag),
            Part::Hash(hash) => hash,
        }
    }

    /// The hash of an object's entry with this value, to be summed up: so the order of entries does not matter.
    #[inline(always)]
    pub(super) fn entry(self, key: u128) -> u128 {
        match self {
            Part::Short((block, length), tag) => hash::short_after(key, block, length, tag),
            Part::Hash(hash) => hash::entry(key, hash),
        }
    }

    /// Of the entries of an object.
    #[inline]
    pub(super) fn object(sum: u128) -> Part {
        Part::Hash(hash::entry(hash::short(0, 0, tag::OBJECT), sum))
    }
}

/// The value at `cursor`.
pub(super) fn part(cursor: &mut Cursor<'_>, depth: u32) -> Option<Part> {
    match cursor.next_byte()? {
        b'"' => string(cursor),
        b'{' => object(cursor, depth.checked_sub(1)?),
        b'[' => hash_array(cursor, depth.checked_sub(1)?).map(Part::Hash),
        b't' => cursor.word("true").map(|()| Part::Short((0, 0), tag::TRUE)),
        b'f' => cursor.word("false").map(|()| Part::Short((0, 0), tag::FALSE)),
        b'n' => cursor.word("null").map(|()| Part::Short((0, 0), tag::NULL)),
        _ => number(cursor),
    }
}

/// The string whose opening quote is at `cursor`.
#[inline(always)]
pub(super) fn string(cursor: &mut Cursor<'_>) -> Option<Part> {
    let Some((start, end)) = cursor.plain_string() else { return escaped_string(cursor) };
    Some(match cursor.bytes(start, end) {
        Bytes::Short(block, length) => Part::Short((block, length), tag::STRING),
        Bytes::Long(bytes) => long_string(bytes),
    })
}

#[inline(never)]
fn escaped_string(cursor: &mut Cursor<'_>) -> Option<Part> {
    Some(long_string(plain(cursor.string()?).as_bytes()))
}

#[inline(never)]
fn long_string(bytes: &[u8]) -> Part {
    match hash::as_short(bytes) {
        Some(short) => Part::Short(short, tag::STRING),
        None => Part::Hash(hash::bytes(bytes, tag::STRING)),
    }
}

/// The number at `cursor`.
#[inline(always)]
pub(super) fn number(cursor: &mut Cursor<'_>) -> Option<Part> {
    match cursor.short_number() {
        Some(number) => Some(Part::Short((number.into(), 8), tag::INTEGER)),
        None => long_number(cursor.number()?),
    }
}

#[inline(never)]
fn long_number(text: &str) -> Option<Part> {
    let decimal;
    let small = match text.parse::<i64>() {
        Ok(small) if text.len() <= 18 => Some(small),
        _ => {
            decimal = Decimal::parse(text)?;
            if decimal.small().is_none() {
                let value = hash::bytes(decimal.digits.as_bytes(), tag::DECIMAL + u64::from(decimal.negative));
                return Some(Part::Hash(hash::pair(value, u128::from(decimal.exponent.cast_unsigned()))));
            }
            decimal.small()
        }
    };
    small.map(|small| Part::Short((u64::from_le_bytes(small.to_le_bytes()).into(), 8), tag::INTEGER))
}

fn hash_array(cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
    let mut all = hash::bytes(&[], tag::ARRAY);
    cursor.skip(1); // the bracket
    let mut goes_on = !cursor.eat(b']');
    while goes_on {
        all = hash::pair(all, hash_value(cursor, depth)?);
        goes_on = cursor.goes_on(b']')?;
    }
    Some(all)
}

fn object(cursor: &mut Cursor<'_>, depth: u32) -> Option<Part> {
    let mut sum = 0_u128;
    cursor.skip(1); // the bracket
    let mut goes_on = !cursor.eat(b'}');
    while goes_on {
        cursor.skip_space();
        let key = hash_key(cursor)?;
        if !cursor.eat(b':') {
            return None;
        }
        sum = sum.wrapping_add(part(cursor, depth)?.entry(key));
        goes_on = cursor.goes_on(b'}')?;
    }
    Some(Part::object(sum))
}

/// The hash of the key whose opening quote is at `cursor`.
pub(super) fn hash_key(cursor: &mut Cursor<'_>) -> Option<u128> {
    string(cursor).map(Part::hash)
}
