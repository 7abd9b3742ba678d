//! A JSON value as written, and the tape of a document: it is parsed once, and every path is followed on that. A string that
//! holds JSON is parsed when the first path leads into it. Knows no names and no format.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::de::{Deserialize, Deserializer};

use crate::scan::{JsonCursor, MAX_DEPTH};

/// The text of one JSON value. That of `serde_json` is checked whenever it is made; this one may be part of a text that was
/// checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawValue<'a> {
    text: &'a str,
    /// Its place on the tape of its document, if that has one: what lies in it is known.
    place: Option<TapePlace<'a>>,
}

impl<'a> RawValue<'a> {
    /// The value whose text is `text`, which was checked.
    #[inline]
    pub(crate) const fn of_checked(text: &'a str) -> RawValue<'a> {
        RawValue { text, place: None }
    }

    /// The same on a tape.
    #[inline]
    pub(crate) const fn on_tape(text: &'a str, place: TapePlace<'a>) -> RawValue<'a> {
        RawValue { text, place: Some(place) }
    }

    /// As written.
    #[inline]
    pub(crate) const fn get(self) -> &'a str {
        self.text
    }

    /// Its place on a tape.
    #[inline]
    pub(crate) const fn place(self) -> Option<TapePlace<'a>> {
        self.place
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawValue<'a>, D::Error> {
        let raw: &serde_json::value::RawValue = Deserialize::deserialize(deserializer)?;
        Ok(RawValue::of_checked(raw.get()))
    }
}

/// The values of a text. It can be filled again, so that its memory is.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    /// Each value before what lies in it: the items of an array, the keys and values of an object in turn.
    nodes: Vec<Node>,
    /// The texts in strings that were looked into, by the index of the string; none: it holds no JSON.
    inside: RefCell<BTreeMap<u32, Option<Rc<InnerText>>>>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    /// The index of the next value that does not lie in it.
    next: u32,
}

/// The JSON in a string.
#[derive(Debug)]
pub(crate) struct InnerText {
    text: String,
    tape: Tape,
}

impl InnerText {
    /// Of a text that was checked.
    pub(crate) fn of(text: String) -> InnerText {
        let mut tape = Tape::default();
        tape.fill(&text);
        InnerText { text, tape }
    }

    /// Its only value.
    pub(crate) fn value(&self) -> RawValue<'_> {
        self.tape.root(&self.text)
    }
}

impl Tape {
    /// The only value of `text`; none where the scanner gives up, and `serde_json` decides.
    pub(crate) fn read<'t>(&'t mut self, text: &'t str) -> Option<RawValue<'t>> {
        self.fill(text)?;
        Some(self.root(text))
    }

    fn fill(&mut self, text: &str) -> Option<()> {
        self.nodes.clear();
        self.inside.borrow_mut().clear();
        u32::try_from(text.len()).ok()?;
        let mut cursor = JsonCursor::new(text);
        let filled = self.value(&mut cursor, MAX_DEPTH).filter(|()| cursor.at_end());
        if filled.is_none() {
            self.nodes.clear();
        }
        filled
    }

    /// The value with which the tape was filled; `text` as it is, if it was not.
    fn root<'t>(&'t self, text: &'t str) -> RawValue<'t> {
        self.value_at(text, 0).unwrap_or_else(|| RawValue::of_checked(text))
    }

    fn value(&mut self, cursor: &mut JsonCursor<'_>, depth: u32) -> Option<()> {
        let first = cursor.next_byte()?;
        let (index, start) = (self.nodes.len(), small(cursor.offset()));
        self.nodes.push(Node { start, end: start, next: 0 });
        match first {
            b'"' => drop(cursor.pass_string()?),
            b'{' => self.object(cursor, depth.checked_sub(1)?)?,
            b'[' => self.array(cursor, depth.checked_sub(1)?)?,
            _ => cursor.pass_value(depth)?,
        }
        let next = small(self.nodes.len());
        let node = self.nodes.get_mut(index)?;
        (node.end, node.next) = (small(cursor.offset()), next);
        Some(())
    }

    fn object(&mut self, cursor: &mut JsonCursor<'_>, depth: u32) -> Option<()> {
        cursor.skip(1);
        let mut goes_on = !cursor.eat(b'}');
        while goes_on {
            cursor.skip_space();
            let start = small(cursor.offset());
            cursor.pass_string()?;
            let next = small(self.nodes.len() + 1);
            self.nodes.push(Node { start, end: small(cursor.offset()), next });
            if !cursor.eat(b':') {
                return None;
            }
            self.value(cursor, depth)?;
            goes_on = cursor.goes_on(b'}')?;
        }
        Some(())
    }

    fn array(&mut self, cursor: &mut JsonCursor<'_>, depth: u32) -> Option<()> {
        cursor.skip(1);
        let mut goes_on = !cursor.eat(b']');
        while goes_on {
            self.value(cursor, depth)?;
            goes_on = cursor.goes_on(b']')?;
        }
        Some(())
    }

    /// The value at an index; `whole` is the text that the tape was filled with.
    fn value_at<'t>(&'t self, whole: &'t str, index: u32) -> Option<RawValue<'t>> {
        let node = self.nodes.get(index as usize)?;
        let text = whole.get(node.start as usize..node.end as usize)?;
        Some(RawValue::on_tape(text, TapePlace { tape: self, whole, index }))
    }
}

/// Where a value is on its tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TapePlace<'t> {
    tape: &'t Tape,
    whole: &'t str,
    index: u32,
}

impl<'t> TapePlace<'t> {
    /// The values in an array; in an object, its keys and values in turn.
    pub(crate) fn values(self) -> impl Iterator<Item = RawValue<'t>> {
        let TapePlace { tape, whole, index } = self;
        let end = tape.nodes.get(index as usize).map_or(0, |node| node.next);
        let mut at = index + 1;
        std::iter::from_fn(move || {
            let value = tape.value_at(whole, at).filter(|_| at < end)?;
            at = tape.nodes.get(at as usize)?.next;
            Some(value)
        })
    }

    /// The JSON in the string, which `find` finds at the first look.
    pub(crate) fn inside(self, find: impl FnOnce() -> Option<String>) -> Option<Rc<InnerText>> {
        let mut known = self.tape.inside.borrow_mut();
        known.entry(self.index).or_insert_with(|| find().map(|text| Rc::new(InnerText::of(text)))).clone()
    }
}

/// An index or an offset on a tape: no text of 4 GiB has one.
#[expect(clippy::cast_possible_truncation, reason = "`fill` takes no longer text, which has more bytes than values")]
const fn small(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn what_lies_in_a_value_is_found_without_scanning_it_again() {
        let text = r#" {"a" : [1, {"b\n":"x"}, []], "c":{}, "a":null} "#;
        let mut tape = Tape::default();
        let root = tape.read(text).expect("a document");
        assert_eq!(root.get(), text.trim());
        let fields = json::object(root).expect("an object");
        let names: Vec<_> = fields.iter().map(|(name, value)| (name.to_owned(), value.get())).collect();
        let list = r#"[1, {"b\n":"x"}, []]"#;
        assert_eq!(names, [("a".to_owned(), list), ("c".to_owned(), "{}"), ("a".to_owned(), "null")]);
        let items = json::array(names_value(&fields)).expect("an array");
        assert_eq!(items.iter().map(|item| item.get()).collect::<Vec<_>>(), ["1", r#"{"b\n":"x"}"#, "[]"]);
        assert_eq!(json::object(items[1]).and_then(|inner| inner.text("b\n")).as_deref(), Some("x"));
        assert_eq!(json::field(items[1], "b\n").map(RawValue::get), Some("\"x\""));
        assert!(json::field(root, "a").is_none(), "of a repeated name the last value counts, and it is null");
        assert_eq!(json::array(items[2]).map(|items| items.len()), Some(0));
    }

    fn names_value<'a>(fields: &json::Fields<'a>) -> RawValue<'a> {
        fields.iter().next().expect("a field").1
    }

    #[test]
    fn what_the_scanner_gives_up_is_on_no_tape() {
        let mut tape = Tape::default();
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "[1,]", "{\"a\":}", "1 2", deep.as_str()] {
            assert!(tape.read(text).is_none(), "{text}");
        }
        assert_eq!(tape.read("7").map(RawValue::get), Some("7"));
    }
}
