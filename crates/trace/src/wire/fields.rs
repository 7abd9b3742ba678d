//! The known fields of one JSON object as slices of its line, filled by a fast lane or by serde_json. The fast
//! lane may only accept; what it does not know goes to serde_json. Knows no meanings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::canonical;
use crate::scan::{Cursor, MAX_DEPTH};
use crate::wire::names::NUMBERS;

/// Bytes that are looked at to tell a field by its name; no name that is known by heart is longer.
pub const SPELT: usize = 24;

/// Which fields are known.
pub trait Known {
    /// A field that is hashed by meaning while it is read; any other number for none.
    const HASHED: usize;

    /// A field's number by its name.
    fn find(name: &[u8]) -> Option<usize>;

    /// A field's number and length by its quoted name and colon, if they are what `bytes` begin with, spelt plainly.
    fn spelt(bytes: &[u8; SPELT]) -> Option<(usize, usize)>;
}

/// The values of an object's known fields, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields<'a, const N: usize> {
    text: &'a str,
    kinds: [Kind; N],
    /// Where each value begins and ends in the text, if it is there: what stood here before is not cleared.
    places: [(usize, usize); N],
    /// The first fields as numbers, where they were read as such.
    numbers: [u64; NUMBERS],
    /// Unknown fields.
    pub unknown: u32,
    /// The second value of a field that stands twice.
    pub twice: Option<(usize, &'a str)>,
    /// The hash of the field that is hashed, if it was read.
    pub hash: Option<u128>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Absent,
    Null,
    /// A string that is known to hold no escape.
    Plain,
    /// A number that was read.
    Counted,
    Other,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// No field at all of an object in `text`.
    pub fn new(text: &'a str) -> Fields<'a, N> {
        Fields {
            text,
            kinds: [Kind::Absent; N],
            places: [(0, 0); N],
            numbers: [0; NUMBERS],
            unknown: 0,
            twice: None,
            hash: None,
        }
    }

    /// Forgets every field.
    #[inline]
    pub fn clear(&mut self) {
        self.kinds = [Kind::Absent; N];
        (self.unknown, self.twice, self.hash) = (0, None, None);
    }

    #[inline]
    fn kind(&self, number: usize) -> Kind {
        self.kinds.get(number).copied().unwrap_or(Kind::Absent)
    }

    /// The JSON text of a field; none where it is absent or `null`.
    #[inline]
    pub fn field(&self, number: usize) -> Option<&'a str> {
        if matches!(self.kind(number), Kind::Absent | Kind::Null) {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start..end))
    }

    /// Whether a field's value is a string that is known to hold no escape.
    #[inline]
    pub fn is_plain(&self, number: usize) -> bool {
        self.kind(number) == Kind::Plain
    }

    /// What a field's string says, if it is known to hold no escape.
    #[inline]
    pub fn plain(&self, number: usize) -> Option<&'a str> {
        if !self.is_plain(number) {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start + 1..end - 1))
    }

    /// A field's number, if it was read.
    #[inline]
    pub fn counted(&self, number: usize) -> Option<u64> {
        if self.kind(number) != Kind::Counted {
            return None;
        }
        self.numbers.get(number).copied()
    }

    /// Whether no known field is there, not even as `null`.
    pub fn none_known(&self) -> bool {
        self.kinds.iter().all(|kind| *kind == Kind::Absent)
    }

    /// Notes a value that stands from `start` to `end`; false if the field has one already.
    #[inline(always)]
    fn put(&mut self, number: usize, start: usize, end: usize, kind: Kind) -> bool {
        match (self.kinds.get_mut(number), self.places.get_mut(number)) {
            (Some(known @ Kind::Absent), Some(place)) => {
                (*known, *place) = (kind, (start, end));
                true
            }
            _ => self.put_twice(number, start, end),
        }
    }

    #[cold]
    fn put_twice(&mut self, number: usize, start: usize, end: usize) -> bool {
        self.twice = self.twice.or_else(|| Some((number, self.text.get(start..end)?)));
        false
    }
}

/// The fast lane: past an object that is well formed beyond doubt, into `fields`, which must be empty, and are spoilt
/// where there is doubt.
#[inline]
pub fn accept<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    if !cursor.eat(b'{') {
        return None;
    }
    let mut goes_on = !cursor.eat(b'}');
    while goes_on {
        entry::<K, N>(cursor, fields)?;
        goes_on = cursor.goes_on(b'}')?;
    }
    Some(())
}

/// [`accept`] of a text that is one object.
pub fn accept_whole<K: Known, const N: usize>(text: &str) -> Option<Fields<'_, N>> {
    let (mut cursor, mut fields) = (Cursor::new(text), Fields::new(text));
    accept::<K, N>(&mut cursor, &mut fields)?;
    cursor.at_end().then_some(fields)
}

#[inline(always)]
fn entry<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    cursor.skip_space();
    match cursor.ahead().and_then(K::spelt) {
        Some((number, length)) => {
            cursor.skip(length);
            cursor.skip_space();
            value::<K, N>(cursor, number, fields)
        }
        None => odd_entry::<K, N>(cursor, fields),
    }
}

/// An entry whose name is not known by heart.
#[inline(never)]
fn odd_entry<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    let key = cursor.key()?;
    if key.escaped {
        return None;
    }
    let Some(number) = K::find(key.inner.as_bytes()) else {
        fields.unknown += 1;
        return cursor.pass_value(MAX_DEPTH - 1);
    };
    value::<K, N>(cursor, number, fields)
}

#[inline(always)]
fn value<'a, K: Known, const N: usize>(
    cursor: &mut Cursor<'a>,
    number: usize,
    fields: &mut Fields<'a, N>,
) -> Option<()> {
    let start = cursor.offset();
    if number != K::HASHED
        && let Some((_, end)) = cursor.plain_string()
    {
        return fields.put(number, start, end + 1, Kind::Plain).then_some(());
    }
    if number < NUMBERS
        && let Some(value) = cursor.short_number()
    {
        if let Some(known) = fields.numbers.get_mut(number) {
            *known = value;
        }
        return fields.put(number, start, cursor.offset(), Kind::Counted).then_some(());
    }
    odd_value::<K, N>(cursor, number, fields)
}

/// A value that is neither a plain string nor a short number, or that is hashed.
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
        cursor.pass_value(MAX_DEPTH - 1)?;
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

        fn spelt(bytes: &[u8; SPELT]) -> Option<(usize, usize)> {
            bytes.starts_with(b"\"a\":").then_some((0, 4))
        }
    }

    fn accepted(text: &str) -> Option<Fields<'_, 3>> {
        let mut fields = accept_whole::<Abc, 3>(text)?;
        fields.hash = None; // serde_json does not hash, and tells neither plain strings nor numbers
        for kind in &mut fields.kinds {
            if let Kind::Plain | Kind::Counted = kind {
                *kind = Kind::Other;
            }
        }
        fields.numbers = [0; NUMBERS];
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
