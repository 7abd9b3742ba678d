//! Conditions on a row: they select calls, failures and error kinds. Pure and total.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use super::path::{Path, PathStep};
use super::row::SourceRow;
use crate::json;
use crate::source_value::SourceValue;
use playproof_engine::playbook::MessageOp;
use playproof_formats::yaml::range;

/// Tests of a row, all of which must hold.
#[derive(Clone, Debug)]
pub(super) struct RowCondition(pub(super) Vec<FieldTest>);

/// A value, and what must be so of it.
#[derive(Clone, Debug)]
pub(super) struct FieldTest {
    pub(super) subject: TestedValue,
    pub(super) tests: Vec<ValueTest>,
    /// A source need not have its path.
    pub(super) is_optional: bool,
    /// The place of its path in the mapping file.
    pub(super) span: Range<usize>,
}

/// The value that a test examines.
#[derive(Clone, Debug)]
pub(super) enum TestedValue {
    /// The value at a path of the row.
    Path(Path),
    /// A part of the result.
    Part(ResultPart),
    /// The value at a path of the row; where a row has none, a part of the result. No test of it is about absence.
    PathElsePart(Path, ResultPart),
}

/// The parts of a result that a condition can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultPart {
    Message,
    Status,
    Code,
}

/// The parts of a result that conditions can name.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultParts<'a> {
    /// What the source says of a failure.
    pub(super) error: Option<Cow<'a, str>>,
    pub(super) body: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) code: Option<Cow<'a, str>>,
}

impl ResultParts<'_> {
    /// What the source says of a failure, else the content of the result.
    pub(super) fn message(&self) -> Option<&str> {
        self.error.as_deref().or(self.body.as_deref())
    }

    fn part(&self, part: ResultPart) -> Option<&str> {
        match part {
            ResultPart::Message => self.message(),
            ResultPart::Status => self.status.as_deref(),
            ResultPart::Code => self.code.as_deref(),
        }
    }
}

/// One test of a value.
#[derive(Clone, Debug)]
pub(super) enum ValueTest {
    /// The value is one of these.
    Is(Vec<Literal>),
    /// The value is none of these, or missing.
    IsNot(Vec<Literal>),
    /// The comparison holds for one of the texts, which are in lower case where case does not count.
    Text { op: MessageOp, texts: Vec<String>, case: bool },
    /// One of the regular expressions matches.
    Matches(Vec<Regex>),
    /// Whether the value is missing or null.
    Absent(bool),
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// Missing, or null.
    Null,
    /// A text, a number or a boolean, as written.
    Letters(String),
    /// A whole number from the first to the last.
    Range(u64, u64),
}

impl RowCondition {
    pub(super) fn holds(&self, row: &SourceRow<'_>, picked: &ResultParts<'_>) -> bool {
        self.0.iter().all(|FieldTest { subject, tests, .. }| {
            let value = subject.value(row, picked);
            tests.iter().all(|test| test.holds(value.as_deref()))
        })
    }

    /// What is left to test of a result in this row; none: it does not hold.
    pub(super) fn rest(&self, row: &SourceRow<'_>) -> Option<RowCondition> {
        let mut rest = Vec::new();
        for test in &self.0 {
            let (found, part) = match &test.subject {
                TestedValue::Part(part) => (None, Some(*part)),
                TestedValue::Path(path) => (row.find(path), None),
                TestedValue::PathElsePart(path, part) => (row.find(path), Some(*part)),
            };
            let found = found.map(text);
            match part.filter(|_| found.is_none()) {
                Some(part) => rest.push(FieldTest { subject: TestedValue::Part(part), ..test.clone() }),
                None if test.tests.iter().all(|test| test.holds(found.as_deref())) => {}
                None => return None,
            }
        }
        Some(RowCondition(rest))
    }

    /// The names in the paths to values that a row has where this holds.
    pub(super) fn needed_names(&self) -> impl Iterator<Item = &str> {
        let needed = self.0.iter().filter(|field| !field.tests.iter().all(|test| test.holds(None)));
        needed.filter_map(|field| field.subject.path()).flat_map(Path::names)
    }

    /// For each value that a row has where this holds: marks of which a document with the row has one.
    pub(super) fn needed_values(&self) -> impl Iterator<Item = Vec<String>> {
        let fields = self.0.iter().filter_map(|field| Some((field.subject.path()?, &field.tests)));
        let tests = fields.flat_map(|(path, tests)| tests.iter().map(move |test| (path, test)));
        tests.filter_map(|(path, test)| match (test, path.steps.last()) {
            (ValueTest::Is(literals), Some(PathStep::Key(name))) => {
                literals.iter().map(|literal| Some(format!("{name}={}", literal.plain()?))).collect()
            }
            _ => None,
        })
    }

    /// The paths into the row that it tests.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|field| field.subject.path().filter(|path| path.is_inside()))
    }
}

/// Whether one of `conditions` holds.
pub(super) fn any(conditions: &[RowCondition], row: &SourceRow<'_>, picked: &ResultParts<'_>) -> bool {
    conditions.iter().any(|condition| condition.holds(row, picked))
}

impl FieldTest {
    /// Whether it tests the status or the code of a result.
    pub(super) fn is_of_code(&self) -> bool {
        matches!(self.subject, TestedValue::Part(ResultPart::Status | ResultPart::Code))
    }
}

impl TestedValue {
    fn value<'v, 'r: 'v>(&self, row: &SourceRow<'r>, picked: &'v ResultParts<'_>) -> Option<Cow<'v, str>> {
        match self {
            TestedValue::Path(path) => row.find(path).map(text),
            TestedValue::Part(part) => picked.part(*part).map(Cow::Borrowed),
            TestedValue::PathElsePart(path, part) => {
                row.find(path).map(text).or_else(|| picked.part(*part).map(Cow::Borrowed))
            }
        }
    }

    /// Its name in the mapping.
    pub(super) fn named(&self) -> Option<String> {
        match self {
            TestedValue::Path(path) | TestedValue::PathElsePart(path, _) => Some(path.to_string()),
            TestedValue::Part(_) => None,
        }
    }

    /// The path of a value that only the row has.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            TestedValue::Path(path) => Some(path),
            TestedValue::Part(_) | TestedValue::PathElsePart(..) => None,
        }
    }
}

/// A value as text: the content of a string, or any other value as JSON.
pub(super) fn text(found: SourceValue<'_>) -> Cow<'_, str> {
    found.read(json::text)
}

impl ValueTest {
    /// Whether it tells what a value must be, and nothing of a missing one.
    pub(super) fn needs_value(&self) -> bool {
        match self {
            ValueTest::Is(literals) => !literals.contains(&Literal::Null),
            ValueTest::IsNot(_) | ValueTest::Absent(_) => false,
            ValueTest::Text { .. } | ValueTest::Matches(_) => true,
        }
    }

    pub(super) fn holds(&self, value: Option<&str>) -> bool {
        match self {
            ValueTest::Absent(absent) => value.is_none() == *absent,
            ValueTest::Is(literals) => literals.iter().any(|literal| literal.is(value)),
            ValueTest::IsNot(literals) => !literals.iter().any(|literal| literal.is(value)),
            ValueTest::Matches(regexes) => value.is_some_and(|value| regexes.iter().any(|regex| regex.is_match(value))),
            ValueTest::Text { op, texts, case } => value.is_some_and(|value| {
                let value = if *case { Cow::Borrowed(value) } else { Cow::Owned(value.to_lowercase()) };
                texts.iter().any(|text| op.fits(&value, text))
            }),
        }
    }
}

impl Literal {
    /// Parses a literal; `500-599` is a range. None for a range that runs backwards.
    pub(super) fn of(text: &str) -> Option<Literal> {
        match range(text) {
            Some((first, last)) => (first <= last).then_some(Literal::Range(first, last)),
            None => Some(Literal::Letters(text.to_owned())),
        }
    }

    /// Its letters, if no source writes them otherwise.
    fn plain(&self) -> Option<&str> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        match self {
            Literal::Letters(letters) => Some(letters.as_str()).filter(|letters| letters.bytes().all(is_plain)),
            Literal::Null | Literal::Range(..) => None,
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
    fn a_literal_is_compared_as_text_and_a_range_as_numbers() {
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
