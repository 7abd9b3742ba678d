//! A lazy view of foreign JSON: one level at a time, every value as written. Knows no format.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::python;
use crate::raw_value::{RawValue, TapePlace};
use crate::scan::{JsonCursor, MAX_DEPTH};

/// The fields of an object for which there is room at first.
const USUAL_FIELDS: usize = 8;

/// The fields of one object, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a> {
    all: Vec<(Cow<'a, str>, RawValue<'a>)>,
    /// The bits of their names: most names that an object lacks are known by theirs.
    bits: u64,
}

/// A bit of 64 that a name has by its length and its ends.
#[inline]
fn bit(name: &str) -> u64 {
    let (first, last) = (name.bytes().next().unwrap_or_default(), name.bytes().next_back().unwrap_or_default());
    1 << ((usize::from(first) + 5 * usize::from(last) + 11 * name.len()) % 64)
}

impl<'a> Fields<'a> {
    /// The fast lane: moves past an object, which it accepts only if it is valid; none where it gives up.
    fn accept(cursor: &mut JsonCursor<'a>) -> Option<Fields<'a>> {
        if !cursor.eat(b'{') {
            return None;
        }
        let mut fields = Fields::with_room();
        let mut goes_on = !cursor.eat(b'}');
        while goes_on {
            let name = cursor.plain_key()?;
            fields.push(Cow::Borrowed(name), RawValue::of_checked(cursor.value(MAX_DEPTH - 1)?));
            goes_on = cursor.goes_on(b'}')?;
        }
        Some(fields)
    }

    fn with_room() -> Fields<'a> {
        Fields { all: Vec::with_capacity(USUAL_FIELDS), bits: 0 }
    }

    #[inline]
    fn push(&mut self, name: Cow<'a, str>, value: RawValue<'a>) {
        self.bits |= bit(&name);
        self.all.push((name, value));
    }

    /// Those that are on a tape.
    fn on_tape(place: TapePlace<'a>) -> Fields<'a> {
        let mut fields = Fields::with_room();
        let mut values = place.values();
        while let (Some(name), Some(value)) = (values.next(), values.next()) {
            fields.push(string(name).unwrap_or_default(), value);
        }
        fields
    }

    /// The fields of the only value of `text`, if that is an object.
    fn of(text: &'a str) -> Option<Fields<'a>> {
        let mut cursor = JsonCursor::new(text);
        let fields = Fields::accept(&mut cursor).filter(|_| cursor.at_end());
        fields.or_else(|| serde_json::from_str(text).ok())
    }

    /// The value of `name`; none if it is missing or null. Of a repeated name the last value counts.
    pub(crate) fn get(&self, name: &str) -> Option<RawValue<'a>> {
        if self.bits & bit(name) == 0 {
            return None;
        }
        let (_, value) = self.all.iter().rev().find(|(key, _)| key == name)?;
        (value.get() != "null").then_some(*value)
    }

    /// The text of `name`: the content of a string, or a number or boolean as written.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(scalar)
    }

    /// The names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, RawValue<'a>)> {
        self.all.iter().map(|(name, value)| (&**name, *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'a>, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::with_room();
        while let Some((BorrowedText(name), value)) = map.next_entry()? {
            fields.push(name, value);
        }
        Ok(fields)
    }
}

/// A string that is copied only if it has escapes. (A `Cow` inside an `Option` would always be copied.)
pub(crate) struct BorrowedText<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BorrowedText<'a>, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = BorrowedText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<BorrowedText<'de>, E> {
        Ok(BorrowedText(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<BorrowedText<'de>, E> {
        Ok(BorrowedText(Cow::Owned(text.to_owned())))
    }
}

struct Items<'a>(Vec<RawValue<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Items<'a>, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Items(items))
    }
}

/// A value as written, with its fields if it is an object.
#[derive(Clone, Debug)]
pub(crate) struct Parsed<'a> {
    pub(crate) text: &'a str,
    pub(crate) fields: Option<Fields<'a>>,
    raw: RawValue<'a>,
    /// The lists and objects in its fields that were searched, by name: many paths lead into one.
    lists: RefCell<Vec<(String, Rc<[Fields<'a>]>)>>,
}

impl<'a> Parsed<'a> {
    /// The first value of `text`, and the text behind it; none if there is nothing but white space.
    pub(crate) fn first_of(text: &'a str) -> Option<Result<(Parsed<'a>, &'a str), serde_json::Error>> {
        let value = text.trim_start_matches(SPACE);
        let mut cursor = JsonCursor::new(value);
        if let Some(fields) = Fields::accept(&mut cursor) {
            let (text, rest) = value.split_at_checked(cursor.offset())?;
            return Some(Ok((Parsed::with_fields(text, Some(fields)), rest)));
        }
        let mut objects = serde_json::Deserializer::from_str(value).into_iter::<Fields<'a>>();
        if value.starts_with('{')
            && let Some(Ok(fields)) = objects.next()
            && let Some((text, rest)) = value.split_at_checked(objects.byte_offset())
        {
            return Some(Ok((Parsed::with_fields(text, Some(fields)), rest)));
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<RawValue<'_>>();
        let raw = values.next()?;
        Some(raw.map(|raw| (Parsed::from(raw), text.get(values.byte_offset()..).unwrap_or_default())))
    }

    /// A value that was checked.
    fn with_fields(text: &'a str, fields: Option<Fields<'a>>) -> Parsed<'a> {
        Parsed { text, fields, raw: RawValue::of_checked(text), lists: RefCell::default() }
    }

    /// The value itself.
    pub(crate) fn raw(&self) -> RawValue<'a> {
        self.raw
    }

    /// The objects in the list called `name`, or the object of that name; none if it is neither.
    pub(crate) fn objects(&self, name: &str) -> Option<Rc<[Fields<'a>]>> {
        if let Some((_, known)) = self.lists.borrow().iter().find(|(known, _)| known == name) {
            return Some(Rc::clone(known));
        }
        let inner = self.fields.as_ref()?.get(name)?;
        let objects: Rc<[Fields<'a>]> = match object(inner) {
            Some(fields) => Rc::new([fields]),
            None => array(inner)?.into_iter().filter_map(object).collect(),
        };
        self.lists.borrow_mut().push((name.to_owned(), Rc::clone(&objects)));
        Some(objects)
    }

    /// The items, if it is an array.
    pub(crate) fn items(&self) -> Option<Vec<RawValue<'a>>> {
        array(self.raw)
    }
}

impl<'a> From<RawValue<'a>> for Parsed<'a> {
    fn from(raw: RawValue<'a>) -> Parsed<'a> {
        Parsed { text: raw.get(), fields: object(raw), raw, lists: RefCell::default() }
    }
}

/// The white space of JSON.
const SPACE: [char; 4] = [' ', '\n', '\r', '\t'];

/// The fields, if `raw` is an object.
pub(crate) fn object(raw: RawValue<'_>) -> Option<Fields<'_>> {
    let place = raw.get().starts_with('{').then(|| raw.place())?;
    place.map_or_else(|| Fields::of(raw.get()), |place| Some(Fields::on_tape(place)))
}

/// The field called `name`, if `raw` is an object; none if it is missing or null. Of a repeated name the last value counts.
pub(crate) fn field<'a>(raw: RawValue<'a>, name: &str) -> Option<RawValue<'a>> {
    let place = raw.get().starts_with('{').then(|| raw.place())?;
    let Some(place) = place else { return object(raw)?.get(name) };
    let (mut values, mut found) = (place.values(), None);
    while let (Some(key), Some(value)) = (values.next(), values.next()) {
        if is_string(key, name) {
            found = Some(value);
        }
    }
    found.filter(|value| value.get() != "null")
}

/// Whether `raw` is a string with this content.
fn is_string(raw: RawValue<'_>, content: &str) -> bool {
    let inner = raw.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.is_some_and(|inner| inner == content)
        || raw.get().contains('\\') && string(raw).is_some_and(|found| found == content)
}

/// The items, if `raw` is an array.
pub(crate) fn array(raw: RawValue<'_>) -> Option<Vec<RawValue<'_>>> {
    match raw.place().filter(|_| raw.get().starts_with('[')) {
        Some(place) => Some(place.values().collect()),
        None => items(raw.get()),
    }
}

fn items(text: &str) -> Option<Vec<RawValue<'_>>> {
    if !text.starts_with('[') {
        return None;
    }
    accepted_items(text).or_else(|| serde_json::from_str(text).ok().map(|Items(items)| items))
}

/// The fast lane: the items of an array; none where it gives up.
fn accepted_items(text: &str) -> Option<Vec<RawValue<'_>>> {
    let mut cursor = JsonCursor::new(text);
    let mut items = Vec::new();
    let mut goes_on = cursor.eat(b'[') && !cursor.eat(b']');
    while goes_on {
        items.push(RawValue::of_checked(cursor.value(MAX_DEPTH - 1)?));
        goes_on = cursor.goes_on(b']')?;
    }
    cursor.at_end().then_some(items)
}

/// The content, if `raw` is a string. A string with an invalid escape stays as written.
pub(crate) fn string(raw: RawValue<'_>) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = decoded(inner).or_else(|| serde_json::from_str(raw.get()).ok());
    Some(decoded.map_or(Cow::Borrowed(inner), Cow::Owned))
}

/// The content of a string with escapes of one letter; none for any other.
fn decoded(inner: &str) -> Option<String> {
    let (mut text, mut rest) = (String::with_capacity(inner.len()), inner);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, escape) = rest.split_at_checked(at)?;
        text.push_str(before);
        text.push(match escape.as_bytes().get(1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => return None,
        });
        rest = escape.get(2..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// The content of a string, or a number or boolean as written.
pub(crate) fn scalar(raw: RawValue<'_>) -> Option<Cow<'_, str>> {
    match raw.get().as_bytes().first()? {
        b'"' => string(raw),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(raw.get())),
    }
}

/// Whether a string may hold an object or an array, by its first letter.
pub(crate) fn may_hold_json(raw: RawValue<'_>) -> bool {
    let first = raw.get().strip_prefix('"').and_then(|inner| inner.trim_start_matches(' ').bytes().next());
    first.is_some_and(|first| matches!(first, b'{' | b'[' | b'\\') || !first.is_ascii())
}

/// The JSON text inside a string that holds JSON or a Python literal; none for any other value.
pub(crate) fn inside(raw: RawValue<'_>) -> Option<String> {
    let text = string(raw)?;
    let inner = text.trim();
    if !inner.starts_with(['{', '[']) {
        return None;
    }
    match parse(inner) {
        Ok(_) => Some(inner.to_owned()),
        Err(_) => python::to_json(inner),
    }
}

/// A value as text: the content of a string, the texts of a list of parts in lines, or any other value as JSON.
pub(crate) fn content_text(raw: RawValue<'_>) -> Cow<'_, str> {
    let part = |raw| object(raw).and_then(|part| part.get("text").and_then(string).map(Cow::into_owned));
    let parts = || array(raw).filter(|parts| !parts.is_empty())?.into_iter().map(part).collect::<Option<Vec<_>>>();
    parts().map_or_else(|| text(raw), |parts| Cow::Owned(parts.join("\n")))
}

/// A value as text: the content of a string, or any other value as JSON.
pub(crate) fn text(raw: RawValue<'_>) -> Cow<'_, str> {
    scalar(raw).unwrap_or_else(|| compact(raw.get()))
}

/// `text` as one JSON value.
pub(crate) fn parse(text: &str) -> Result<RawValue<'_>, serde_json::Error> {
    let mut cursor = JsonCursor::new(text);
    match cursor.value(MAX_DEPTH).filter(|_| cursor.at_end()) {
        Some(value) => Ok(RawValue::of_checked(value)),
        None => serde_json::from_str(text),
    }
}

/// The same JSON value in one line: without white space between its parts.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    if !has_outer_space(json) {
        return Cow::Borrowed(json);
    }
    let mut tight = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', ' ', '\n', '\r', '\t']) {
        let (before, after) = rest.split_at(at);
        tight.push_str(before);
        let string = string_length(after);
        tight.push_str(after.get(..string).unwrap_or_default());
        rest = after.get(string.max(1)..).unwrap_or_default();
    }
    tight.push_str(rest);
    Cow::Owned(tight)
}

/// Whether there is white space outside of strings.
fn has_outer_space(json: &str) -> bool {
    let mut rest = json;
    while let Some(byte) = rest.bytes().next() {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => return true,
            _ => rest = rest.get(string_length(rest).max(1)..).unwrap_or_default(),
        }
    }
    false
}

/// The length of the string with which `json` begins, with its quotes; 0 if it does not begin with one.
fn string_length(json: &str) -> usize {
    let Some(inner) = json.strip_prefix('"') else { return 0 };
    let mut escaped = None;
    let mut marks = memchr::memchr2_iter(b'"', b'\\', inner.as_bytes());
    let end = marks.find(|at| {
        let is_escaped = escaped == Some(*at);
        let is_quote = inner.as_bytes().get(*at) == Some(&b'"');
        escaped = (!is_escaped && !is_quote).then_some(*at + 1);
        is_quote && !is_escaped
    });
    end.map_or(json.len(), |end| end + 2)
}

/// The arguments of a foreign call: JSON, or a string that holds JSON or a Python literal.
#[derive(Debug)]
pub(crate) enum SourceArgs<'a> {
    /// JSON text.
    Json(Cow<'a, str>),
    /// A JSON string that does not hold JSON.
    Text(&'a str),
    /// An empty string.
    Empty,
}

impl<'a> SourceArgs<'a> {
    /// The arguments in `raw`: its JSON, or the JSON in its string.
    pub(crate) fn of(raw: RawValue<'a>) -> SourceArgs<'a> {
        let Some(text) = string(raw) else {
            return SourceArgs::Json(Cow::Borrowed(raw.get()));
        };
        if text.trim().is_empty() {
            return SourceArgs::Empty;
        }
        if parse(&text).is_ok() {
            return SourceArgs::Json(Cow::Owned(text.trim().to_owned()));
        }
        python::to_json(&text).map_or(SourceArgs::Text(raw.get()), |json| SourceArgs::Json(Cow::Owned(json)))
    }

    /// The JSON text; none for an empty string.
    pub(crate) fn as_json(&self) -> Option<&str> {
        match self {
            SourceArgs::Json(json) => Some(json),
            SourceArgs::Text(json) => Some(json),
            SourceArgs::Empty => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_is_removed_only_between_parts() {
        assert_eq!(compact("{ \"a b\" :\n [ 1, \"\\\" ,\\\\\" ] }"), "{\"a b\":[1,\"\\\" ,\\\\\"]}");
        assert_eq!(compact("{\"a\":1}"), "{\"a\":1}");
    }

    #[test]
    fn numbers_stay_as_written() {
        let raw = parse("{\"a\": 1.10, \"b\": [1e400, \"x\\u0041\"], \"c\": null}").expect("valid");
        let fields = object(raw).expect("an object");
        assert_eq!(fields.text("a").as_deref(), Some("1.10"));
        let items = array(fields.get("b").expect("b")).expect("an array");
        assert_eq!(items[0].get(), "1e400");
        assert_eq!(scalar(items[1]).as_deref(), Some("xA"));
        assert!(fields.get("c").is_none() && fields.get("d").is_none());
    }

    proptest! {
        #[test]
        fn a_string_is_decoded_as_serde_json_does(text in r#"([a-zé/]|\\[nrtbf"/]|\\\\|\\u00e9|\\u12){0,12}"#) {
            let written = format!("\"{text}\"");
            let decoded = string(RawValue::of_checked(&written)).map(Cow::into_owned);
            let expected = serde_json::from_str::<String>(&written).unwrap_or_else(|_| text.clone());
            prop_assert_eq!(decoded, Some(expected));
        }
    }

    #[test]
    fn an_invalid_escape_stays_as_written() {
        let raw = parse("\"a\\ud800\"").expect("skipping does not decode");
        assert_eq!(string(raw).as_deref(), Some("a\\ud800"));
    }

    #[test]
    fn deep_nesting_is_read_without_recursion() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(array(parse(&deep).expect("valid")).map(|items| items.len()), Some(1));
    }
}
