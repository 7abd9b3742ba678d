//! Why a call goes another way under the candidate, and what that means for safety. Values only.

use crate::ids::{RuleId, VerdictId};

/// Whether the candidate attempts more or less than the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// It attempts a write (or redeems a reversal token) where the base does not.
    Widening,
    /// It does not attempt a write (or a reversal) that the base attempts.
    Narrowing,
    /// As many writes are attempted.
    Neutral,
}

impl Direction {
    /// Every direction, the one to look at first in front.
    pub const ALL: [Direction; 3] = [Direction::Widening, Direction::Narrowing, Direction::Neutral];

    /// The word of the pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::Widening => "widening",
            Direction::Narrowing => "narrowing",
            Direction::Neutral => "neutral",
        }
    }
}

/// One thing about a call that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The verdicts of its failures.
    Verdict,
    /// What was done about them, waits aside.
    Compensation,
    /// How it ended.
    Outcome,
    /// What is claimed of its effect, what the ledger holds, or whether it may be made twice.
    Effect,
    /// How often the upstream was asked.
    Upstream,
    /// How long it waited.
    Delay,
}

impl Change {
    /// Every change, in the order of the pages.
    pub const ALL: [Change; 6] =
        [Change::Verdict, Change::Compensation, Change::Outcome, Change::Effect, Change::Upstream, Change::Delay];

    /// The word of the pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Change::Verdict => "verdict",
            Change::Compensation => "compensation",
            Change::Outcome => "outcome",
            Change::Effect => "effect",
            Change::Upstream => "upstream",
            Change::Delay => "delay",
        }
    }

    const fn place(self) -> usize {
        self as usize
    }
}

/// How many calls changed in what; a call may change in several things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes([u64; Change::ALL.len()]);

impl Changes {
    /// The calls that changed in `what`.
    pub const fn count(&self, what: Change) -> u64 {
        self.0[what.place()]
    }

    /// What changed at all, with its count.
    pub fn rows(&self) -> impl Iterator<Item = (Change, u64)> + '_ {
        Change::ALL.into_iter().map(|what| (what, self.count(what))).filter(|&(_, count)| count > 0)
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; Change::ALL.len()]
    }

    pub(super) const fn set(&mut self, what: Change, changed: bool) {
        self.0[what.place()] = changed as u64;
    }

    pub(super) fn merge(&mut self, later: &Changes) {
        for (mine, later) in self.0.iter_mut().zip(later.0) {
            *mine += later;
        }
    }
}

/// What a rule, or `otherwise`, said of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    pub rule: Option<RuleId>,
    pub verdict: VerdictId,
}

/// The first thing that made a call go another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// The two playbooks read the same failure in two ways.
    Classified { base: Said, candidate: Said },
    /// They read it alike, and this changed row (by its place among the changed ones) makes the difference.
    Row(usize),
    /// The call's tool is another one to them: read or write, idempotent, repeatable.
    ToolFacts,
    /// No single row explains it.
    Several,
}
