//! How the conditions of two rules relate: whether both can match one failure, and whether all that one matches the
//! other matches too. Conservative: says only what is certain.

use std::cell::RefCell;
use std::collections::BTreeMap;

use regex::Regex;

use super::model::{Between, MessageOp, MessageTest, When};
use super::{pattern, words};
use crate::glob::{Glob, WILDCARDS, is_glob};

/// The regular expressions of a playbook, each compiled once: rules are compared pair by pair.
#[derive(Debug, Default)]
pub(super) struct Regexes(RefCell<BTreeMap<(String, bool), Option<Regex>>>);

impl Regexes {
    /// Whether `pattern` matches somewhere in `text`; none if it is no expression.
    fn is_match(&self, pattern: &str, case_sensitive: bool, text: &str) -> Option<bool> {
        let mut known = self.0.borrow_mut();
        let compile = || pattern::compile(pattern, case_sensitive).ok();
        let regex = known.entry((pattern.to_owned(), case_sensitive)).or_insert_with(compile);
        regex.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Whether no failure can match both.
pub(super) fn are_disjoint(a: &When, b: &When) -> bool {
    differ(a.access, b.access)
        || differ(a.idempotent, b.idempotent)
        || differ(a.keyed, b.keyed)
        || differ(a.retry_after, b.retry_after)
        || no_common(&a.kind, &b.kind)
        || no_common(&a.code, &b.code)
        || (a.tool.iter().chain(&b.tool).all(|tool| !is_glob(tool)) && no_common(&a.tool, &b.tool))
        || apart(&a.status, &b.status)
        || apart(&a.attempt, &b.attempt)
        || (a.error_absent && asks_the_error(b))
        || (b.error_absent && asks_the_error(a))
}

/// Whether the rule asks for something that only an error object has.
pub(super) fn asks_the_error(when: &When) -> bool {
    !(when.kind.is_empty() && when.message.is_empty() && when.status.is_empty() && when.code.is_empty())
        || when.retry_after == Some(true)
}

fn differ<T: PartialEq + Copy>(a: Option<T>, b: Option<T>) -> bool {
    a.is_some() && b.is_some() && a != b
}

fn no_common(a: &[String], b: &[String]) -> bool {
    !a.is_empty() && !b.is_empty() && !a.iter().any(|text| b.contains(text))
}

fn apart<T: PartialOrd>(a: &[Between<T>], b: &[Between<T>]) -> bool {
    !a.is_empty() && !b.is_empty() && !a.iter().any(|a| b.iter().any(|b| a.first <= b.last && b.first <= a.last))
}

/// Whether one thing follows from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// It does.
    Yes,
    /// A regular expression is asked that this does not decide.
    Undecided,
    /// It is not certain, or certainly not so.
    No,
}

/// Whether every failure that matches `narrow` matches `wide` too.
pub(super) fn covers(regexes: &Regexes, wide: &When, narrow: &When) -> Follows {
    let plain = asked_too(wide.access, narrow.access)
        && asked_too(wide.idempotent, narrow.idempotent)
        && asked_too(wide.keyed, narrow.keyed)
        && (asked_too(wide.retry_after, narrow.retry_after)
            || (wide.retry_after == Some(false) && narrow.error_absent))
        && (!wide.error_absent || narrow.error_absent)
        && all_among(&wide.kind, &narrow.kind, |wide, narrow| wide == narrow)
        && all_among(&wide.code, &narrow.code, |wide, narrow| wide == narrow)
        && all_among(&wide.tool, &narrow.tool, tool_covers)
        && within(&wide.status, &narrow.status)
        && within(&wide.attempt, &narrow.attempt);
    if !plain {
        return Follows::No;
    }
    let follows =
        wide.message.iter().map(|test| message_follows(regexes, test, &narrow.message)).max().unwrap_or(Follows::Yes);
    if follows == Follows::Undecided && some_message_escapes(regexes, &wide.message, &narrow.message) {
        return Follows::No;
    }
    follows
}

fn asked_too<T: PartialEq + Copy>(wide: Option<T>, narrow: Option<T>) -> bool {
    wide.is_none() || wide == narrow
}

fn all_among(wide: &[String], narrow: &[String], covers: impl Fn(&str, &str) -> bool) -> bool {
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|narrow| wide.iter().any(|wide| covers(wide, narrow))))
}

/// Whether every tool that `narrow` matches `wide` matches too.
pub(super) fn tool_covers(wide: &str, narrow: &str) -> bool {
    if wide == narrow {
        return true;
    }
    if !is_glob(narrow) {
        return is_glob(wide) && Glob::new(wide).is_ok_and(|glob| glob.is_match(narrow));
    }
    // `search.*` covers `search.web.*`: all that begins so.
    let prefix = wide.trim_end_matches('*');
    let fixed = narrow.find(WILDCARDS).map_or(narrow, |end| &narrow[..end]);
    prefix.len() < wide.len() && !is_glob(prefix) && !prefix.contains('\\') && fixed.starts_with(prefix)
}

/// Whether each range of `narrow` lies in the union of `wide`.
fn within<T: Copy + Ord + Into<u64>>(wide: &[Between<T>], narrow: &[Between<T>]) -> bool {
    let mut sorted = wide.to_vec();
    sorted.sort_by_key(|range| range.first);
    let inside = |range: &Between<T>| {
        let mut next: u64 = range.first.into();
        for wide in &sorted {
            if wide.first.into() <= next && next <= wide.last.into() {
                next = wide.last.into() + 1;
            }
        }
        next > range.last.into()
    };
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(inside))
}

/// Whether `test` holds for every message for which all of `given` hold.
fn message_follows(regexes: &Regexes, test: &MessageTest, given: &[MessageTest]) -> Follows {
    given.iter().map(|given| test_follows(regexes, test, given)).min().unwrap_or(Follows::No)
}

fn test_follows(regexes: &Regexes, test: &MessageTest, given: &MessageTest) -> Follows {
    let each = given.any_of.iter().map(|text| {
        let follows = |wanted: &String| text_follows(regexes, test, wanted, given, text);
        test.any_of.iter().map(follows).min().unwrap_or(Follows::No)
    });
    each.max().unwrap_or(Follows::No)
}

/// Whether `wanted` of `test` holds for every message for which `text` of `given` holds.
fn text_follows(regexes: &Regexes, test: &MessageTest, wanted: &str, given: &MessageTest, text: &str) -> Follows {
    let has_case = |text: &str| text.chars().any(|c| c.is_lowercase() || c.is_uppercase());
    if test.case_sensitive && !given.case_sensitive && has_case(text) {
        return if test.op == MessageOp::Matches { Follows::Undecided } else { Follows::No };
    }
    let (wanted_op, given_op) = (plain_op(test.op, wanted), plain_op(given.op, text));
    if wanted_op == MessageOp::Matches || given_op == MessageOp::Matches {
        return regex_follows(regexes, test, wanted, given, text);
    }
    let fold = |text: &str| if test.case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let (wanted, text) = (fold(wanted), fold(text));
    let holds = match (wanted_op, given_op) {
        (MessageOp::Contains, _) => text.contains(&wanted),
        (MessageOp::StartsWith, MessageOp::StartsWith | MessageOp::Equals) => text.starts_with(&wanted),
        (MessageOp::Equals, MessageOp::Equals) => text == wanted,
        _ => false,
    };
    if holds { Follows::Yes } else { Follows::No }
}

/// A regular expression without special characters asks what `contains` asks.
fn plain_op(op: MessageOp, text: &str) -> MessageOp {
    let special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    if op == MessageOp::Matches && !text.contains(special) { MessageOp::Contains } else { op }
}

fn regex_follows(regexes: &Regexes, test: &MessageTest, wanted: &str, given: &MessageTest, text: &str) -> Follows {
    let given_op = plain_op(given.op, text);
    if given_op == MessageOp::Matches {
        let same = test.op == MessageOp::Matches && wanted == text;
        return if same && (given.case_sensitive || !test.case_sensitive) { Follows::Yes } else { Follows::Undecided };
    }
    // Without anchors and boundaries, what matches a part matches the whole.
    let local = !wanted.contains(['^', '$', '\\']);
    match regexes.is_match(wanted, test.case_sensitive, text) {
        Some(true) if local || given_op == MessageOp::Equals => Follows::Yes,
        _ => Follows::Undecided,
    }
}

/// Whether a message can be found for which all of `narrow` hold and one of `wide` does not.
fn some_message_escapes(regexes: &Regexes, wide: &[MessageTest], narrow: &[MessageTest]) -> bool {
    words::of_tests(narrow).into_iter().any(|message| {
        let all_hold = |tests: &[MessageTest]| tests.iter().all(|test| holds(regexes, test, &message));
        all_hold(narrow) && !all_hold(wide)
    })
}

fn holds(regexes: &Regexes, test: &MessageTest, message: &str) -> bool {
    let fold = |text: &str| if test.case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let folded = fold(message);
    test.any_of.iter().any(|text| match test.op {
        MessageOp::Contains => folded.contains(&fold(text)),
        MessageOp::StartsWith => folded.starts_with(&fold(text)),
        MessageOp::Equals => folded == fold(text),
        MessageOp::Matches => regexes.is_match(text, test.case_sensitive, message) == Some(true),
    })
}
