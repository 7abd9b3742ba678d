//! Typed access to a value: each method returns the value, or reports what is wrong and where, and reading continues.
//! Knows no format and no parser.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use super::node::{MapEntry, Node, NodeKind, Scalar, shorten};
use super::problems::Problems;
use super::quantity;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::steps;
use crate::text::is_blank;

/// The longest label below a value, in bytes. The message above it says the same, and is wrapped.
const LABEL: usize = 60;

/// Typed access to a value. `None` always means that an error has been reported.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    node: &'a Node,
    problems: &'a Problems,
}

/// A name in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// The name.
    pub text: &'a str,
    /// Its place.
    pub span: Range<usize>,
}

impl<'a> Cursor<'a> {
    /// A cursor on `node` that reports to `problems`.
    pub fn new(node: &'a Node, problems: &'a Problems) -> Cursor<'a> {
        Cursor { node, problems }
    }

    /// The value itself.
    pub fn node(self) -> &'a Node {
        self.node
    }

    /// Where errors are reported.
    pub(crate) fn problems(self) -> &'a Problems {
        self.problems
    }

    /// The place of the value.
    pub fn span(self) -> Range<usize> {
        self.node.span.clone()
    }

    /// Whether nothing is written here (`null`, `~`, or a key without a value).
    pub fn is_null(self) -> bool {
        matches!(self.node.kind, NodeKind::Scalar { value: Scalar::Null, .. })
    }

    /// Whether this is a list.
    pub fn is_list(self) -> bool {
        matches!(self.node.kind, NodeKind::List(_))
    }

    /// Whether this is a map.
    pub fn is_map(self) -> bool {
        matches!(self.node.kind, NodeKind::Map(_))
    }

    /// Reports a diagnostic.
    pub fn report(self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// Reports an error at this value.
    pub fn wrong(self, id: &'static str, message: impl Into<String>, label: &str) {
        self.report(Diagnostic::error(id, message).at(self.span(), label));
    }

    /// Reports that `name` is not a declared `what`, and suggests the nearest of `declared`.
    pub fn dangling<'k>(self, name: &Key<'_>, what: &str, declared: impl Iterator<Item = &'k str> + Clone) {
        self.problems.push_with(|| dangling(name, what, declared));
    }

    fn expected(self, what: &str) -> Diagnostic {
        let label = if what.len() > LABEL { "none of these".to_owned() } else { format!("expected {what}") };
        Diagnostic::error("wrong_type", format!("expected {what}, found {}", self.node.describe()))
            .at(self.span(), label)
    }

    /// A text. Numbers and other plain values need quotes, so that nothing is a text by accident.
    pub fn string(self) -> Option<&'a str> {
        let diagnostic = match &self.node.kind {
            NodeKind::Scalar { text, value: Scalar::Text } => return Some(text),
            NodeKind::Scalar { text, value } if *value != Scalar::Null => {
                self.expected("a text").help(format!("write it in quotes: `\"{}\"`", shorten(text)))
            }
            _ => self.expected("a text"),
        };
        self.report(diagnostic);
        None
    }

    /// A text that is not blank.
    pub fn words(self) -> Option<&'a str> {
        let text = self.string()?;
        if is_blank(text) {
            self.wrong("empty_text", "this text is empty", "write a few words");
            return None;
        }
        Some(text)
    }

    /// A text that is a valid name: letters, digits and `_ - .`, at most 100 characters.
    pub fn name(self) -> Option<Key<'a>> {
        let key = Key { text: self.string()?, span: self.span() };
        self.named(&key, "").then_some(key)
    }

    /// Whether `key` is a valid name; `also` are further allowed characters.
    pub fn named(self, key: &Key<'_>, also: &str) -> bool {
        let fits = |c: char| c.is_alphanumeric() || "_-.".contains(c) || also.contains(c);
        let good = !key.text.is_empty() && key.text.chars().count() <= 100 && key.text.chars().all(fits);
        // A name with `/` becomes a path.
        let good_parts = also != "/" || !key.text.split('/').any(|part| ["", ".", ".."].contains(&part));
        if !good || !good_parts {
            let also: String = also.chars().flat_map(|c| [' ', c]).collect();
            let parts = if good { ", and no part of it is empty, `.` or `..`" } else { "" };
            self.report(
                Diagnostic::error("bad_name", format!("`{}` is not a valid name", shorten(key.text)))
                    .at(key.span.clone(), "not a name")
                    .help(format!("a name has 1 to 100 letters, digits and _ - .{also}{parts}")),
            );
        }
        good && good_parts
    }

    /// `true` or `false`.
    pub fn bool(self) -> Option<bool> {
        if let NodeKind::Scalar { value: Scalar::Bool(value), .. } = self.node.kind {
            return Some(value);
        }
        let mut diagnostic = self.expected("`true` or `false`");
        if let NodeKind::Scalar { text, value: Scalar::Text } = &self.node.kind {
            match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" => diagnostic = diagnostic.help("write `true`"),
                "no" | "off" | "n" => diagnostic = diagnostic.help("write `false`"),
                _ => {}
            }
        }
        self.report(diagnostic);
        None
    }

    /// A whole number within `range`.
    pub fn whole(self, range: RangeInclusive<u64>) -> Option<u64> {
        let what = format!("a whole number from {} to {}", range.start(), range.end());
        self.number(&what, range, |_| None)
    }

    /// The same of a number that 32 bits hold.
    pub fn count(self, range: RangeInclusive<u64>) -> Option<u32> {
        self.whole(range).and_then(|count| u32::try_from(count).ok())
    }

    fn number(self, what: &str, range: RangeInclusive<u64>, help: impl Fn(&str) -> Option<String>) -> Option<u64> {
        if let NodeKind::Scalar { value: Scalar::Whole(value), .. } = self.node.kind
            && let Some(value) = u64::try_from(value).ok().filter(|value| range.contains(value))
        {
            return Some(value);
        }
        let mut diagnostic = self.expected(what);
        if let NodeKind::Scalar { text, value } = &self.node.kind {
            let quoted = *value == Scalar::Text && matches!(super::scalar::resolve(text), Scalar::Whole(_));
            let help = if quoted { Some(format!("write `{}` without quotes", shorten(text))) } else { help(text) };
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
        }
        self.report(diagnostic);
        None
    }

    /// The meaning of one of the words of `table`.
    pub fn word<T: Copy>(self, table: &[(&str, T)]) -> Option<T> {
        let words = table.iter().map(|(word, _)| *word);
        let what = quantity::one_of(words.clone());
        let NodeKind::Scalar { text, .. } = &self.node.kind else {
            self.report(self.expected(&what));
            return None;
        };
        if let Some((_, meaning)) = table.iter().find(|(word, _)| *word == &**text) {
            return Some(*meaning);
        }
        let mut diagnostic = self.expected(&what);
        if let Some(near) = did_you_mean(text, words) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
        None
    }

    /// The values of a list.
    pub fn list(self) -> Option<impl Iterator<Item = Cursor<'a>> + Clone> {
        self.list_of("a list")
    }

    /// The values of a list; the error of anything else says that `what` is expected.
    pub fn list_of(self, what: &str) -> Option<impl Iterator<Item = Cursor<'a>> + Clone + use<'a>> {
        match &self.node.kind {
            NodeKind::List(items) => Some(items.iter().map(move |node| Cursor { node, ..self })),
            _ => {
                self.report(self.expected(what));
                None
            }
        }
    }

    /// The values of a list that is not empty, or this single value: files write "any of these" so.
    pub fn one_or_many(self) -> Vec<Cursor<'a>> {
        match &self.node.kind {
            NodeKind::List(items) if items.is_empty() => {
                self.wrong("empty_list", "this list is empty", "name at least one");
                Vec::new()
            }
            NodeKind::List(items) => items.iter().map(|node| Cursor { node, ..self }).collect(),
            _ => vec![self],
        }
    }

    fn map(self, what: &str) -> Option<&'a [MapEntry]> {
        match &self.node.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => {
                self.report(self.expected(&format!("{what}, written as a map")));
                None
            }
        }
    }

    /// The entries of a map with any keys; `what` names the map in messages.
    pub fn entries(self, what: &str) -> Option<impl Iterator<Item = (Key<'a>, Cursor<'a>)> + Clone> {
        let key = |entry: &'a MapEntry| Key { text: &entry.key, span: entry.key_span.clone() };
        Some(self.map(what)?.iter().map(move |entry| (key(entry), Cursor { node: &entry.value, ..self })))
    }

    /// The value of `key`, if this is a map with this key.
    pub fn entry(self, key: &str) -> Option<Cursor<'a>> {
        let NodeKind::Map(entries) = &self.node.kind else { return None };
        let entry = entries.iter().find(|entry| &*entry.key == key)?;
        Some(Cursor { node: &entry.value, ..self })
    }

    /// A map with only the given keys; `what` names the map in messages, as in `a rule`.
    pub fn record(self, what: &'a str, keys: &'a [&'a str]) -> Option<MapReader<'a>> {
        self.record_beside(what, keys, &[])
    }

    /// The same; the caller reports the `refused` keys.
    pub fn record_beside(self, what: &'a str, keys: &'a [&'a str], refused: &[&str]) -> Option<MapReader<'a>> {
        let entries = self.map(what)?;
        let record = MapReader { at: self, what, keys, entries, suggested: RefCell::default() };
        let unknown = entries.iter().filter(|entry| !keys.contains(&&*entry.key) && !refused.contains(&&*entry.key));
        let mut unknown = unknown.peekable();
        // What an unknown key may have been meant to be; a correct map has none.
        let missing = if unknown.peek().is_some() { record.missing() } else { Vec::new() };
        for entry in unknown {
            self.problems.push_with(|| record.unknown(entry, &missing));
        }
        Some(record)
    }

    /// The value as JSON with sorted keys, for arguments of any form.
    pub fn json(self) -> Option<serde_json::Value> {
        Some(match &self.node.kind {
            NodeKind::List(items) => serde_json::Value::Array(
                items.iter().map(|node| Cursor { node, ..self }.json()).collect::<Option<_>>()?,
            ),
            NodeKind::Map(entries) => {
                let sorted: BTreeMap<&str, &Node> = entries.iter().map(|entry| (&*entry.key, &entry.value)).collect();
                let pairs = sorted.into_iter().map(|(key, node)| Some((key.into(), Cursor { node, ..self }.json()?)));
                serde_json::Value::Object(pairs.collect::<Option<_>>()?)
            }
            NodeKind::Scalar { text, value } => match value {
                Scalar::Null => serde_json::Value::Null,
                Scalar::Bool(value) => (*value).into(),
                Scalar::Text => (&**text).into(),
                Scalar::Whole(value) => return self.json_number(serde_json::Number::from_i128(*value)),
                Scalar::Huge => return self.json_number(None),
                Scalar::Float(value) => return self.json_number(by_value(*value)),
            },
        })
    }

    fn json_number(self, number: Option<serde_json::Number>) -> Option<serde_json::Value> {
        if number.is_none() {
            self.wrong("odd_number", format!("{} does not fit JSON", self.node.describe()), "write it in quotes");
        }
        number.map(serde_json::Value::Number)
    }
}

/// That `name` is not a declared `what`, with the nearest of `declared`.
pub(crate) fn dangling<'k>(name: &Key<'_>, what: &str, declared: impl Iterator<Item = &'k str> + Clone) -> Diagnostic {
    const SHOWN: usize = 12;
    steps::count(declared.clone().count());
    let help = match did_you_mean(name.text, declared.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if declared.clone().next().is_none() => format!("no {what} is declared"),
        None => {
            let shown: Vec<String> = declared.clone().take(SHOWN).map(|name| format!("`{name}`")).collect();
            let more = if declared.count() > SHOWN { ", ..." } else { "" };
            format!("declared: {}{more}", shown.join(", "))
        }
    };
    let message = format!("no {what} is called `{}`", shorten(name.text));
    Diagnostic::error("dangling_name", message).at(name.span.clone(), "not declared").help(help)
}

/// The number by value: a whole one is written without a fraction.
fn by_value(value: f64) -> Option<serde_json::Number> {
    let whole = format!("{value}").parse().ok().and_then(serde_json::Number::from_i128);
    whole.or_else(|| serde_json::Number::from_f64(value))
}

/// Access to a map with known keys. Unknown keys have been reported.
#[derive(Debug)]
pub struct MapReader<'a> {
    at: Cursor<'a>,
    what: &'a str,
    keys: &'a [&'a str],
    entries: &'a [MapEntry],
    /// Known keys that an unknown one probably means: these are not reported as missing.
    suggested: RefCell<Vec<&'a str>>,
}

impl<'a> MapReader<'a> {
    /// The map itself.
    pub fn cursor(&self) -> Cursor<'a> {
        self.at
    }

    /// The place of the whole map.
    pub fn span(&self) -> Range<usize> {
        self.at.span()
    }

    /// The value of `key`, if it is present.
    pub fn optional(&self, key: &str) -> Option<Cursor<'a>> {
        debug_assert!(self.keys.contains(&key), "`{key}` is not a key of {}", self.what);
        self.at.entry(key)
    }

    /// The value of `key`; a missing key is reported.
    pub fn required(&self, key: &str) -> Option<Cursor<'a>> {
        let value = self.optional(key);
        if value.is_none() && !self.suggested.borrow().contains(&key) {
            let message = format!("{} needs `{key}`", self.what);
            self.at.report(Diagnostic::error("missing_key", message).at(self.span(), format!("`{key}` is missing")));
        }
        value
    }

    /// Reads the key `format`. None: the file has another format or version, and is read no further. `Some(None)`: the key
    /// is missing, and the file is read on, so that its other errors are found too.
    pub fn format(&self, format: &str) -> Option<Option<()>> {
        match self.required("format") {
            Some(found) => found.word(&[(format, ())]).map(Some),
            None => Some(None),
        }
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The place of the key itself, if it is present.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|entry| &*entry.key == key).map(|entry| entry.key_span.clone())
    }

    /// The known keys that the map does not have.
    fn missing(&self) -> Vec<&'a str> {
        let is_missing = |key: &&&str| {
            steps::count(self.entries.len());
            self.entries.iter().all(|entry| &*entry.key != **key)
        };
        self.keys.iter().filter(is_missing).copied().collect()
    }

    fn unknown(&self, entry: &MapEntry, missing: &[&'a str]) -> Diagnostic {
        let message = format!("{} has no key `{}`", self.what, shorten(&entry.key));
        let diagnostic = Diagnostic::error("unknown_key", message).at(entry.key_span.clone(), "unknown key");
        let help = if let Some((key, help)) = quantity::in_millis(&entry.key, &entry.value, missing) {
            self.suggested.borrow_mut().push(key);
            help
        } else if let Some(near) = did_you_mean(&entry.key, missing.iter().copied()) {
            self.suggested.borrow_mut().push(near);
            format!("did you mean `{near}`?")
        } else {
            let known: Vec<String> = self.keys.iter().map(|key| format!("`{key}`")).collect();
            format!("known keys: {}", known.join(", "))
        };
        diagnostic.help(help)
    }
}
