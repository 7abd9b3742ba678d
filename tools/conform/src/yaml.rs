//! Writes the values of a playbook as YAML on one line. Knows no keys.

use std::fmt;

use super::amount::Amount;

/// A value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    /// A word of the format, or a number.
    Plain(String),
    /// A text of somebody else.
    Quoted(String),
    /// A list.
    List(Vec<Yaml>),
    /// Keys with their values, in this order.
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    pub fn plain(word: impl Into<String>) -> Yaml {
        Yaml::Plain(word.into())
    }

    pub fn quoted(text: impl Into<String>) -> Yaml {
        Yaml::Quoted(text.into())
    }

    /// A map of the keys that have a value.
    pub fn map<const N: usize>(pairs: [(&str, Option<Yaml>); N]) -> Yaml {
        let written = |(key, value): (&str, Option<Yaml>)| Some((key.to_owned(), value?));
        Yaml::Map(pairs.into_iter().filter_map(written).collect())
    }
}

impl From<Amount> for Yaml {
    fn from(amount: Amount) -> Yaml {
        Yaml::Plain(amount.to_string())
    }
}

impl From<bool> for Yaml {
    fn from(is: bool) -> Yaml {
        Yaml::Plain(is.to_string())
    }
}

impl fmt::Display for Yaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Yaml::Plain(word) => f.write_str(word),
            // A JSON text is a YAML text.
            Yaml::Quoted(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Yaml::List(values) => {
                f.write_str("[")?;
                for (n, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if n == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Yaml::Map(pairs) if pairs.is_empty() => f.write_str("{}"),
            Yaml::Map(pairs) => {
                f.write_str("{ ")?;
                for (n, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if n == 0 { "" } else { ", " })?;
                }
                f.write_str(" }")
            }
        }
    }
}
