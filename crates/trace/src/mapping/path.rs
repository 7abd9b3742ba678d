//! Paths into JSON: `a.b[0]`, `a["b.c"]`, and `a[*].b` for every item. Knows no mapping.

use std::fmt;

use serde_json::value::RawValue;

use crate::json;
use crate::json::Fields;

/// The longest path, in steps.
const MAX_STEPS: usize = 32;

/// The path of a value in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<PathStep>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(usize),
    Each,
}

/// A row whose top level is parsed once for all paths.
#[derive(Debug)]
pub(super) struct SourceRow<'a> {
    pub(super) raw: &'a RawValue,
    fields: Option<Fields<'a>>,
}

impl<'a> SourceRow<'a> {
    pub(super) fn new(raw: &'a RawValue) -> SourceRow<'a> {
        SourceRow { raw, fields: json::object(raw) }
    }

    /// The value at `path`; none if it is missing or null.
    pub(super) fn find(&self, path: &Path) -> Option<&'a RawValue> {
        let (first, rest) = path.0.split_first()?;
        let start = match first {
            PathStep::Key(key) => self.fields.as_ref()?.get(key)?,
            _ => first.of(self.raw)?,
        };
        rest.iter().try_fold(start, |raw, step| step.of(raw))
    }
}

impl PathStep {
    fn of<'a>(&self, raw: &'a RawValue) -> Option<&'a RawValue> {
        let found = match self {
            PathStep::Key(key) => json::object(raw)?.get(key)?,
            PathStep::Index(index) => json::array(raw)?.get(*index).copied()?,
            PathStep::Each => return None,
        };
        (found.get() != "null").then_some(found)
    }
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn parse(text: &str) -> Result<Path, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = PathStep::parse(rest, steps.is_empty())?;
            steps.push(step);
            rest = after;
        }
        match steps.len() {
            0 => Err("a path cannot be empty".into()),
            1..=MAX_STEPS => Ok(Path(steps)),
            _ => Err(format!("a path has at most {MAX_STEPS} steps")),
        }
    }

    /// Whether it may lead to several values.
    pub(super) fn is_many(&self) -> bool {
        self.0.contains(&PathStep::Each)
    }

    /// The name, if the path is a single name.
    pub(super) fn as_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [PathStep::Key(key)] => Some(key),
            _ => None,
        }
    }

    /// Every value at the path in `raw`, each with its place below `place`.
    pub(super) fn all<'a>(&self, raw: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
        let mut found = vec![(place.to_owned(), raw)];
        for step in &self.0 {
            found = found.into_iter().flat_map(|(place, raw)| step.all(raw, &place)).collect();
        }
        found
    }
}

impl PathStep {
    fn all<'a>(&self, raw: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
        match self {
            PathStep::Each => {
                let items = json::array(raw).unwrap_or_default().into_iter().enumerate();
                items.map(|(n, item)| (joined(place, &PathStep::Index(n)), item)).collect()
            }
            step => step.of(raw).map(|found| (joined(place, step), found)).into_iter().collect(),
        }
    }

    fn parse(text: &str, first: bool) -> Result<(PathStep, &str), String> {
        if let Some(inner) = text.strip_prefix("[\"") {
            let (key, rest) = inner.split_once("\"]").ok_or("a `[\"` without its `\"]`")?;
            return Ok((PathStep::Key(key.to_owned()), rest));
        }
        if let Some(inner) = text.strip_prefix('[') {
            let (index, rest) = inner.split_once(']').ok_or("a `[` without its `]`")?;
            if index == "*" {
                return Ok((PathStep::Each, rest));
            }
            let index =
                index.parse().map_err(|_| format!("`[{index}]` is no index of a list; names go into `[\"...\"]`"))?;
            return Ok((PathStep::Index(index), rest));
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
            key => Ok((PathStep::Key(key.to_owned()), rest)),
        }
    }
}

fn joined(place: &str, step: &PathStep) -> String {
    match step {
        PathStep::Key(_) if !place.is_empty() => format!("{place}.{step}"),
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
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.iter().fold(String::new(), |text, step| joined(&text, step));
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
        SourceRow::new(raw).find(&Path::parse(path).expect("a path")).map(|found| found.get().to_owned())
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
    fn an_invalid_path_is_refused() {
        for bad in ["", ".a", "a..b", "a.", "a[", "a[x]", "a[\"b\"", "a[-1]"] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
        assert!(Path::parse(&"a.".repeat(40)[..79]).is_err());
    }

    #[test]
    fn a_path_prints_as_it_is_written() {
        for text in ["a.b[0].c", "a[\"b.c\"].d", "[0].a", "a[*].b[*]"] {
            assert_eq!(Path::parse(text).map(|path| path.to_string()).as_deref(), Ok(text));
        }
        assert_eq!((child("", "a"), child("a", "b.c")), ("a".into(), "a[\"b.c\"]".into()));
    }

    #[test]
    fn each_item_has_its_place() {
        let raw = json::parse(r#"{"a":[{"b":[1,2]},{},{"b":[3]}]}"#).expect("valid");
        let all = Path::parse("a[*].b[*]").expect("a path").all(raw, "");
        let brief: Vec<_> = all.iter().map(|(place, raw)| (place.as_str(), raw.get())).collect();
        assert_eq!(brief, [("a[0].b[0]", "1"), ("a[0].b[1]", "2"), ("a[2].b[0]", "3")]);
    }
}
