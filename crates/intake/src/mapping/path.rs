//! Paths into JSON: `a.b[0]`, `a["b.c"]`, `a[*].b` for every item, `a[**]` for every item and those of its own `a`,
//! `a[key=K].value.*` into a list of keys and values, `^.a` for the object around a row, `$file` for the name of the
//! file. Knows no mapping.

use std::fmt;
use std::rc::Rc;

use crate::json;
use crate::raw_value::{InnerText, RawValue};
use crate::source_value::SourceValue;

/// The longest path, in steps.
const MAX_STEPS: usize = 32;

/// The name of the file, as a path.
pub(super) const FILE: &str = "$file";
/// The document, as a path to rows.
const DOCUMENT: &str = "$";

/// The path of a value, seen from a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) steps: Vec<PathStep>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The row itself (0), the object around it (1), the object around that (2).
    Row(usize),
    /// The name of the file, without folders and ending.
    File,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
    /// Every item of a list.
    Each,
    /// Every item of the list that the step before names, and of the list of that name in each item.
    EachNested,
    /// The first item of a list whose field has this value.
    Lookup {
        field: String,
        value: String,
    },
    /// The first field of an object that is not null.
    AnyField,
}

impl PathStep {
    /// The value that the step leads to; none if it is missing or null.
    pub(super) fn of<'a>(&self, raw: RawValue<'a>) -> Option<RawValue<'a>> {
        let found = match self {
            PathStep::Key(key) => json::field(raw, key)?,
            PathStep::Index(index) => json::array(raw)?.get(*index).copied()?,
            PathStep::AnyField => json::object(raw)?.iter().map(|(_, value)| value).find(|value| !is_null(*value))?,
            PathStep::Lookup { field, value } => {
                let has = |item: &RawValue<'_>| {
                    let found = json::field(*item, field).and_then(json::scalar);
                    found.is_some_and(|found| found == value.as_str())
                };
                json::array(raw)?.into_iter().find(has)?
            }
            PathStep::Each | PathStep::EachNested => return None,
        };
        (!is_null(found)).then_some(found)
    }

    fn parse(text: &str, first: bool) -> Result<(PathStep, &str), String> {
        if let Some(inner) = text.strip_prefix("[\"") {
            let (key, rest) = inner.split_once("\"]").ok_or("a `[\"` without its `\"]`")?;
            return Ok((PathStep::Key(key.to_owned()), rest));
        }
        if let Some(inner) = text.strip_prefix('[') {
            let (inner, rest) = inner.split_once(']').ok_or("a `[` without its `]`")?;
            return Ok((PathStep::in_list(inner)?, rest));
        }
        let text = match text.strip_prefix('.') {
            Some(rest) if !first => rest,
            None if first => text,
            _ => return Err("a dot must be between two names".into()),
        };
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (key, rest) = text.split_at(end);
        match key.trim() {
            "" => Err("a name between the dots is missing".into()),
            "*" if !first => Ok((PathStep::AnyField, rest)),
            key => Ok((PathStep::Key(key.to_owned()), rest)),
        }
    }

    /// What stands between `[` and `]`.
    fn in_list(inner: &str) -> Result<PathStep, String> {
        match inner {
            "*" => return Ok(PathStep::Each),
            "**" => return Ok(PathStep::EachNested),
            _ => {}
        }
        match inner.split_once('=') {
            Some((field, value)) if !field.trim().is_empty() && !value.trim().is_empty() => {
                Ok(PathStep::Lookup { field: field.trim().to_owned(), value: value.trim().to_owned() })
            }
            Some(_) => Err(format!("`[{inner}]` needs a field and its value, such as `[key=http.status_code]`")),
            None => inner
                .parse()
                .map(PathStep::Index)
                .map_err(|_| format!("`[{inner}]` is no index of a list; names go into `[\"...\"]`")),
        }
    }
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn parse(text: &str) -> Result<Path, String> {
        if text == FILE {
            return Ok(Path { root: Root::File, steps: Vec::new() });
        }
        let inner = text.trim_start_matches('^');
        let ups = text.len() - inner.len();
        let mut steps = Vec::new();
        let mut rest = inner;
        while !rest.is_empty() {
            let (step, after) = PathStep::parse(rest, steps.is_empty() && ups == 0)?;
            if step == PathStep::EachNested && !matches!(steps.last(), Some(PathStep::Key(_))) {
                return Err("`[**]` must follow the name of a list, such as `children[**]`".into());
            }
            steps.push(step);
            rest = after;
        }
        match steps.len() + ups {
            0 => Err("a path cannot be empty".into()),
            1..=MAX_STEPS => Ok(Path { root: Root::Row(ups), steps }),
            _ => Err(format!("a path has at most {MAX_STEPS} steps")),
        }
    }

    /// Parses a path to rows, which begins at the document: `$` is the document itself.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn parse_to_rows(text: &str) -> Result<Path, String> {
        if text == DOCUMENT {
            return Ok(Path { root: Root::Row(0), steps: Vec::new() });
        }
        let path = Path::parse(text)?;
        match path.is_inside() {
            true => Ok(path),
            false => Err("a path to rows begins at the document, not with `^` or `$file`".into()),
        }
    }

    /// Whether it may lead to several values.
    pub(super) fn is_many(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, PathStep::Each | PathStep::EachNested))
    }

    /// Whether it leads from the row into the row.
    pub(super) fn is_inside(&self) -> bool {
        self.root == Root::Row(0)
    }

    /// The names and values in its steps.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            PathStep::Key(key) => Some(key.as_str()),
            PathStep::Lookup { value, .. } => Some(value.as_str()),
            PathStep::Index(_) | PathStep::Each | PathStep::EachNested | PathStep::AnyField => None,
        })
    }

    /// The name, if the path is a single name.
    pub(super) fn as_name(&self) -> Option<&str> {
        match self.steps.as_slice() {
            [PathStep::Key(key)] if self.is_inside() => Some(key),
            _ => None,
        }
    }
}

/// The value at the end of `steps`; none if it is missing or null. Steps lead into JSON inside a string too.
pub(super) fn follow<'a>(raw: RawValue<'a>, steps: &[PathStep]) -> Option<SourceValue<'a>> {
    let mut raw = raw;
    let mut rest = steps;
    while let Some((step, after)) = rest.split_first() {
        if raw.get().starts_with('"') {
            let inner = match raw.place() {
                _ if !json::may_hold_json(raw) => return None,
                Some(place) => place.inside(|| json::inside(raw))?,
                None if !may_hold(raw.get(), step) => return None,
                None => Rc::new(InnerText::of(json::inside(raw)?)),
            };
            return follow(inner.value(), rest).map(SourceValue::into_owned);
        }
        raw = step.of(raw)?;
        rest = after;
    }
    (!is_null(raw)).then(|| raw.into())
}

/// Whether a string may hold JSON with the name of a step. A name is written as it is, unless letters are written as numbers.
fn may_hold(string: &str, step: &PathStep) -> bool {
    let has = |text: &str| memchr::memmem::find(string.as_bytes(), text.as_bytes()).is_some();
    match step {
        PathStep::Key(key) if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
            has(key) || [r"\u", r"\x", r"\U"].into_iter().any(has)
        }
        _ => true,
    }
}

fn is_null(raw: RawValue<'_>) -> bool {
    raw.get() == "null"
}

pub(super) fn joined(place: &str, step: &PathStep) -> String {
    match step {
        PathStep::Key(_) | PathStep::AnyField if !place.is_empty() => format!("{place}.{step}"),
        _ => format!("{place}{step}"),
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Key(key) if key.contains(['.', '[']) => write!(f, "[\"{key}\"]"),
            PathStep::Key(key) => f.write_str(key),
            PathStep::Index(index) => write!(f, "[{index}]"),
            PathStep::Each => f.write_str("[*]"),
            PathStep::EachNested => f.write_str("[**]"),
            PathStep::Lookup { field, value } => write!(f, "[{field}={value}]"),
            PathStep::AnyField => f.write_str("*"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = match self.root {
            Root::Row(ups) => "^".repeat(ups),
            Root::File => FILE.to_owned(),
        };
        let text = self.steps.iter().fold(start, |text, step| joined(&text, step));
        f.write_str(&text.replace(".[\"", "[\""))
    }
}

/// The path of `name` inside `parent`, as a mapping writes it.
pub(super) fn child(parent: &str, name: &str) -> String {
    joined(parent, &PathStep::Key(name.to_owned())).replace(".[\"", "[\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str, path: &str) -> Option<String> {
        let raw = json::parse(json).expect("valid");
        follow(raw, &Path::parse(path).expect("a path").steps).map(|found| found.raw().get().to_owned())
    }

    #[test]
    fn a_path_has_names_indexes_and_names_with_dots() {
        let json = r#"{"a":{"b":[1,{"c.d":2}]},"n":null}"#;
        assert_eq!(find(json, "a.b[0]").as_deref(), Some("1"));
        assert_eq!(find(json, "a.b[1][\"c.d\"]").as_deref(), Some("2"));
        assert_eq!(find("[[7]]", "[0][0]").as_deref(), Some("7"));
        for missing in ["n", "a.x", "a.b[2]", "a[0]", "n.x"] {
            assert_eq!(find(json, missing), None, "{missing}");
        }
    }

    #[test]
    fn a_list_of_keys_and_values_is_searched() {
        let json = r#"{"at":[7,{"key":"a.b","value":{"none":null,"intValue":"3"}},{"key":"c","value":{"s":"x"}}]}"#;
        assert_eq!(find(json, "at[key=a.b].value.*").as_deref(), Some("\"3\""));
        assert_eq!(find(json, "at[key=c].value.s").as_deref(), Some("\"x\""));
        assert_eq!(find(json, "at[key=a].value.*"), None);
    }

    #[test]
    fn steps_lead_into_json_and_python_literals_inside_a_string() {
        let json = r#"{"a":"{\"b\": [{\"c\": \"{'d': True}\"}]}","n":"plain"}"#;
        assert_eq!(find(json, "a.b[0].c.d").as_deref(), Some("true"));
        assert_eq!(find(json, "a.b[1]"), None);
        assert_eq!(find(json, "n.b"), None);
    }

    #[test]
    fn an_invalid_path_is_refused() {
        for bad in [
            "", ".a", "a..b", "a.", "a[", "a[x]", "a[\"b\"", "a[-1]", "^a", "^.", "a[=x]", "a[k=]", "$file.a.", "[**]",
            "a[*][**]",
        ] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
        assert!(Path::parse(&"a.".repeat(40)[..79]).is_err());
        assert!(Path::parse(&"^".repeat(40)).is_err());
    }

    #[test]
    fn a_path_prints_as_it_is_written() {
        for text in [
            "a[\"b.c\"].d",
            "[0].a",
            "a[*].b[*]",
            "^.id",
            "^^",
            "^[\"a.b\"]",
            "$file",
            "a[key=x].value.*",
            "a[*].b[**]",
        ] {
            assert_eq!(Path::parse(text).map(|path| path.to_string()).as_deref(), Ok(text));
        }
        assert_eq!((child("", "a"), child("a", "b.c")), ("a".into(), "a[\"b.c\"]".into()));
    }
}
