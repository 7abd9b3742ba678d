//! The known fields of one JSON object as slices of its line, filled by a fast lane or by serde_json. The fast lane accepts
//! strict JSON; everything else goes to serde_json. Knows no meanings.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::canonical;
use crate::json::BorrowedText;
use crate::scan::{JsonCursor, MAX_DEPTH};

/// The first bytes of an entry that [`KnownFields::match_start`] compares.
pub const START: usize = 24;

/// Fields with lower numbers may hold numbers, which the fast lane parses.
pub const NUMBER_FIELDS: usize = 4;

/// The known fields of an object.
pub trait KnownFields {
    /// The number of the field that is hashed by meaning while it is read; a number beyond all fields for none.
    const HASHED: usize;

    /// Whether [`FieldSlices::noted`] tells of a name within the hashed field.
    fn is_noted(_name: &[u8]) -> bool {
        false
    }

    /// Whether a name that is no field counts as none that is unknown.
    fn is_passed_over(_name: &[u8]) -> bool {
        false
    }

    /// A field's number by its name.
    fn find(name: &[u8]) -> Option<usize>;

    /// The number of a field whose quoted name and colon `bytes` begin with, and how many bytes these take. None for
    /// unknown names, and for rare names that only [`KnownFields::find`] looks up.
    fn match_start(bytes: &[u8; START]) -> Option<(usize, usize)>;
}

/// The values of an object's known fields, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSlices<'a, const N: usize> {
    text: &'a str,
    presence: [FieldPresence; N],
    /// Where each present value begins and ends in the text; old places of absent fields are not cleared.
    places: [(usize, usize); N],
    /// The values of number fields that were parsed.
    numbers: [u64; NUMBER_FIELDS],
    /// The number of unknown fields.
    pub unknown: u32,
    /// The first repeated field, with its second value.
    pub twice: Option<(usize, &'a str)>,
    /// The hash of the hashed field, if the fast lane read it.
    pub hash: Option<u128>,
    /// Whether the hashed field, if the fast lane read it, is an object with a name that is noted.
    pub noted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldPresence {
    Absent,
    Null,
    /// A string without escapes.
    Plain,
    /// A parsed number.
    Number,
    /// Any other value, or one that was not examined.
    Other,
}

impl<'a, const N: usize> FieldSlices<'a, N> {
    /// No fields yet of an object in `text`.
    pub fn new(text: &'a str) -> FieldSlices<'a, N> {
        FieldSlices {
            text,
            presence: [FieldPresence::Absent; N],
            places: [(0, 0); N],
            numbers: [0; NUMBER_FIELDS],
            unknown: 0,
            twice: None,
            hash: None,
            noted: false,
        }
    }

    /// Removes every field.
    #[inline]
    pub fn clear(&mut self) {
        self.presence = [FieldPresence::Absent; N];
        (self.unknown, self.twice, self.hash, self.noted) = (0, None, None, false);
    }

    #[inline]
    fn presence(&self, number: usize) -> FieldPresence {
        self.presence.get(number).copied().unwrap_or(FieldPresence::Absent)
    }

    /// The JSON text of a field; none where it is absent or `null`.
    #[inline]
    pub fn field(&self, number: usize) -> Option<&'a str> {
        if matches!(self.presence(number), FieldPresence::Absent | FieldPresence::Null) {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start..end))
    }

    /// Whether a field's value is a string without escapes, as far as the fast lane examined it.
    #[inline]
    pub fn is_plain(&self, number: usize) -> bool {
        self.presence(number) == FieldPresence::Plain
    }

    /// The content of a field's string, if [`FieldSlices::is_plain`].
    #[inline(always)]
    pub fn plain(&self, number: usize) -> Option<&'a str> {
        if !self.is_plain(number) {
            return None;
        }
        self.places.get(number).and_then(|&(start, end)| self.text.get(start + 1..end - 1))
    }

    /// A field's number, if the fast lane parsed it.
    #[inline]
    pub fn number(&self, number: usize) -> Option<u64> {
        if self.presence(number) != FieldPresence::Number {
            return None;
        }
        self.numbers.get(number).copied()
    }

    /// Whether no known field is present, not even as `null`.
    pub fn none_known(&self) -> bool {
        self.presence.iter().all(|presence| *presence == FieldPresence::Absent)
    }

    /// Stores the value from `start` to `end`; false if the field has one already.
    #[inline(always)]
    fn put(&mut self, number: usize, start: usize, end: usize, presence: FieldPresence) -> bool {
        match (self.presence.get_mut(number), self.places.get_mut(number)) {
            (Some(known @ FieldPresence::Absent), Some(place)) => {
                (*known, *place) = (presence, (start, end));
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

/// The fast lane: moves past an object and stores its fields in `fields`, which must be empty. None where it gives up; the
/// fields are then incomplete.
#[inline]
pub fn accept<'a, K: KnownFields, const N: usize>(
    cursor: &mut JsonCursor<'a>,
    fields: &mut FieldSlices<'a, N>,
) -> Option<()> {
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

/// [`accept`] for a text that is one object.
pub fn accept_whole<K: KnownFields, const N: usize>(text: &str) -> Option<FieldSlices<'_, N>> {
    let (mut cursor, mut fields) = (JsonCursor::new(text), FieldSlices::new(text));
    accept::<K, N>(&mut cursor, &mut fields)?;
    cursor.at_end().then_some(fields)
}

#[inline(always)]
fn entry<'a, K: KnownFields, const N: usize>(
    cursor: &mut JsonCursor<'a>,
    fields: &mut FieldSlices<'a, N>,
) -> Option<()> {
    cursor.skip_space();
    match cursor.ahead().and_then(K::match_start) {
        Some((number, length)) => {
            cursor.skip(length);
            cursor.skip_space();
            value::<K, N>(cursor, number, fields)
        }
        None => slow_entry::<K, N>(cursor, fields),
    }
}

/// An entry whose name [`KnownFields::match_start`] does not match.
#[inline(never)]
fn slow_entry<'a, K: KnownFields, const N: usize>(
    cursor: &mut JsonCursor<'a>,
    fields: &mut FieldSlices<'a, N>,
) -> Option<()> {
    let key = cursor.key()?;
    if key.escaped {
        return None;
    }
    let Some(number) = K::find(key.inner.as_bytes()) else {
        fields.unknown += u32::from(!K::is_passed_over(key.inner.as_bytes()));
        return cursor.pass_value(MAX_DEPTH - 1);
    };
    value::<K, N>(cursor, number, fields)
}

#[inline(always)]
fn value<'a, K: KnownFields, const N: usize>(
    cursor: &mut JsonCursor<'a>,
    number: usize,
    fields: &mut FieldSlices<'a, N>,
) -> Option<()> {
    let start = cursor.offset();
    if number != K::HASHED
        && let Some((_, end)) = cursor.plain_string()
    {
        return fields.put(number, start, end + 1, FieldPresence::Plain).then_some(());
    }
    if number < NUMBER_FIELDS
        && let Some(value) = cursor.short_number()
    {
        if let Some(known) = fields.numbers.get_mut(number) {
            *known = value;
        }
        return fields.put(number, start, cursor.offset(), FieldPresence::Number).then_some(());
    }
    slow_value::<K, N>(cursor, number, fields)
}

/// A value that is hashed, or that is neither a plain string nor a short number.
#[inline(never)]
fn slow_value<'a, K: KnownFields, const N: usize>(
    cursor: &mut JsonCursor<'a>,
    number: usize,
    fields: &mut FieldSlices<'a, N>,
) -> Option<()> {
    let start = cursor.offset();
    let presence = if cursor.peek()? == b'n' { FieldPresence::Null } else { FieldPresence::Other };
    if number == K::HASHED {
        let noted = &mut fields.noted;
        let hash = canonical::hash_and_note(cursor, MAX_DEPTH - 1, |name| *noted |= K::is_noted(name));
        fields.hash = Some(hash?); // the object itself is one level
    } else {
        cursor.pass_value(MAX_DEPTH - 1)?;
    }
    fields.put(number, start, cursor.offset(), presence).then_some(())
}

/// Reads an object with serde_json, which reports what is wrong.
///
/// # Errors
/// A text that is not one JSON object.
pub fn read<K: KnownFields, const N: usize>(text: &str) -> Result<FieldSlices<'_, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = (&mut deserializer).deserialize_map(FieldSlicesVisitor::<K, N>(text, PhantomData))?;
    deserializer.end()?;
    Ok(fields)
}

struct FieldSlicesVisitor<'t, K, const N: usize>(&'t str, PhantomData<K>);

impl<'de, K: KnownFields, const N: usize> Visitor<'de> for FieldSlicesVisitor<'de, K, N> {
    type Value = FieldSlices<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldSlices<'de, N>, A::Error> {
        let mut fields = FieldSlices::new(self.0);
        while let Some(BorrowedText(key)) = map.next_key()? {
            if let Some(number) = K::find(key.as_bytes()) {
                let value = map.next_value::<&RawValue>()?.get();
                let start = value.as_ptr().addr().saturating_sub(self.0.as_ptr().addr()); // it is a slice of the text
                let presence = if value == "null" { FieldPresence::Null } else { FieldPresence::Other };
                fields.put(number, start, start + value.len(), presence);
            } else {
                map.next_value::<IgnoredAny>()?;
                fields.unknown = fields.unknown.saturating_add(u32::from(!K::is_passed_over(key.as_bytes())));
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Knows `a`, `b` and `c`, and matches the start of `a`.
    struct Abc;

    impl KnownFields for Abc {
        const HASHED: usize = 1;

        fn find(name: &[u8]) -> Option<usize> {
            [&b"a"[..], b"b", b"c"].iter().position(|&known| known == name)
        }

        fn match_start(bytes: &[u8; START]) -> Option<(usize, usize)> {
            bytes.starts_with(b"\"a\":").then_some((0, 4))
        }
    }

    fn accepted(text: &str) -> Option<FieldSlices<'_, 3>> {
        let mut fields = accept_whole::<Abc, 3>(text)?;
        (fields.hash, fields.noted) = (None, false); // serde_json neither hashes nor examines values
        for presence in &mut fields.presence {
            if let FieldPresence::Plain | FieldPresence::Number = presence {
                *presence = FieldPresence::Other;
            }
        }
        fields.numbers = [0; NUMBER_FIELDS];
        Some(fields)
    }

    fn read_with_serde(text: &str) -> Option<FieldSlices<'_, 3>> {
        read::<Abc, 3>(text).ok()
    }

    #[test]
    fn fields_are_slices_of_the_line() {
        let line = r#" {"a": [1, {"b":2}] , "x":0,"b":null,"c":"\"" } "#;
        let fields = accepted(line).unwrap();
        assert_eq!(fields.field(0), Some(r#"[1, {"b":2}]"#));
        assert_eq!((fields.field(1), fields.unknown), (None, 1));
        assert_eq!(fields.field(2), Some(r#""\"""#));
        assert_eq!(read_with_serde(line), Some(fields));
    }

    #[test]
    fn a_repeated_field_is_reported() {
        let fields = read_with_serde(r#"{"a":1,"a":2,"\u0061":3}"#).unwrap();
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
        fn the_fast_lane_accepts_nothing_that_serde_reads_differently(
            entries in proptest::collection::vec((r#"[abcxé]|\\u0061|"#, value()), 0..6),
            cut in 0..400_usize,
            noise in ".?",
        ) {
            let mut line = object(&entries);
            for _ in 0..2 {
                if let Some(fields) = accepted(&line) {
                    prop_assert_eq!(read_with_serde(&line), Some(fields));
                }
                let place = line.floor_char_boundary(cut);
                line = if cut % 2 == 0 { line[..place].to_owned() } else { format!("{}{noise}{}", &line[..place], &line[place..]) };
            }
        }
    }
}
