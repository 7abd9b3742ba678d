//! One condition of a rule: whether it holds for a signal, and the words that say so.

use regex::Regex;

use super::rules::Signal;
use crate::glob::{Glob, is_glob};
use crate::ids::RuleId;
use crate::playbook::model::{Access, Between, MessageOp, MessageTest, When};
use crate::playbook::pattern;

/// What one rule said of a signal, condition by condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The rule.
    pub rule: RuleId,
    /// Whether every condition held.
    pub matched: bool,
    /// In the order in which they are asked.
    pub conditions: Vec<Condition>,
}

/// What one condition asked, and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Such as ``kind is `timeout` ``.
    pub asked: String,
    /// Such as ``kind is `5xx` ``.
    pub found: String,
    /// Whether it held.
    pub held: bool,
}

/// A condition made ready to be asked often.
#[derive(Debug)]
pub(super) enum Check {
    Kind(Vec<String>),
    Message { test: MessageTest, patterns: Patterns },
    Status(Vec<Between<u16>>),
    Code(Vec<String>),
    Tool(Vec<(String, Option<Glob>)>),
    Access(Access),
    Idempotent(bool),
    Keyed(bool),
    Attempt(Vec<Between<u32>>),
    RetryAfter(bool),
    ErrorAbsent,
}

/// The texts of a message test, lowered once where case does not count.
#[derive(Debug)]
pub(super) enum Patterns {
    Texts(Vec<String>),
    Regexes(Vec<Regex>),
}

impl Check {
    /// The checks of a `when`, the cheap ones first.
    pub(super) fn of(when: &When) -> Vec<Check> {
        let mut checks = Vec::new();
        if when.error_absent {
            checks.push(Check::ErrorAbsent);
        }
        if !when.kind.is_empty() {
            checks.push(Check::Kind(when.kind.clone()));
        }
        if !when.status.is_empty() {
            checks.push(Check::Status(when.status.clone()));
        }
        if !when.code.is_empty() {
            checks.push(Check::Code(when.code.clone()));
        }
        checks.extend(when.access.map(Check::Access));
        checks.extend(when.idempotent.map(Check::Idempotent));
        checks.extend(when.keyed.map(Check::Keyed));
        checks.extend(when.retry_after.map(Check::RetryAfter));
        if !when.attempt.is_empty() {
            checks.push(Check::Attempt(when.attempt.clone()));
        }
        if !when.tool.is_empty() {
            checks.push(Check::Tool(when.tool.iter().map(|glob| (glob.clone(), tool_glob(glob))).collect()));
        }
        checks.extend(when.message.iter().map(Check::message));
        checks
    }

    fn message(test: &MessageTest) -> Check {
        let patterns = match test.op {
            MessageOp::Matches => Patterns::Regexes(
                // `lower` has tried every pattern; one that does not compile can match nothing.
                test.any_of.iter().filter_map(|text| pattern::compile(text, test.case_sensitive).ok()).collect(),
            ),
            _ if test.case_sensitive => Patterns::Texts(test.any_of.clone()),
            _ => Patterns::Texts(test.any_of.iter().map(|text| text.to_lowercase()).collect()),
        };
        Check::Message { test: test.clone(), patterns }
    }

    /// Whether the condition holds.
    pub(super) fn holds(&self, signal: &Signal<'_>, lowered: &mut Lowered) -> bool {
        match self {
            Check::Kind(kinds) => signal.kind.is_some_and(|kind| kinds.iter().any(|known| known == kind)),
            Check::Code(codes) => signal.code.is_some_and(|code| codes.iter().any(|known| known == code)),
            Check::Status(ranges) => signal.status.is_some_and(|status| within(ranges, status)),
            Check::Attempt(ranges) => within(ranges, signal.attempt.get()),
            Check::Tool(globs) => globs.iter().any(|(name, glob)| match glob {
                Some(glob) => glob.is_match(signal.tool),
                None => name == signal.tool,
            }),
            Check::Access(access) => signal.access == *access,
            Check::Idempotent(idempotent) => signal.idempotent == *idempotent,
            Check::Keyed(keyed) => signal.keyed == *keyed,
            Check::RetryAfter(present) => signal.retry_after.is_some() == *present,
            Check::ErrorAbsent => !signal.has_error,
            Check::Message { test, patterns } => signal.message.is_some_and(|message| match patterns {
                Patterns::Regexes(regexes) => regexes.iter().any(|regex| regex.is_match(message)),
                Patterns::Texts(texts) => {
                    let message = if test.case_sensitive { message } else { lowered.of(message) };
                    texts.iter().any(|text| test_text(test.op, message, text))
                }
            }),
        }
    }

    /// What the condition asks, in words.
    pub(super) fn asked(&self) -> String {
        match self {
            Check::Kind(kinds) => format!("kind is {}", quoted(kinds)),
            Check::Code(codes) => format!("code is {}", quoted(codes)),
            Check::Status(ranges) => format!("status is {}", spans(ranges)),
            Check::Attempt(ranges) => format!("attempt is {}", spans(ranges)),
            Check::Tool(globs) => {
                format!("tool is {}", quoted(&globs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()))
            }
            Check::Access(access) => format!("tool {}", access_words(*access)),
            Check::Idempotent(yes) => format!("tool is {}idempotent", not(*yes)),
            Check::Keyed(yes) => format!("call is {}keyed", not(*yes)),
            Check::RetryAfter(yes) => format!("retry_after is {}", presence(*yes)),
            Check::ErrorAbsent => "error is absent".to_owned(),
            Check::Message { test, .. } => {
                let case = if test.case_sensitive { ", case counts" } else { "" };
                format!("message {} {}{case}", op_words(test.op), quoted(&test.any_of))
            }
        }
    }

    /// What the condition found in the signal, in words.
    pub(super) fn found(&self, signal: &Signal<'_>) -> String {
        let text = |name: &str, value: Option<&str>| match value {
            Some(value) => format!("{name} is `{value}`"),
            None => format!("there is no {name}"),
        };
        match self {
            Check::Kind(_) => text("kind", signal.kind),
            Check::Code(_) => text("code", signal.code),
            Check::Status(_) => signal.status.map_or("there is no status".to_owned(), |s| format!("status is {s}")),
            Check::Attempt(_) => format!("attempt is {}", signal.attempt),
            Check::Tool(_) => format!("tool is `{}`", signal.tool),
            Check::Access(_) => format!("tool {}", access_words(signal.access)),
            Check::Idempotent(_) => format!("tool is {}idempotent", not(signal.idempotent)),
            Check::Keyed(_) => format!("call is {}keyed", not(signal.keyed)),
            Check::RetryAfter(_) => format!("retry_after is {}", presence(signal.retry_after.is_some())),
            Check::ErrorAbsent => format!("error is {}", presence(signal.has_error)),
            Check::Message { .. } => text("message", signal.message),
        }
    }
}

/// The message in lower case, made at most once a signal.
#[derive(Default)]
pub(super) struct Lowered(Option<String>);

impl Lowered {
    fn of(&mut self, message: &str) -> &str {
        self.0.get_or_insert_with(|| message.to_lowercase())
    }
}

fn test_text(op: MessageOp, message: &str, text: &str) -> bool {
    match op {
        MessageOp::Contains => memchr::memmem::find(message.as_bytes(), text.as_bytes()).is_some(),
        MessageOp::StartsWith => message.starts_with(text),
        MessageOp::Equals => message == text,
        MessageOp::Matches => false, // regexes have their own arm
    }
}

fn tool_glob(tool: &str) -> Option<Glob> {
    is_glob(tool).then(|| Glob::new(tool).ok()).flatten()
}

fn within<T: PartialOrd + Copy>(ranges: &[Between<T>], value: T) -> bool {
    ranges.iter().any(|range| range.first <= value && value <= range.last)
}

fn quoted(texts: &[String]) -> String {
    let each: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    each.join(" or ")
}

fn spans<T: PartialEq + std::fmt::Display>(ranges: &[Between<T>]) -> String {
    let each: Vec<String> = ranges
        .iter()
        .map(|range| match range.first == range.last {
            true => range.first.to_string(),
            false => format!("{}-{}", range.first, range.last),
        })
        .collect();
    each.join(" or ")
}

fn op_words(op: MessageOp) -> &'static str {
    match op {
        MessageOp::Contains => "contains",
        MessageOp::StartsWith => "starts with",
        MessageOp::Equals => "is",
        MessageOp::Matches => "matches",
    }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::Read => "only reads",
        Access::Write => "writes",
    }
}

fn not(yes: bool) -> &'static str {
    if yes { "" } else { "not " }
}

fn presence(present: bool) -> &'static str {
    if present { "present" } else { "absent" }
}
