//! From the conditions of a mapping file to valid ones, or to errors with their places. Reads no rows.

use regex::RegexBuilder;

use super::condition::{FieldTest, Literal, ResultPart, RowCondition, TestedValue, ValueTest};
use super::model::{FailedWhen, NamedKind, SkippedRows};
use super::path::Path;
use playproof_engine::playbook::MessageOp;
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::schema::At;
use playproof_formats::yaml::{Key, NodeKind, Scalar};

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

pub(super) fn skipped(at: At<'_>) -> Option<SkippedRows> {
    match at.is_text("rest") {
        true => Some(SkippedRows::Rest),
        false => conditions(at, PartNames::Fields).map(SkippedRows::Where),
    }
}

/// Conditions, and the word `text`.
pub(super) fn failed_when(at: At<'_>, names: PartNames<'_>) -> Option<FailedWhen> {
    let (words, conditions): (Vec<At<'_>>, Vec<At<'_>>) =
        at.one_or_many().into_iter().partition(|one| one.is_text("text"));
    let conditions: Option<Vec<RowCondition>> = collect(conditions.into_iter().map(|one| condition(one, names)));
    Some(FailedWhen { conditions: conditions?, by_text: !words.is_empty() })
}

pub(super) fn kinds_of(kinds: At<'_>, names: PartNames<'_>) -> Option<Vec<NamedKind>> {
    collect(kinds.entries().map(|(name, value)| {
        let when = conditions(value, names)?;
        Some(NamedKind { name: name.text.to_owned(), when, span: name.span })
    }))
}

/// A condition, or a list of conditions of which one must hold.
pub(super) fn conditions(at: At<'_>, names: PartNames<'_>) -> Option<Vec<RowCondition>> {
    at.all(|one| condition(one, names))
}

fn condition(at: At<'_>, names: PartNames<'_>) -> Option<RowCondition> {
    let read = at.entries().map(|(key, value)| {
        let subject = Path::parse(key.text).and_then(|path| match path.is_many() {
            true => Err("`[*]` is allowed only in `records`".into()),
            false => Ok(path),
        });
        let path = subject.map_err(|why| value.report(bad_path(key.text, &why).at(key.span.clone(), "not a path")));
        let tests = if lacks_value(&key, value) { None } else { tests(value) };
        let is_optional = value.is_map() && value.get("optional").and_then(At::flag).unwrap_or_default();
        let (path, tests) = (path.ok()?, tests?);
        Some(FieldTest { subject: names.subject(path, &tests), tests, is_optional, span: key.span })
    });
    collect(read).filter(|_| at.fits()).map(RowCondition)
}

/// Refuses a key without a value, which mostly was to be one more word of a list: `{ event: end, wait }`.
fn lacks_value(key: &Key<'_>, value: At<'_>) -> bool {
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
fn tests(at: At<'_>) -> Option<Vec<ValueTest>> {
    if !at.is_map() {
        return at.all(literal).map(|literals| vec![ValueTest::Is(literals)]);
    }
    let case = at.get("case").is_some_and(|case| case.is_text("sensitive"));
    let texts_of = |op: MessageOp| {
        at.get(op.as_str()).map(|value| texts(value, case).map(|texts| ValueTest::Text { op, texts, case }))
    };
    let text_tests = MessageOp::ALL.into_iter().filter(|op| *op != MessageOp::Matches).filter_map(texts_of);
    let matches = at.get("matches").map(|value| regexes(value, case).map(ValueTest::Matches));
    let absent = at.get("absent").map(|value| value.flag().map(ValueTest::Absent));
    let others = at.get("not").map(|value| value.all(literal).map(ValueTest::IsNot));
    let tests = collect(text_tests.chain(matches).chain(absent).chain(others))?;
    let says_nothing = |(key, _): (Key<'_>, At<'_>)| ["case", "optional"].contains(&key.text);
    if tests.is_empty() && at.knows_all_keys() && at.entries().all(says_nothing) {
        at.wrong("empty_condition", "this test is empty", "say what the value must be");
    }
    (!tests.is_empty()).then_some(tests)
}

fn literal(at: At<'_>) -> Option<Literal> {
    match &at.node().kind {
        NodeKind::Scalar { value: Scalar::Null, .. } => Some(Literal::Null),
        NodeKind::Scalar { value: Scalar::Bool(value), .. } => Some(Literal::Letters(value.to_string())),
        NodeKind::Scalar { text, .. } => Literal::of(text).or_else(|| {
            let message = format!("`{text}` is a range that runs backwards");
            let diagnostic = Diagnostic::error("bad_range", message).at(at.span(), "the first number is greater");
            at.report(diagnostic.help(format!("for the text itself write `{{ equals: '{text}' }}`")));
            None
        }),
        NodeKind::List(_) | NodeKind::Map(_) => None,
    }
}

/// Texts to compare with. A number or boolean counts as text: messages contain numbers too.
fn texts(at: At<'_>, case: bool) -> Option<Vec<String>> {
    at.all(|one| one.text().map(|text| if case { text.to_owned() } else { text.to_lowercase() }))
}

fn regexes(at: At<'_>, case: bool) -> Option<Vec<regex::Regex>> {
    at.all(|pattern| {
        let built = RegexBuilder::new(pattern.text()?).case_insensitive(!case).size_limit(1 << 20).build();
        built
            .map_err(|error| {
                let why = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                pattern.wrong("bad_regex", format!("this regular expression is invalid: {why}"), "not a regex");
            })
            .ok()
    })
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
