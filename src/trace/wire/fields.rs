//! The known fields of one JSON object as slices of its line, filled by comparing (`forms`), by a fast lane or by
//! serde_json. The first two may only accept; what they do not know goes to the next. Knows no meanings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::trace::canonical;
use crate::trace::scan::{Cursor, MAX_DEPTH};
use crate::trace::wire::names::{NUMBERS, WORDY, WORDY_FIELDS};

/// Which fields are known.
pub trait Known {
    /// A field that is hashed by meaning while it is read; any other number for none.
    const HASHED: usize;

    /// A field's number by its name.
    fn find(name: &[u8]) -> Option<usize>;

    /// A field's number and length by its quoted name and colon, if they are what `bytes` begin with, spelt plainly.
    fn spelt(bytes: &[u8]) -> Option<(usize, usize)>;
}

/// The values of an object's known fields, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields<'a, const N: usize> {
    text: &'a str,
    /// Where each value begins and ends in the text, if it is there: what stood here before is not cleared.
    places: [(usize, usize); N],
    /// The first fields as numbers, where they were read as such.
    numbers: [u64; NUMBERS],
    /// The fields that are there, and of which kind.
    is: Is,
    /// Fields that nobody knows.
    pub unknown: u32,
    /// The second value of a field that stands twice.
    pub twice: Option<(usize, &'a str)>,
    /// The hash of the field that is hashed, if it was read.
    pub hash: Option<u128>,
    /// Which of the known errors the line says, if it was found by its words.
    pub known_error: Option<usize>,
}

/// Of an object's fields, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Is {
    /// Is there.
    pub seen: u32,
    /// Is there and not `null`.
    pub present: u32,
    /// Is a string that is known to hold no escape.
    pub plain: u32,
    /// Is a number that was read.
    pub counted: u32,
    /// What the wordy fields say, by their places among those; none where that was not looked at.
    pub words: [Option<&'static str>; WORDY_FIELDS],
}

impl<'a, const N: usize> Fields<'a, N> {
    /// No field at all of an object in `text`.
    pub fn new(text: &'a str) -> Fields<'a, N> {
        Fields {
            text,
            places: [(0, 0); N],
            numbers: [0; NUMBERS],
            is: Is::default(),
            unknown: 0,
            twice: None,
            hash: None,
            known_error: None,
        }
    }

    /// Forgets every field.
    #[inline]
    pub fn clear(&mut self) {
        self.is = Is::default();
        (self.unknown, self.twice, self.hash, self.known_error) = (0, None, None, None);
    }

    /// The JSON text of a field; none where it is absent or `null`. Of wordy ones a known form
    /// notes no place, but says them itself ([`known_word`](Fields::known_word)).
    #[inline]
    pub fn field(&self, number: usize) -> Option<&'a str> {
        if self.is.present & bit(number) == 0 {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start..end))
    }

    /// What a field's string says, if it is known to hold no escape.
    #[inline]
    pub fn plain(&self, number: usize) -> Option<&'a str> {
        if self.is.plain & bit(number) == 0 {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start + 1..end - 1))
    }

    /// A field's number, if it was read.
    #[inline]
    pub fn counted(&self, number: usize) -> Option<u64> {
        if self.is.counted & bit(number) == 0 {
            return None;
        }
        self.numbers.get(number).copied()
    }

    /// What a wordy field of a known form says, in its quotes.
    #[inline]
    pub fn known_word(&self, number: usize) -> Option<&'static str> {
        number.checked_sub(WORDY).and_then(|place| self.is.words.get(place)).copied().flatten()
    }

    /// Whether no known field is there, not even as `null`.
    pub fn none_known(&self) -> bool {
        self.is.seen == 0
    }

    /// Notes where the value of a field stands, which [`set_all`](Fields::set_all) will say is there.
    #[inline]
    pub fn set(&mut self, number: usize, start: usize, end: usize) {
        if let Some(place) = self.places.get_mut(number) {
            *place = (start, end);
        }
    }

    /// Notes the number that a field says.
    #[inline]
    pub fn count(&mut self, number: usize, value: u64) {
        if let Some(known) = self.numbers.get_mut(number) {
            *known = value;
        }
    }

    /// Says which of the fields are there that were set.
    #[inline]
    pub fn set_all(&mut self, is: Is) {
        self.is = is;
    }

    /// What [`set_all`](Fields::set_all) would need to be told.
    pub fn all(&self) -> Is {
        self.is
    }

    /// The fields that are not `null`, in the order of the text.
    pub fn in_order(&self) -> Vec<(usize, Range<usize>)> {
        let present = self.places.iter().enumerate().filter(|(number, _)| self.is.present & bit(*number) != 0);
        let mut fields: Vec<_> = present.map(|(number, &(start, end))| (number, start..end)).collect();
        fields.sort_unstable_by_key(|(_, place)| place.start);
        fields
    }

    /// The text that the object stands in.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Notes a value that stands from `start` to `end`; it is `null` or a plain string only if that is said.
    #[inline]
    fn put(&mut self, number: usize, start: usize, end: usize, kind: Kind) -> bool {
        let bit = bit(number);
        match self.places.get_mut(number) {
            Some(place) if self.is.seen & bit == 0 => *place = (start, end),
            _ => {
                self.twice = self.twice.or_else(|| Some((number, self.text.get(start..end)?)));
                return false;
            }
        }
        self.is.seen |= bit;
        self.is.present |= if kind == Kind::Null { 0 } else { bit };
        self.is.plain |= if kind == Kind::Plain { bit } else { 0 };
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Plain,
    Other,
}

/// A field's bit. Fields are fewer than 32.
pub const fn bit(number: usize) -> u32 {
    1 << (number & 31)
}

/// The fast lane: past an object that is well formed beyond doubt, into `fields`, which must be empty, and are spoilt
/// where there is doubt.
#[inline]
pub fn accept<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    if !cursor.eat(b'{') {
        return None;
    }
    if !cursor.eat(b'}') {
        loop {
            entry::<K, N>(cursor, fields)?;
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.eat(b'}') {
            return None;
        }
    }
    Some(())
}

/// [`accept`] of a text that is one object.
pub fn accept_whole<K: Known, const N: usize>(text: &str) -> Option<Fields<'_, N>> {
    let (mut cursor, mut fields) = (Cursor::new(text), Fields::new(text));
    accept::<K, N>(&mut cursor, &mut fields)?;
    cursor.at_end().then_some(fields)
}

#[inline]
fn entry<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    cursor.skip_space();
    let Some((number, length)) = K::spelt(cursor.rest()) else { return odd_entry::<K, N>(cursor, fields) };
    cursor.skip(length);
    cursor.skip_space();
    if number == K::HASHED || cursor.peek() != Some(b'"') {
        return odd_value::<K, N>(cursor, number, fields);
    }
    let start = cursor.offset();
    let kind = if cursor.pass_string()? { Kind::Other } else { Kind::Plain };
    fields.put(number, start, cursor.offset(), kind).then_some(())
}

/// An entry whose name is not known by heart.
#[inline(never)]
fn odd_entry<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    let key = cursor.key()?;
    if key.escaped {
        return None;
    }
    let Some(number) = K::find(key.inner.as_bytes()) else {
        cursor.value(MAX_DEPTH - 1)?;
        fields.unknown += 1;
        return Some(());
    };
    odd_value::<K, N>(cursor, number, fields)
}

/// A value that may be more than a string.
#[inline(never)]
fn odd_value<'a, K: Known, const N: usize>(
    cursor: &mut Cursor<'a>,
    number: usize,
    fields: &mut Fields<'a, N>,
) -> Option<()> {
    let start = cursor.offset();
    let kind = if cursor.peek()? == b'n' { Kind::Null } else { Kind::Other }; // nothing else begins like that
    if number == K::HASHED {
        fields.hash = Some(canonical::hash_value(cursor, MAX_DEPTH - 1)?); // the object itself is one level
    } else {
        cursor.value(MAX_DEPTH - 1)?;
    }
    fields.put(number, start, cursor.offset(), kind).then_some(())
}

/// The same by serde_json, which says what is wrong.
///
/// # Errors
/// Text that is not one JSON object.
pub fn read<K: Known, const N: usize>(text: &str) -> Result<Fields<'_, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = (&mut deserializer).deserialize_map(ReadFields::<K, N>(text, PhantomData))?;
    deserializer.end()?;
    Ok(fields)
}

struct ReadFields<'t, K, const N: usize>(&'t str, PhantomData<K>);

impl<'de, K: Known, const N: usize> Visitor<'de> for ReadFields<'de, K, N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de, N>, A::Error> {
        let mut fields = Fields::new(self.0);
        while let Some(Text(key)) = map.next_key()? {
            if let Some(number) = K::find(key.as_bytes()) {
                let value = map.next_value::<&RawValue>()?.get();
                let start = value.as_ptr().addr().saturating_sub(self.0.as_ptr().addr()); // it is a slice of the text
                let kind = if value == "null" { Kind::Null } else { Kind::Other };
                fields.put(number, start, start + value.len(), kind);
            } else {
                map.next_value::<IgnoredAny>()?;
                fields.unknown = fields.unknown.saturating_add(1);
            }
        }
        Ok(fields)
    }
}

/// A string that is copied only if it holds escapes (`Cow` alone would always copy inside an `Option`).
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(ReadText)
    }
}

struct ReadText;

impl<'de> Visitor<'de> for ReadText {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Knows `a`, `b` and `c`, and `a` by heart.
    struct Abc;

    impl Known for Abc {
        const HASHED: usize = 1;

        fn find(name: &[u8]) -> Option<usize> {
            [&b"a"[..], b"b", b"c"].iter().position(|&known| known == name)
        }

        fn spelt(bytes: &[u8]) -> Option<(usize, usize)> {
            bytes.starts_with(b"\"a\":").then_some((0, 4))
        }
    }

    fn accepted(text: &str) -> Option<Fields<'_, 3>> {
        let mut fields = accept_whole::<Abc, 3>(text)?;
        (fields.hash, fields.is.plain) = (None, 0); // serde_json does neither
        Some(fields)
    }

    fn read_slowly(text: &str) -> Option<Fields<'_, 3>> {
        read::<Abc, 3>(text).ok()
    }

    #[test]
    fn fields_are_slices_of_the_line() {
        let line = r#" {"a": [1, {"b":2}] , "x":0,"b":null,"c":"\"" } "#;
        let fields = accepted(line).unwrap();
        assert_eq!(fields.field(0), Some(r#"[1, {"b":2}]"#));
        assert_eq!((fields.field(1), fields.unknown), (None, 1));
        assert_eq!(fields.field(2), Some(r#""\"""#));
        assert_eq!(read_slowly(line), Some(fields));
    }

    #[test]
    fn a_field_that_stands_twice_is_told() {
        let fields = read_slowly(r#"{"a":1,"a":2,"\u0061":3}"#).unwrap();
        assert_eq!((fields.field(0), fields.twice), (Some("1"), Some((0, "2"))));
        assert_eq!(accepted(r#"{"a":1,"a":2}"#), None);
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("-1.50e+2".to_owned()),
            Just("007".to_owned()),
            Just("\"\\ud800\"".to_owned()),
            Just("\"a\tb\"".to_owned()),
            r#""[a-c{}\[\]:,é ]{0,20}""#,
            r#"[0-9.eE+\-]{1,5}"#,
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("[{}]", all.join(", "))),
                proptest::collection::vec(("[abcx]", inner), 0..3).prop_map(|all| object(&all)),
            ]
        })
    }

    fn object(entries: &[(String, String)]) -> String {
        let entries: Vec<String> = entries.iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
        format!("{{{}}}", entries.join(","))
    }

    proptest! {
        #[test]
        fn the_fast_lane_accepts_nothing_that_serde_reads_otherwise(
            entries in proptest::collection::vec((r#"[abcxé]|\\u0061|"#, value()), 0..6),
            cut in 0..400_usize,
            noise in ".?",
        ) {
            let mut line = object(&entries);
            for _ in 0..2 {
                if let Some(fields) = accepted(&line) {
                    prop_assert_eq!(read_slowly(&line), Some(fields));
                }
                let place = line.floor_char_boundary(cut);
                line = if cut % 2 == 0 { line[..place].to_owned() } else { format!("{}{noise}{}", &line[..place], &line[place..]) };
            }
        }
    }
}
