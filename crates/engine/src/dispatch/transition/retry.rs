//! A further attempt after a failure: the retry guard, the limits, the wait, and what is left of the budget.

use super::Transition;
use crate::dispatch::calls::Phase;
use crate::dispatch::guard;
use crate::dispatch::io::{ClassifiedFailure, Output};
use crate::dispatch::wait::{self, CallUsage, RetryStop};
use crate::event::{Decision, OutcomeKind, StopReason, SuppressionReason};
use crate::ids::{AttemptNo, CallId, VerdictId};
use crate::playbook::{OnEmptyBudget, Retry, UnsafePolicy};
use crate::time::Instant;

impl Transition<'_> {
    pub(super) fn on_retry(&mut self, verdict: VerdictId, retry: &Retry, failure: ClassifiedFailure) {
        if let Some(why) = self.retry_guard() {
            return self.suppress(why, retry.on_unsafe);
        }
        let (now, limits, playbook) = (self.now, self.limits(), self.playbook);
        let state = self.state();
        state.uncounted += u32::from(retry.uncounted);
        let spent = CallUsage {
            attempts: state.attempts - state.uncounted, // each of them is an attempt
            retries: state.retries.scheduled(verdict),
            since: state.facts.at,
            now,
            history: state.waits,
        };
        match wait::next_wait(retry, &limits, spent, &failure) {
            // Only its caller does not wait so long.
            Err(_) if wait::next_wait(retry, &playbook.limits, spent, &failure).is_ok() => {
                self.finish(OutcomeKind::Exhausted(StopReason::MaxWait));
            }
            Err(RetryStop::Limit(stop)) => self.finish(OutcomeKind::Exhausted(stop)),
            Err(RetryStop::End(end)) => self.end(end),
            Ok(wait) => {
                let attempt = AttemptNo::new(state.attempts).next();
                let due = now.plus(wait.delay);
                if self.afford(retry, attempt, due).is_err() {
                    return;
                }
                let state = self.state();
                state.phase = Phase::Backoff { attempt, due };
                state.retries.count(verdict);
                state.waits.add(&wait, failure.draw, !retry.uncounted);
                let wait::NextWait { delay, draw, told } = wait;
                let left = self.left_of(retry);
                self.emit(Decision::RetryScheduled { attempt, delay, due, draw, told, left });
                self.out.outputs.push(Output::Wake { call: self.call, at: due });
            }
        }
    }

    /// Checks what a retry shares with others, and pays for it last: nothing is charged for a retry that cannot happen.
    ///
    /// # Errors
    /// It cannot happen, and the call has ended or will.
    fn afford(&mut self, retry: &Retry, attempt: AttemptNo, due: Instant) -> Result<(), ()> {
        if self.breaker_blocks(due).is_some() {
            let by = self.opened_by();
            self.stop(StopReason::CircuitOpen, by);
        } else if let Err(by) = self.reserve_retry(retry, attempt) {
            self.stop(StopReason::Budget, by);
        } else {
            match self.pay_retry(retry) {
                Ok(()) => return Ok(()),
                Err((OnEmptyBudget::Stop, by)) => self.stop(StopReason::RetryBudget, by),
                Err((OnEmptyBudget::WaitAndStop, by)) => {
                    self.emit(Decision::RetryUnpaid { attempt, delay: due.since(self.now) });
                    self.state().phase = Phase::Resting { due, by };
                    self.out.outputs.push(Output::Wake { call: self.call, at: due });
                }
            }
        }
        Err(())
    }

    fn reserve_retry(&mut self, retry: &Retry, attempt: AttemptNo) -> Result<(), Option<CallId>> {
        if retry.uncounted { Ok(()) } else { self.reserve_tool_call(attempt) }
    }

    /// Why the retry guard stops a further attempt; none: it passes.
    pub(super) fn retry_guard(&mut self) -> Option<SuppressionReason> {
        let mode = self.playbook.retry_guard();
        let state = self.state();
        guard::retry_guard(mode, state.facts.may_be_resent(), state.claim())
    }

    pub(super) fn suppress(&mut self, why: SuppressionReason, on_unsafe: UnsafePolicy) {
        self.emit(Decision::RetrySuppressed { why });
        match on_unsafe {
            UnsafePolicy::End(end) => self.end(end),
            UnsafePolicy::Reverse(reversal) => self.on_reversal(reversal),
        }
    }
}
