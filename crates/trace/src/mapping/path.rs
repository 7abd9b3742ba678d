//! Paths into JSON: `a.b[0]`, `a["b.c"]`, and `a[*].b` where each item is meant. Knows no mapping.

use std::fmt;

use serde_json::value::RawValue;

use crate::json;
use crate::json::Fields;

/// The longest path, in steps.
const MAX_STEPS: usize = 32;

/// Where in a row something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    Each,
}

/// A row that is opened once for all paths.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) raw: &'a RawValue,
    fields: Option<Fields<'a>>,
}

impl<'a> Row<'a> {
    pub(super) fn new(raw: &'a RawValue) -> Row<'a> {
        Row { raw, fields: json::object(raw) }
    }

    /// What stands at `path`; none where it is missing or null.
    pub(super) fn find(&self, path: &Path) -> Option<&'a RawValue> {
        let (first, rest) = path.0.split_first()?;
        let start = match first {
            Step::Key(key) => self.fields.as_ref()?.get(key)?,
            _ => first.of(self.raw)?,
        };
        rest.iter().try_fold(start, |raw, step| step.of(raw))
    }
}

impl Step {
    fn of<'a>(&self, raw: &'a RawValue) -> Option<&'a RawValue> {
        let found = match self {
            Step::Key(key) => json::object(raw)?.get(key)?,
            Step::Index(index) => json::array(raw)?.get(*index).copied()?,
            Step::Each => return None,
        };
        (found.get() != "null").then_some(found)
    }
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn parse(text: &str) -> Result<Path, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = Step::parse(rest, steps.is_empty())?;
            steps.push(step);
            rest = after;
        }
        match steps.len() {
            0 => Err("a path cannot be empty".into()),
            1..=MAX_STEPS => Ok(Path(steps)),
            _ => Err(format!("a path has at most {MAX_STEPS} steps")),
        }
    }

    /// Whether it leads to several values.
    pub(super) fn is_many(&self) -> bool {
        self.0.contains(&Step::Each)
    }

    /// The name that the path is, if it is nothing but one.
    pub(super) fn as_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Step::Key(key)] => Some(key),
            _ => None,
        }
    }

    /// Every value that the path leads to from `raw`, with its place behind `place`.
    pub(super) fn all<'a>(&self, raw: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
        let mut found = vec![(place.to_owned(), raw)];
        for step in &self.0 {
            found = found.into_iter().flat_map(|(place, raw)| step.all(raw, &place)).collect();
        }
        found
    }
}

impl Step {
    fn all<'a>(&self, raw: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
        match self {
            Step::Each => {
                let items = json::array(raw).unwrap_or_default().into_iter().enumerate();
                items.map(|(n, item)| (joined(place, &Step::Index(n)), item)).collect()
            }
            step => step.of(raw).map(|found| (joined(place, step), found)).into_iter().collect(),
        }
    }

    fn parse(text: &str, first: bool) -> Result<(Step, &str), String> {
        if let Some(inner) = text.strip_prefix("[\"") {
            let (key, rest) = inner.split_once("\"]").ok_or("a `[\"` without its `\"]`")?;
            return Ok((Step::Key(key.to_owned()), rest));
        }
        if let Some(inner) = text.strip_prefix('[') {
            let (index, rest) = inner.split_once(']').ok_or("a `[` without its `]`")?;
            if index == "*" {
                return Ok((Step::Each, rest));
            }
            let index =
                index.parse().map_err(|_| format!("`[{index}]` is no place in a list; names go into `[\"...\"]`"))?;
            return Ok((Step::Index(index), rest));
        }
        let text = match text.strip_prefix('.') {
            Some(rest) if !first => rest,
            None if first => text,
            _ => return Err("a dot stands between two names".into()),
        };
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (key, rest) = text.split_at(end);
        match key.trim() {
            "" => Err("a name between the dots is missing".into()),
            key => Ok((Step::Key(key.to_owned()), rest)),
        }
    }
}

fn joined(place: &str, step: &Step) -> String {
    match step {
        Step::Key(_) if !place.is_empty() => format!("{place}.{step}"),
        _ => format!("{place}{step}"),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) if key.contains(['.', '[']) => write!(f, "[\"{key}\"]"),
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Each => f.write_str("[*]"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.iter().fold(String::new(), |text, step| joined(&text, step));
        f.write_str(&text.replace(".[\"", "[\""))
    }
}

/// The path of `name` inside `parent`, as it would be written in a mapping.
pub(super) fn child(parent: &str, name: &str) -> String {
    joined(parent, &Step::Key(name.to_owned())).replace(".[\"", "[\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str, path: &str) -> Option<String> {
        let raw = json::parse(json).expect("valid");
        Row::new(raw).find(&Path::parse(path).expect("a path")).map(|found| found.get().to_owned())
    }

    #[test]
    fn a_path_leads_through_names_places_and_names_with_dots() {
        let json = r#"{"a":{"b":[1,{"c.d":2}]},"n":null}"#;
        assert_eq!(find(json, "a.b[0]").as_deref(), Some("1"));
        assert_eq!(find(json, "a.b[1][\"c.d\"]").as_deref(), Some("2"));
        assert_eq!(find("[[7]]", "[0][0]").as_deref(), Some("7"));
        for missing in ["n", "a.x", "a.b[2]", "a[0]", "n.x"] {
            assert_eq!(find(json, missing), None, "{missing}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_read_says_why() {
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
