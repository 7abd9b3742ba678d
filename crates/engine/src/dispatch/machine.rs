//! Every transition of the dispatcher. Theory of operation:
//!
//! ```text
//! input                 state          -> what happens                                   next state
//! Call                  (none)            admission asks its checks:
//!                                         . none says no: attempt 1 starts                InFlight
//!                                         . one does: outcome `refused`                   Done
//! Answered ok           InFlight          outcome                                         Done
//! Answered failed       InFlight          classified, then the verdict's compensation:
//!                                         . retry passes guard and limits: scheduled      Backoff
//!                                         . refresh passes guard and limits: asked for    Refreshing
//!                                         . reversal passes the token guard: asked for    Redeeming
//!                                         . escalate, deprecate, a limit hit: outcome     Done
//! Woken                 Backoff           the next attempt starts                         InFlight
//! Answered ok           Refreshing        the next attempt starts with the new evidence   InFlight | Done
//! Answered ok           Redeeming         outcome `reversed`                              Done
//! Answered, other       Refreshing,       outcome                                         Done
//!                       Redeeming
//! Answered unanswered   any               outcome `undetermined`                          Done
//! anything else         any               ignored: an answer nobody waits for decides nothing
//! ```
//!
//! The playbook and the time are arguments, so that a machine is only its state: it can be cloned, compared
//! and hashed.

use std::collections::BTreeSet;

use super::admission::{CHECKS, Check};
use super::alphabet::{CallFacts, Failure, Input, Outputs, Reaction, Seen, Want};
use super::backoff::{self, Spent};
use super::call::{CallState, Phase};
use super::calls::Calls;
use crate::event::{
    Asked, Decision, DeprecatedWhy, EffectClaim, Outcome, OutcomeKind, RefusedWhy, Status, StopReason, SuppressedWhy,
};
use crate::ids::{AttemptNo, CallId, ErrorId, EvidenceId, ReasonId, TokenId, VerdictId};
use crate::playbook::{Access, AfterRefresh, Compensation, Final, Guard, OnUnsafe, Playbook, Refresh, Retry, Reversal};
use crate::time::Instant;

/// The dispatcher of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Machine {
    calls: Calls,
    /// Tokens that were sent for redemption; a token is sent once, whatever came of it.
    redeemed: BTreeSet<TokenId>,
}

impl Machine {
    /// Takes what happened at `now`, and adds what follows from it to `out`.
    pub fn handle_input(&mut self, playbook: &Playbook, now: Instant, input: Input, out: &mut Outputs) {
        match input {
            Input::Call(call, facts) if call == self.calls.next() => {
                self.on_call(playbook, now, facts, CHECKS, out);
            }
            Input::Call(..) => {} // the lowest free number is given out; another one is not a call
            Input::Answered { call, asked, reaction, seen } => {
                if let Some(phase) = self.phase(call) {
                    Step { machine: self, playbook, now, call, out }.on_answered(phase, asked, reaction, seen);
                }
            }
            Input::Woken(call) => {
                if let Some(Phase::Backoff(attempt)) = self.phase(call) {
                    Step { machine: self, playbook, now, call, out }.start(attempt);
                }
            }
            Input::Late { call, attempt, failed } => {
                let status = failed.map_or(Status::Ok, Status::Failed);
                out.emit(now, call, Decision::LateAnswer { attempt, status });
            }
        }
    }

    /// Notes a token that was sent for redemption by a call that another machine drives.
    pub fn note_redeemed(&mut self, token: TokenId) {
        self.redeemed.insert(token);
    }

    /// Whether a token was sent for redemption.
    pub fn is_redeemed(&self, token: TokenId) -> bool {
        self.redeemed.contains(&token)
    }

    /// The number of the next call: the lowest that no call has.
    pub fn next_call(&self) -> CallId {
        self.calls.next()
    }

    /// The outcome of a call that has ended, which leaves: its number is free again. Whoever takes it has nothing more
    /// to tell the machine of the call.
    pub fn take_outcome(&mut self, call: CallId) -> Option<Outcome> {
        let outcome = self.outcome(call)?;
        self.calls.remove(call);
        Some(outcome)
    }

    /// The outcome of a call that has ended.
    pub fn outcome(&self, call: CallId) -> Option<Outcome> {
        match self.phase(call) {
            Some(Phase::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// Forgets every call and keeps the allocations.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.redeemed.clear();
    }

    /// Admits the next call, or refuses it.
    pub(super) fn on_call(
        &mut self,
        playbook: &Playbook,
        now: Instant,
        facts: CallFacts,
        checks: &[Check],
        out: &mut Outputs,
    ) {
        let refusal = checks.iter().find_map(|check| check(self, playbook, now, &facts));
        let call = self.calls.next();
        self.calls.insert(CallState::new(facts));
        match refusal {
            None => self.send(now, call, AttemptNo::FIRST, out),
            Some(why) => {
                out.emit(now, call, Decision::Refused { why });
                Step { machine: self, playbook, now, call, out }.finish(OutcomeKind::Refused(why));
            }
        }
    }

    fn phase(&self, call: CallId) -> Option<Phase> {
        self.calls.get(call).map(|state| state.phase)
    }

    fn send(&mut self, now: Instant, call: CallId, attempt: AttemptNo, out: &mut Outputs) {
        let Some(state) = self.calls.get_mut(call) else { return };
        state.phase = Phase::InFlight(attempt);
        state.attempts = attempt.get();
        let evidence = state.evidence;
        out.emit(now, call, Decision::AttemptStarted { attempt, evidence });
        out.wants.push(Want::Ask { call, asked: Asked::Attempt(attempt), evidence });
    }
}

/// One input's worth of work on one call that exists.
struct Step<'a> {
    machine: &'a mut Machine,
    playbook: &'a Playbook,
    now: Instant,
    call: CallId,
    out: &'a mut Outputs,
}

impl Step<'_> {
    #[expect(clippy::expect_used, reason = "`handle_input` has looked it up, and no step removes it")]
    fn state(&mut self) -> &mut CallState {
        self.machine.calls.get_mut(self.call).expect("a call of this machine")
    }

    fn emit(&mut self, what: Decision) {
        self.out.emit(self.now, self.call, what);
    }

    fn ask(&mut self, asked: Asked, evidence: EvidenceId) {
        self.out.wants.push(Want::Ask { call: self.call, asked, evidence });
    }

    fn start(&mut self, attempt: AttemptNo) {
        self.machine.send(self.now, self.call, attempt, self.out);
    }

    fn on_answered(&mut self, phase: Phase, asked: Asked, reaction: Reaction, seen: Seen) {
        match (phase, asked) {
            (Phase::InFlight(attempt), Asked::Attempt(answered)) if attempt == answered => {
                self.on_attempt_ended(attempt, reaction, seen);
            }
            (Phase::Refreshing(evidence, then), Asked::Refresh(answered)) if evidence == answered => {
                self.on_refresh_ended(evidence, then, reaction, seen);
            }
            (Phase::Redeeming { reason, on_refused }, Asked::Reversal) => {
                self.on_reversal_ended(reason, on_refused, reaction, seen);
            }
            _ => {}
        }
    }

    fn on_attempt_ended(&mut self, attempt: AttemptNo, reaction: Reaction, seen: Seen) {
        let status = status_of(reaction);
        let Seen { latency, provenance, over_timeout } = seen;
        self.emit(Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout });
        match reaction {
            Reaction::Ok => self.on_succeeded(),
            Reaction::Failed(failure) => self.on_failed(failure),
            // The last two are said of refreshes and reversals; of an attempt they would say no more than nothing does.
            Reaction::Unanswered | Reaction::Unclear(_) | Reaction::Refused(_) => {
                self.state().add_claim(EffectClaim::Unknown);
                self.finish(OutcomeKind::Undetermined(Asked::Attempt(attempt)));
            }
        }
    }

    fn on_succeeded(&mut self) {
        let state = self.state();
        state.add_claim(EffectClaim::Applied);
        let kind = match state.first_verdict {
            None => OutcomeKind::Succeeded,
            Some(_) => OutcomeKind::SucceededAfterCompensation,
        };
        self.finish(kind);
    }

    /// Classified first, visible before anything follows from it; then the obeyed verdict's compensation.
    fn on_failed(&mut self, failure: Failure) {
        let Failure { verdict, rule, error, .. } = failure;
        let first = self.state().first_verdict;
        let ignored = self.playbook.obeys_first_failure_only() && first.is_some();
        self.emit(Decision::FailureClassified { verdict, rule, ignored });
        let effect = self.playbook.verdict(verdict).effect;
        let state = self.state();
        state.note_error(error);
        state.first_verdict = first.or(Some(verdict));
        if !ignored {
            state.add_claim(effect);
        }
        let obeyed = if ignored { first.unwrap_or(verdict) } else { verdict };
        self.compensate(obeyed, failure);
    }

    fn compensate(&mut self, verdict: VerdictId, failure: Failure) {
        match &self.playbook.verdict(verdict).then {
            Compensation::RetryWithBackoff(retry) => self.on_retry(verdict, retry, failure),
            Compensation::RefreshEvidence(refresh) => self.on_refresh(refresh),
            Compensation::EscalateToHuman(queue) => self.end(Final::Escalate(*queue)),
            Compensation::DeprecateToolCall(reason) => self.end(Final::Deprecate(*reason)),
            Compensation::IssueReversal(reversal) => self.on_reversal(*reversal),
        }
    }

    fn on_retry(&mut self, verdict: VerdictId, retry: &Retry, failure: Failure) {
        if let Some(why) = self.retry_guard() {
            return self.suppress(why, retry.on_unsafe);
        }
        let (now, limits) = (self.now, &self.playbook.limits);
        let state = self.state();
        let spent = Spent { attempts: state.attempts, retries: state.retries.of(verdict), since: state.facts.at, now };
        match backoff::next_delay(retry, limits, spent, failure.retry_after) {
            Err(stop) => self.finish(OutcomeKind::Exhausted(stop)),
            Ok(delay) => {
                let attempt = AttemptNo::new(spent.attempts).next();
                let due = now.plus(delay);
                state.phase = Phase::Backoff(attempt);
                state.retries.count(verdict);
                self.emit(Decision::RetryScheduled { attempt, delay, due });
                self.out.wants.push(Want::Wake { call: self.call, at: due });
            }
        }
    }

    fn on_refresh(&mut self, refresh: &Refresh) {
        if refresh.then == AfterRefresh::Retry
            && let Some(why) = self.retry_guard()
        {
            return self.suppress(why, refresh.on_unsafe);
        }
        if let Err(stop) = self.refresh_allowed(refresh) {
            return match stop == StopReason::MaxRefreshes && self.gives_up_on_futile_refresh() {
                true => self.deprecate(DeprecatedWhy::RefreshFutile),
                false => self.finish(OutcomeKind::Exhausted(stop)),
            };
        }
        let state = self.state();
        state.refreshes += 1;
        let evidence = EvidenceId(state.refreshes);
        state.phase = Phase::Refreshing(evidence, refresh.then);
        self.ask(Asked::Refresh(evidence), evidence);
    }

    fn refresh_allowed(&mut self, refresh: &Refresh) -> Result<(), StopReason> {
        let (now, limits) = (self.now, &self.playbook.limits);
        let state = self.state();
        if state.refreshes >= refresh.max_refreshes {
            return Err(StopReason::MaxRefreshes);
        }
        if refresh.then == AfterRefresh::Abort {
            return Ok(()); // the limits are those of attempts, and no attempt follows
        }
        backoff::attempts_left(limits, state.attempts)?;
        backoff::starts_in_time(limits, state.facts.at, now)
    }

    fn on_refresh_ended(&mut self, evidence: EvidenceId, then: AfterRefresh, reaction: Reaction, seen: Seen) {
        let (status, provenance) = (status_of(reaction), seen.provenance);
        self.emit(Decision::EvidenceRefreshed { evidence, status, provenance });
        match reaction {
            Reaction::Ok => self.on_refreshed(evidence, then),
            Reaction::Unanswered => self.finish(OutcomeKind::Undetermined(Asked::Refresh(evidence))),
            Reaction::Refused(_) | Reaction::Unclear(_) | Reaction::Failed(_) => {
                self.state().note_error(error_of(reaction));
                self.finish(OutcomeKind::Exhausted(StopReason::RefreshFailed));
            }
        }
    }

    fn on_refreshed(&mut self, evidence: EvidenceId, then: AfterRefresh) {
        if then == AfterRefresh::Abort {
            return self.deprecate(DeprecatedWhy::RefreshAbort);
        }
        let (now, limits) = (self.now, &self.playbook.limits);
        let resends_stale = self.playbook.study.as_ref().is_some_and(|study| study.resends_stale_evidence);
        let state = self.state();
        let (since, next) = (state.facts.at, AttemptNo::new(state.attempts).next());
        if !resends_stale {
            state.evidence = evidence;
        }
        match backoff::starts_in_time(limits, since, now) {
            Ok(()) => self.start(next),
            Err(stop) => self.finish(OutcomeKind::Exhausted(stop)),
        }
    }

    fn on_reversal(&mut self, reversal: Reversal) {
        let guard = self.playbook.token_guard();
        let token = self.state().facts.token;
        let spent = token.is_some_and(|token| self.machine.is_redeemed(token));
        let refused = match guard {
            Guard::Off => None,
            Guard::Asked if spent => Some(RefusedWhy::TokenRedeemed),
            Guard::Asked if token.is_some() => None,
            Guard::Asked | Guard::Stops => Some(RefusedWhy::NoToken),
        };
        if let Some(why) = refused {
            return self.refuse_reversal(why, reversal.on_refused);
        }
        self.machine.redeemed.extend(token);
        let Reversal { reason, on_refused } = reversal;
        let state = self.state();
        state.phase = Phase::Redeeming { reason, on_refused };
        let evidence = state.evidence;
        self.ask(Asked::Reversal, evidence);
    }

    fn on_reversal_ended(&mut self, reason: ReasonId, on_refused: Final, reaction: Reaction, seen: Seen) {
        match reaction {
            Reaction::Ok => {
                self.emit(Decision::ReversalRedeemed { reason, provenance: seen.provenance });
                self.state().claim = Some(EffectClaim::NotApplied);
                self.finish(OutcomeKind::Reversed(reason));
            }
            Reaction::Unanswered => {
                self.forget_what_is_known();
                self.finish(OutcomeKind::Undetermined(Asked::Reversal));
            }
            Reaction::Unclear(None) => {
                self.forget_what_is_known();
                self.refuse_reversal(RefusedWhy::NoAnswer, on_refused);
            }
            Reaction::Unclear(Some(_)) | Reaction::Failed(_) => {
                self.forget_what_is_known();
                self.state().note_error(error_of(reaction));
                self.refuse_reversal(RefusedWhy::UpstreamFailed, on_refused);
            }
            Reaction::Refused(_) => {
                self.state().note_error(error_of(reaction));
                self.refuse_reversal(RefusedWhy::UpstreamRefused, on_refused);
            }
        }
    }

    /// A redemption that was not plainly refused may have taken the effect away.
    fn forget_what_is_known(&mut self) {
        let state = self.state();
        if state.claim() != EffectClaim::NotApplied {
            state.claim = Some(EffectClaim::Unknown);
        }
    }

    fn refuse_reversal(&mut self, why: RefusedWhy, on_refused: Final) {
        self.emit(Decision::ReversalRefused { why });
        match self.playbook.study.as_ref().is_some_and(|study| study.refused_reversal_exhausts) {
            true => self.finish(OutcomeKind::Exhausted(StopReason::ReversalRefused)),
            false => self.end(on_refused),
        }
    }

    fn gives_up_on_futile_refresh(&self) -> bool {
        self.playbook.study.as_ref().is_some_and(|study| study.futile_refresh_deprecates)
    }

    /// Why a further attempt must not be made; none: it may.
    fn retry_guard(&mut self) -> Option<SuppressedWhy> {
        let guard = self.playbook.retry_guard();
        let state = self.state();
        match (guard, state.claim()) {
            (Guard::Off, _) => None,
            (Guard::Stops, _) => Some(SuppressedWhy::MayHaveActed),
            (Guard::Asked, _) if state.facts.is_safe_to_resend() => None,
            (Guard::Asked, EffectClaim::NotApplied) => None,
            (Guard::Asked, EffectClaim::Unknown) => Some(SuppressedWhy::MayHaveActed),
            (Guard::Asked, EffectClaim::Applied) => Some(SuppressedWhy::HasActed),
        }
    }

    fn suppress(&mut self, why: SuppressedWhy, on_unsafe: OnUnsafe) {
        self.emit(Decision::RetrySuppressed { why });
        match on_unsafe {
            OnUnsafe::Final(end) => self.end(end),
            OnUnsafe::Reverse(reversal) => self.on_reversal(reversal),
        }
    }

    fn end(&mut self, end: Final) {
        match end {
            Final::Deprecate(reason) => self.deprecate(DeprecatedWhy::Stated(reason)),
            Final::Escalate(queue) => {
                self.emit(Decision::Escalated { queue });
                self.finish(OutcomeKind::Escalated(queue));
            }
        }
    }

    fn deprecate(&mut self, why: DeprecatedWhy) {
        self.emit(Decision::Deprecated { why });
        self.finish(OutcomeKind::Deprecated(why));
    }

    fn finish(&mut self, kind: OutcomeKind) {
        let first_only = self.playbook.study.as_ref().is_some_and(|study| study.final_error_first);
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
        let outcome = Outcome { kind, claim, attempts: state.attempts, last_error, first_error };
        state.phase = Phase::Done(outcome);
        self.emit(Decision::Outcome(outcome));
    }
}

fn status_of(reaction: Reaction) -> Status {
    match reaction {
        Reaction::Ok => Status::Ok,
        Reaction::Failed(failure) => Status::Failed(failure.error),
        Reaction::Refused(error) | Reaction::Unclear(error) => Status::Failed(error),
        Reaction::Unanswered => Status::Unanswered,
    }
}

fn error_of(reaction: Reaction) -> Option<ErrorId> {
    match reaction {
        Reaction::Failed(failure) => failure.error,
        Reaction::Refused(error) | Reaction::Unclear(error) => error,
        Reaction::Ok | Reaction::Unanswered => None,
    }
}
