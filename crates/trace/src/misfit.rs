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

/// A value of a mapping that no row has, and that is probably misspelt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedValue {
    /// The key of the mapping, such as `failed`.
    pub field: String,
    /// The value that it names.
    pub value: String,
    /// Where rows have other values; none: it is the kind of a failure, which no row needs to have.
    pub path: Option<String>,
    /// A few values that may be meant, the likeliest first; none if they are redacted.
    pub others: Vec<String>,
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

impl fmt::Display for UnmatchedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnmatchedValue { field, value, path, others, place } = self;
        let others: Vec<_> = others.iter().map(|other| format!("`{other}`")).collect();
        let others = others.join(", ");
        match path {
            Some(path) => write!(f, "no {} has `{value}` at `{path}`", searched(field))?,
            None => write!(f, "no known kind is `{value}`")?,
        }
        write!(f, ", which the mapping names as `{field}` at {place}")?;
        match path {
            Some(_) if others.is_empty() => Ok(()),
            Some(_) => write!(f, " (rows have {others})"),
            None => write!(f, " (did you mean {others}?)"),
        }
    }
}

/// What is searched for what a key of the mapping names: the conditions on failures see only results.
fn searched(field: &str) -> &'static str {
    match field {
        "failed" | "not_failed" | "not_suspected" | "kinds" | "unfinished" => "result",
        _ => "row",
    }
}
