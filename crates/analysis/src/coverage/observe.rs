//! What one run exercises, read from its events alone.

use std::collections::BTreeSet;

use super::goal::{Cell, Goal};
use playproof_engine::event::{CompensationWord, Decision, GuardKind, OutcomeKind, RequestKind, StopReason};
use playproof_engine::ids::{AttemptNo, CallId, VerdictId};
use playproof_engine::playbook::{AfterRefresh, Compensation, Playbook};
use playproof_engine::sim::{Scenario, ScenarioCall, SimulationRecord};

/// Every goal that the run exercises, but for rows of tool facts, which a run does not know of.
pub(super) fn exercised(playbook: &Playbook, scenario: &Scenario<'_>, record: &SimulationRecord) -> BTreeSet<Goal> {
    let mut goals = BTreeSet::new();
    for (n, call) in scenario.calls.iter().enumerate() {
        let id = CallId(u32::try_from(n).unwrap_or(u32::MAX));
        let mut watch = Watch { playbook, call, attempt: AttemptNo::FIRST, obeyed: None, goals: &mut goals };
        for event in record.events_of(id) {
            watch.see(event.what);
        }
    }
    goals
}

/// One call, looked at event by event.
struct Watch<'a, 'c> {
    playbook: &'a Playbook,
    call: &'a ScenarioCall<'c>,
    attempt: AttemptNo,
    /// The verdict whose compensation is being carried out.
    obeyed: Option<VerdictId>,
    goals: &'a mut BTreeSet<Goal>,
}

impl Watch<'_, '_> {
    fn see(&mut self, what: Decision) {
        if let Some((guard, stops)) = what.guard() {
            self.guard(guard, stops);
        }
        if let Some(then) = what.carries_out() {
            self.compensated(then);
        }
        match what {
            Decision::AttemptStarted { attempt, .. } => self.attempt = attempt,
            Decision::FailureClassified { verdict, rule, ignored } => {
                self.obeyed = if ignored { self.obeyed } else { Some(verdict) };
                self.goals.insert(rule.map_or(Goal::Otherwise, Goal::Rule));
                self.goals.insert(Goal::Verdict(verdict));
                self.goals.insert(Goal::Cell(self.cell(verdict)));
            }
            Decision::EvidenceRefreshed { .. } => self.passed_before_a_retry(),
            Decision::Escalated { queue } => {
                self.goals.insert(Goal::Queue(queue));
            }
            Decision::Outcome(outcome) => self.ended(outcome.kind),
            _ => {} // its guard and its compensation are all that it exercises
        }
    }

    fn cell(&self, verdict: VerdictId) -> Cell {
        Cell {
            verdict,
            access: self.call.facts.access,
            keyed: self.call.key.is_some(),
            token: self.call.token.is_some(),
            later: self.attempt > AttemptNo::FIRST,
        }
    }

    fn guard(&mut self, guard: GuardKind, stops: bool) {
        if let Some(verdict) = self.obeyed {
            self.goals.insert(Goal::Guard { verdict, guard, stops });
        }
    }

    /// The obeyed verdict's own compensation ran, if it is this one.
    fn compensated(&mut self, then: CompensationWord) {
        let ran = self.obeyed.filter(|&verdict| self.playbook.verdict(verdict).then.word() == then);
        self.goals.extend(ran.map(Goal::Compensation));
    }

    /// The retry guard let a retry or a refresh pass, unless it is not asked for a refresh that ends the call.
    fn passed_before_a_retry(&mut self) {
        let asks = |then: &Compensation| match then {
            Compensation::RetryWithBackoff(_) => true,
            Compensation::RefreshEvidence(refresh) => refresh.then == AfterRefresh::Retry,
            _ => false,
        };
        if self.obeyed.is_some_and(|verdict| asks(&self.playbook.verdict(verdict).then)) {
            self.guard(GuardKind::Retry, false);
        }
    }

    fn ended(&mut self, kind: OutcomeKind) {
        self.goals.insert(Goal::Outcome(kind.word()));
        match kind {
            OutcomeKind::Exhausted(stop) => {
                self.goals.insert(Goal::Stop(stop));
                if stop != StopReason::ReversalRefused {
                    self.passed_before_a_retry(); // the guard is asked before the limits
                }
            }
            OutcomeKind::Undetermined(RequestKind::Reversal) => {
                self.guard(GuardKind::Token, false);
                self.compensated(CompensationWord::IssueReversal);
            }
            _ => {}
        }
    }
}
