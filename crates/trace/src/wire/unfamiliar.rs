//! What a line names that nobody knows: its type, or its first field. Asked of few lines, so that it may be slow; what
//! lines say is `lower`'s.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::Text;
use super::names::{ERROR_NAMES, NAMES};
use playproof_formats::diagnostic::did_you_mean;

/// The types that lines can have.
const TYPES: [&str; 3] = ["tool_call", "tool_result", "run_end"];

/// A name that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfamiliar {
    /// What stands before it where it is shown: `error.` before a field of an error, else nothing.
    pub within: &'static str,
    /// As it is written.
    pub name: String,
    /// What was probably meant.
    pub near: Option<&'static str>,
}

impl Unfamiliar {
    fn new(within: &'static str, name: &str, known: &[&'static str]) -> Unfamiliar {
        let near = did_you_mean(name, known.iter().copied());
        Unfamiliar {
            within,
            name: name.to_owned(),
            near: near.and_then(|near| known.iter().copied().find(|one| *one == near)),
        }
    }
}

impl fmt::Display for Unfamiliar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.within, self.name)
    }
}

/// The type of a line that has one of its own.
pub fn unfamiliar_type(line: &str) -> Option<Unfamiliar> {
    let kind = entries(line)?.into_iter().find(|(name, _)| name == "type")?.1;
    let kind: String = serde_json::from_str(kind.get()).ok()?;
    Some(Unfamiliar::new("", &kind, &TYPES))
}

/// The first field of a line that nobody knows.
pub fn unfamiliar_field(line: &str) -> Option<Unfamiliar> {
    let fields = entries(line)?;
    if let Some((name, _)) = fields.iter().find(|(name, _)| !NAMES.contains(&name.as_str())) {
        return Some(Unfamiliar::new("", name, &NAMES));
    }
    let (_, error) = fields.iter().find(|(name, _)| name == "error")?;
    let fields = entries(error.get())?;
    let (name, _) = fields.iter().find(|(name, _)| !ERROR_NAMES.contains(&name.as_str()))?;
    Some(Unfamiliar::new("error.", name, &ERROR_NAMES))
}

fn entries(object: &str) -> Option<Vec<(String, Box<RawValue>)>> {
    serde_json::Deserializer::from_str(object).deserialize_map(Entries).ok()
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
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
    fn the_first_field_that_nobody_knows_is_named_and_one_of_an_error_by_its_error() {
        let first = |line| unfamiliar_field(line).map(|first| (first.to_string(), first.near));
        assert_eq!(first(r#"{"tool":"a","zeta":1,"alpha":2}"#), Some(("zeta".to_owned(), None)));
        assert_eq!(first(r#"{"tool":"a","arg":{}}"#), Some(("arg".to_owned(), Some("args"))));
        let line = r#"{"tool":"a","error":{"kind":"x","mesage":"y"}}"#;
        assert_eq!(first(line), Some(("error.mesage".to_owned(), Some("message"))));
        assert_eq!(first(r#"{"tool":"a","error":"y"}"#), None);
    }

    #[test]
    fn a_type_of_its_own_is_named() {
        let first = |line| unfamiliar_type(line).map(|first| (first.name, first.near));
        assert_eq!(first(r#"{"a":1,"type":"tool_cal"}"#), Some(("tool_cal".to_owned(), Some("tool_call"))));
        assert_eq!(first(r#"{"a":1,"type":"crash"}"#), Some(("crash".to_owned(), None)));
        assert_eq!(first(r#"{"a":1}"#), None);
    }
}
