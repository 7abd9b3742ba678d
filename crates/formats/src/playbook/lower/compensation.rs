//! Compensations: exactly one for each verdict, its parameters, and what runs if a guard stops it.

use std::cell::Cell;
use std::ops::Range;

use super::names::{Declared, Reasons};
use super::retry_budgets::{self, Payment, RetryBudgets};
use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::CompensationPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, Key};
use playproof_engine::event::CompensationWord;
use playproof_engine::ids::{QueueId, ReasonId};
use playproof_engine::playbook::{
    AfterRefresh, Backoff, Compensation, MOST_ATTEMPTS, Refresh, Retry, Reversal, Terminal, UnsafePolicy,
};

/// The names that compensations of a playbook refer to.
pub(super) struct Context<'a> {
    pub root: Cursor<'a>,
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
    pub fn compensation(&self, then: Cursor<'_>) -> Option<(Compensation, CompensationPlaces)> {
        let (kind, parameters) = then.single("a compensation", &CompensationWord::WORDS)?;
        let mut places = CompensationPlaces { kind: kind.span.clone(), ..CompensationPlaces::default() };
        let compensation = match kind.text {
            "retry_with_backoff" => Compensation::RetryWithBackoff(self.retry(&kind, parameters, &mut places)?),
            "refresh_evidence" => Compensation::RefreshEvidence(self.refresh(&kind, parameters, &mut places)?),
            "issue_reversal" => Compensation::IssueReversal(self.reversal(&kind, parameters, &mut places)?),
            "escalate_to_human" => Compensation::EscalateToHuman(self.queue(parameters)?),
            _ => Compensation::DeprecateToolCall(self.deprecation(parameters)?),
        };
        Some((compensation, places))
    }

    fn retry(&self, kind: &Key<'_>, at: Cursor<'_>, places: &mut CompensationPlaces) -> Option<Retry> {
        let record = at.record("`retry_with_backoff`", syntax::RETRY)?;
        let backoff = waiting::backoff(&record, places);
        let server_delay = waiting::server_delay(self, &record, places);
        let written_retries = record.optional("max_retries");
        places.max_retries = written_retries.map(Cursor::span);
        let max_retries = match (written_retries, &backoff) {
            (Some(retries), _) => retries.count(1..=MOST_ATTEMPTS),
            (None, Some(Backoff::Listed(list))) => u32::try_from(list.len()).ok(),
            (None, _) => Some(self.max_attempts.saturating_sub(1).max(1)),
        };
        let payment = retry_budgets::payment(self, &record, places);
        let on_unsafe = self.on_unsafe(record.optional("on_unsafe"), kind, places);
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

    fn refresh(&self, kind: &Key<'_>, at: Cursor<'_>, places: &mut CompensationPlaces) -> Option<Refresh> {
        let record = at.record("`refresh_evidence`", syntax::REFRESH)?;
        let then = match record.optional("then") {
            Some(then) => then.word(&syntax::AFTER_REFRESH),
            None => Some(AfterRefresh::Retry),
        };
        let written_refreshes = record.optional("max_refreshes");
        places.max_refreshes = written_refreshes.map(Cursor::span);
        let max_refreshes = match written_refreshes {
            Some(refreshes) => refreshes.count(1..=MOST_ATTEMPTS),
            None => Some(1),
        };
        let on_unsafe = self.on_unsafe(record.optional("on_unsafe"), kind, places);
        Some(Refresh { then: then?, max_refreshes: max_refreshes?, on_unsafe: on_unsafe? })
    }

    fn reversal(&self, kind: &Key<'_>, at: Cursor<'_>, places: &mut CompensationPlaces) -> Option<Reversal> {
        let record = at.record("`issue_reversal`", syntax::REVERSAL)?;
        let reason = record.required("reason").and_then(|reason| self.reason(reason));
        let written = record.optional("on_refused");
        places.on_refused = written.map(Cursor::span);
        let on_refused = match written {
            Some(written) => self.on_refused(written),
            None => self.default_escalation("on_refused", &kind.span).map(Terminal::Escalate),
        };
        Some(Reversal { reason: reason?, on_refused: on_refused? })
    }

    pub(super) fn queue(&self, at: Cursor<'_>) -> Option<QueueId> {
        let record = at.record("`escalate_to_human`", syntax::ESCALATE)?;
        record.required("queue").and_then(|queue| self.queues.find(queue)).map(QueueId)
    }

    fn deprecation(&self, at: Cursor<'_>) -> Option<ReasonId> {
        let record = at.record("`deprecate_tool_call`", syntax::DEPRECATE)?;
        let reason = record.required("reason").and_then(|reason| self.reason(reason));
        if let Some(replan) = record.optional("replan")
            && replan.bool() == Some(false)
        {
            replan.wrong("no_replan", "a deprecated call must be reconciled: `replan` can only be `true`", "");
        }
        reason
    }

    fn reason(&self, at: Cursor<'_>) -> Option<ReasonId> {
        Some(ReasonId(self.reasons.number(at.words()?)))
    }

    fn on_unsafe(
        &self,
        written: Option<Cursor<'_>>,
        kind: &Key<'_>,
        places: &mut CompensationPlaces,
    ) -> Option<UnsafePolicy> {
        places.on_unsafe = written.map(Cursor::span);
        let Some(written) = written else {
            return self
                .default_escalation("on_unsafe", &kind.span)
                .map(|queue| UnsafePolicy::End(Terminal::Escalate(queue)));
        };
        let (kind, parameters) = written.single("`on_unsafe`", &CompensationWord::WORDS)?;
        match kind.text {
            "issue_reversal" => self.reversal(&kind, parameters, places).map(UnsafePolicy::Reverse),
            "escalate_to_human" => self.queue(parameters).map(|queue| UnsafePolicy::End(Terminal::Escalate(queue))),
            "deprecate_tool_call" => {
                self.deprecation(parameters).map(|why| UnsafePolicy::End(Terminal::Deprecate(why)))
            }
            _ => refuse(written, &kind, "`on_unsafe` runs if sending again is unsafe; it cannot send again"),
        }
    }

    fn on_refused(&self, written: Cursor<'_>) -> Option<Terminal> {
        let (kind, parameters) = written.single("`on_refused`", &CompensationWord::WORDS)?;
        match kind.text {
            "escalate_to_human" => self.queue(parameters).map(Terminal::Escalate),
            "deprecate_tool_call" => self.deprecation(parameters).map(Terminal::Deprecate),
            "issue_reversal" => {
                refuse(written, &kind, "`on_refused` runs after a refused reversal; it cannot issue another")
            }
            _ => refuse(written, &kind, "`on_refused` runs after a refused reversal; it cannot send again"),
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

fn refuse<T>(at: Cursor<'_>, kind: &Key<'_>, why: &str) -> Option<T> {
    at.report(
        Diagnostic::error("unsafe_fallback", why)
            .at(kind.span.clone(), "not possible here")
            .help("use `escalate_to_human` or `deprecate_tool_call`"),
    );
    None
}
