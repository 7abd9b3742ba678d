//! The tree of a YAML text: every value with its place, scalars typed by the YAML core schema. Knows no format and reports
//! nothing.

use std::ops::Range;

use crate::text::push_escaped;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Bytes of the source's text; an alias has the place of its value.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: NodeKind,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A single value.
    Scalar {
        /// The unescaped text; it distinguishes `1.10` from `1.1`.
        text: Box<str>,
        /// The value by the core schema; quoted values are texts.
        value: Scalar,
    },
    /// Values in order.
    List(Vec<Node>),
    /// Named values in the order of the text, without duplicate keys.
    Map(Vec<MapEntry>),
}

/// The type of a plain scalar by the core schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`; `yes` and `off` are texts.
    Bool(bool),
    /// A whole number.
    Whole(i128),
    /// A whole number beyond 128 bits.
    Huge,
    /// Any other number.
    Float(f64),
    /// A text.
    Text,
}

/// One named value of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// The name; keys are always texts.
    pub key: Box<str>,
    /// The place of the name.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The entry of a map; none if this is not a map or lacks the key.
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        match &self.kind {
            NodeKind::Map(entries) => entries.iter().find(|entry| &*entry.key == key),
            _ => None,
        }
    }

    /// The text of a single value, as it is written.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// How many single values it holds.
    pub fn values(&self) -> usize {
        match &self.kind {
            NodeKind::Scalar { .. } => 1,
            NodeKind::List(items) => items.iter().map(Node::values).sum(),
            NodeKind::Map(entries) => entries.iter().map(|entry| entry.value.values()).sum(),
        }
    }

    /// A description for messages: ``the number `5` ``, `a list`.
    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::List(_) => "a list".into(),
            NodeKind::Map(_) => "a map".into(),
            NodeKind::Scalar { text, value } => match value {
                Scalar::Null => "nothing".into(),
                Scalar::Bool(_) => format!("`{text}`"),
                Scalar::Huge => format!("a number of {} digits", text.trim_start_matches(['+', '-']).len()),
                Scalar::Whole(_) | Scalar::Float(_) => format!("the number `{}`", shorten(text)),
                Scalar::Text => format!("`{}`", shorten(text)),
            },
        }
    }
}

/// The beginning of a text from a file, for messages: one line, safe to print, short.
pub fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short = String::new();
    text.chars().take(LONGEST).for_each(|c| push_escaped(&mut short, c));
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
