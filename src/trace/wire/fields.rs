//! The known fields of one JSON object as slices of its line, filled by a fast lane or by serde_json.
//! The fast lane may only accept; whatever it does not know by heart goes to serde_json. Knows no meanings.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::trace::scan::{Cursor, MAX_DEPTH};

/// Finds a field's number by its name.
pub type Find = fn(&[u8]) -> Option<usize>;

/// The values of an object's known fields, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields<'a, const N: usize> {
    raw: [Option<&'a str>; N],
    /// Fields that nobody knows.
    pub unknown: u32,
    /// The second value of a field that stands twice.
    pub twice: Option<(usize, &'a str)>,
}

impl<'a, const N: usize> Fields<'a, N> {
    const EMPTY: Fields<'a, N> = Fields { raw: [None; N], unknown: 0, twice: None };

    /// The JSON text of a field; none where it is absent or `null`.
    pub fn field(&self, number: usize) -> Option<&'a str> {
        self.raw.get(number).copied().flatten().filter(|&text| text != "null")
    }

    /// Whether no known field is there, not even as `null`.
    pub fn none_known(&self) -> bool {
        self.raw.iter().all(Option::is_none)
    }

    fn put(&mut self, number: usize, text: &'a str) -> bool {
        match self.raw.get_mut(number) {
            Some(slot @ None) => {
                *slot = Some(text);
                true
            }
            _ => {
                self.twice = self.twice.or(Some((number, text)));
                false
            }
        }
    }
}

/// The fast lane: the fields of an object that is well formed beyond doubt.
pub fn accept<const N: usize>(text: &str, find: Find) -> Option<Fields<'_, N>> {
    let mut cursor = Cursor::new(text);
    let mut fields = Fields::EMPTY;
    if !cursor.eat(b'{') {
        return None;
    }
    if !cursor.eat(b'}') {
        loop {
            let key = cursor.key()?;
            let value = cursor.value(MAX_DEPTH - 1)?; // the object itself is one
            match find(key.inner.as_bytes()) {
                _ if key.escaped => return None,
                Some(number) if !fields.put(number, value) => return None,
                Some(_) => {}
                None => fields.unknown += 1,
            }
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.eat(b'}') {
            return None;
        }
    }
    cursor.at_end().then_some(fields)
}

/// The same by serde_json, which says what is wrong.
///
/// # Errors
/// Text that is not one JSON object.
pub fn read<const N: usize>(text: &str, find: Find) -> Result<Fields<'_, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = (&mut deserializer).deserialize_map(ReadFields::<N>(find))?;
    deserializer.end()?;
    Ok(fields)
}

struct ReadFields<const N: usize>(Find);

impl<'de, const N: usize> Visitor<'de> for ReadFields<N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de, N>, A::Error> {
        let mut fields = Fields::EMPTY;
        while let Some(Text(key)) = map.next_key()? {
            if let Some(number) = (self.0)(key.as_bytes()) {
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

    fn find(name: &[u8]) -> Option<usize> {
        [&b"a"[..], b"b", b"c"].iter().position(|&known| known == name)
    }

    #[test]
    fn fields_are_slices_of_the_line() {
        let line = r#" {"a": [1, {"b":2}] , "x":0,"b":null,"c":"\"" } "#;
        let fields: Fields<'_, 3> = accept(line, find).unwrap();
        assert_eq!(fields.field(0), Some(r#"[1, {"b":2}]"#));
        assert_eq!((fields.field(1), fields.unknown), (None, 1));
        assert_eq!(fields.field(2), Some(r#""\"""#));
        assert_eq!(read(line, find).unwrap(), fields);
    }

    #[test]
    fn a_field_that_stands_twice_is_told() {
        let fields: Fields<'_, 3> = read(r#"{"a":1,"a":2,"\u0061":3}"#, find).unwrap();
        assert_eq!((fields.field(0), fields.twice), (Some("1"), Some((0, "2"))));
        assert_eq!(accept::<3>(r#"{"a":1,"a":2}"#, find), None);
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
            prop_assert_eq!(accept::<3>(&line, find).is_some() , accept::<3>(&line, find).is_some());
            for _ in 0..2 {
                if let Some(fields) = accept::<3>(&line, find) {
                    prop_assert_eq!(read(&line, find).ok(), Some(fields));
                }
                let place = line.floor_char_boundary(cut);
                line = if cut % 2 == 0 { line[..place].to_owned() } else { format!("{}{noise}{}", &line[..place], &line[place..]) };
            }
        }
    }
}
