//! From a mapping file to a valid mapping, or to errors with their places. Reads no rows.

use std::sync::Arc;

use regex::RegexBuilder;

use super::condition::{Literal, ResultPart, RowCondition, TestedValue, TextComparison, ValueTest};
use super::model::{CallMap, Mapping, ResultMap, Selector, TimeUnit};
use super::path::Path;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, MapReader, NodeKind, Scalar};

pub(super) const TOP: [&str; 7] = ["format", "records", "time", "call", "result", "failed", "kinds"];
pub(super) const CALL: [&str; 9] = ["where", "run", "id", "tool", "args", "at", "key", "evidence", "token"];
pub(super) const RESULT: [&str; 14] = [
    "where",
    "run",
    "id",
    "attempt",
    "started",
    "at",
    "latency_ms",
    "body",
    "message",
    "status",
    "code",
    "kind",
    "retry_after_ms",
    "retry_after_s",
];
pub(super) const TEST: [&str; 6] = ["equals", "contains", "starts_with", "matches", "absent", "case"];
pub(super) const UNITS: [(&str, TimeUnit); 5] = [
    ("s", TimeUnit::Seconds),
    ("ms", TimeUnit::Millis),
    ("us", TimeUnit::Micros),
    ("ns", TimeUnit::Nanos),
    ("iso", TimeUnit::Iso),
];
/// The words of `case`: whether case counts.
pub(super) const CASES: [(&str, bool); 2] = [("sensitive", true), ("ignored", false)];

/// Reads a mapping file.
///
/// # Errors
/// All errors of the file, each with its place.
pub fn parse(source: Arc<Source>) -> Result<Mapping, Report> {
    yaml::parse(Arc::clone(&source), |root| MappingLowering::default().mapping(root, source))
}

/// Lowers a mapping file, and numbers its selectors.
#[derive(Default)]
struct MappingLowering {
    selectors: usize,
}

impl MappingLowering {
    fn mapping(&mut self, root: Cursor<'_>, source: Arc<Source>) -> Option<Mapping> {
        let record = root.record("a mapping", &TOP)?;
        let format = record.required("format").and_then(|format| format.word(&[("mapping/1", ())]));
        let records = record.optional("records").map(|records| self.selector(records, "records", true));
        let time = record.optional("time").map(|time| time.word(&UNITS));
        let call = record.required("call").and_then(|call| self.call(call));
        let result = record.optional("result").map(|result| self.result(result));
        let failed = match record.optional("failed") {
            Some(failed) => conditions(failed, &[]),
            None => no_failed(&record, result.is_some()),
        };
        let parts = result.iter().flatten().flat_map(ResultMap::parts).collect::<Vec<_>>();
        let kinds = record.optional("kinds").map_or(Some(Vec::new()), |kinds| kinds_of(kinds, &parts));
        format?;
        Some(Mapping {
            source,
            records: all_or_none(records)?,
            time: all_or_none(time)?,
            call: call?,
            result: all_or_none(result)?,
            failed: failed?,
            kinds: kinds?,
            selectors: self.selectors,
            skip_invalid: false,
            allow_skipped: None,
        })
    }

    fn call(&mut self, call: Cursor<'_>) -> Option<CallMap> {
        let record = call.record("`call`", &CALL)?;
        let when = record.optional("where").map(|when| conditions(when, &[]));
        let span = record.key_span("where").unwrap_or_else(|| record.span());
        let tool = record.required("tool").and_then(|tool| self.selector(tool, "call.tool", false));
        // Reads all parts before it gives up, so that all errors are reported.
        let keys = ["run", "id", "args", "at", "key", "evidence", "token"];
        let [run, id, args, at, key, evidence, token] = keys.map(|key| self.part(&record, "call", key));
        Some(CallMap {
            run: run?,
            id: id?,
            args: args?,
            at: at?,
            key: key?,
            evidence: evidence?,
            token: token?,
            when: all_or_none(when)?,
            tool: tool?,
            span,
        })
    }

    fn result(&mut self, result: Cursor<'_>) -> Option<ResultMap> {
        let record = result.record("`result`", &RESULT)?;
        let when = record.optional("where").map(|when| conditions(when, &[]));
        if let (Some(ms), Some(s)) = (record.key_span("retry_after_ms"), record.key_span("retry_after_s")) {
            let message = "`retry_after_ms` and `retry_after_s` are the same value in two units";
            result.report(Diagnostic::error("several_chosen", message).at(ms, "one").at(s, "another"));
        }
        let mut part = |key: &str| self.part(&record, "result", key);
        let [run, id, attempt, started, at] = ["run", "id", "attempt", "started", "at"].map(&mut part);
        let [latency_ms, body, message, status] = ["latency_ms", "body", "message", "status"].map(&mut part);
        let [code, kind, after_ms, after_s] = ["code", "kind", "retry_after_ms", "retry_after_s"].map(&mut part);
        Some(ResultMap {
            run: run?,
            id: id?,
            attempt: attempt?,
            started: started?,
            at: at?,
            latency_ms: latency_ms?,
            body: body?,
            message: message?,
            status: status?,
            code: code?,
            kind: kind?,
            retry_after_ms: after_ms?,
            retry_after_s: after_s?,
            when: all_or_none(when)?,
        })
    }

    fn part(&mut self, record: &MapReader<'_>, of: &str, key: &str) -> Option<Option<Selector>> {
        all_or_none(record.optional(key).map(|value| self.selector(value, &format!("{of}.{key}"), false)))
    }

    fn selector(&mut self, cursor: Cursor<'_>, field: &str, many: bool) -> Option<Selector> {
        let path = path(cursor, cursor.string()?)?;
        if path.is_many() && !many {
            cursor.wrong("many_values", "`[*]` is allowed only in `records`", "this must lead to one value");
            return None;
        }
        let number = self.selectors;
        self.selectors += 1;
        Some(Selector { path, field: field.to_owned(), span: cursor.span(), number })
    }
}

impl ResultMap {
    /// The parts of a result that a condition of `kinds` can name.
    fn parts(&self) -> Vec<(&'static str, ResultPart)> {
        let message = self.message.as_ref().or(self.body.as_ref()).map(|_| ("message", ResultPart::Message));
        let status = self.status.as_ref().map(|_| ("status", ResultPart::Status));
        let code = self.code.as_ref().map(|_| ("code", ResultPart::Code));
        [message, status, code].into_iter().flatten().collect()
    }
}

/// `None` if the value is present and invalid.
#[expect(clippy::option_option, reason = "absent, invalid and valid are three cases")]
fn all_or_none<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    match value {
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
        None => Some(None),
    }
}

/// Requires `failed` where there are results: without it, every result would count as a success.
fn no_failed(record: &MapReader<'_>, has_results: bool) -> Option<Vec<RowCondition>> {
    if !has_results {
        return Some(Vec::new());
    }
    record.required("failed").map(|_| Vec::new())
}

fn kinds_of(kinds: Cursor<'_>, parts: &[(&str, ResultPart)]) -> Option<Vec<(String, Vec<RowCondition>)>> {
    let read = kinds.entries("`kinds`")?.map(|(name, value)| {
        let good = value.named(&name, "");
        let conditions = conditions(value, parts)?;
        good.then(|| (name.text.to_owned(), conditions))
    });
    collect(read)
}

/// A condition, or a list of conditions of which one must hold.
fn conditions(cursor: Cursor<'_>, parts: &[(&str, ResultPart)]) -> Option<Vec<RowCondition>> {
    let all = cursor.one_or_many();
    let read = collect(all.into_iter().map(|one| condition(one, parts)))?;
    (!read.is_empty()).then_some(read)
}

fn condition(cursor: Cursor<'_>, parts: &[(&str, ResultPart)]) -> Option<RowCondition> {
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
        let tests = tests(value);
        let path = path.ok()?;
        let pick = path.as_name().and_then(|name| parts.iter().find(|(known, _)| *known == name));
        let subject = pick.map_or(TestedValue::Path(path.clone()), |(_, pick)| TestedValue::ResultParts(*pick));
        Some((subject, tests?))
    });
    collect(read).map(RowCondition)
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
    let comparisons = [
        ("equals", TextComparison::Equals),
        ("contains", TextComparison::Contains),
        ("starts_with", TextComparison::StartsWith),
    ];
    let text_tests = comparisons.into_iter().filter_map(|(key, comparison)| {
        record.optional(key).map(|value| texts(value, case).map(|texts| ValueTest::Text { comparison, texts, case }))
    });
    let matches = record.optional("matches").map(|value| regexes(value, case).map(ValueTest::Matches));
    let absent = record.optional("absent").map(|value| value.bool().map(ValueTest::Absent));
    let tests = collect(text_tests.chain(matches).chain(absent))?;
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

fn path(cursor: Cursor<'_>, text: &str) -> Option<Path> {
    Path::parse(text).map_err(|why| cursor.report(bad_path(text, &why).at(cursor.span(), "not a path"))).ok()
}

fn bad_path(text: &str, why: &str) -> Diagnostic {
    Diagnostic::error("bad_path", format!("`{text}` is no valid path: {why}"))
        .help("paths look like `error.code`, `calls[0].name` or `attributes[\"http.status\"]`")
}

/// All values; none if one is invalid. Reads every value, so that all errors are reported.
fn collect<T>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let all: Vec<Option<T>> = values.collect();
    all.into_iter().collect()
}
