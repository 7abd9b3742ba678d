//! The targets that one run exercises, read from its events alone.

use std::collections::BTreeSet;

use super::edges;
use super::target::{Cell, CircuitStep, Target};
use playproof_engine::event::{
    CircuitChange, CompensationWord, Decision, GuardKind, OutcomeKind, RequestKind, StopReason,
};
use playproof_engine::ids::{AttemptNo, CallId, VerdictId};
use playproof_engine::playbook::Playbook;
use playproof_engine::sim::{DrivenCall, Scenario, SimulationRecord};

/// Every target that the run exercises, except rows of tool facts, which its events do not show.
pub fn exercised(playbook: &Playbook, scenario: &Scenario<'_>, record: &SimulationRecord) -> BTreeSet<Target> {
    let mut targets = BTreeSet::new();
    let told = record.told.iter().filter_map(|told| told.verdict);
    targets.extend(told.filter(|verdict| playbook.verdict(*verdict).tell.is_some()).map(Target::Told));
    edges::taken(playbook, scenario, record, &mut targets);
    for (n, call) in scenario.calls.iter().enumerate() {
        let id = CallId(u32::try_from(n).unwrap_or(u32::MAX));
        let mut observer =
            CallObserver { playbook, call, attempt: AttemptNo::FIRST, current: None, targets: &mut targets };
        for event in record.events_of(id) {
            observer.on_event(event.what);
        }
    }
    circuits(playbook, record, &mut targets);
    targets
}

/// The transitions of breakers, over the events of all calls.
fn circuits(playbook: &Playbook, record: &SimulationRecord, targets: &mut BTreeSet<Target>) {
    let mut half_open = BTreeSet::new();
    for event in &record.events {
        let Some((server, change)) = event.what.circuit() else { continue };
        let step = CircuitStep::of(change, half_open.remove(&server));
        if change == CircuitChange::HalfOpen {
            half_open.insert(server);
        }
        let breaker = record.servers.get(server.0 as usize).and_then(|server| playbook.breaker_id(server));
        targets.extend(breaker.map(|breaker| Target::Circuit(breaker, step)));
    }
}

/// Observes one call, event by event.
struct CallObserver<'a, 'c> {
    playbook: &'a Playbook,
    call: &'a DrivenCall<'c>,
    attempt: AttemptNo,
    /// The verdict whose compensation is being carried out.
    current: Option<VerdictId>,
    targets: &'a mut BTreeSet<Target>,
}

impl CallObserver<'_, '_> {
    fn on_event(&mut self, what: Decision) {
        if let Some((guard, stops)) = what.guard() {
            self.guard(guard, stops);
        }
        if let Some(then) = what.carries_out() {
            self.compensated(then);
        }
        match what {
            Decision::AttemptStarted { attempt, .. } => self.attempt = attempt,
            Decision::FailureClassified { verdict, rule, ignored } => {
                self.current = if ignored { self.current } else { Some(verdict) };
                self.targets.insert(rule.map_or(Target::Otherwise, Target::Rule));
                self.targets.insert(Target::Verdict(verdict));
                self.targets.insert(Target::Cell(self.cell(verdict)));
            }
            Decision::EvidenceRefreshed { .. } => self.passed_before_a_retry(),
            Decision::Refused { why, .. } if why.is_of_gate() => {
                self.targets.insert(Target::Refusal(why)); // the call may go to people
            }
            Decision::Escalated { queue } => {
                self.targets.insert(Target::Queue(queue));
            }
            Decision::StepEnded { action, step, ended, .. } if !ended.completes_step() => {
                self.targets.insert(Target::Step(action, step));
            }
            Decision::Outcome(outcome) => self.ended(outcome.kind),
            _ => {} // exercises only its guard and its compensation
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
        if let Some(verdict) = self.current {
            self.targets.insert(Target::Guard { verdict, guard, stops });
        }
    }

    /// The current verdict's own compensation ran, if it is this one.
    fn compensated(&mut self, then: CompensationWord) {
        let ran = self.current.filter(|&verdict| self.playbook.verdict(verdict).then.word() == then);
        self.targets.extend(ran.map(Target::Compensation));
    }

    /// The retry guard let a retry or a refresh pass. It is not asked for a refresh that ends the call.
    fn passed_before_a_retry(&mut self) {
        if self.current.is_some_and(|verdict| self.playbook.verdict(verdict).then.sends_again()) {
            self.guard(GuardKind::Retry, false);
        }
    }

    fn ended(&mut self, kind: OutcomeKind) {
        self.targets.insert(Target::Outcome(kind.word()));
        match kind {
            OutcomeKind::Exhausted(stop) => {
                self.targets.insert(Target::Stop(stop));
                if stop != StopReason::ReversalRefused {
                    self.passed_before_a_retry(); // the guard is asked before the limits
                }
            }
            OutcomeKind::Refused(why) => {
                self.targets.insert(Target::Refusal(why));
            }
            OutcomeKind::Undetermined(RequestKind::Reversal) => {
                self.guard(GuardKind::Token, false);
                self.compensated(CompensationWord::IssueReversal);
            }
            _ => {}
        }
    }
}
