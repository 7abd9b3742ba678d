//! What a rule can ask about a failed attempt: one list of conditions, each with the sort of test that it makes.
//! Whoever reads, compares, writes or changes what a rule asks visits this list. Asks nothing itself.

use std::collections::BTreeMap;

use super::Access;
use crate::words;

/// The most attempts that a playbook can give one call.
pub const MOST_ATTEMPTS: u64 = 1_000;
/// The largest status of a rule.
pub const MOST_STATUS: u64 = 999;

words! {
    /// The conditions of `when`, in the order in which they are told.
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
        Error = "error",
    }
}

/// How a condition is written, and so which [`ConditionTest`] it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSyntax {
    /// One text or several.
    Texts,
    /// One name or glob of tools, or several.
    Globs,
    /// Numbers and ranges of them, from the first to the last.
    Ranges(u64, u64),
    /// Tests of a message.
    Messages,
    /// `read` or `write`.
    Access,
    /// `true` or `false`.
    Bool,
    /// `present` or `absent`.
    Presence,
    /// `absent`.
    Absence,
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSubject {
    /// The error object; a failure without one has it not.
    Error,
    /// The tool.
    Tool,
    /// The call.
    Call,
}

impl ConditionKind {
    /// How it is written.
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
            | ConditionKind::RetryAfter => ConditionSubject::Error,
            ConditionKind::Tool | ConditionKind::Access | ConditionKind::Idempotent => ConditionSubject::Tool,
            ConditionKind::Keyed | ConditionKind::Attempt | ConditionKind::Error => ConditionSubject::Call,
        }
    }
}

/// What one condition asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionTest {
    /// It is one of these, to the letter.
    AnyOf(Vec<String>),
    /// It matches one of these globs.
    Globs(Vec<String>),
    /// It lies in one of these.
    Ranges(Vec<NumberRange>),
    /// Each of these holds.
    Messages(Vec<MessageTest>),
    /// The tool's access is this.
    Access(Access),
    /// It is so, or it is not.
    Is(bool),
    /// It is not there.
    Absent,
}

/// What a rule asks: every condition in it must hold, and what is not in it is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When(BTreeMap<ConditionKind, ConditionTest>);

impl When {
    /// Every condition, in the order in which they are told.
    pub fn iter(&self) -> impl Iterator<Item = (ConditionKind, &ConditionTest)> {
        self.0.iter().map(|(ask, test)| (*ask, test))
    }

    /// What is asked there.
    pub fn get(&self, ask: ConditionKind) -> Option<&ConditionTest> {
        self.0.get(&ask)
    }

    /// What is asked there, to change it.
    pub fn get_mut(&mut self, ask: ConditionKind) -> Option<&mut ConditionTest> {
        self.0.get_mut(&ask)
    }

    /// Asks something, instead of what was asked there before.
    pub fn set(&mut self, ask: ConditionKind, test: ConditionTest) {
        self.0.insert(ask, test);
    }

    /// Asks nothing there.
    pub fn remove(&mut self, ask: ConditionKind) {
        self.0.remove(&ask);
    }

    /// The same with something else asked.
    #[must_use]
    pub fn with(mut self, ask: ConditionKind, test: ConditionTest) -> When {
        self.set(ask, test);
        self
    }

    /// The texts or globs that are asked there; none if nothing is.
    pub fn texts(&self, ask: ConditionKind) -> &[String] {
        match self.get(ask) {
            Some(ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts)) => texts,
            _ => &[],
        }
    }

    /// The ranges that are asked there; none if nothing is.
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

    /// Whether something is to be so; none if it is not asked.
    pub fn is(&self, ask: ConditionKind) -> Option<bool> {
        match self.get(ask) {
            Some(ConditionTest::Is(is)) => Some(*is),
            _ => None,
        }
    }

    /// The access that is asked.
    pub fn access(&self) -> Option<Access> {
        match self.get(ConditionKind::Access) {
            Some(ConditionTest::Access(access)) => Some(*access),
            _ => None,
        }
    }

    /// Whether it asks for something that only an error object has.
    pub fn requires_error(&self) -> bool {
        self.iter().any(|(ask, test)| ask.about() == ConditionSubject::Error && *test != ConditionTest::Is(false))
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
    /// Which test.
    pub op: MessageOp,
    /// It holds if it holds for any of these; for `Matches`, valid regular expressions.
    pub any_of: Vec<String>,
    /// Whether letters must agree in case.
    pub case_sensitive: bool,
}

words! {
    /// The ways to test a message, in the order in which they are told.
    pub enum MessageOp {
        /// The text is somewhere in the message.
        Contains = "contains",
        /// The message begins with the text.
        StartsWith = "starts_with",
        /// The message is the text.
        Equals = "equals",
        /// The regular expression matches somewhere in the message.
        Matches = "matches",
    }
}
