//! Relations of two rules' conditions: whether both can match one failure, and whether one matches everything that the
//! other matches. Conservative: answers only what is certain.

use std::cell::RefCell;
use std::collections::BTreeMap;

use regex::Regex;

use super::example_texts;
use playproof_engine::glob::{Glob, is_glob};
use playproof_engine::playbook::{
    ConditionKind, ConditionSubject, ConditionTest, MessageOp, MessageTest, NumberRange, When, clause, pattern,
};

/// The regular expressions of a playbook, each compiled once: rules are compared pair by pair.
#[derive(Debug, Default)]
pub(super) struct Regexes(RefCell<BTreeMap<(String, bool), Option<Regex>>>);

impl Regexes {
    /// Whether `pattern` matches somewhere in `text`; none if it does not compile.
    fn is_match(&self, pattern: &str, case_sensitive: bool, text: &str) -> Option<bool> {
        let mut known = self.0.borrow_mut();
        let compile = || pattern::compile(pattern, case_sensitive).ok();
        let regex = known.entry((pattern.to_owned(), case_sensitive)).or_insert_with(compile);
        regex.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Whether no failure can match both rules.
pub(super) fn are_disjoint(a: &When, b: &When) -> bool {
    let wants_none = |a: &When, b: &When| a.get(ConditionKind::Error).is_some() && b.requires_error();
    a.iter().any(|(ask, test)| b.get(ask).is_some_and(|other| are_apart(test, other)))
        || wants_none(a, b)
        || wants_none(b, a)
}

/// Whether no value holds for both tests of one condition.
fn are_apart(a: &ConditionTest, b: &ConditionTest) -> bool {
    let no_common = |a: &[String], b: &[String]| !a.iter().any(|text| b.contains(text));
    match (a, b) {
        (ConditionTest::AnyOf(a), ConditionTest::AnyOf(b)) => no_common(a, b),
        (ConditionTest::Globs(a), ConditionTest::Globs(b)) => {
            a.iter().chain(b).all(|tool| !is_glob(tool)) && no_common(a, b)
        }
        (ConditionTest::Ranges(a), ConditionTest::Ranges(b)) => {
            !a.iter().any(|a| b.iter().any(|b| a.first <= b.last && b.first <= a.last))
        }
        (ConditionTest::Headers(a), ConditionTest::Headers(b)) => {
            a.iter().all(|a| b.iter().all(|b| a.is_apart_from(b)))
        }
        (ConditionTest::Messages(_), _) | (_, ConditionTest::Messages(_)) => false, // one message can satisfy any two tests
        (a, b) => a != b,
    }
}

/// Whether one condition follows from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// It follows.
    Yes,
    /// A regular expression makes it undecided.
    Undecided,
    /// It does not follow, or it is not certain.
    No,
}

/// Whether every failure that matches `narrow` matches `wide` too.
pub(super) fn covers(regexes: &Regexes, wide: &When, narrow: &When) -> Follows {
    let plain = wide.iter().all(|(ask, test)| match narrow.get(ask) {
        Some(given) => includes(test, given),
        None => {
            ask == ConditionKind::Message
                || (test.holds_without_error()
                    && ask.about() == ConditionSubject::Error
                    && narrow.get(ConditionKind::Error).is_some())
        }
    });
    if !plain {
        return Follows::No;
    }
    let follows = wide
        .messages()
        .iter()
        .map(|test| message_follows(regexes, test, narrow.messages()))
        .max()
        .unwrap_or(Follows::Yes);
    if follows == Follows::Undecided && has_counterexample(regexes, wide.messages(), narrow.messages()) {
        return Follows::No;
    }
    follows
}

/// Whether every value that satisfies `narrow` satisfies `wide`, except for messages, which are compared one by one.
fn includes(wide: &ConditionTest, narrow: &ConditionTest) -> bool {
    match (wide, narrow) {
        (ConditionTest::AnyOf(wide), ConditionTest::AnyOf(narrow)) => narrow.iter().all(|text| wide.contains(text)),
        (ConditionTest::Globs(wide), ConditionTest::Globs(narrow)) => {
            narrow.iter().all(|narrow| wide.iter().any(|wide| tool_covers(wide, narrow)))
        }
        (ConditionTest::Ranges(wide), ConditionTest::Ranges(narrow)) => within(wide, narrow),
        (ConditionTest::Headers(wide), ConditionTest::Headers(narrow)) => {
            narrow.iter().all(|narrow| wide.iter().any(|wide| wide.covers(narrow)))
        }
        (ConditionTest::Messages(_), _) => true,
        (wide, narrow) => wide == narrow,
    }
}

/// Whether every tool that `narrow` matches `wide` matches too.
pub(super) fn tool_covers(wide: &str, narrow: &str) -> bool {
    if wide == narrow {
        return true;
    }
    if !is_glob(narrow) {
        return Glob::of_tools(wide).is_ok_and(|glob| glob.is_some_and(|glob| glob.is_match(narrow)));
    }
    // `search.**` covers every glob with this prefix; `search.*` only those that stay on one level.
    let prefix = wide.trim_end_matches('*');
    let Some(rest) = narrow.strip_prefix(prefix).filter(|_| !is_glob(prefix) && !prefix.contains('\\')) else {
        return false;
    };
    match wide.len() - prefix.len() {
        0 => false,
        1 => !rest.contains('.') && !rest.contains("**"),
        _ => true,
    }
}

/// Whether the union of `wide` covers each range of `narrow`.
fn within(wide: &[NumberRange], narrow: &[NumberRange]) -> bool {
    let mut sorted = wide.to_vec();
    sorted.sort_by_key(|range| range.first);
    let inside = |range: &NumberRange| {
        let mut next = range.first;
        for wide in &sorted {
            if wide.first <= next && next <= wide.last {
                next = wide.last.saturating_add(1);
            }
        }
        next > range.last
    };
    narrow.iter().all(inside)
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
        (MessageOp::Equals, MessageOp::Equals) | (MessageOp::Clause, MessageOp::Clause) => text == wanted,
        (MessageOp::Clause, MessageOp::Equals) => clause::is_framed(&text, &wanted),
        _ => false,
    };
    if holds { Follows::Yes } else { Follows::No }
}

/// A regular expression without special characters is the same as `contains`.
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

/// Whether an example message satisfies all of `narrow` but not all of `wide`.
fn has_counterexample(regexes: &Regexes, wide: &[MessageTest], narrow: &[MessageTest]) -> bool {
    example_texts::of_tests(narrow).into_iter().any(|message| {
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
        MessageOp::Clause => clause::is_framed(&folded, &fold(text)),
    })
}
