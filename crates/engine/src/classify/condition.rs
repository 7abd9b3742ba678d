//! One condition of a rule: whether it holds for a signal, and its explanation in words.

use std::collections::BTreeSet;

use super::signal::{Signal, SignalValue};
use crate::event::Headers;
use crate::glob::Glob;
use crate::ids::RuleId;
use crate::playbook::{
    Access, ConditionKind, ConditionSubject, ConditionSyntax, ConditionTest, HeaderOp, HeaderTest, MessageOp,
    MessageTest, NumberRange, When, joined, pattern::Pattern,
};

/// The evaluation of one rule for a signal, condition by condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEvaluation {
    /// The rule.
    pub rule: RuleId,
    /// Whether every condition held.
    pub matched: bool,
    /// In the order of evaluation.
    pub conditions: Vec<ConditionEvaluation>,
}

/// What one condition required, and what the signal had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionEvaluation {
    /// Such as ``kind is `timeout` ``.
    pub asked: String,
    /// Such as ``kind is `5xx` ``.
    pub found: String,
    /// Whether it held.
    pub held: bool,
}

/// A condition compiled for repeated evaluation.
#[derive(Debug)]
pub(super) struct CompiledCondition {
    ask: ConditionKind,
    ready: CompiledTest,
}

#[derive(Debug)]
enum CompiledTest {
    Test(ConditionTest),
    Globs(Vec<(String, Option<Glob>)>),
    Message { test: MessageTest, patterns: Patterns },
}

/// The texts of a message test, lowercased once if case does not matter.
#[derive(Debug)]
pub(super) enum Patterns {
    Texts(Vec<String>),
    Regexes(Vec<Pattern>),
}

impl CompiledCondition {
    /// The compiled conditions of a `when`, the cheap ones first.
    pub(super) fn of(when: &When) -> Vec<CompiledCondition> {
        let mut asked: Vec<(ConditionKind, &ConditionTest)> = when.iter().collect();
        asked.sort_by_key(|(ask, _)| cost(*ask)); // stable
        let ready = |(ask, test): (ConditionKind, &ConditionTest)| -> Vec<CompiledCondition> {
            let check = |ready| CompiledCondition { ask, ready };
            match test {
                ConditionTest::Globs(globs) => {
                    vec![check(CompiledTest::Globs(globs.iter().map(|glob| (glob.clone(), tool_glob(glob))).collect()))]
                }
                ConditionTest::Messages(tests) => tests.iter().map(|test| check(CompiledTest::message(test))).collect(),
                test => vec![check(CompiledTest::Test(test.clone()))],
            }
        };
        asked.into_iter().flat_map(ready).collect()
    }

    /// Whether the condition holds.
    pub(super) fn holds(&self, signal: &Signal<'_>, lowered: &mut Lowered) -> bool {
        match (&self.ready, signal.find(self.ask)) {
            (CompiledTest::Test(ConditionTest::AnyOf(texts)), SignalValue::Text(Some(text))) => {
                texts.iter().any(|known| known == text)
            }
            (CompiledTest::Test(ConditionTest::Ranges(ranges)), SignalValue::Number(Some(number))) => {
                ranges.iter().any(|range| range.first <= number && number <= range.last)
            }
            (CompiledTest::Test(ConditionTest::Access(asked)), SignalValue::Access(access)) => *asked == access,
            (CompiledTest::Test(ConditionTest::Is(asked)), SignalValue::Is(is) | SignalValue::There(is)) => {
                *asked == is
            }
            (CompiledTest::Test(ConditionTest::Said(asked)), SignalValue::Said(Some(said))) => *asked == said,
            (CompiledTest::Test(ConditionTest::Is(asked)), SignalValue::Keyed(Some(is))) => *asked == is,
            (CompiledTest::Test(ConditionTest::Headers(tests)), SignalValue::Headers(headers)) => {
                let held = |test: &HeaderTest| headers.map_or_else(|| test.holds_for(None), |all| test.holds(all));
                tests.iter().any(held)
            }
            (CompiledTest::Test(ConditionTest::Absent), SignalValue::There(is)) => !is,
            (CompiledTest::Globs(globs), SignalValue::Text(Some(text))) => {
                globs.iter().any(|(name, glob)| match glob {
                    Some(glob) => glob.is_match(text),
                    None => name == text,
                })
            }
            (CompiledTest::Message { test, patterns }, SignalValue::Text(Some(message))) => match patterns {
                Patterns::Regexes(regexes) => regexes.iter().any(|regex| regex.is_match(message)),
                Patterns::Texts(texts) => {
                    let message = if test.case_sensitive { message } else { lowered.text(message) };
                    texts.iter().any(|text| test.op.fits(message, text))
                }
            },
            _ => false, // the signal has no such value
        }
    }

    /// What the condition requires, in words.
    pub(super) fn asked(&self) -> String {
        let ask = self.ask;
        match &self.ready {
            CompiledTest::Test(ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts)) => {
                format!("{} is {}", ask.as_str(), quoted(texts))
            }
            CompiledTest::Globs(globs) => {
                format!(
                    "{} is {}",
                    ask.as_str(),
                    quoted(&globs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
                )
            }
            CompiledTest::Test(ConditionTest::Ranges(ranges)) => format!("{} is {}", ask.as_str(), spans(ranges)),
            CompiledTest::Test(ConditionTest::Access(access)) => format!("tool {}", access_words(*access)),
            CompiledTest::Test(ConditionTest::Is(is)) => is_words(ask, *is),
            CompiledTest::Test(ConditionTest::Said(said)) => format!("{} is `{said}`", ask.as_str()),
            CompiledTest::Test(ConditionTest::Headers(tests)) => {
                let each: Vec<String> = tests.iter().map(header_words).collect();
                each.join(" or ")
            }
            CompiledTest::Test(ConditionTest::Absent) => is_words(ask, false),
            CompiledTest::Test(ConditionTest::Messages(_)) => String::new(), // compiled one by one
            CompiledTest::Message { test, .. } => {
                let case = if test.case_sensitive { ", case counts" } else { "" };
                format!("{} {} {}{case}", ask.as_str(), op_words(test.op), quoted(&test.any_of))
            }
        }
    }

    /// What the signal has for this condition, in words.
    pub(super) fn found(&self, signal: &Signal<'_>) -> String {
        let ask = self.ask.as_str();
        match signal.find(self.ask) {
            SignalValue::Said(Some(said)) => format!("{ask} is `{said}`"),
            SignalValue::Headers(headers) => self.found_headers(headers),
            SignalValue::Said(None) => format!("there is no {ask}"),
            SignalValue::Text(Some(text)) => format!("{ask} is `{text}`"),
            SignalValue::Number(Some(number)) => format!("{ask} is {number}"),
            SignalValue::Text(None) | SignalValue::Number(None) => format!("there is no {ask}"),
            SignalValue::Access(access) => format!("tool {}", access_words(access)),
            SignalValue::Is(is) | SignalValue::There(is) | SignalValue::Keyed(Some(is)) => is_words(self.ask, is),
            SignalValue::Keyed(None) => "error names another key".to_owned(),
        }
    }
}

impl CompiledCondition {
    /// The headers that are tested, each once, with what the signal has of them.
    fn found_headers(&self, headers: Option<&Headers>) -> String {
        let CompiledTest::Test(ConditionTest::Headers(tests)) = &self.ready else { return String::new() };
        let names: BTreeSet<&str> = tests.iter().map(|test| &*test.name).collect();
        let found = |name: &str| match headers.and_then(|all| joined(all.values(name))) {
            Some(value) => format!("header {name} is `{value}`"),
            None => format!("there is no header {name}"),
        };
        names.into_iter().map(found).collect::<Vec<_>>().join(", ")
    }
}

impl CompiledTest {
    fn message(test: &MessageTest) -> CompiledTest {
        let patterns = match test.op {
            MessageOp::Matches => {
                Patterns::Regexes(test.any_of.iter().map(|text| Pattern::new(text, test.case_sensitive)).collect())
            }
            _ if test.case_sensitive => Patterns::Texts(test.any_of.clone()),
            _ => Patterns::Texts(test.any_of.iter().map(|text| text.to_lowercase()).collect()),
        };
        CompiledTest::Message { test: test.clone(), patterns }
    }
}

/// The cost of evaluating a condition; those of the error come before those of the call.
fn cost(ask: ConditionKind) -> u8 {
    match (ask.form(), ask.about()) {
        (ConditionSyntax::Absence, _) => 0,
        (ConditionSyntax::Texts, _) | (ConditionSyntax::Ranges(..), ConditionSubject::Error) => 1,
        (ConditionSyntax::Access | ConditionSyntax::Bool | ConditionSyntax::Said | ConditionSyntax::Presence, _) => 2,
        (ConditionSyntax::Ranges(..) | ConditionSyntax::Headers, _) => 3,
        (ConditionSyntax::Globs, _) => 4,
        (ConditionSyntax::Messages, _) => 5,
    }
}

/// Such as `call is not keyed` and `retry_after is present`.
fn is_words(ask: ConditionKind, is: bool) -> String {
    let not = if is { "" } else { "not " };
    let ask_word = ask.as_str();
    match (ask.form(), ask.about()) {
        (ConditionSyntax::Presence | ConditionSyntax::Absence, _) => {
            format!("{ask_word} is {}", if is { "present" } else { "absent" })
        }
        (_, ConditionSubject::Error) => format!("error is {not}{ask_word}"),
        (_, ConditionSubject::Tool) => format!("tool is {not}{ask_word}"),
        (_, ConditionSubject::Call) => format!("call is {not}{ask_word}"),
    }
}

/// The lowercase message, computed at most once a signal.
#[derive(Default)]
pub(super) struct Lowered(Option<String>);

impl Lowered {
    fn text(&mut self, message: &str) -> &str {
        self.0.get_or_insert_with(|| message.to_lowercase())
    }
}

fn tool_glob(tool: &str) -> Option<Glob> {
    Glob::of_tools(tool).ok().flatten() // validated when the playbook was read
}

fn quoted(texts: &[String]) -> String {
    let each: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    each.join(" or ")
}

fn spans(ranges: &[NumberRange]) -> String {
    let each: Vec<String> = ranges
        .iter()
        .map(|range| match range.first == range.last {
            true => range.first.to_string(),
            false => format!("{}-{}", range.first, range.last),
        })
        .collect();
    each.join(" or ")
}

fn header_words(test: &HeaderTest) -> String {
    let (name, not) = (&test.name, if test.invert { "not " } else { "" });
    match &test.op {
        HeaderOp::Present => format!("header {name} is {}", if test.invert { "absent" } else { "present" }),
        HeaderOp::Equals(texts) => format!("header {name} is {not}{}", quoted(texts)),
        HeaderOp::Prefix(texts) if test.invert => format!("header {name} does not start with {}", quoted(texts)),
        HeaderOp::Prefix(texts) => format!("header {name} starts with {}", quoted(texts)),
        HeaderOp::Range(first, end) => format!("header {name} is {not}from {first} to below {end}"),
    }
}

fn op_words(op: MessageOp) -> &'static str {
    match op {
        MessageOp::Contains => "contains",
        MessageOp::StartsWith => "starts with",
        MessageOp::Equals => "is",
        MessageOp::Matches => "matches",
        MessageOp::Clause => "is one clause that begins or ends with",
    }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::Read => "only reads",
        Access::Write => "writes",
    }
}
