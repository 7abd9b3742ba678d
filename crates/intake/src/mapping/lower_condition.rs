//! From the conditions of a mapping file to valid ones, or to errors with their places. Reads no rows.

use regex::RegexBuilder;

use super::condition::{FieldTest, Literal, ResultPart, RowCondition, TestedValue, ValueTest};
use super::model::{FailedWhen, NamedKind, SkippedRows};
use super::path::Path;
use playproof_engine::playbook::MessageOp;
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::yaml::{Cursor, Key, NodeKind, Scalar};

pub(super) const TEST: [&str; 9] =
    ["equals", "contains", "starts_with", "matches", "clause", "absent", "not", "case", "optional"];
/// The words of `case`: whether case counts.
pub(super) const CASES: [(&str, bool); 2] = [("sensitive", true), ("insensitive", false)];

/// What `message`, `status` and `code` are in conditions.
#[derive(Clone, Copy)]
pub(super) enum PartNames<'p> {
    /// Fields of the row.
    Fields,
    /// These parts of the result.
    Parts(&'p [(&'static str, ResultPart)]),
    /// Fields of the row where it has them, else these parts of the result: flags of that name are older than this rule.
    /// Tests on absence are about the fields alone: a success has no `message`, and its content is no reason to fail.
    FieldsElseParts(&'p [(&'static str, ResultPart)]),
}

impl PartNames<'_> {
    fn subject(self, path: Path, tests: &[ValueTest]) -> TestedValue {
        let (PartNames::Parts(parts) | PartNames::FieldsElseParts(parts)) = self else {
            return TestedValue::Path(path);
        };
        let part = path.as_name().and_then(|name| parts.iter().find(|(known, _)| *known == name));
        match (part, self) {
            (None, _) => TestedValue::Path(path),
            (Some((_, part)), PartNames::FieldsElseParts(_)) => match tests.iter().all(ValueTest::needs_value) {
                true => TestedValue::PathElsePart(path, *part),
                false => TestedValue::Path(path),
            },
            (Some((_, part)), _) => TestedValue::Part(*part),
        }
    }
}

pub(super) fn skipped(cursor: Cursor<'_>) -> Option<SkippedRows> {
    match &cursor.node().kind {
        NodeKind::Scalar { .. } => cursor.word(&[("rest", ())]).map(|()| SkippedRows::Rest),
        _ => conditions(cursor, PartNames::Fields).map(SkippedRows::Where),
    }
}

/// Conditions, and the word `text`.
pub(super) fn failed_when(cursor: Cursor<'_>, names: PartNames<'_>) -> Option<FailedWhen> {
    let mut failed = FailedWhen::default();
    let mut conditions = Vec::new();
    for one in cursor.one_or_many() {
        match &one.node().kind {
            NodeKind::Scalar { .. } => {
                failed.by_text = one.word(&[("text", ())]).is_some();
            }
            _ => conditions.push(condition(one, names)),
        }
    }
    failed.conditions = collect(conditions.into_iter())?;
    (failed.by_text || !failed.conditions.is_empty()).then_some(failed)
}

pub(super) fn kinds_of(kinds: Cursor<'_>, names: PartNames<'_>) -> Option<Vec<NamedKind>> {
    let read = kinds.entries("`kinds`")?.map(|(name, value)| {
        let good = value.named(&name, "");
        let when = conditions(value, names)?;
        good.then(|| NamedKind { name: name.text.to_owned(), when, span: name.span })
    });
    collect(read)
}

/// A condition, or a list of conditions of which one must hold.
pub(super) fn conditions(cursor: Cursor<'_>, names: PartNames<'_>) -> Option<Vec<RowCondition>> {
    let all = cursor.one_or_many();
    let read = collect(all.into_iter().map(|one| condition(one, names)))?;
    (!read.is_empty()).then_some(read)
}

fn condition(cursor: Cursor<'_>, names: PartNames<'_>) -> Option<RowCondition> {
    let entries = cursor.entries("a condition")?;
    if entries.clone().next().is_none() {
        cursor.wrong("empty_condition", "this condition is empty", "name a field and its value");
        return None;
    }
    let read = entries.map(|(key, value)| {
        let subject = Path::parse(key.text).and_then(|path| match path.is_many() {
            true => Err("`[*]` is allowed only in `records`".into()),
            false => Ok(path),
        });
        let path = subject.map_err(|why| value.report(bad_path(key.text, &why).at(key.span.clone(), "not a path")));
        let tests = if lacks_value(&key, value) { None } else { tests(value) };
        let is_optional = optional(value);
        let (path, tests) = (path.ok()?, tests?);
        Some(FieldTest { subject: names.subject(path, &tests), tests, is_optional: is_optional?, span: key.span })
    });
    collect(read).map(RowCondition)
}

/// Whether a map says that its path need not be there.
pub(super) fn optional(cursor: Cursor<'_>) -> Option<bool> {
    let entries = cursor.is_map().then(|| cursor.entries("a map")).flatten();
    let said = entries.into_iter().flatten().find(|(key, _)| key.text == "optional");
    said.map_or(Some(false), |(_, value)| value.bool())
}

/// Refuses a key without a value, which mostly was to be one more word of a list: `{ event: end, wait }`.
fn lacks_value(key: &Key<'_>, value: Cursor<'_>) -> bool {
    let is_missing = value.is_null() && value.span().is_empty();
    if is_missing {
        let said = Diagnostic::error("no_value", format!("`{}` has no value", key.text));
        let help = format!("where the field must be missing, write `{}: null`", key.text);
        let said = said.at(key.span.clone(), "what must it be?");
        value.report(said.help(format!("several words of one field are a list, such as `event: [end, wait]`; {help}")));
    }
    is_missing
}

/// A value, a list of values, or a map of tests that all must hold.
fn tests(cursor: Cursor<'_>) -> Option<Vec<ValueTest>> {
    if !cursor.is_map() {
        return collect(cursor.one_or_many().into_iter().map(literal)).map(|literals| vec![ValueTest::Is(literals)]);
    }
    let record = cursor.record("a test", &TEST)?;
    let case = match record.optional("case") {
        Some(case) => case.word(&CASES)?,
        None => false,
    };
    let texts_of = |op: MessageOp| {
        record.optional(op.as_str()).map(|value| texts(value, case).map(|texts| ValueTest::Text { op, texts, case }))
    };
    let text_tests = MessageOp::ALL.into_iter().filter(|op| *op != MessageOp::Matches).filter_map(texts_of);
    let matches = record.optional("matches").map(|value| regexes(value, case).map(ValueTest::Matches));
    let absent = record.optional("absent").map(|value| value.bool().map(ValueTest::Absent));
    let others = |value: Cursor<'_>| collect(value.one_or_many().into_iter().map(literal)).map(ValueTest::IsNot);
    let others = record.optional("not").map(others);
    let tests = collect(text_tests.chain(matches).chain(absent).chain(others))?;
    if tests.is_empty() {
        let known = cursor.entries("a test")?.all(|(key, _)| TEST.contains(&key.text));
        if known {
            cursor.wrong("empty_condition", "this test is empty", "say what the value must be");
        }
        return None;
    }
    Some(tests)
}

fn literal(cursor: Cursor<'_>) -> Option<Literal> {
    match &cursor.node().kind {
        NodeKind::Scalar { value: Scalar::Null, .. } => Some(Literal::Null),
        NodeKind::Scalar { value: Scalar::Bool(value), .. } => Some(Literal::Letters(value.to_string())),
        NodeKind::Scalar { text, .. } => Literal::of(text).or_else(|| {
            let message = format!("`{text}` is a range that runs backwards");
            let diagnostic = Diagnostic::error("bad_range", message).at(cursor.span(), "the first number is greater");
            cursor.report(diagnostic.help(format!("for the text itself write `{{ equals: '{text}' }}`")));
            None
        }),
        _ => {
            cursor.wrong("wrong_type", "expected a value to compare with", "a text, a number, true, false or null");
            None
        }
    }
}

fn texts(cursor: Cursor<'_>, case: bool) -> Option<Vec<String>> {
    let lowered = |text: &str| if case { text.to_owned() } else { text.to_lowercase() };
    collect(cursor.one_or_many().into_iter().map(|text| match &text.node().kind {
        // A number or boolean counts as text: messages contain numbers too.
        NodeKind::Scalar { text: letters, value } if *value != Scalar::Null && !letters.is_empty() => {
            Some(lowered(letters))
        }
        _ => text.words().map(lowered),
    }))
}

fn regexes(cursor: Cursor<'_>, case: bool) -> Option<Vec<regex::Regex>> {
    collect(cursor.one_or_many().into_iter().map(|pattern| {
        let built = RegexBuilder::new(pattern.string()?).case_insensitive(!case).size_limit(1 << 20).build();
        built
            .map_err(|error| {
                let why = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                pattern.wrong("bad_regex", format!("this regular expression is invalid: {why}"), "not a regex");
            })
            .ok()
    }))
}

pub(super) fn bad_path(text: &str, why: &str) -> Diagnostic {
    Diagnostic::error("bad_path", format!("`{text}` is no valid path: {why}"))
        .help("paths look like `error.code`, `calls[0].name`, `attributes[\"http.status\"]`, `tags[key=tool].value` or `^.id`")
}

/// All values; none if one is invalid. Reads every value, so that all errors are reported.
pub(super) fn collect<T>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let all: Vec<Option<T>> = values.collect();
    all.into_iter().collect()
}
