//! The end of an attempt: its success, or its failure with the verdict's compensation.

use super::Transition;
use crate::dispatch::io::{ClassifiedFailure, Response, ResponseMeta};
use crate::event::{Decision, EffectClaim, OutcomeKind, RequestKind};
use crate::ids::{AttemptNo, ErrorId, VerdictId};
use crate::playbook::{Access, Compensation, Terminal};

impl Transition<'_> {
    pub(super) fn on_attempt_ended(&mut self, attempt: AttemptNo, response: Response, meta: ResponseMeta) {
        let shares = self.shares();
        if shares {
            self.release_permit();
        }
        let status = response.status();
        let ResponseMeta { latency, provenance, over_timeout } = meta;
        self.emit(Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout });
        if shares {
            self.record_in_breaker(response, meta);
            self.answer_retry_budgets(response == Response::Ok);
        }
        match response {
            Response::Ok => self.on_succeeded(),
            Response::Failed(failure) => self.on_failed(failure),
            Response::Suspected(error) => {
                self.on_open_end(error, OutcomeKind::Suspected(RequestKind::Attempt(attempt)))
            }
            Response::Unfinished(error) => {
                self.on_open_end(error, OutcomeKind::Unfinished(RequestKind::Attempt(attempt)))
            }
            // The last two are responses to refreshes and reversals; for an attempt they are the same as no answer.
            Response::Unanswered | Response::Unclear(_) | Response::Refused(_) => {
                let state = self.state();
                if !state.facts.was_refused {
                    state.at_work.push(attempt);
                }
                state.add_claim(EffectClaim::Unknown);
                self.finish(OutcomeKind::Undetermined(RequestKind::Attempt(attempt)));
            }
        }
    }

    /// The answer to an attempt does not say whether it acted.
    fn on_open_end(&mut self, error: Option<ErrorId>, kind: OutcomeKind) {
        let state = self.state();
        state.note_error(error);
        state.may_land = true;
        state.add_claim(EffectClaim::Unknown);
        self.finish(kind);
    }

    fn on_succeeded(&mut self) {
        let state = self.state();
        let is_own_answer = !state.facts.key_is_reused;
        state.add_claim(if is_own_answer { EffectClaim::Applied } else { EffectClaim::Unknown });
        self.succeed();
    }

    /// The call, or each of its steps, ended with a success.
    pub(super) fn succeed(&mut self) {
        let kind = match self.state().first_verdict {
            None => OutcomeKind::Succeeded,
            Some(_) => OutcomeKind::SucceededAfterCompensation,
        };
        self.finish(kind);
    }

    /// Emits the classification before anything else, then runs the compensation of the verdict that is obeyed.
    fn on_failed(&mut self, failure: ClassifiedFailure) {
        let ClassifiedFailure { verdict, rule, error, unanswered, .. } = failure;
        let first = self.state().first_verdict;
        let ignored = self.playbook.obeys_first_failure_only() && first.is_some();
        self.emit(Decision::FailureClassified { verdict, rule, ignored });
        if let Some(retry) = self.playbook.verdict(verdict).then.retry() {
            self.charge_throttle(retry);
        }
        let playbook = self.playbook;
        let state = self.state();
        let own = state.claim.filter(|_| state.facts.access == Access::Write);
        let effect = match playbook.claimed((verdict, rule), state.facts.key_history, own) {
            // What was processed under the key may be the other request.
            EffectClaim::Applied if state.facts.key_is_reused => EffectClaim::Unknown,
            claim => claim,
        };
        state.note_error(error);
        state.first_verdict = first.or(Some(verdict));
        state.last_verdict = Some(verdict);
        state.may_land |= effect == EffectClaim::Unknown;
        if unanswered {
            state.at_work.push(AttemptNo::new(state.attempts));
        }
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
}
