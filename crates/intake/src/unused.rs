//! Parts of a mapping that fit no row of a source, in words. Finds none.

use std::fmt;

/// A field of a mapping that no row has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedField {
    /// Its name, such as `call.args`.
    pub field: String,
    /// Where the mapping looks for it.
    pub path: String,
    /// The nearest path that the rows have.
    pub near: Option<String>,
    /// Other rows have it, but no row that is searched for it.
    pub elsewhere: bool,
    /// The place in the mapping file, as `FILE:LINE:COLUMN`.
    pub place: String,
}

/// A kind of a mapping that is probably a misspelt known one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKind {
    /// As the mapping names it.
    pub name: String,
    /// The known kind.
    pub near: &'static str,
    /// The place in the mapping file, as `FILE:LINE:COLUMN`.
    pub place: String,
}

impl fmt::Display for UnusedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnusedField { field, path, near, elsewhere, place } = self;
        let (part, last) = field.split_once('.').unwrap_or(("", field));
        match (last, part) {
            ("records", _) => write!(f, "no rows are at `{path}`")?,
            (_, "result") if *elsewhere => write!(f, "no row that is a result has `{path}`")?,
            (_, "call") if *elsewhere => write!(f, "no row that is a call has `{path}`")?,
            _ => write!(f, "no {} has `{path}`", searched(field))?,
        }
        write!(f, ", which the mapping names as `{field}` at {place}")?;
        near.as_ref().map_or(Ok(()), |near| write!(f, " (did you mean `{near}`?)"))
    }
}

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownKind { name, near, place } = self;
        write!(f, "no known kind is `{name}`, which the mapping names as `kinds` at {place} (did you mean `{near}`?)")
    }
}

/// What is searched for what a key of the mapping names: the conditions on failures see only results.
fn searched(field: &str) -> &'static str {
    match field {
        "failed" | "not_failed" | "not_suspected" | "kinds" | "unfinished" | "cancelled" => "result",
        _ => "row",
    }
}
