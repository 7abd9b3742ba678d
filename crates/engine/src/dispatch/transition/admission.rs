//! The checks before attempt 1 behind the gate, in their order (docs/adr/0023): the request itself, its key, the run's
//! budget; then the attempt starts like any other. The first check that refuses decides; a refused call starts no attempt and costs nothing.

use super::Transition;
use crate::dispatch::calls::Phase;
use crate::dispatch::io::{Output, RequestCheck};
use crate::dispatch::keys::{Handover, KeyUse, LeaderEnd};
use crate::event::{AdmissionRefusal, Decision, EffectClaim, Outcome, OutcomeKind};
use crate::ids::{AttemptNo, CallId, ErrorId, KeyId};
use crate::playbook::{BudgetUnit, Dedupe};
use crate::time::Duration;

impl Transition<'_> {
    /// The checks behind the gate.
    pub(super) fn check_request(&mut self) {
        if let RequestCheck::Refused(why, error) = self.state().facts.request {
            return self.refuse(why, Some(error));
        }
        if !self.shares() {
            return self.send(AttemptNo::FIRST);
        }
        match self.take_up_key() {
            KeyUse::Leads => self.enter(),
            KeyUse::Follows(leader) => self.follow(leader),
            KeyUse::Refused(why) => self.refuse(why, None),
            KeyUse::Kept { leader, age, claim } => {
                self.emit(Decision::ServedFromCache { leader, age });
                // The effect may have been reversed since.
                let is_own = !self.state().facts.key_is_reused;
                let claim = if is_own { claim } else { EffectClaim::Unknown };
                self.finish_with(OutcomeKind::Cached { leader }, claim, None);
            }
        }
    }

    fn take_up_key(&mut self) -> KeyUse {
        let Some((rules, key)) = self.dedupe() else { return KeyUse::Leads };
        let (now, call, facts) = (self.now, self.call, self.state().facts);
        let is_bound = !self.playbook.studies(|study| study.cache_ignores_arguments);
        let found = self.shared().keys.look_up(&rules, now, call, key, &facts, is_bound);
        if found == KeyUse::Leads && !self.playbook.studies(|study| study.registers_key_late) {
            self.register_key();
        }
        found
    }

    /// The rules by which the call may be one with others, and its key.
    fn dedupe(&mut self) -> Option<(Dedupe, KeyId)> {
        let facts = self.state().facts;
        let rules = if facts.once.is_some() { Some(Dedupe::ONCE) } else { self.playbook.sharing.dedupe };
        rules.zip(facts.shared_key())
    }

    /// From now on, other calls with the key follow this one.
    pub(super) fn register_key(&mut self) {
        let (now, call, facts) = (self.now, self.call, self.state().facts);
        if let Some((_, key)) = self.dedupe() {
            self.shared().keys.register(now, call, key, &facts);
        }
    }

    fn follow(&mut self, leader: CallId) {
        let (call, at) = (self.call, self.state().facts.at);
        self.state().phase = Phase::Following(leader);
        self.emit(Decision::Joined { leader });
        if let Some(end) = self.playbook.limits.call_timeout {
            self.out.outputs.push(Output::Wake { call, at: at.plus(end) });
        }
        self.take_over_silent();
    }

    /// A follower leads if its leader has been silent for too long, or asks to be woken when it will have been. Only where
    /// the request may be sent again: the leader is not lost for sure, and goes on.
    pub(super) fn take_over_silent(&mut self) {
        let Some((Dedupe { takeover: Some(after), .. }, key)) = self.dedupe() else { return };
        let (now, call, facts) = (self.now, self.call, self.state().facts);
        if !facts.is_safe_to_resend() {
            return;
        }
        match self.shared().keys.take_over(now, key, call, after) {
            None => {}
            Some((_, Some(at))) => self.out.outputs.push(Output::Wake { call, at }),
            Some((leader, None)) => {
                self.emit(Decision::TookOver { leader });
                self.enter();
            }
        }
    }

    /// The checks behind the key.
    fn enter(&mut self) {
        if let Err(by) = self.reserve_tool_call(AttemptNo::FIRST) {
            return self.refuse_by(AdmissionRefusal::BudgetExceeded, by, None);
        }
        if !self.playbook.retry_budgets.is_empty() {
            self.enter_retry_budgets();
        }
        self.start(AttemptNo::FIRST);
    }

    /// Reserves one tool call of the run for an attempt, if the playbook counts them.
    ///
    /// # Errors
    /// None is left; the call that took the last one.
    pub(super) fn reserve_tool_call(&mut self, attempt: AttemptNo) -> Result<(), Option<CallId>> {
        let Some(budget) = self.playbook.sharing.budget else { return Ok(()) };
        if budget.counts == BudgetUnit::Calls && attempt != AttemptNo::FIRST {
            return Ok(());
        }
        let (call, run) = (self.call, self.state().facts.run);
        self.shared().budget.reserve(run, call, budget.tool_calls)?;
        self.state().has_reserved = true;
        Ok(())
    }

    /// Refuses the call: nothing was sent for it.
    pub(super) fn refuse(&mut self, why: AdmissionRefusal, error: Option<ErrorId>) {
        self.emit(Decision::Refused { why, error, by: None, retry_after: None });
        self.state().note_error(error);
        self.finish(OutcomeKind::Refused(why));
    }

    /// Refuses the call because of what another one did.
    pub(super) fn refuse_by(&mut self, why: AdmissionRefusal, by: Option<CallId>, retry_after: Option<Duration>) {
        self.emit(Decision::Refused { why, error: None, by, retry_after });
        self.finish(OutcomeKind::Refused(why));
    }

    /// The call has ended: its followers end as it did, or one of them leads now.
    pub(in crate::dispatch) fn pass_on(&mut self, outcome: Outcome) {
        let facts = self.state().facts;
        let Some(key) = facts.shared_key() else { return };
        let end = match outcome.kind {
            OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => LeaderEnd::Succeeded(outcome.claim),
            _ if outcome.attempts == 0 => LeaderEnd::Lost,
            OutcomeKind::Cancelled if outcome.claim == EffectClaim::NotApplied || facts.is_safe_to_resend() => {
                LeaderEnd::Lost
            }
            OutcomeKind::Cancelled => LeaderEnd::LostUnsettled,
            _ => LeaderEnd::Failed(outcome.claim),
        };
        let (now, leader) = (self.now, self.call);
        match self.shared().keys.note_end(now, key, leader, end) {
            None => {}
            Some(Handover::Join(followers)) => {
                let ended = outcome.kind.word();
                for follower in followers {
                    let kind = OutcomeKind::Joined { leader, ended };
                    self.for_call(follower).finish_with(kind, outcome.claim, outcome.last_error);
                }
            }
            Some(Handover::TakesOver(follower)) => {
                let mut follower = self.for_call(follower);
                follower.emit(Decision::TookOver { leader });
                follower.enter();
            }
            Some(Handover::Unsettled(followers)) => {
                for follower in followers {
                    self.for_call(follower).refuse(AdmissionRefusal::Unsettled, None);
                }
            }
        }
    }
}
