//! Relations of two rules' conditions: whether both can match one failure, and whether one matches everything that the
//! other matches. Conservative: answers only what is certain.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use super::example_texts::{self, RegexTexts};
use crate::steps;
use playproof_engine::glob::{Glob, is_glob};
use playproof_engine::playbook::{
    ConditionKind, ConditionSubject, ConditionTest, MessageOp, MessageTest, NumberRange, Playbook, When, clause,
    pattern::Pattern,
};

/// The conditions of a rule as they are compared. Rules are compared pair by pair, so what one rule alone decides is
/// computed once.
#[derive(Clone, Debug)]
pub(super) struct Compared<'a> {
    when: Cow<'a, When>,
    messages: Rc<Messages>,
}

/// The tests of messages of one rule.
#[derive(Debug)]
struct Messages {
    tests: Vec<Test>,
    /// Messages for which all tests hold.
    examples: OnceCell<Vec<String>>,
}

#[derive(Debug)]
struct Test {
    op: MessageOp,
    case_sensitive: bool,
    any_of: Vec<Text>,
}

#[derive(Debug)]
struct Text {
    written: String,
    /// In lowercase, if case does not matter to the test.
    folded: String,
    /// In lowercase.
    lower: String,
    has_case: bool,
    /// How the text is compared: a regular expression without special characters is the same as `contains`.
    op: MessageOp,
    /// Of a test with `matches`.
    pattern: Option<Pattern>,
}

impl<'a> Compared<'a> {
    /// The conditions of one rule.
    pub(super) fn of(when: &'a When) -> Compared<'a> {
        let tests = when.messages().iter().map(Test::of).collect();
        Compared { when: Cow::Borrowed(when), messages: Rc::new(Messages { tests, examples: OnceCell::new() }) }
    }

    /// Those of each rule, by `RuleId`.
    pub(super) fn rules(playbook: &'a Playbook) -> Vec<Compared<'a>> {
        playbook.rules.iter().map(|rule| Compared::of(&rule.when)).collect()
    }

    /// The same tests of messages beside other conditions.
    pub(super) fn beside(&self, when: When) -> Compared<'a> {
        Compared { when: Cow::Owned(when), messages: Rc::clone(&self.messages) }
    }

    /// The conditions.
    pub(super) fn when(&self) -> &When {
        &self.when
    }

    fn examples(&self) -> &[String] {
        let all_hold = |message: &String| self.messages.hold(message);
        let texts = || example_texts::of_tests(self.when.messages(), &mut RegexTexts::default());
        let examples = || texts().into_iter().filter(all_hold).collect();
        self.messages.examples.get_or_init(examples)
    }
}

impl Messages {
    /// Whether all tests hold for `message`.
    fn hold(&self, message: &str) -> bool {
        let lower = message.to_lowercase();
        self.tests.iter().all(|test| test.holds(message, if test.case_sensitive { message } else { &lower }))
    }
}

impl Test {
    fn of(test: &MessageTest) -> Test {
        let MessageTest { op, case_sensitive, ref any_of } = *test;
        let text = |written: &String| {
            steps::count(1);
            let lower = written.to_lowercase();
            Text {
                folded: if case_sensitive { written.clone() } else { lower.clone() },
                lower,
                has_case: written.chars().any(|c| c.is_lowercase() || c.is_uppercase()),
                op: plain_op(op, written),
                pattern: (op == MessageOp::Matches).then(|| Pattern::new(written, case_sensitive)),
                written: written.clone(),
            }
        };
        Test { op, case_sensitive, any_of: any_of.iter().map(text).collect() }
    }

    /// Whether it holds for `message`, which is `folded` as the test folds texts.
    fn holds(&self, message: &str, folded: &str) -> bool {
        self.any_of.iter().any(|text| match self.op {
            MessageOp::Contains => folded.contains(&text.folded),
            MessageOp::StartsWith => folded.starts_with(&text.folded),
            MessageOp::Equals => folded == text.folded,
            MessageOp::Matches => text.pattern.as_ref().is_some_and(|pattern| pattern.is_match(message)),
            MessageOp::Clause => clause::is_framed(folded, &text.folded),
        })
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

/// Whether every failure that matches `narrow` matches `wide` too. An example may answer what a regular expression leaves
/// undecided.
pub(super) fn covers(wide: &Compared<'_>, narrow: &Compared<'_>) -> Follows {
    let follows = covers_by_words(wide, narrow);
    let is_counterexample = |message: &String| !wide.messages.hold(message);
    if follows == Follows::Undecided && narrow.examples().iter().any(is_counterexample) {
        return Follows::No;
    }
    follows
}

/// The same without examples, which never make it certain.
pub(super) fn covers_by_words(wide: &Compared<'_>, narrow: &Compared<'_>) -> Follows {
    let given = narrow.when();
    let plain = wide.when().iter().all(|(ask, test)| match given.get(ask) {
        Some(given) => includes(test, given),
        None => {
            ask == ConditionKind::Message
                || (test.holds_without_error()
                    && ask.about() == ConditionSubject::Error
                    && given.get(ConditionKind::Error).is_some())
        }
    });
    if !plain {
        return Follows::No;
    }
    let given = &narrow.messages.tests;
    wide.messages.tests.iter().map(|test| message_follows(test, given)).max().unwrap_or(Follows::Yes)
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
fn message_follows(test: &Test, given: &[Test]) -> Follows {
    given.iter().map(|given| test_follows(test, given)).min().unwrap_or(Follows::No)
}

fn test_follows(test: &Test, given: &Test) -> Follows {
    let each = given.any_of.iter().map(|text| {
        let follows = |wanted: &Text| text_follows(test, wanted, given, text);
        test.any_of.iter().map(follows).min().unwrap_or(Follows::No)
    });
    each.max().unwrap_or(Follows::No)
}

/// Whether `wanted` of `test` holds for every message for which `text` of `given` holds.
fn text_follows(test: &Test, wanted: &Text, given: &Test, text: &Text) -> Follows {
    if test.case_sensitive && !given.case_sensitive && text.has_case {
        return if test.op == MessageOp::Matches { Follows::Undecided } else { Follows::No };
    }
    if wanted.op == MessageOp::Matches || text.op == MessageOp::Matches {
        return regex_follows(test, wanted, given, text);
    }
    let words = if test.case_sensitive { &text.written } else { &text.lower };
    let holds = match (wanted.op, text.op) {
        (MessageOp::Contains, _) => words.contains(&wanted.folded),
        (MessageOp::StartsWith, MessageOp::StartsWith | MessageOp::Equals) => words.starts_with(&wanted.folded),
        (MessageOp::Equals, MessageOp::Equals) | (MessageOp::Clause, MessageOp::Clause) => *words == wanted.folded,
        (MessageOp::Clause, MessageOp::Equals) => clause::is_framed(words, &wanted.folded),
        _ => false,
    };
    if holds { Follows::Yes } else { Follows::No }
}

fn plain_op(op: MessageOp, text: &str) -> MessageOp {
    let special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    if op == MessageOp::Matches && !text.contains(special) { MessageOp::Contains } else { op }
}

fn regex_follows(test: &Test, wanted: &Text, given: &Test, text: &Text) -> Follows {
    if text.op == MessageOp::Matches {
        let same = test.op == MessageOp::Matches && wanted.written == text.written;
        return if same && (given.case_sensitive || !test.case_sensitive) { Follows::Yes } else { Follows::Undecided };
    }
    // Without anchors and boundaries, what matches a part matches the whole.
    let local = !wanted.written.contains(['^', '$', '\\']);
    match wanted.pattern.as_ref().map(|pattern| pattern.is_match(&text.written)) {
        Some(true) if local || text.op == MessageOp::Equals => Follows::Yes,
        _ => Follows::Undecided,
    }
}
