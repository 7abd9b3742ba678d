//! The start of an attempt: it waits for a permit if none is free. And the end of a call whose caller goes away.

use super::Transition;
use crate::dispatch::breaker::Blocked;
use crate::dispatch::calls::{PaidRetry, Phase};
use crate::dispatch::io::Output;
use crate::dispatch::permits::PermitUse;
use crate::dispatch::wait;
use crate::event::{AdmissionRefusal, Decision, EffectClaim, OutcomeKind, RequestKind, StopReason};
use crate::ids::AttemptNo;

impl Transition<'_> {
    /// Starts an attempt, or lets it wait for a permit.
    pub(super) fn start(&mut self, attempt: AttemptNo) {
        if !self.shares() {
            return self.send(attempt);
        }
        let now = self.now;
        if let Some(blocked) = self.breaker_blocks(now) {
            return self.on_blocked(attempt, blocked);
        }
        if self.keeps_permit() {
            return self.pass(attempt);
        }
        let Some(permits) = self.playbook.sharing.permits else { return self.pass(attempt) };
        let (call, is_first) = (self.call, attempt == AttemptNo::FIRST);
        match self.shared().permits.ask(permits, call, is_first) {
            PermitUse::Granted => self.pass(attempt),
            PermitUse::QueueFull => self.refuse(AdmissionRefusal::QueueFull, None),
            PermitUse::Waits(ticket, place) => {
                self.state().phase = Phase::Queued { attempt, ticket };
                self.emit(Decision::Queued { place, behind: None });
                let since = self.state().facts.at;
                if let Some(at) = wait::too_late_at(&self.limits(), since) {
                    self.out.outputs.push(Output::Wake { call, at });
                }
            }
        }
    }

    /// The call has a permit now.
    pub(in crate::dispatch) fn on_granted(&mut self) {
        let (phase, since) = (self.state().phase, self.state().facts.at);
        let Phase::Queued { attempt, .. } = phase else { return self.release_permit() }; // only these have a place
        match wait::starts_in_time(&self.limits(), since, self.now) {
            Ok(()) => self.pass(attempt),
            Err(stop) => {
                self.release_permit();
                self.finish(OutcomeKind::Exhausted(stop));
            }
        }
    }

    /// The call has what it needs: the breaker decides last, so that a probe is taken in the same step.
    fn pass(&mut self, attempt: AttemptNo) {
        match self.pass_breaker() {
            Ok(()) => self.send(attempt),
            Err(blocked) => {
                self.release_permit();
                self.on_blocked(attempt, blocked);
            }
        }
    }

    /// The breaker lets no attempt pass.
    fn on_blocked(&mut self, attempt: AttemptNo, blocked: Blocked) {
        let by = self.opened_by();
        if attempt != AttemptNo::FIRST {
            return self.stop(StopReason::CircuitOpen, by);
        }
        self.refuse_by(AdmissionRefusal::CircuitOpen, by, blocked.retry_after);
    }

    pub(super) fn send(&mut self, attempt: AttemptNo) {
        if self.shares() && attempt == AttemptNo::FIRST && self.playbook.studies(|study| study.registers_key_late) {
            self.register_key();
        }
        let state = self.state();
        state.phase = Phase::InFlight(attempt);
        state.attempts = attempt.get();
        state.has_reserved = false;
        state.paid = state.paid.map(|paid| PaidRetry { is_sent: true, ..paid });
        let evidence = state.evidence;
        self.emit(Decision::AttemptStarted { attempt, evidence });
        self.ask(RequestKind::Attempt(attempt), evidence);
    }

    /// The moment for which the call asked to be woken; another one is stale and changes nothing.
    pub(in crate::dispatch) fn on_woken(&mut self, phase: Phase) {
        let since = self.state().facts.at;
        match phase {
            Phase::Backoff { attempt, due } if due <= self.now => self.start(attempt),
            Phase::Resting { due, by } if due <= self.now => self.stop(StopReason::RetryBudget, by),
            Phase::Queued { ticket, .. } => {
                if let Err(stop) = wait::starts_in_time(&self.limits(), since, self.now) {
                    self.shared().permits.leave(ticket);
                    self.finish(OutcomeKind::Exhausted(stop));
                }
            }
            Phase::AtGate => {
                if let Err(stop) = wait::starts_in_time(&self.limits(), since, self.now) {
                    self.leave_line();
                    self.finish(OutcomeKind::Exhausted(stop));
                }
            }
            Phase::Following(_) => match wait::starts_in_time(&self.limits(), since, self.now) {
                Ok(()) => self.take_over_silent(),
                Err(stop) => {
                    self.leave_leader();
                    self.finish(OutcomeKind::Exhausted(stop));
                }
            },
            _ => {}
        }
    }

    /// The caller goes away: what the call holds is free again, and its effect is what is proved so far.
    pub(in crate::dispatch) fn on_cancelled(&mut self, phase: Phase) {
        match phase {
            Phase::Done(_) => return,
            Phase::InFlight(attempt) => {
                self.release_permit();
                self.release_probe();
                let state = self.state();
                state.may_land = true;
                state.at_work.push(attempt);
                state.add_claim(EffectClaim::Unknown);
            }
            Phase::Queued { ticket, .. } => self.shared().permits.leave(ticket),
            Phase::Following(_) => self.leave_leader(),
            Phase::AtGate => self.leave_line(),
            Phase::Stepping { .. } => return self.cancel_steps(phase),
            Phase::Redeeming { .. } => self.make_claim_unknown(),
            Phase::Arrived | Phase::Backoff { .. } | Phase::Resting { .. } | Phase::Refreshing(..) => {}
        }
        self.emit(Decision::Cancelled);
        self.finish(OutcomeKind::Cancelled);
    }

    /// An attempt is over: its permit is free.
    pub(super) fn release_permit(&mut self) {
        if self.playbook.sharing.permits.is_some() && !self.keeps_permit() {
            self.shared().permits.release();
        }
    }

    /// Whether the call has a permit that it keeps until it ends: only under a study switch.
    pub(super) fn keeps_permit(&mut self) -> bool {
        self.playbook.studies(|study| study.holds_permit_in_backoff)
            && self.playbook.sharing.permits.is_some()
            && self.state().attempts > 0
            && self.state().facts.steps == 0
    }

    /// A call at the gate stops waiting.
    fn leave_line(&mut self) {
        let (call, run) = (self.call, self.state().facts.run);
        self.shared().gate.leave(run, call);
    }

    /// A follower stops waiting. What its leader did for the same request is not known to it.
    fn leave_leader(&mut self) {
        let (call, facts) = (self.call, self.state().facts);
        if let Some(key) = facts.shared_key() {
            self.shared().keys.leave(key, call);
        }
        self.state().add_claim(EffectClaim::Unknown);
    }
}
