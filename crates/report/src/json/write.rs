//! JSON documents: what serde makes of a value, escaped so that no terminal obeys it. Knows no values of ours but durations.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, Formatter};
use serde_json::value::RawValue;

use playproof_engine::time::Duration;
use playproof_formats::text::is_unsafe_to_print;
use playproof_protocol::fragment;

/// A value as JSON, without a line break at its end.
pub fn document(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    append(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

/// The same, at the end of `out`.
pub fn append(out: &mut Vec<u8>, value: &impl Serialize) {
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(out, Escaping));
    debug_assert!(written.is_ok(), "keys are texts, and memory takes everything");
}

/// JSON that is written already.
pub fn raw(json: &[u8]) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8_lossy(json).into_owned()).ok()
}

/// A span in milliseconds, with decimals only where it is not whole.
#[derive(Clone, Copy, Debug)]
pub struct Millis(pub Duration);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = Vec::new();
        fragment::millis(&mut written, self.0.as_micros());
        raw(&written).serialize(serializer)
    }
}

/// An object, written member after member.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<u8>);

impl Object {
    /// An object whose first member names the format of its document.
    pub fn document(format: &str) -> Object {
        Object::default().with("format", format)
    }

    /// With a member.
    pub fn with(mut self, key: &str, value: impl Serialize) -> Object {
        self.comma();
        append(&mut self.0, &key);
        self.0.push(b':');
        append(&mut self.0, &value);
        self
    }

    /// With a member where there is a value.
    pub fn maybe(self, key: &str, value: Option<impl Serialize>) -> Object {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// With a member that is `true`, or none.
    pub fn flag(self, key: &str, is_so: bool) -> Object {
        self.maybe(key, is_so.then_some(true))
    }

    /// With a list; without one where it is empty.
    pub fn list<V: Serialize>(self, key: &str, values: Vec<V>) -> Object {
        self.maybe(key, Some(values).filter(|values| !values.is_empty()))
    }

    /// With the members of another object.
    pub fn and(mut self, more: &Object) -> Object {
        if !more.0.is_empty() {
            self.comma();
            self.0.extend_from_slice(&more.0);
        }
        self
    }

    fn comma(&mut self) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
    }
}

impl<K: AsRef<str>, V: Serialize> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Object {
        members.into_iter().fold(Object::default(), |object, (key, value)| object.with(key.as_ref(), value))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(&[b"{", &*self.0, b"}"].concat()).serialize(serializer)
    }
}

/// Escapes what JSON would let through where it is unsafe to print.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unsafe_to_print(*c)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            fragment::escape(writer, c)?;
            rest = after.strip_prefix(c).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        let c = match escape {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(byte),
        };
        fragment::escape(writer, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_absent_ones_are_left_out() {
        let spans = [200_000, 1_500, 0, u64::MAX - 1].map(|micros| Millis(Duration::from_micros(micros)));
        let more: Object = [("t", u64::MAX), ("a", 10)].into_iter().collect();
        let none = Object::default().maybe("n", None::<u64>).flag("f", false).list("e", Vec::<u64>::new());
        let object = none.with("b", "x").and(&more).and(&Object::default()).with("l", spans).with("z", None::<u64>);
        let text = r#"{"b":"x","t":18446744073709551615,"a":10,"l":[200,1.5,0,18446744073709551.614],"z":null}"#;
        assert_eq!(document(&object), text);
        assert_eq!(document(&Object::default().flag("f", true).with("o", Object::default())), r#"{"f":true,"o":{}}"#);
    }

    #[test]
    fn texts_are_valid_json_no_terminal_obeys_them_and_both_writers_agree() {
        let hostile = "q\"\\/\n\r\t\u{8}\u{c}\u{1}\u{1b}[2J\u{7f}\u{9b}\u{202e}é\u{e0001}\u{202e}";
        let text = document(&hostile);
        assert!(!text.chars().any(|c| c.is_control()), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
        let mut quoted = Vec::new();
        fragment::quote(&mut quoted, hostile);
        assert_eq!(String::from_utf8(quoted).unwrap(), text);
    }
}
