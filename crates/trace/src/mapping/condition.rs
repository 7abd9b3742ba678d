//! Conditions on a row: which rows are calls, which results are failures, which kind a failure is. Pure and total.

use std::borrow::Cow;

use regex::Regex;
use serde_json::value::RawValue;

use super::path::{Path, Row};
use crate::json;
use playproof_formats::yaml::range;

/// All of these must hold.
#[derive(Clone, Debug)]
pub(super) struct Condition(pub(super) Vec<(Subject, Vec<Test>)>);

/// What is tested.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// What stands at a place of the row.
    Path(Path),
    /// What `result` picked out.
    Picked(Pick),
}

/// The parts of a result that a condition of `kinds` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    Message,
    Status,
    Code,
}

/// What `result` picked out of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Picked<'a> {
    pub(super) message: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) code: Option<Cow<'a, str>>,
}

/// One test of a value.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// It is one of these.
    Is(Vec<Literal>),
    /// Its text has this form, for any of the texts; lowered where case does not count.
    Text { form: Form, texts: Vec<String>, case: bool },
    /// Any of the regular expressions matches.
    Matches(Vec<Regex>),
    /// It is missing or null, or it is not.
    Absent(bool),
}

/// A value that another is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// Missing, or null.
    Null,
    /// A text, a number or a boolean with these letters.
    Letters(String),
    /// A whole number from the first to the last.
    Range(u64, u64),
}

/// Forms of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Contains,
    StartsWith,
    Equals,
}

impl Condition {
    pub(super) fn holds(&self, row: &Row<'_>, picked: &Picked<'_>) -> bool {
        self.0.iter().all(|(subject, tests)| {
            let value = subject.value(row, picked);
            tests.iter().all(|test| test.holds(value.as_deref()))
        })
    }
}

impl Condition {
    /// The places of a row that it asks for.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(subject, _)| match subject {
            Subject::Path(path) => Some(path.to_string()),
            Subject::Picked(_) => None,
        })
    }
}

/// Whether one of `conditions` holds.
pub(super) fn any(conditions: &[Condition], row: &Row<'_>, picked: &Picked<'_>) -> bool {
    conditions.iter().any(|condition| condition.holds(row, picked))
}

impl Subject {
    fn value<'a>(&self, row: &Row<'a>, picked: &'a Picked<'_>) -> Option<Cow<'a, str>> {
        let picked = match self {
            Subject::Path(path) => return row.find(path).map(text),
            Subject::Picked(Pick::Message) => &picked.message,
            Subject::Picked(Pick::Status) => &picked.status,
            Subject::Picked(Pick::Code) => &picked.code,
        };
        picked.as_deref().map(Cow::Borrowed)
    }
}

/// A value as text: what a string says, any other value as JSON.
pub(super) fn text(raw: &RawValue) -> Cow<'_, str> {
    json::scalar(raw).unwrap_or_else(|| json::compact(raw.get()))
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        match self {
            Test::Absent(absent) => value.is_none() == *absent,
            Test::Is(literals) => literals.iter().any(|literal| literal.is(value)),
            Test::Matches(regexes) => value.is_some_and(|value| regexes.iter().any(|regex| regex.is_match(value))),
            Test::Text { form, texts, case } => value.is_some_and(|value| {
                let value = if *case { Cow::Borrowed(value) } else { Cow::Owned(value.to_lowercase()) };
                texts.iter().any(|text| form.fits(&value, text))
            }),
        }
    }
}

impl Form {
    fn fits(self, value: &str, text: &str) -> bool {
        match self {
            Form::Contains => value.contains(text),
            Form::StartsWith => value.starts_with(text),
            Form::Equals => value == text,
        }
    }
}

impl Literal {
    /// The literal that `text` stands for; `500-599` is a range. None for one that runs backwards.
    pub(super) fn of(text: &str) -> Option<Literal> {
        match range(text) {
            Some((first, last)) => (first <= last).then_some(Literal::Range(first, last)),
            None => Some(Literal::Letters(text.to_owned())),
        }
    }

    fn is(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Literal::Null, value) => value.is_none(),
            (_, None) => false,
            (Literal::Letters(letters), Some(value)) => letters == value,
            (Literal::Range(first, last), Some(value)) => {
                value.parse().is_ok_and(|number: u64| (*first..=*last).contains(&number))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_compared_by_its_letters_a_range_by_its_number() {
        let literal = |text| Literal::of(text).unwrap();
        assert!(literal("429").is(Some("429")) && !literal("429").is(Some("4290")));
        let range = literal("500-599");
        assert_eq!(range, Literal::Range(500, 599));
        assert!(range.is(Some("503")) && !range.is(Some("429")) && !range.is(Some("5xx")) && !range.is(None));
        assert_eq!(Literal::of("599-500"), None);
        assert_eq!(literal("2024-01-02"), Literal::Letters("2024-01-02".into()));
        assert!(Literal::Null.is(None) && !Literal::Null.is(Some("null")));
    }
}
