//! The conditions of rules: one list, each condition with its kind of test. All code that reads, compares, writes or
//! changes conditions visits this list. Evaluates nothing itself.

use std::collections::BTreeMap;

use super::header::HeaderTest;
use super::{Access, clause};
use crate::words;

/// The most attempts that a playbook can give one call.
pub const MOST_ATTEMPTS: u64 = 1_000;
/// The largest status of a rule.
pub const MOST_STATUS: u64 = 999;

words! {
    /// The conditions of `when`, in the order in which they are shown.
    pub enum ConditionKind {
        Kind = "kind",
        Message = "message",
        Status = "status",
        Code = "code",
        Tool = "tool",
        Access = "access",
        Idempotent = "idempotent",
        Keyed = "keyed",
        Attempt = "attempt",
        RetryAfter = "retry_after",
        ShouldRetry = "should_retry",
        Header = "header",
        Error = "error",
    }
}

/// How a condition is written, which determines its [`ConditionTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSyntax {
    /// One text or several.
    Texts,
    /// One tool name or glob, or several.
    Globs,
    /// Numbers and ranges, within the given bounds.
    Ranges(u64, u64),
    /// Tests of a message.
    Messages,
    /// `read` or `write`.
    Access,
    /// `true` or `false`.
    Bool,
    /// `true` or `false`, of what an error may also leave unsaid.
    Said,
    /// A test of a header, or several.
    Headers,
    /// `present` or `absent`.
    Presence,
    /// `absent`.
    Absence,
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSubject {
    /// The error object, which a failure may lack.
    Error,
    /// The tool.
    Tool,
    /// The call.
    Call,
}

impl ConditionKind {
    /// Its syntax.
    pub const fn form(self) -> ConditionSyntax {
        match self {
            ConditionKind::Kind | ConditionKind::Code => ConditionSyntax::Texts,
            ConditionKind::Message => ConditionSyntax::Messages,
            ConditionKind::Status => ConditionSyntax::Ranges(0, MOST_STATUS),
            ConditionKind::Tool => ConditionSyntax::Globs,
            ConditionKind::Access => ConditionSyntax::Access,
            ConditionKind::Idempotent | ConditionKind::Keyed => ConditionSyntax::Bool,
            ConditionKind::Attempt => ConditionSyntax::Ranges(1, MOST_ATTEMPTS),
            ConditionKind::RetryAfter => ConditionSyntax::Presence,
            ConditionKind::ShouldRetry => ConditionSyntax::Said,
            ConditionKind::Header => ConditionSyntax::Headers,
            ConditionKind::Error => ConditionSyntax::Absence,
        }
    }

    /// What it is about.
    pub const fn about(self) -> ConditionSubject {
        match self {
            ConditionKind::Kind
            | ConditionKind::Message
            | ConditionKind::Status
            | ConditionKind::Code
            | ConditionKind::RetryAfter
            | ConditionKind::ShouldRetry
            | ConditionKind::Header => ConditionSubject::Error,
            ConditionKind::Tool | ConditionKind::Access | ConditionKind::Idempotent => ConditionSubject::Tool,
            ConditionKind::Keyed | ConditionKind::Attempt | ConditionKind::Error => ConditionSubject::Call,
        }
    }
}

/// The test of one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionTest {
    /// It equals one of these.
    AnyOf(Vec<String>),
    /// It matches one of these globs.
    Globs(Vec<String>),
    /// It is in one of these.
    Ranges(Vec<NumberRange>),
    /// Each of these holds.
    Messages(Vec<MessageTest>),
    /// The tool's access is this.
    Access(Access),
    /// It is true, or it is false.
    Is(bool),
    /// The error says it so.
    Said(bool),
    /// One of these holds.
    Headers(Vec<HeaderTest>),
    /// It is absent.
    Absent,
}

impl ConditionTest {
    /// Whether a condition on the error also holds for a failure without an error object.
    pub fn holds_without_error(&self) -> bool {
        match self {
            ConditionTest::Is(is) => !is,
            ConditionTest::Headers(tests) => tests.iter().any(|test| !test.requires_presence()),
            _ => false,
        }
    }
}

/// The conditions of a rule: all of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When(BTreeMap<ConditionKind, ConditionTest>);

impl When {
    /// Every condition, in the order in which they are shown.
    pub fn iter(&self) -> impl Iterator<Item = (ConditionKind, &ConditionTest)> {
        self.0.iter().map(|(ask, test)| (*ask, test))
    }

    /// The test of a condition.
    pub fn get(&self, ask: ConditionKind) -> Option<&ConditionTest> {
        self.0.get(&ask)
    }

    /// The test of a condition, to change it.
    pub fn get_mut(&mut self, ask: ConditionKind) -> Option<&mut ConditionTest> {
        self.0.get_mut(&ask)
    }

    /// Sets the test of a condition.
    pub fn set(&mut self, ask: ConditionKind, test: ConditionTest) {
        self.0.insert(ask, test);
    }

    /// Removes a condition.
    pub fn remove(&mut self, ask: ConditionKind) {
        self.0.remove(&ask);
    }

    /// The same with this condition set.
    #[must_use]
    pub fn with(mut self, ask: ConditionKind, test: ConditionTest) -> When {
        self.set(ask, test);
        self
    }

    /// The texts or globs of a condition; empty without the condition.
    pub fn texts(&self, ask: ConditionKind) -> &[String] {
        match self.get(ask) {
            Some(ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts)) => texts,
            _ => &[],
        }
    }

    /// The ranges of a condition; empty without the condition.
    pub fn ranges(&self, ask: ConditionKind) -> &[NumberRange] {
        match self.get(ask) {
            Some(ConditionTest::Ranges(ranges)) => ranges,
            _ => &[],
        }
    }

    /// The tests of the message.
    pub fn messages(&self) -> &[MessageTest] {
        match self.get(ConditionKind::Message) {
            Some(ConditionTest::Messages(tests)) => tests,
            _ => &[],
        }
    }

    /// The flag of a condition; none without the condition.
    pub fn is(&self, ask: ConditionKind) -> Option<bool> {
        match self.get(ask) {
            Some(ConditionTest::Is(is)) => Some(*is),
            _ => None,
        }
    }

    /// The tests of headers, of which one must hold; empty without the condition.
    pub fn headers(&self) -> &[HeaderTest] {
        match self.get(ConditionKind::Header) {
            Some(ConditionTest::Headers(tests)) => tests,
            _ => &[],
        }
    }

    /// What the error must say of sending again, if anything.
    pub fn said(&self) -> Option<bool> {
        match self.get(ConditionKind::ShouldRetry) {
            Some(ConditionTest::Said(said)) => Some(*said),
            _ => None,
        }
    }

    /// The access that the rule requires, if any.
    pub fn access(&self) -> Option<Access> {
        match self.get(ConditionKind::Access) {
            Some(ConditionTest::Access(access)) => Some(*access),
            _ => None,
        }
    }

    /// Whether it requires something that only an error object has.
    pub fn requires_error(&self) -> bool {
        self.iter().any(|(ask, test)| ask.about() == ConditionSubject::Error && !test.holds_without_error())
    }
}

/// An inclusive range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The first value inside.
    pub first: u32,
    /// The last value inside, not below `first`.
    pub last: u32,
}

/// One test of an error's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageTest {
    /// The comparison.
    pub op: MessageOp,
    /// It holds if it holds for any of these; for `Matches`, valid regular expressions.
    pub any_of: Vec<String>,
    /// Whether case matters.
    pub case_sensitive: bool,
}

words! {
    /// The ways to test a message, in the order in which they are shown.
    pub enum MessageOp {
        /// The text is somewhere in the message.
        Contains = "contains",
        /// The message begins with the text.
        StartsWith = "starts_with",
        /// The message is the text.
        Equals = "equals",
        /// The regular expression matches somewhere in the message.
        Matches = "matches",
        /// The whole message is one clause that begins or ends with the text.
        Clause = "clause",
    }
}

impl MessageOp {
    /// Whether a message fits a text, in the case of both. No regular expression does: each is compiled once, elsewhere.
    pub fn fits(self, message: &str, text: &str) -> bool {
        match self {
            MessageOp::Contains => message.contains(text),
            MessageOp::StartsWith => message.starts_with(text),
            MessageOp::Equals => message == text,
            MessageOp::Clause => clause::is_framed(message, text),
            MessageOp::Matches => false,
        }
    }
}
