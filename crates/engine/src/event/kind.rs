//! The names of decision events.

use crate::words;

words! {
    /// The kinds of decision events, one for each [`Decision`](super::Decision).
    pub enum EventKind {
        Refused = "refused",
        Queued = "queued",
        ActionWithheld = "action_withheld",
        ActionReleased = "action_released",
        StepEnded = "step_ended",
        StepSkipped = "step_skipped",
        Joined = "joined",
        ServedFromCache = "served_from_cache",
        TookOver = "took_over",
        Cancelled = "cancelled",
        CircuitOpened = "circuit_opened",
        CircuitHalfOpen = "circuit_half_open",
        CircuitClosed = "circuit_closed",
        AttemptStarted = "attempt_started",
        AttemptFinished = "attempt_finished",
        LateAnswer = "late_answer",
        FailureClassified = "failure_classified",
        RetryScheduled = "retry_scheduled",
        RetryUnpaid = "retry_unpaid",
        RetrySuppressed = "retry_suppressed",
        EvidenceRefreshed = "evidence_refreshed",
        Escalated = "escalated",
        ReversalRefused = "reversal_refused",
        ReversalRedeemed = "reversal_redeemed",
        Deprecated = "deprecated",
        Outcome = "outcome",
    }
}
