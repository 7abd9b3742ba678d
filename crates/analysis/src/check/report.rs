//! The result of a check: counts, order and status. Draws nothing and knows no exit codes.

use super::case::{CaseResult, GoldenState};
use super::rows::PlaybookRows;
use crate::kept::JudgedKept;
use playproof_formats::golden::Class;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// By playbook, then fixture.
    pub results: Vec<CaseResult>,
    /// Goldens without a fixture, as paths.
    pub orphans: Vec<String>,
    /// Playbooks whose rows differ from the approved ones.
    pub rows: Vec<PlaybookRows>,
    /// Whether the check ended at the first result that does not pass.
    pub ended_early: bool,
    /// The kept calls. None of them decides whether the check passes.
    pub kept: Vec<JudgedKept>,
}

/// Counts of results. A run that contradicts its `expect` also counts under its class, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// As accepted.
    pub passed: usize,
    /// The run contradicts its fixture.
    pub contradicting: usize,
    /// By the worst class, in the order of [`Class::ALL`].
    pub diverged: [usize; 6],
    /// No golden yet.
    pub missing: usize,
    /// A golden that cannot be read.
    pub unreadable: usize,
}

/// The status of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// Everything is as accepted.
    Clean,
    /// Something differs from what was accepted.
    Differs,
    /// Something could not be checked.
    Unusable,
}

impl CheckReport {
    /// The results that do not pass, worst first.
    pub fn failing(&self) -> Vec<&CaseResult> {
        let mut failing: Vec<&CaseResult> = self.results.iter().filter(|result| !result.passes()).collect();
        failing.sort_by_key(|result| rank(result)); // stable: by playbook and fixture within a rank
        failing
    }

    /// The counts.
    pub fn counts(&self) -> CheckCounts {
        let mut counts = CheckCounts::default();
        for result in &self.results {
            let contradicts = !result.contradictions.is_empty();
            counts.contradicting += usize::from(contradicts);
            match &result.golden {
                GoldenState::Unreadable(_) => counts.unreadable += 1,
                GoldenState::Same => counts.passed += usize::from(!contradicts),
                GoldenState::Missing => counts.missing += 1,
                GoldenState::Diverged(_) => {
                    let class = Class::ALL.iter().position(|class| Some(*class) == result.worst()).unwrap_or(0);
                    counts.diverged[class] += 1; // a place in `Class::ALL`, which has as many
                }
            }
        }
        counts
    }

    /// The status.
    pub fn verdict(&self) -> CheckStatus {
        let is_unreadable = |result: &CaseResult| matches!(result.golden, GoldenState::Unreadable(_));
        if self.results.iter().any(is_unreadable) {
            return CheckStatus::Unusable;
        }
        let clean = self.results.iter().all(CaseResult::passes) && self.orphans.is_empty() && self.rows.is_empty();
        if clean { CheckStatus::Clean } else { CheckStatus::Differs }
    }
}

/// Worst first: what cannot be read, what contradicts, then by class, then what is missing.
fn rank(result: &CaseResult) -> (u8, Option<Class>) {
    match &result.golden {
        GoldenState::Unreadable(_) => (0, None),
        _ if !result.contradictions.is_empty() => (1, result.worst()),
        GoldenState::Diverged(_) => (2, result.worst()),
        GoldenState::Missing => (3, None),
        GoldenState::Same => (4, None),
    }
}
