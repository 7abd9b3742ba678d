//! Compensations: exactly one for each verdict, its parameters, and what runs if a guard stops it.

use std::cell::Cell;
use std::ops::Range;

use super::names::{Declared, Reasons};
use super::retry_budgets::{self, Payment, RetryBudgets};
use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::Key;
use playproof_engine::event::CompensationWord;
use playproof_engine::ids::{QueueId, ReasonId};
use playproof_engine::playbook::{
    AfterRefresh, Backoff, Compensation, Refresh, Retry, Reversal, Terminal, UnsafePolicy,
};

/// The names that compensations of a playbook refer to.
pub(super) struct Context<'a> {
    pub root: At<'a>,
    pub queues: Declared,
    /// `Some(None)`: written but invalid, which has been reported.
    pub default_queue: Option<Option<QueueId>>,
    pub reasons: Reasons,
    pub retry_budgets: RetryBudgets,
    /// `limits.max_attempts`: it bounds the retries of a formula.
    pub max_attempts: u32,
    /// A missing default queue is one error, for any number of guards.
    pub default_queue_missed: Cell<bool>,
}

impl Context<'_> {
    /// The compensation written at `then`.
    pub fn compensation(&self, then: At<'_>) -> Option<Compensation> {
        let (kind, at) = then.single()?;
        Some(match CompensationWord::parse(kind.text)? {
            CompensationWord::RetryWithBackoff => Compensation::RetryWithBackoff(self.retry(&kind, at)?),
            CompensationWord::RefreshEvidence => Compensation::RefreshEvidence(self.refresh(&kind, at)?),
            CompensationWord::IssueReversal => Compensation::IssueReversal(self.reversal(&kind, at)?),
            CompensationWord::EscalateToHuman => Compensation::EscalateToHuman(self.queue(at)?),
            CompensationWord::DeprecateToolCall => Compensation::DeprecateToolCall(self.reason(at)?),
        })
    }

    fn retry(&self, kind: &Key<'_>, at: At<'_>) -> Option<Retry> {
        let (backoff, server_delay) = (waiting::backoff(at), waiting::server_delay(self, at));
        let (payment, on_unsafe) = (retry_budgets::payment(self, at), self.on_unsafe(at, kind));
        let max_retries = match (at.get("max_retries"), &backoff) {
            (Some(retries), _) => retries.whole(),
            (None, Some(Backoff::Listed(list))) => u32::try_from(list.len()).ok(),
            (None, _) => Some(self.max_attempts.saturating_sub(1).max(1)),
        };
        let Payment { retry_budget, cost, uncounted } = payment?;
        Some(Retry {
            backoff: backoff?,
            max_retries: max_retries?,
            server_delay: server_delay?,
            retry_budget,
            cost,
            uncounted,
            on_unsafe: on_unsafe?,
        })
    }

    fn refresh(&self, kind: &Key<'_>, at: At<'_>) -> Option<Refresh> {
        let on_unsafe = self.on_unsafe(at, kind);
        let then = if at.says("then", "retry")? { AfterRefresh::Retry } else { AfterRefresh::Abort };
        Some(Refresh { then, max_refreshes: at.number("max_refreshes")?, on_unsafe: on_unsafe? })
    }

    fn reversal(&self, kind: &Key<'_>, at: At<'_>) -> Option<Reversal> {
        let reason = self.reason(at);
        let on_refused = match at.get("on_refused") {
            Some(written) => written.single().and_then(|(kind, at)| self.end(&kind, at)),
            None => self.default_escalation("on_refused", &kind.span).map(Terminal::Escalate),
        };
        Some(Reversal { reason: reason?, on_refused: on_refused? })
    }

    pub(super) fn queue(&self, at: At<'_>) -> Option<QueueId> {
        self.queues.find(at.get("queue")?).map(QueueId)
    }

    fn reason(&self, at: At<'_>) -> Option<ReasonId> {
        Some(ReasonId(self.reasons.number(at.get("reason")?.text()?)))
    }

    fn end(&self, kind: &Key<'_>, at: At<'_>) -> Option<Terminal> {
        match CompensationWord::parse(kind.text)? {
            CompensationWord::EscalateToHuman => self.queue(at).map(Terminal::Escalate),
            _ => self.reason(at).map(Terminal::Deprecate),
        }
    }

    fn on_unsafe(&self, at: At<'_>, kind: &Key<'_>) -> Option<UnsafePolicy> {
        let Some(written) = at.get("on_unsafe") else {
            let queue = self.default_escalation("on_unsafe", &kind.span);
            return queue.map(|queue| UnsafePolicy::End(Terminal::Escalate(queue)));
        };
        let (kind, at) = written.single()?;
        match CompensationWord::parse(kind.text)? {
            CompensationWord::IssueReversal => self.reversal(&kind, at).map(UnsafePolicy::Reverse),
            _ => self.end(&kind, at).map(UnsafePolicy::End),
        }
    }

    /// The queue of a guard that names none: the default queue, which is then required.
    fn default_escalation(&self, guard: &str, at: &Range<usize>) -> Option<QueueId> {
        if self.default_queue.is_none() && !self.default_queue_missed.replace(true) {
            let message = format!("without `{guard}` this escalates to the `default_queue`, which is missing");
            self.root.report(
                Diagnostic::error("missing_default_queue", message).at(at.clone(), format!("no `{guard}` here")).help(
                    format!("declare `default_queue: QUEUE`, or write `{guard}: {{ escalate_to_human: {{ queue: QUEUE }} }}`"),
                ),
            );
        }
        self.default_queue?
    }
}
