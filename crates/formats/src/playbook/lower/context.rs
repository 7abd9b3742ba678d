//! The names that compensations of a playbook refer to, and the ends that they give.

use std::cell::Cell;
use std::ops::Range;

use super::names::{Declared, Reasons};
use super::retry_budgets::RetryBudgets;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::Key;
use playproof_engine::event::CompensationWord;
use playproof_engine::ids::{QueueId, ReasonId};
use playproof_engine::playbook::Terminal;

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
    pub(super) fn queue(&self, at: At<'_>) -> Option<QueueId> {
        self.queues.find(at.get("queue")?).map(QueueId)
    }

    pub(super) fn reason(&self, at: At<'_>) -> Option<ReasonId> {
        Some(ReasonId(self.reasons.number(at.get("reason")?.text()?)))
    }

    pub(super) fn end(&self, kind: &Key<'_>, at: At<'_>) -> Option<Terminal> {
        match CompensationWord::parse(kind.text)? {
            CompensationWord::EscalateToHuman => self.queue(at).map(Terminal::Escalate),
            _ => self.reason(at).map(Terminal::Deprecate),
        }
    }

    /// The queue of a guard that names none: the default queue, which is then required.
    pub(super) fn default_escalation(&self, guard: &str, at: &Range<usize>) -> Option<QueueId> {
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
