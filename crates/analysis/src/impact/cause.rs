//! Why a call is decided differently under the candidate, and what that means for safety. Values only.

use playproof_engine::ids::{RuleId, VerdictId};
use playproof_engine::words;

words! {
    /// Whether the candidate attempts more or less than the base.
    pub enum Direction {
        /// It attempts a write (or redeems a reversal token) where the base does not, or tells the agent that it may try
        /// again.
        Widening = "widening",
        /// It does not attempt a write (or a reversal) that the base attempts.
        Narrowing = "narrowing",
        /// As many writes are attempted.
        Neutral = "neutral",
    }
}

words! {
    /// One thing about a call that can change.
    pub enum ChangeKind {
        /// The verdicts of its failures.
        Verdict = "verdict",
        /// What was done about them, waits aside.
        Compensation = "compensation",
        /// How it ended.
        Outcome = "outcome",
        /// What is claimed of its effect, what the ledger holds, or whether it may be made twice.
        Effect = "effect",
        /// How often the upstream was asked.
        Upstream = "upstream",
        /// How long it waited.
        Delay = "delay",
        /// What its agent is told.
        Told = "told",
    }
}

impl ChangeKind {
    const fn place(self) -> usize {
        self as usize
    }
}

/// Counts of calls by what changed; a call may change in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Changes([u64; ChangeKind::ALL.len()]);

impl Changes {
    /// The calls that changed in `what`.
    pub const fn count(&self, what: ChangeKind) -> u64 {
        self.0[what.place()]
    }

    /// What changed at all, with its count.
    pub fn rows(&self) -> impl Iterator<Item = (ChangeKind, u64)> + '_ {
        ChangeKind::ALL.into_iter().map(|what| (what, self.count(what))).filter(|&(_, count)| count > 0)
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; ChangeKind::ALL.len()]
    }

    pub(super) const fn set(&mut self, what: ChangeKind, changed: bool) {
        self.0[what.place()] = changed as u64;
    }

    pub(super) fn merge(&mut self, later: &Changes) {
        for (mine, later) in self.0.iter_mut().zip(later.0) {
            *mine += later;
        }
    }
}

/// A rule, or `otherwise`, and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct RuleVerdict {
    pub rule: Option<RuleId>,
    pub verdict: VerdictId,
}

/// The first cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) enum CauseKey {
    /// The playbooks classify the same failure differently.
    Classified { base: RuleVerdict, candidate: RuleVerdict },
    /// This changed row makes the difference (an index into the changed rows).
    Row(usize),
    /// The tool facts differ: read or write, idempotent, repeatable.
    ToolFacts,
    /// No single row explains it.
    Several,
}
