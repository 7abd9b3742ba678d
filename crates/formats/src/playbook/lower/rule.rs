//! Rules: the conditions of each `when`, and its verdict.

use std::ops::RangeInclusive;

use super::header;
use super::names::Declared;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::RulePlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, NodeKind, Scalar, range};
use playproof_engine::glob::Glob;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{
    ConditionKind, ConditionSyntax, ConditionTest, MessageOp, MessageTest, NumberRange, Rule, When, clause, pattern,
};

/// The rule written at `at`; its name is declared in `rules`.
pub(super) fn rule(at: Cursor<'_>, rules: &mut Declared, verdicts: &Declared) -> Option<(Rule, RulePlaces)> {
    let record = at.record("a rule", syntax::RULE)?;
    let name = record.required("rule").and_then(Cursor::name);
    if let Some(name) = &name {
        if name.text == "otherwise" {
            at.report(
                Diagnostic::error("reserved_rule", "`otherwise` names the failures that no rule matches")
                    .at(name.span.clone(), "reserved"),
            );
        }
        rules.declare(name, at);
    }
    let written_when = record.required("when");
    let when = written_when.and_then(when);
    let verdict = record.required("verdict").and_then(|verdict| verdicts.find(verdict));
    let name = name?;
    let places = RulePlaces {
        name: name.span,
        when: written_when?.span(),
        attempt: written_when?.entry("attempt").map(Cursor::span),
        kinds: when.is_some().then(|| written_when?.entry("kind").map(kinds)).flatten().unwrap_or_default(),
    };
    Some((Rule { name: name.text.into(), when: when?, verdict: VerdictId(verdict?) }, places))
}

fn kinds(at: Cursor<'_>) -> Vec<std::ops::Range<usize>> {
    at.one_or_many().into_iter().map(Cursor::span).collect()
}

fn when(at: Cursor<'_>) -> Option<When> {
    let record = at.record("`when`", &ConditionKind::WORDS)?;
    if record.is_empty() {
        at.report(
            Diagnostic::error("empty_when", "a rule without conditions would match every failure")
                .at(at.span(), "no conditions")
                .help("write at least one condition; `otherwise` covers failures that no rule matches"),
        );
        return None;
    }
    // Every condition is read before any is unwrapped, so that all errors are found at once.
    let written =
        ConditionKind::ALL.into_iter().filter_map(|ask| Some((ask, test(ask, record.optional(ask.as_str())?))));
    let written: Vec<(ConditionKind, Option<ConditionTest>)> = written.collect();
    let mut when = When::default();
    for (ask, test) in written {
        when.set(ask, test?);
    }
    Some(when)
}

fn test(ask: ConditionKind, at: Cursor<'_>) -> Option<ConditionTest> {
    match ask.form() {
        ConditionSyntax::Texts => texts(at).map(ConditionTest::AnyOf),
        ConditionSyntax::Globs => globs(at).map(ConditionTest::Globs),
        ConditionSyntax::Ranges(first, last) => ranges(at, ask.as_str(), first..=last).map(ConditionTest::Ranges),
        ConditionSyntax::Messages => message(at).map(ConditionTest::Messages),
        ConditionSyntax::Access => at.word(&syntax::ACCESS).map(ConditionTest::Access),
        ConditionSyntax::Bool => at.bool().map(ConditionTest::Is),
        ConditionSyntax::Said => at.bool().map(ConditionTest::Said),
        ConditionSyntax::Headers => header::tests(at).map(ConditionTest::Headers),
        ConditionSyntax::Presence => at.word(&syntax::PRESENCE).map(ConditionTest::Is),
        ConditionSyntax::Absence => at.word(&[("absent", ())]).map(|()| ConditionTest::Absent),
    }
}

/// All values, or `None` if one is invalid or there is none; reads every one.
fn all<'a, T>(at: Cursor<'a>, each: impl FnMut(Cursor<'a>) -> Option<T>) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = at.one_or_many().into_iter().map(each).collect();
    let read: Option<Vec<T>> = read.into_iter().collect();
    read.filter(|all| !all.is_empty())
}

fn texts(at: Cursor<'_>) -> Option<Vec<String>> {
    all(at, |text| text.words().map(str::to_owned))
}

fn globs(at: Cursor<'_>) -> Option<Vec<String>> {
    all(at, |glob| {
        let text = glob.words()?;
        if let Err(why) = Glob::of_tools(text) {
            glob.wrong(
                "bad_glob",
                format!("`{}` is not a valid glob: {why}", crate::yaml::shorten(text)),
                "not a glob",
            );
            return None;
        }
        Some(text.to_owned())
    })
}

fn message(at: Cursor<'_>) -> Option<Vec<MessageTest>> {
    if let NodeKind::Scalar { text, value: Scalar::Text } = &at.node().kind {
        at.report(
            Diagnostic::error("wrong_type", "expected a test of the message, found a text")
                .at(at.span(), "contains, starts_with, equals, matches or clause?")
                .help(format!("write `{{ contains: {} }}`", crate::yaml::shorten(text))),
        );
        return None;
    }
    let record = at.record("`message`", syntax::MESSAGE)?;
    let written_case = record.optional("case");
    let case_sensitive = written_case.map_or(Some(false), |case| case.word(&syntax::CASE_SENSITIVE));
    let ops = MessageOp::ALL.into_iter();
    let written: Vec<_> = ops.filter_map(|op| Some((op, record.optional(op.as_str())?))).collect();
    if written.is_empty() {
        at.wrong(
            "empty_message",
            "`message` has no test: write `contains`, `starts_with`, `equals`, `matches` or `clause`",
            "",
        );
        return None;
    }
    let sensitive = case_sensitive.unwrap_or(false);
    let tests: Vec<Option<MessageTest>> = written
        .into_iter()
        .map(|(op, at)| {
            let any_of = match op {
                MessageOp::Matches => regexes(at, sensitive),
                MessageOp::Clause => clauses(at),
                _ => texts(at),
            };
            Some(MessageTest { op, any_of: any_of?, case_sensitive: sensitive })
        })
        .collect();
    case_sensitive?;
    tests.into_iter().collect()
}

fn clauses(at: Cursor<'_>) -> Option<Vec<String>> {
    all(at, |words| {
        let text = words.words()?;
        if clause::of(text) != Some(text) {
            let message = format!("`{}` is never part of one clause", crate::yaml::shorten(text));
            words.report(Diagnostic::error("bad_clause", message).at(words.span(), "not one clause").help(
                "a clause has at most 80 characters, and no `,` `;` `:` `.` `!` `?`, dash, line break, `but`, `and` or \
                 `however`",
            ));
            return None;
        }
        Some(text.to_owned())
    })
}

fn regexes(at: Cursor<'_>, case_sensitive: bool) -> Option<Vec<String>> {
    all(at, |regex| {
        let text = regex.words()?;
        if let Err(why) = pattern::compile(text, case_sensitive) {
            let message = format!("`{}` is not a valid regular expression: {why}", crate::yaml::shorten(text));
            regex.wrong("bad_regex", message, "not a regular expression");
            return None;
        }
        Some(text.to_owned())
    })
}

/// `429`, `"500-599"` or a list of them.
fn ranges(at: Cursor<'_>, what: &str, bounds: RangeInclusive<u64>) -> Option<Vec<NumberRange>> {
    all(at, |at| {
        let (first, last) = match &at.node().kind {
            NodeKind::Scalar { text, value: Scalar::Text } => range_of(at, text, what, &bounds)?,
            _ => at.whole(bounds.clone()).map(|number| (number, number))?,
        };
        Some(NumberRange { first: first.try_into().ok()?, last: last.try_into().ok()? })
    })
}

fn range_of(at: Cursor<'_>, text: &str, what: &str, bounds: &RangeInclusive<u64>) -> Option<(u64, u64)> {
    let range = range(text).filter(|(first, last)| first <= last && bounds.contains(first) && bounds.contains(last));
    if range.is_some() {
        return range;
    }
    let message = format!("`{}` is neither a value nor a range of `{what}`", crate::yaml::shorten(text));
    let class = text.strip_suffix("xx").filter(|digit| digit.len() == 1 && digit.parse::<u8>().is_ok());
    let help = match class {
        Some(digit) if what == "status" => format!("write `\"{digit}00-{digit}99\"`"),
        _ => format!("write a number or `\"FIRST-LAST\"`, from {} to {}", bounds.start(), bounds.end()),
    };
    at.report(Diagnostic::error("bad_range", message).at(at.span(), "not a range").help(help));
    None
}
