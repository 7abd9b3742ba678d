//! The known fields of one JSON object as slices of its line, filled by a fast lane or by serde_json.
//! The fast lane may only accept; whatever it does not know by heart goes to serde_json. Knows no meanings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::trace::canonical;
use crate::trace::scan::{Cursor, MAX_DEPTH};

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
    /// Empty where the field is absent.
    raw: [&'a str; N],
    /// Fields that nobody knows.
    pub unknown: u32,
    /// The second value of a field that stands twice.
    pub twice: Option<(usize, &'a str)>,
    /// The hash of the field that is hashed, if the fast lane read it.
    pub hash: Option<u128>,
    /// No string outside the field that is hashed holds an escape, as far as the fast lane read.
    pub plain: bool,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// No field at all.
    pub const EMPTY: Fields<'a, N> = Fields { raw: [""; N], unknown: 0, twice: None, hash: None, plain: false };

    /// The JSON text of a field; none where it is absent or `null`.
    #[inline]
    pub fn field(&self, number: usize) -> Option<&'a str> {
        self.raw.get(number).copied().filter(|&text| !text.is_empty() && text != "null")
    }

    /// Whether no known field is there, not even as `null`.
    pub fn none_known(&self) -> bool {
        self.raw.iter().all(|text| text.is_empty())
    }

    #[inline]
    fn put(&mut self, number: usize, text: &'a str) -> bool {
        match self.raw.get_mut(number) {
            Some(slot) if slot.is_empty() => {
                *slot = text;
                true
            }
            _ => {
                self.twice = self.twice.or(Some((number, text)));
                false
            }
        }
    }
}

/// The fast lane: the fields of an object that is well formed beyond doubt. `fields` must be empty, and are spoilt
/// where there is doubt.
pub fn accept<'a, K: Known, const N: usize>(text: &'a str, fields: &mut Fields<'a, N>) -> Option<()> {
    let mut cursor = Cursor::new(text);
    fields.plain = true;
    if !cursor.eat(b'{') {
        return None;
    }
    if !cursor.eat(b'}') {
        loop {
            entry::<K, N>(&mut cursor, fields)?;
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.eat(b'}') {
            return None;
        }
    }
    cursor.at_end().then_some(())
}

#[inline]
fn entry<'a, K: Known, const N: usize>(cursor: &mut Cursor<'a>, fields: &mut Fields<'a, N>) -> Option<()> {
    cursor.skip_space();
    let Some((number, length)) = K::spelt(cursor.rest()) else { return odd_entry::<K, N>(cursor, fields) };
    cursor.skip(length);
    cursor.skip_space();
    let start = cursor.offset();
    if number != K::HASHED && cursor.peek() == Some(b'"') {
        fields.plain &= !cursor.pass_string()?;
    } else {
        odd_value::<K, N>(cursor, number, fields)?;
    }
    fields.put(number, cursor.since(start)).then_some(())
}

/// An entry whose name is not known by heart.
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
    let start = cursor.offset();
    odd_value::<K, N>(cursor, number, fields)?;
    fields.put(number, cursor.since(start)).then_some(())
}

/// Past a value that may be more than a string.
fn odd_value<'a, K: Known, const N: usize>(
    cursor: &mut Cursor<'a>,
    number: usize,
    fields: &mut Fields<'a, N>,
) -> Option<()> {
    if number == K::HASHED {
        fields.hash = Some(canonical::hash_value(cursor, MAX_DEPTH - 1)?); // the object itself is one level
    } else {
        let value = cursor.value(MAX_DEPTH - 1)?;
        let may_escape = matches!(value.as_bytes().first(), Some(b'"' | b'{'));
        fields.plain &= !may_escape || memchr::memchr(b'\\', value.as_bytes()).is_none();
    }
    Some(())
}

/// The same by serde_json, which says what is wrong.
///
/// # Errors
/// Text that is not one JSON object.
pub fn read<K: Known, const N: usize>(text: &str) -> Result<Fields<'_, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = (&mut deserializer).deserialize_map(ReadFields::<K, N>(PhantomData))?;
    deserializer.end()?;
    Ok(fields)
}

struct ReadFields<K, const N: usize>(PhantomData<K>);

impl<'de, K: Known, const N: usize> Visitor<'de> for ReadFields<K, N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de, N>, A::Error> {
        let mut fields = Fields::EMPTY;
        while let Some(Text(key)) = map.next_key()? {
            if let Some(number) = K::find(key.as_bytes()) {
                fields.put(number, map.next_value::<&RawValue>()?.get());
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
        let mut fields = Fields::EMPTY;
        accept::<Abc, 3>(text, &mut fields)?;
        (fields.hash, fields.plain) = (None, false); // serde_json does neither
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
