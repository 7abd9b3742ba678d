//! Every transition of the dispatcher. Theory of operation:
//!
//! ```text
//! input                 state          -> what happens                                   next state
//! Call                  (none)            admission runs its checks:
//!                                         . none refuses: attempt 1 starts                InFlight
//!                                         . one refuses: outcome `refused`                Done
//! Answered ok           InFlight          outcome                                         Done
//! Answered failed       InFlight          classified, then the verdict's compensation:
//!                                         . retry passes guard and limits: scheduled      Backoff
//!                                         . refresh passes guard and limits: requested    Refreshing
//!                                         . reversal passes the token guard: requested    Redeeming
//!                                         . escalate, deprecate, a limit hit: outcome     Done
//! Woken                 Backoff           the next attempt starts                         InFlight
//! Answered ok           Refreshing        the next attempt starts with the new evidence   InFlight | Done
//! Answered ok           Redeeming         outcome `reversed`                              Done
//! Answered, other       Refreshing,       outcome                                         Done
//!                       Redeeming
//! Answered unanswered   any               outcome `undetermined`                          Done
//! anything else         any               ignored: an unexpected answer decides nothing
//! ```
//!
//! The playbook and the time are arguments, so that a machine is nothing but its state: it can be cloned, compared and
//! hashed.

use std::collections::BTreeSet;

use super::admission::{self, AdmissionCheck};
use super::calls::{CallSlab, CallState, Phase};
use super::io::{CallFacts, ClassifiedFailure, Input, Output, OutputBuffer, Response, ResponseMeta};
use super::wait::{self, CallUsage, RetryStop};
use crate::event::{
    Decision, DeprecationReason, EffectClaim, Outcome, OutcomeKind, RequestKind, ReversalRefusal, Status, StopReason,
    SuppressionReason,
};
use crate::ids::{AttemptNo, CallId, EvidenceId, ReasonId, TokenId, VerdictId};
use crate::playbook::{
    Access, AfterRefresh, Compensation, GuardMode, Playbook, Refresh, Retry, Reversal, Terminal, UnsafePolicy,
};
use crate::time::{Duration, Instant};

/// The dispatcher of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Machine {
    calls: CallSlab,
    /// Tokens that were sent for redemption; a token is sent once, whatever the answer.
    redeemed: BTreeSet<TokenId>,
}

impl Machine {
    /// Takes what happened at `now`, and writes events and outputs to `out`.
    pub fn handle_input(&mut self, playbook: &Playbook, now: Instant, input: Input, out: &mut OutputBuffer) {
        match input {
            Input::Call(call, facts) if call == self.calls.next() => {
                self.on_call(playbook, now, facts, admission::CHECKS, out);
            }
            Input::Call(..) => {} // ids are given out from the lowest free slot; another id is no call
            Input::Answered { call, asked, response, meta } => {
                if let Some(phase) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.on_answered(phase, asked, response, meta);
                }
            }
            Input::Woken(call) => {
                if let Some(Phase::Backoff(attempt)) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.start(attempt);
                }
            }
            Input::Late { call, attempt, failed } => {
                let status = failed.map_or(Status::Ok, Status::Failed);
                out.emit(now, call, Decision::LateAnswer { attempt, status });
            }
        }
    }

    /// Records a token that a call of another machine sent for redemption.
    pub fn note_redeemed(&mut self, token: TokenId) {
        self.redeemed.insert(token);
    }

    /// Whether a token was sent for redemption.
    pub fn is_redeemed(&self, token: TokenId) -> bool {
        self.redeemed.contains(&token)
    }

    /// The id of the next call: the lowest free slot.
    pub fn next_call(&self) -> CallId {
        self.calls.next()
    }

    /// The outcome of a call that has ended, and removes the call: its id is free again. The caller must have no more
    /// inputs for it.
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

    /// Removes every call and keeps the allocations.
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
        checks: &[AdmissionCheck],
        out: &mut OutputBuffer,
    ) {
        let refusal = checks.iter().find_map(|check| check(self, playbook, now, &facts));
        let call = self.calls.next();
        self.calls.insert(CallState::new(facts));
        match refusal {
            None => self.send(playbook, now, call, AttemptNo::FIRST, out),
            Some((why, error)) => {
                out.emit(now, call, Decision::Refused { why, error });
                let mut refused = Transition { machine: self, playbook, now, call, out };
                refused.state().note_error(error);
                refused.finish(OutcomeKind::Refused(why));
            }
        }
    }

    fn phase(&self, call: CallId) -> Option<Phase> {
        self.calls.get(call).map(|state| state.phase)
    }

    fn send(&mut self, playbook: &Playbook, now: Instant, call: CallId, attempt: AttemptNo, out: &mut OutputBuffer) {
        let Some(state) = self.calls.get_mut(call) else { return };
        state.phase = Phase::InFlight(attempt);
        state.attempts = attempt.get();
        let evidence = state.evidence;
        out.emit(now, call, Decision::AttemptStarted { attempt, evidence });
        let within = within(playbook, &state.facts, now);
        out.outputs.push(Output::Ask { call, asked: RequestKind::Attempt(attempt), evidence, within });
    }
}

/// One transition of one call of the machine.
struct Transition<'a> {
    machine: &'a mut Machine,
    playbook: &'a Playbook,
    now: Instant,
    call: CallId,
    out: &'a mut OutputBuffer,
}

impl Transition<'_> {
    #[expect(clippy::expect_used, reason = "`handle_input` has looked it up, and no transition removes it")]
    fn state(&mut self) -> &mut CallState {
        self.machine.calls.get_mut(self.call).expect("a call of this machine")
    }

    fn emit(&mut self, what: Decision) {
        self.out.emit(self.now, self.call, what);
    }

    fn ask(&mut self, asked: RequestKind, evidence: EvidenceId) {
        let (playbook, now, call) = (self.playbook, self.now, self.call);
        let facts = &self.state().facts;
        let within = match asked {
            RequestKind::Reversal => facts.timeout, // the end of the call must not leave its effect in place
            RequestKind::Attempt(_) | RequestKind::Refresh(_) => within(playbook, facts, now),
        };
        self.out.outputs.push(Output::Ask { call, asked, evidence, within });
    }

    fn start(&mut self, attempt: AttemptNo) {
        self.machine.send(self.playbook, self.now, self.call, attempt, self.out);
    }

    fn on_answered(&mut self, phase: Phase, asked: RequestKind, response: Response, meta: ResponseMeta) {
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
            _ => {}
        }
    }

    fn on_attempt_ended(&mut self, attempt: AttemptNo, response: Response, meta: ResponseMeta) {
        let status = response.status();
        let ResponseMeta { latency, provenance, over_timeout } = meta;
        self.emit(Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout });
        match response {
            Response::Ok => self.on_succeeded(),
            Response::Failed(failure) => self.on_failed(failure),
            Response::Suspected(error) => {
                let state = self.state();
                state.note_error(error);
                state.may_land = true;
                state.add_claim(EffectClaim::Unknown);
                self.finish(OutcomeKind::Suspected(RequestKind::Attempt(attempt)));
            }
            // The last two are responses to refreshes and reversals; for an attempt they are the same as no answer.
            Response::Unanswered | Response::Unclear(_) | Response::Refused(_) => {
                self.state().add_claim(EffectClaim::Unknown);
                self.finish(OutcomeKind::Undetermined(RequestKind::Attempt(attempt)));
            }
        }
    }

    fn on_succeeded(&mut self) {
        let state = self.state();
        let is_own_answer = !state.facts.key_is_reused;
        state.add_claim(if is_own_answer { EffectClaim::Applied } else { EffectClaim::Unknown });
        let kind = match state.first_verdict {
            None => OutcomeKind::Succeeded,
            Some(_) => OutcomeKind::SucceededAfterCompensation,
        };
        self.finish(kind);
    }

    /// Emits the classification before anything else, then runs the compensation of the verdict that is obeyed.
    fn on_failed(&mut self, failure: ClassifiedFailure) {
        let ClassifiedFailure { verdict, rule, error, .. } = failure;
        let first = self.state().first_verdict;
        let ignored = self.playbook.obeys_first_failure_only() && first.is_some();
        self.emit(Decision::FailureClassified { verdict, rule, ignored });
        let effect = self.playbook.verdict(verdict).effect;
        let state = self.state();
        state.note_error(error);
        state.first_verdict = first.or(Some(verdict));
        state.may_land |= effect == EffectClaim::Unknown;
        if !ignored {
            state.add_claim(effect);
        }
        let obeyed = if ignored { first.unwrap_or(verdict) } else { verdict };
        self.compensate(obeyed, failure);
    }

    fn compensate(&mut self, verdict: VerdictId, failure: ClassifiedFailure) {
        match &self.playbook.verdict(verdict).then {
            Compensation::RetryWithBackoff(retry) => self.on_retry(verdict, retry, failure),
            Compensation::RefreshEvidence(refresh) => self.on_refresh(refresh),
            Compensation::EscalateToHuman(queue) => self.end(Terminal::Escalate(*queue)),
            Compensation::DeprecateToolCall(reason) => self.end(Terminal::Deprecate(*reason)),
            Compensation::IssueReversal(reversal) => self.on_reversal(*reversal),
        }
    }

    fn on_retry(&mut self, verdict: VerdictId, retry: &Retry, failure: ClassifiedFailure) {
        if let Some(why) = self.retry_guard() {
            return self.suppress(why, retry.on_unsafe);
        }
        let (now, limits) = (self.now, &self.playbook.limits);
        let state = self.state();
        let spent = CallUsage {
            attempts: state.attempts,
            retries: state.retries.of(verdict),
            since: state.facts.at,
            now,
            history: state.waits,
        };
        match wait::next_wait(retry, limits, spent, &failure) {
            Err(RetryStop::Limit(stop)) => self.finish(OutcomeKind::Exhausted(stop)),
            Err(RetryStop::End(end)) => self.end(end),
            Ok(wait) => {
                let attempt = AttemptNo::new(spent.attempts).next();
                let due = now.plus(wait.delay);
                state.phase = Phase::Backoff(attempt);
                state.retries.count(verdict);
                state.waits.add(&wait, failure.draw);
                let wait::NextWait { delay, draw, told } = wait;
                self.emit(Decision::RetryScheduled { attempt, delay, due, draw, told });
                self.out.outputs.push(Output::Wake { call: self.call, at: due });
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
            return match stop == StopReason::MaxRefreshes && self.deprecates_after_futile_refresh() {
                true => self.deprecate(DeprecationReason::RefreshFutile),
                false => self.finish(OutcomeKind::Exhausted(stop)),
            };
        }
        let state = self.state();
        state.refreshes += 1;
        let evidence = EvidenceId(state.refreshes);
        state.phase = Phase::Refreshing(evidence, refresh.then);
        self.ask(RequestKind::Refresh(evidence), evidence);
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
        wait::attempts_left(limits, state.attempts)?;
        wait::starts_in_time(limits, state.facts.at, now)
    }

    fn on_refresh_ended(&mut self, evidence: EvidenceId, then: AfterRefresh, response: Response, meta: ResponseMeta) {
        let (status, provenance) = (response.status(), meta.provenance);
        self.emit(Decision::EvidenceRefreshed { evidence, status, provenance });
        match response {
            Response::Ok => self.on_refreshed(evidence, then),
            Response::Unanswered => self.finish(OutcomeKind::Undetermined(RequestKind::Refresh(evidence))),
            Response::Suspected(error) => {
                self.state().note_error(error);
                self.finish(OutcomeKind::Suspected(RequestKind::Refresh(evidence)));
            }
            Response::Refused(_) | Response::Unclear(_) | Response::Failed(_) => {
                self.state().note_error(response.error());
                self.finish(OutcomeKind::Exhausted(StopReason::RefreshFailed));
            }
        }
    }

    fn on_refreshed(&mut self, evidence: EvidenceId, then: AfterRefresh) {
        if then == AfterRefresh::Abort {
            return self.deprecate(DeprecationReason::RefreshAbort);
        }
        let (now, limits) = (self.now, &self.playbook.limits);
        let resends_stale = self.playbook.study.as_ref().is_some_and(|study| study.resends_stale_evidence);
        let state = self.state();
        let (since, next) = (state.facts.at, AttemptNo::new(state.attempts).next());
        if !resends_stale {
            state.evidence = evidence;
        }
        match wait::starts_in_time(limits, since, now) {
            Ok(()) => self.start(next),
            Err(stop) => self.finish(OutcomeKind::Exhausted(stop)),
        }
    }

    fn on_reversal(&mut self, reversal: Reversal) {
        let guard = self.playbook.token_guard();
        let token = self.state().facts.token;
        let spent = token.is_some_and(|token| self.machine.is_redeemed(token));
        let refused = match guard {
            GuardMode::Off => None,
            GuardMode::Checked if spent => Some(ReversalRefusal::TokenRedeemed),
            GuardMode::Checked if token.is_some() => None,
            GuardMode::Checked | GuardMode::Stops => Some(ReversalRefusal::NoToken),
        };
        if let Some(why) = refused {
            return self.refuse_reversal(why, reversal.on_refused);
        }
        self.machine.redeemed.extend(token);
        let Reversal { reason, on_refused } = reversal;
        let state = self.state();
        state.phase = Phase::Redeeming { reason, on_refused };
        let evidence = state.evidence;
        self.ask(RequestKind::Reversal, evidence);
    }

    fn on_reversal_ended(&mut self, reason: ReasonId, on_refused: Terminal, response: Response, meta: ResponseMeta) {
        match response {
            Response::Ok => {
                self.emit(Decision::ReversalRedeemed { reason, provenance: meta.provenance });
                let state = self.state();
                let proof = if state.may_land { EffectClaim::Unknown } else { EffectClaim::NotApplied };
                state.claim = Some(proof);
                self.finish(OutcomeKind::Reversed(reason));
            }
            Response::Unanswered => {
                self.make_claim_unknown();
                self.finish(OutcomeKind::Undetermined(RequestKind::Reversal));
            }
            Response::Suspected(error) => {
                self.make_claim_unknown();
                self.state().note_error(error);
                self.finish(OutcomeKind::Suspected(RequestKind::Reversal));
            }
            Response::Unclear(None) => {
                self.make_claim_unknown();
                self.refuse_reversal(ReversalRefusal::NoAnswer, on_refused);
            }
            Response::Unclear(Some(_)) | Response::Failed(_) => {
                self.make_claim_unknown();
                self.state().note_error(response.error());
                self.refuse_reversal(ReversalRefusal::UpstreamFailed, on_refused);
            }
            Response::Refused(_) => {
                self.state().note_error(response.error());
                self.refuse_reversal(ReversalRefusal::UpstreamRefused, on_refused);
            }
        }
    }

    /// A redemption that was not clearly refused may have reversed the effect: an applied claim becomes unknown.
    fn make_claim_unknown(&mut self) {
        let state = self.state();
        if state.claim() != EffectClaim::NotApplied {
            state.claim = Some(EffectClaim::Unknown);
        }
    }

    fn refuse_reversal(&mut self, why: ReversalRefusal, on_refused: Terminal) {
        self.emit(Decision::ReversalRefused { why });
        match self.playbook.study.as_ref().is_some_and(|study| study.refused_reversal_exhausts) {
            true => self.finish(OutcomeKind::Exhausted(StopReason::ReversalRefused)),
            false => self.end(on_refused),
        }
    }

    fn deprecates_after_futile_refresh(&self) -> bool {
        self.playbook.study.as_ref().is_some_and(|study| study.futile_refresh_deprecates)
    }

    /// Why the retry guard stops a further attempt; none: it passes.
    fn retry_guard(&mut self) -> Option<SuppressionReason> {
        let guard = self.playbook.retry_guard();
        let state = self.state();
        match (guard, state.claim()) {
            (GuardMode::Off, _) => None,
            (GuardMode::Stops, _) => Some(SuppressionReason::MayHaveActed),
            (GuardMode::Checked, _) if state.facts.is_safe_to_resend() => None,
            (GuardMode::Checked, EffectClaim::NotApplied) => None,
            (GuardMode::Checked, EffectClaim::Unknown) => Some(SuppressionReason::MayHaveActed),
            (GuardMode::Checked, EffectClaim::Applied) => Some(SuppressionReason::HasActed),
        }
    }

    fn suppress(&mut self, why: SuppressionReason, on_unsafe: UnsafePolicy) {
        self.emit(Decision::RetrySuppressed { why });
        match on_unsafe {
            UnsafePolicy::End(end) => self.end(end),
            UnsafePolicy::Reverse(reversal) => self.on_reversal(reversal),
        }
    }

    fn end(&mut self, end: Terminal) {
        match end {
            Terminal::Deprecate(reason) => self.deprecate(DeprecationReason::Stated(reason)),
            Terminal::Escalate(queue) => {
                self.emit(Decision::Escalated { queue });
                self.finish(OutcomeKind::Escalated(queue));
            }
        }
    }

    fn deprecate(&mut self, why: DeprecationReason) {
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

/// How long a request that starts now may take: the attempt's timeout, cut to what is left of the call.
fn within(playbook: &Playbook, facts: &CallFacts, now: Instant) -> Duration {
    let left = wait::time_left(&playbook.limits, now.since(facts.at));
    left.map_or(facts.timeout, |left| facts.timeout.min(left))
}
