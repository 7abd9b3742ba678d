//! One call at one moment: its state, what it emits and asks, and its end.

use crate::dispatch::calls::{CallState, Phase};
use crate::dispatch::io::{CallFacts, Output, OutputBuffer, Response, ResponseMeta, StepOf};
use crate::dispatch::machine::Machine;
use crate::dispatch::shared::Shared;
use crate::dispatch::wait;
use crate::event::{Decision, DeprecationReason, EffectClaim, Outcome, OutcomeKind, RequestKind, StopReason};
use crate::ids::{CallId, ErrorId, EvidenceId};
use crate::playbook::{Access, ElapsedRule, Limits, Playbook, Terminal};
use crate::time::{Duration, Instant};

/// One transition of one call of the machine.
pub(in crate::dispatch) struct Transition<'a> {
    pub machine: &'a mut Machine,
    pub playbook: &'a Playbook,
    pub now: Instant,
    pub call: CallId,
    pub out: &'a mut OutputBuffer,
}

impl Transition<'_> {
    #[expect(clippy::expect_used, reason = "it was looked up before, and no transition removes it")]
    pub(super) fn state(&mut self) -> &mut CallState {
        self.machine.calls.get_mut(self.call).expect("a call of this machine")
    }

    /// The limits of the call: those of the playbook, and the time that its caller has.
    pub(super) fn limits(&mut self) -> Limits {
        let limits = self.playbook.limits;
        match self.state().facts.answer_within {
            None => limits,
            Some(within) => {
                let deadline = limits.deadline.map_or(within, |deadline| deadline.min(within));
                Limits { deadline: Some(deadline), elapsed: ElapsedRule::NextStart, ..limits }
            }
        }
    }

    /// The same moment for another call.
    pub(super) fn for_call(&mut self, call: CallId) -> Transition<'_> {
        Transition { machine: self.machine, playbook: self.playbook, now: self.now, call, out: self.out }
    }

    /// Whether calls share anything. Where they do not, no check of what is shared is made: a trace has millions of calls.
    pub(super) const fn shares(&self) -> bool {
        self.machine.shared.is_some()
    }

    pub(super) fn shared(&mut self) -> &mut Shared {
        self.machine.shared.get_or_insert_default()
    }

    pub(super) fn emit(&mut self, what: Decision) {
        self.out.emit(self.now, self.call, what);
    }

    pub(super) fn ask(&mut self, asked: RequestKind, evidence: EvidenceId) {
        let (playbook, now, call) = (self.playbook, self.now, self.call);
        let facts = &self.state().facts;
        let within = match asked {
            RequestKind::Reversal => facts.timeout, // the end of the call must not leave its effect in place
            RequestKind::Attempt(_) | RequestKind::Refresh(_) => within(playbook, facts, now),
        };
        self.out.outputs.push(Output::Ask { call, asked, evidence, within });
    }

    pub(in crate::dispatch) fn on_answered(
        &mut self,
        phase: Phase,
        asked: RequestKind,
        response: Response,
        meta: ResponseMeta,
    ) {
        match (phase, asked) {
            (Phase::InFlight(attempt), RequestKind::Attempt(answered)) if attempt == answered => {
                self.on_attempt_ended(attempt, response, meta);
            }
            (Phase::Refreshing(evidence, then), RequestKind::Refresh(answered)) if evidence == answered => {
                self.on_refresh_ended(evidence, then, response, meta);
            }
            (Phase::Redeeming { reason, on_refused }, RequestKind::Reversal) => {
                self.on_reversal_ended(reason, on_refused, response, meta);
            }
            (Phase::Done(Outcome { kind: OutcomeKind::Cancelled, .. }), RequestKind::Attempt(attempt))
                if response != Response::Unanswered =>
            {
                self.emit(Decision::LateAnswer { attempt, status: response.status() });
                if matches!(response, Response::Failed(failure) if !failure.unanswered) {
                    self.release_action(attempt);
                }
            }
            _ => {}
        }
    }

    pub(super) fn end(&mut self, end: Terminal) {
        match end {
            Terminal::Deprecate(reason) => self.deprecate(DeprecationReason::Stated(reason)),
            Terminal::Escalate(queue) => {
                self.emit(Decision::Escalated { queue });
                self.finish(OutcomeKind::Escalated(queue));
            }
        }
    }

    pub(super) fn deprecate(&mut self, why: DeprecationReason) {
        self.emit(Decision::Deprecated { why });
        self.finish(OutcomeKind::Deprecated(why));
    }

    pub(super) fn finish(&mut self, kind: OutcomeKind) {
        let outcome = self.outcome(kind);
        self.conclude(outcome);
    }

    /// Ends the call at what it shares with others; `by` opened the circuit or took the last of the budget.
    pub(super) fn stop(&mut self, why: StopReason, by: Option<CallId>) {
        let outcome = self.outcome(OutcomeKind::Exhausted(why));
        self.conclude(Outcome { stopped_by: by, ..outcome });
    }

    fn outcome(&mut self, kind: OutcomeKind) -> Outcome {
        let first_only = self.playbook.studies(|study| study.final_error_first);
        let state = self.state();
        let (first, last) = (state.first_error, state.last_error);
        let (last_error, first_error) = match first_only {
            true => (first, None),
            false => (last, first.filter(|_| first != last)),
        };
        let claim = match state.facts.access {
            Access::Read => EffectClaim::NotApplied,
            Access::Write => state.claim(),
        };
        Outcome { kind, claim, attempts: state.attempts, last_error, first_error, stopped_by: None }
    }

    /// Ends a call that another one with its key has answered.
    pub(super) fn finish_with(&mut self, kind: OutcomeKind, claim: EffectClaim, last_error: Option<ErrorId>) {
        self.conclude(Outcome { kind, claim, attempts: 0, last_error, first_error: None, stopped_by: None });
    }

    pub(super) fn conclude(&mut self, outcome: Outcome) {
        if self.shares() {
            self.give_back();
        }
        self.state().phase = Phase::Done(outcome);
        self.leave_gate(&outcome);
        self.emit(Decision::Outcome(outcome));
        self.leave_transaction(&outcome);
        if let Some(StepOf { action: Some(action), step }) = self.state().facts.step {
            self.end_step(action, step, &outcome);
        }
    }

    /// Gives back what the call holds of what calls share.
    fn give_back(&mut self) {
        if self.keeps_permit() {
            self.shared().permits.release();
        }
        if !self.playbook.retry_budgets.is_empty() {
            self.leave_retry_budgets();
        }
        let (call, state) = (self.call, self.state());
        let (unsent, run, is_keyed) =
            (std::mem::take(&mut state.has_reserved), state.facts.run, state.facts.shared_key().is_some());
        let shared = self.shared();
        if unsent {
            shared.budget.give_back(run);
        }
        if is_keyed {
            shared.ended.push(call);
        }
    }
}

/// How long a request that starts now may take: the attempt's timeout, cut to what is left of the call.
fn within(playbook: &Playbook, facts: &CallFacts, now: Instant) -> Duration {
    let left = wait::time_left(&playbook.limits, now.since(facts.at));
    left.map_or(facts.timeout, |left| facts.timeout.min(left))
}
