//! Compensations: exactly one for each verdict, its parameters, and what runs if a guard stops it.

use super::context::Context;
use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::Key;
use playproof_engine::event::CompensationWord;
use playproof_engine::ids::RetryBudgetId;
use playproof_engine::playbook::{
    AfterRefresh, Backoff, Compensation, Refresh, Retry, RetryBudgetWord, Reversal, Terminal, Tokens, UnsafePolicy,
};

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
        let (payment, on_unsafe) = (payment(self, at), self.on_unsafe(at, kind));
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
}

/// What the retries of a verdict take, and from which budget.
struct Payment {
    retry_budget: Option<RetryBudgetId>,
    cost: Option<Tokens>,
    uncounted: bool,
}

/// The keys of a retry that are about its budget.
fn payment(context: &Context<'_>, retry: At<'_>) -> Option<Payment> {
    let retry_budget = retry.optional("retry_budget", |at| context.retry_budgets.names.find(at).map(RetryBudgetId))?;
    let cost = retry.optional("cost", |at| Tokens::parse(at.text()?))?;
    let kind = retry_budget.and_then(|id| context.retry_budgets.kind(id));
    if let (Some(span), Some(kind)) =
        (retry.key_span("cost"), kind.filter(|kind| *kind != RetryBudgetWord::TokenBucket))
    {
        let message = format!("only a {} has costs", RetryBudgetWord::TokenBucket.as_str());
        let label = format!("not for a budget of kind {}", kind.as_str());
        retry.report(Diagnostic::error("other_kind", message).at(span, label));
    }
    Some(Payment { retry_budget, cost, uncounted: retry.field("uncounted")?.flag()? })
}
