//! Reads a checked tree: values, and the defaults of what is not written. `None` of a value that must be there means that its
//! mistake has been reported; nothing here reports what the schema says.

use std::ops::Range;

use super::compile::Schema;
use super::part::{Others, Part};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Cursor, Key, MapEntry, Node, NodeKind, Problems, Scalar, dangling};
use playproof_engine::time::Duration;

/// A value of a checked tree, with its part of the schema.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    node: &'a Node,
    schema: &'static Schema,
    /// The part of the schema as it stands for this value.
    stated: usize,
    /// The part that the value fits.
    part: usize,
    problems: &'a Problems,
}

impl<'a> At<'a> {
    pub(super) fn root(node: &'a Node, schema: &'static Schema, problems: &'a Problems) -> At<'a> {
        At { node, schema, stated: 0, part: 0, problems }.chosen()
    }

    /// The value with the part that it fits, of several that it may have.
    fn chosen(self) -> At<'a> {
        let part = self.schema.resolved(self.part);
        let at = At { part, ..self };
        let fits = |at: &At<'a>| at.part().fault(self.node).is_none();
        at.alternatives().into_iter().find(fits).unwrap_or(at)
    }

    /// The parts that it may have; none: it has one.
    pub(super) fn alternatives(self) -> Vec<At<'a>> {
        let own = &self.part().any_of;
        let each = |part: &usize| {
            let at = At { part: self.schema.resolved(*part), ..self };
            let inner = at.alternatives();
            if inner.is_empty() { vec![at] } else { inner }
        };
        own.iter().flat_map(each).collect()
    }

    /// All parts that it may have, the one that it fits among them.
    pub(super) fn all_alternatives(self) -> Vec<At<'a>> {
        let at = At { part: self.schema.resolved(self.stated), ..self };
        let all = at.alternatives();
        if all.is_empty() { vec![at] } else { all }
    }

    pub(super) fn with(self, node: &'a Node, part: usize) -> At<'a> {
        At { node, stated: part, part, ..self }.chosen()
    }

    pub(super) fn schema(self) -> &'static Schema {
        self.schema
    }

    /// The number of the part that it fits.
    pub(super) fn part_number(self) -> usize {
        self.part
    }

    /// The part as it stands for this value, without what it refers to.
    pub(super) fn stated(self) -> &'static Part {
        self.schema.own(self.stated)
    }

    pub(super) fn part(self) -> &'static Part {
        self.schema.own(self.part)
    }

    /// Whether the value itself is right, whatever is inside of it.
    pub fn fits(self) -> bool {
        self.part().any_of.is_empty() && self.part().fault(self.node).is_none()
    }

    /// The value itself.
    pub fn node(self) -> &'a Node {
        self.node
    }

    /// Its place.
    pub fn span(self) -> Range<usize> {
        self.node.span.clone()
    }

    /// The same value for a reader that checks it itself.
    pub fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.node, self.problems)
    }

    /// Whether this is a map.
    pub fn is_map(self) -> bool {
        matches!(self.node.kind, NodeKind::Map(_))
    }

    /// Whether this is a list.
    pub fn is_list(self) -> bool {
        matches!(self.node.kind, NodeKind::List(_))
    }

    /// Whether nothing is written here.
    pub fn is_null(self) -> bool {
        matches!(self.node.kind, NodeKind::Scalar { value: Scalar::Null, .. })
    }

    /// Where errors are reported.
    pub(crate) fn problems(self) -> &'a Problems {
        self.problems
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

    // ---- maps ----

    fn map(self) -> &'a [MapEntry] {
        match &self.node.kind {
            NodeKind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Whether a map has no key that the schema does not know.
    pub fn knows_all_keys(self) -> bool {
        self.map().len() == self.entries().count()
    }

    fn entry(self, key: &str) -> Option<&'a MapEntry> {
        debug_assert!(
            !self.is_map() || !self.fits() || self.part().keys.contains_key(key),
            "`{key}` is no key of {:?}",
            self.part().title
        );
        self.map().iter().find(|entry| &*entry.key == key)
    }

    /// The value of `key`, if it is written.
    pub fn get(self, key: &str) -> Option<At<'a>> {
        let entry = self.entry(key)?;
        Some(self.with(&entry.value, *self.part().keys.get(key)?))
    }

    /// The value of `key`, or its default.
    pub fn field(self, key: &str) -> Option<At<'a>> {
        let default = || {
            let part = *self.part().keys.get(key)?;
            let default = self.schema.own(part).default.as_ref();
            Some(self.with(default.or(self.schema.own(self.schema.resolved(part)).default.as_ref())?, part))
        };
        self.get(key).or_else(default)
    }

    /// What `read` makes of the value of `key`; `Some(None)`: it is not written.
    pub fn optional<T>(self, key: &str, read: impl FnOnce(At<'a>) -> Option<T>) -> Option<Option<T>> {
        self.get(key).map_or(Some(None), |at| read(at).map(Some))
    }

    /// The place of a key itself, if it is written.
    pub fn key_span(self, key: &str) -> Option<Range<usize>> {
        self.entry(key).map(|entry| entry.key_span.clone())
    }

    /// The entries of a map whose keys are names.
    pub fn entries(self) -> impl Iterator<Item = (Key<'a>, At<'a>)> + Clone {
        let part = self.part();
        let of = move |entry: &'a MapEntry| {
            let key = Key { text: &entry.key, span: entry.key_span.clone() };
            let value = match (part.keys.get(&*entry.key), part.others) {
                (Some(known), _) => *known,
                (None, Others::Each(each)) => each,
                (None, _) => return None,
            };
            Some((key, self.with(&entry.value, value)))
        };
        self.map().iter().filter_map(of)
    }

    /// The only key of a map and its value.
    pub fn single(self) -> Option<(Key<'a>, At<'a>)> {
        let mut known = self.entries();
        known.next().filter(|_| known.next().is_none())
    }

    // ---- lists ----

    /// The values of a list, at most as many as the schema allows: the first beyond is an error already.
    pub fn items(self) -> impl Iterator<Item = At<'a>> + Clone {
        self.all_items().take(self.part().size.1.unwrap_or(usize::MAX))
    }

    /// The values of a list, however many.
    pub(super) fn all_items(self) -> impl Iterator<Item = At<'a>> + Clone {
        let items: &'a [Node] = match &self.node.kind {
            NodeKind::List(items) => items,
            _ => &[],
        };
        let part = self.part().items;
        items.iter().filter_map(move |item| Some(self.with(item, part?)))
    }

    /// What `read` makes of each item of a list, or of this single value.
    pub fn all<T>(self, read: impl FnMut(At<'a>) -> Option<T>) -> Option<Vec<T>> {
        let read: Vec<Option<T>> = self.one_or_many().into_iter().map(read).collect();
        read.into_iter().collect::<Option<Vec<T>>>().filter(|_| self.fits())
    }

    /// The items of a list, or this single value.
    pub fn one_or_many(self) -> Vec<At<'a>> {
        if self.is_list() { self.items().collect() } else { vec![self] }
    }

    // ---- single values ----

    fn scalar(self) -> Option<(&'a str, Scalar)> {
        match &self.node.kind {
            NodeKind::Scalar { text, value } if self.fits() => Some((text, *value)),
            _ => None,
        }
    }

    /// A text, word or number as it is written.
    pub fn text(self) -> Option<&'a str> {
        self.scalar().map(|(text, _)| text)
    }

    /// A text with its place.
    pub fn key(self) -> Option<Key<'a>> {
        Some(Key { text: self.text()?, span: self.span() })
    }

    /// Whether this is the text `wanted`.
    pub fn is_text(self, wanted: &str) -> bool {
        matches!(&self.node.kind, NodeKind::Scalar { text, value: Scalar::Text } if **text == *wanted)
    }

    /// `true` or `false`.
    pub fn flag(self) -> Option<bool> {
        match self.scalar()? {
            (_, Scalar::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    /// A whole number.
    pub fn whole<T: TryFrom<i128>>(self) -> Option<T> {
        match self.scalar()? {
            (_, Scalar::Whole(number)) => T::try_from(number).ok(),
            _ => None,
        }
    }

    /// Whole milliseconds.
    pub fn millis(self) -> Option<Duration> {
        self.whole().map(Duration::from_millis)
    }

    /// The word of `key`, or its default, by `parse`.
    pub fn word<T>(self, key: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        parse(self.field(key)?.text()?)
    }

    /// Whether the word of `key`, or its default, is `word`.
    pub fn says(self, key: &str, word: &str) -> Option<bool> {
        Some(self.field(key)?.text()? == word)
    }

    /// The number of `key`, or its default.
    pub fn number<T: TryFrom<i128>>(self, key: &str) -> Option<T> {
        self.field(key)?.whole()
    }
}
