//! The unknown names of a line: its type, or its first unknown field. Used for few lines, so it may be slow. `lower` gives
//! lines their meaning.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::KnownFields as _;
use super::names::{ENUM_FIELDS, ENUM_VALUES, ERROR_NAMES, LineFields, NAMES, TYPE};
use crate::json::BorrowedText;
use playproof_formats::diagnostic::did_you_mean;

/// Whether a line of ours can have this type.
pub(crate) fn is_type(name: &str) -> bool {
    types().any(|known| known == name)
}

/// The types that lines can have.
fn types() -> impl Iterator<Item = &'static str> {
    ENUM_VALUES[TYPE - ENUM_FIELDS].iter().map(|quoted| quoted.trim_matches('"'))
}

/// An unknown type or field.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UnknownName {
    within: NamesOf,
    /// The name as written.
    pub name: String,
    /// Whether it is redacted: then no known name is near.
    is_redacted: bool,
}

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum NamesOf {
    Types,
    Fields,
    /// Fields of an error.
    Error,
}

impl NamesOf {
    /// The names that are known there, maybe in quotes.
    fn known(self) -> &'static [&'static str] {
        match self {
            NamesOf::Types => ENUM_VALUES[TYPE - ENUM_FIELDS],
            NamesOf::Fields => &NAMES,
            NamesOf::Error => &ERROR_NAMES,
        }
    }
}

impl UnknownName {
    fn new(within: NamesOf, name: &str) -> UnknownName {
        UnknownName { within, name: name.to_owned(), is_redacted: false }
    }

    /// The same under a redacted name.
    pub(crate) fn redacted(self, name: String) -> UnknownName {
        UnknownName { name, is_redacted: true, ..self }
    }

    /// The known name that is nearest to it. To compare it with all takes longer than reading the lines of a piece, and only
    /// the first unknown name of an input is shown.
    pub fn near(&self) -> Option<&'static str> {
        let known = if self.is_redacted { &[] } else { self.within.known() };
        let known = || known.iter().map(|known| known.trim_matches('"'));
        let near = did_you_mean(&self.name, known())?;
        known().find(|known| *known == near)
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = if self.within == NamesOf::Error { "error." } else { "" };
        write!(f, "{within}{}", self.name)
    }
}

/// The types of our own lines that say nothing of what was recorded: decisions that nobody obeyed, lines of a journal.
const UNREAD_TYPES: [&str; 2] = ["shadow", "other"];

/// The type of a line whose type is unknown.
pub fn unknown_type(line: &str) -> Option<UnknownName> {
    let kind = entries(line)?.into_iter().find(|(name, _)| name == "type")?.1;
    let kind: String = serde_json::from_str(kind.get()).ok()?;
    (!UNREAD_TYPES.contains(&&*kind)).then(|| UnknownName::new(NamesOf::Types, &kind))
}

/// The first unknown field of a line.
pub fn unknown_field(line: &str) -> Option<UnknownName> {
    let fields = entries(line)?;
    let is_known = |name: &str| NAMES.contains(&name) || LineFields::is_passed_over(name.as_bytes());
    if let Some((name, _)) = fields.iter().find(|(name, _)| !is_known(name)) {
        return Some(UnknownName::new(NamesOf::Fields, name));
    }
    let (_, error) = fields.iter().find(|(name, _)| name == "error")?;
    let fields = entries(error.get())?;
    let (name, _) = fields.iter().find(|(name, _)| !ERROR_NAMES.contains(&name.as_str()))?;
    Some(UnknownName::new(NamesOf::Error, name))
}

fn entries(object: &str) -> Option<Vec<(String, Box<RawValue>)>> {
    serde_json::Deserializer::from_str(object).deserialize_map(EntryVisitor).ok()
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(BorrowedText(key)) = map.next_key()? {
            if matches!(&*key, "type" | "error") {
                entries.push((key.into_owned(), map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
                entries.push((key.into_owned(), RawValue::NULL.to_owned()));
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unknown_field_is_named_and_a_field_of_an_error_has_a_prefix() {
        let first = |line| unknown_field(line).map(|first| (first.to_string(), first.near()));
        assert_eq!(first(r#"{"tool":"a","zeta":1,"alpha":2}"#), Some(("zeta".to_owned(), None)));
        assert_eq!(first(r#"{"tool":"a","arg":{}}"#), Some(("arg".to_owned(), Some("args"))));
        let line = r#"{"tool":"a","error":{"kind":"x","mesage":"y"}}"#;
        assert_eq!(first(line), Some(("error.mesage".to_owned(), Some("message"))));
        assert_eq!(first(r#"{"tool":"a","error":"y"}"#), None);
    }

    #[test]
    fn an_unknown_type_is_named() {
        let first = |line| unknown_type(line).map(|first| (first.name.clone(), first.near()));
        assert_eq!(first(r#"{"a":1,"type":"tool_cal"}"#), Some(("tool_cal".to_owned(), Some("tool_call"))));
        assert_eq!(first(r#"{"a":1,"type":"break"}"#), Some(("break".to_owned(), None)));
        assert_eq!(first(r#"{"a":1}"#), None);
    }
}
