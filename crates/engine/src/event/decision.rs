//! What the dispatcher decided or saw, one event at a time, and how a call ended.

use std::fmt;

use super::draw::Draw;
use super::reason::{AdmissionRefusal, DeprecationReason, OpenReason, ReversalRefusal, StopReason, SuppressionReason};
use super::tokens_left::TokensLeft;
use crate::ids::{
    ActionId, AttemptNo, CallId, ErrorId, EvidenceId, QueueId, ReasonId, RuleId, ServerId, StepId, VerdictId,
};
use crate::time::{Duration, Instant};
use crate::words;

words! {
    /// Where an answer came from.
    pub enum Provenance {
        /// The trace holds it.
        Recorded = "recorded",
        /// An identical later call of the trace, read as this call's next attempt.
        Inferred = "inferred",
        /// A fixture's script says it.
        Scripted = "scripted",
        /// The key dialect or `--beyond-tape` made it.
        Modelled = "modelled",
        /// There is none.
        Unanswered = "unanswered",
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The upstream answered with success.
    Ok,
    /// It failed; the error, if there is one, is in the record's table.
    Failed(Option<ErrorId>),
    /// Its text suggests a failure and does not prove one.
    Suspected(Option<ErrorId>),
    /// The work that was asked for is not done yet.
    Unfinished(Option<ErrorId>),
    /// No answer came, and no later answer is known.
    Unanswered,
}

/// A request of the dispatcher to the upstream for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// The call itself, as attempt number N.
    Attempt(AttemptNo),
    /// A new snapshot of the call's evidence.
    Refresh(EvidenceId),
    /// The redemption of the call's reversal token.
    Reversal,
}

impl RequestKind {
    /// Parses the displayed form.
    pub fn parse(text: &str) -> Option<RequestKind> {
        match text.split_once(' ')? {
            ("attempt", number) => Some(RequestKind::Attempt(AttemptNo::new(number.parse().ok()?))),
            ("refresh", number) => Some(RequestKind::Refresh(EvidenceId(number.parse().ok()?))),
            ("the", "reversal") => Some(RequestKind::Reversal),
            _ => None,
        }
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestKind::Attempt(attempt) => write!(f, "attempt {attempt}"),
            RequestKind::Refresh(evidence) => write!(f, "refresh {}", evidence.0),
            RequestKind::Reversal => f.write_str("the reversal"),
        }
    }
}

/// One thing that the dispatcher decided or saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionEvent {
    /// The moment, in virtual time.
    pub at: Instant,
    /// The call.
    pub call: CallId,
    /// The decision.
    pub what: Decision,
}

words! {
    /// The kinds of decision events, one for each [`Decision`].
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

/// The kinds of decision events (DESIGN.md section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Admission refused the call: no attempt is made.
    Refused {
        /// Why.
        why: AdmissionRefusal,
        /// What the caller gets.
        error: Option<ErrorId>,
        /// The call that opened the circuit, took the last tool call of the run, or withholds the action.
        by: Option<CallId>,
        /// How long to wait before another call, if that is known.
        retry_after: Option<Duration>,
    },
    /// No permit is free, or a gated call of the run has not ended: the next attempt waits.
    Queued {
        /// Its place in the queue, from 1.
        place: u32,
        /// The gated call that it waits for; none: it waits for a permit.
        behind: Option<CallId>,
    },
    /// An attempt may still be at work, and a second one could act again: the graph does not offer the action.
    ActionWithheld {
        /// The action.
        action: ActionId,
    },
    /// That attempt has failed: the graph offers the action again.
    ActionReleased {
        /// The action.
        action: ActionId,
    },
    /// A step of the action has ended.
    StepEnded {
        /// The action.
        action: ActionId,
        /// The step.
        step: StepId,
        /// How; of one that joined another call, how that one ended.
        ended: OutcomeWord,
        /// The claimed effect.
        claim: EffectClaim,
        /// Its attempts.
        attempts: u32,
        /// The verdict of its last failure; shown with its own call.
        verdict: Option<VerdictId>,
        /// Whether doing it once more could act again: a repetition of the action would.
        acts_again: bool,
    },
    /// A step is not done, because one before it did not succeed.
    StepSkipped {
        /// The action.
        action: ActionId,
        /// The step.
        step: StepId,
    },
    /// The call waits for another one with its key, and ends as that one does.
    Joined {
        /// The call that it waits for.
        leader: CallId,
    },
    /// A call with the same key has succeeded: the call gets the same result.
    ServedFromCache {
        /// That call.
        leader: CallId,
        /// How long ago that call ended.
        age: Duration,
    },
    /// The call that it waited for was lost: it is sent itself.
    TookOver {
        /// The lost call.
        leader: CallId,
    },
    /// The breaker of a server changed its state.
    Circuit {
        /// The server.
        server: ServerId,
        /// The change.
        change: CircuitChange,
    },
    /// The caller went away.
    Cancelled,
    /// An attempt was sent.
    AttemptStarted {
        /// Its number.
        attempt: AttemptNo,
        /// The evidence it carries.
        evidence: EvidenceId,
    },
    /// An attempt ended.
    AttemptFinished {
        /// Its number.
        attempt: AttemptNo,
        /// How it ended.
        status: Status,
        /// From start to end; none if the recording has no times.
        latency: Option<Duration>,
        /// Where the answer comes from.
        provenance: Provenance,
        /// A recorded answer that took longer than the attempt's timeout allows.
        over_timeout: bool,
    },
    /// An answer came after its attempt had timed out; no decision changes.
    LateAnswer {
        /// The attempt it answers.
        attempt: AttemptNo,
        /// Success or failure.
        status: Status,
    },
    /// A failure got its verdict.
    FailureClassified {
        /// What it means.
        verdict: VerdictId,
        /// The rule that matched; none: no rule matched.
        rule: Option<RuleId>,
        /// A study playbook obeys only the first failure, and ignored this one.
        ignored: bool,
    },
    /// A further attempt will be sent.
    RetryScheduled {
        /// Its number.
        attempt: AttemptNo,
        /// The wait before it.
        delay: Duration,
        /// When it starts.
        due: Instant,
        /// The draw, if the wait depends on one.
        draw: Option<Draw>,
        /// The upstream's wish, if it counted.
        told: Option<Duration>,
        /// What the retry budget that paid for it has left, if it has tokens.
        left: Option<TokensLeft>,
    },
    /// The retry budget is empty: the call waits as if there were a further attempt, and ends.
    RetryUnpaid {
        /// The number of the attempt that will not be sent.
        attempt: AttemptNo,
        /// The wait before the end.
        delay: Duration,
    },
    /// The retry guard stopped a further attempt.
    RetrySuppressed {
        /// Why.
        why: SuppressionReason,
    },
    /// A new evidence snapshot was requested, and the request ended.
    EvidenceRefreshed {
        /// The requested snapshot.
        evidence: EvidenceId,
        /// How the request ended.
        status: Status,
        /// Where the answer comes from.
        provenance: Provenance,
    },
    /// The call was handed to a human.
    Escalated {
        /// Where it waits.
        queue: QueueId,
    },
    /// The reversal was refused.
    ReversalRefused {
        /// Why.
        why: ReversalRefusal,
    },
    /// The reversal token was redeemed.
    ReversalRedeemed {
        /// The playbook's reason.
        reason: ReasonId,
        /// Where the answer comes from.
        provenance: Provenance,
    },
    /// The local attempt was given up.
    Deprecated {
        /// Why.
        why: DeprecationReason,
    },
    /// The call ended.
    Outcome(Outcome),
}

/// A change of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitChange {
    /// No request passes.
    Opened {
        /// What opened it.
        why: OpenReason,
        /// The end of its open period; none: until somebody changes it.
        until: Option<Instant>,
    },
    /// Probes pass.
    HalfOpen,
    /// Every request passes, and nothing is counted yet.
    Closed,
}

words! {
    /// What the outcome claims about a call's effect on the upstream.
    pub enum EffectClaim {
        /// The upstream made the change.
        Applied = "applied",
        /// The upstream did not make the change.
        NotApplied = "not_applied",
        /// The upstream may have made the change.
        Unknown = "unknown",
    }
}

impl EffectClaim {
    /// The claim over two attempts of one call: applied if one is, unknown if one may be,
    /// not applied only if neither can be (DESIGN.md section 2, *End*).
    #[must_use]
    pub const fn and(self, other: EffectClaim) -> EffectClaim {
        match (self, other) {
            (EffectClaim::Applied, _) | (_, EffectClaim::Applied) => EffectClaim::Applied,
            (EffectClaim::Unknown, _) | (_, EffectClaim::Unknown) => EffectClaim::Unknown,
            (EffectClaim::NotApplied, EffectClaim::NotApplied) => EffectClaim::NotApplied,
        }
    }
}

words! {
    /// The name of an outcome, without its details.
    pub enum OutcomeWord {
        /// Nothing failed.
        Succeeded = "succeeded",
        /// A later attempt succeeded.
        SucceededAfterCompensation = "succeeded_after_compensation",
        /// Given up here; the planner reconciles.
        Deprecated = "deprecated",
        /// A human decides.
        Escalated = "escalated",
        /// The reversal token was redeemed.
        Reversed = "reversed",
        /// A limit was hit.
        Exhausted = "exhausted",
        /// Admission refused the call; nothing was sent.
        Refused = "refused",
        /// Another call with its key was in flight; it ended as that one did.
        Joined = "joined",
        /// Another call with its key had succeeded; it got the same result.
        Cached = "cached",
        /// A step whose action had ended: nothing was sent.
        Skipped = "skipped",
        /// The caller went away.
        Cancelled = "cancelled",
        /// An answer is missing, or only suggests a failure.
        Undetermined = "undetermined",
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutcomeKind {
    /// Nothing failed.
    Succeeded,
    /// A later attempt succeeded.
    SucceededAfterCompensation,
    /// Given up here; the planner reconciles.
    Deprecated(DeprecationReason),
    /// A human decides, from this queue.
    Escalated(QueueId),
    /// The reversal token was redeemed, for this reason.
    Reversed(ReasonId),
    /// A limit was hit.
    Exhausted(StopReason),
    /// Admission refused the call; nothing was sent.
    Refused(AdmissionRefusal),
    /// Another call with its key was in flight; it ended as that one did.
    Joined {
        /// The other call.
        leader: CallId,
        /// How the other call ended.
        ended: OutcomeWord,
    },
    /// Another call with its key had succeeded; it got the same result.
    Cached {
        /// The other call.
        leader: CallId,
    },
    /// A step whose action had ended: nothing was sent.
    Skipped,
    /// The caller went away.
    Cancelled,
    /// An answer is missing.
    Undetermined(RequestKind),
    /// An answer suggests a failure and does not prove one.
    Suspected(RequestKind),
    /// An answer says that the work is not done yet.
    Unfinished(RequestKind),
}

impl OutcomeWord {
    /// Whether a step that ended so is done: the next one follows.
    pub const fn completes_step(self) -> bool {
        matches!(self, OutcomeWord::Succeeded | OutcomeWord::SucceededAfterCompensation | OutcomeWord::Cached)
    }
}

impl OutcomeKind {
    /// The name of the outcome.
    pub const fn word(self) -> OutcomeWord {
        match self {
            OutcomeKind::Succeeded => OutcomeWord::Succeeded,
            OutcomeKind::SucceededAfterCompensation => OutcomeWord::SucceededAfterCompensation,
            OutcomeKind::Deprecated(_) => OutcomeWord::Deprecated,
            OutcomeKind::Escalated(_) => OutcomeWord::Escalated,
            OutcomeKind::Reversed(_) => OutcomeWord::Reversed,
            OutcomeKind::Exhausted(_) => OutcomeWord::Exhausted,
            OutcomeKind::Refused(_) => OutcomeWord::Refused,
            OutcomeKind::Joined { .. } => OutcomeWord::Joined,
            OutcomeKind::Cached { .. } => OutcomeWord::Cached,
            OutcomeKind::Skipped => OutcomeWord::Skipped,
            OutcomeKind::Cancelled => OutcomeWord::Cancelled,
            OutcomeKind::Undetermined(_) | OutcomeKind::Suspected(_) | OutcomeKind::Unfinished(_) => {
                OutcomeWord::Undetermined
            }
        }
    }

    /// The name of the outcome; of a call that joined another one, that of the other one's.
    pub const fn own_or_joined(self) -> OutcomeWord {
        match self {
            OutcomeKind::Joined { ended, .. } => ended,
            kind => kind.word(),
        }
    }

    /// Whether the call's own attempts ended with a success.
    pub const fn is_success(self) -> bool {
        matches!(self, OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation)
    }

    /// What calls share, if it is that which stopped the call.
    pub const fn shared_stop(self) -> Option<StopReason> {
        match self {
            OutcomeKind::Exhausted(stop @ (StopReason::Budget | StopReason::CircuitOpen | StopReason::RetryBudget)) => {
                Some(stop)
            }
            _ => None,
        }
    }

    /// The same outcome, whose leader is another call.
    #[must_use]
    pub const fn with_leader(self, leader: CallId) -> OutcomeKind {
        match self {
            OutcomeKind::Joined { ended, .. } => OutcomeKind::Joined { leader, ended },
            OutcomeKind::Cached { .. } => OutcomeKind::Cached { leader },
            other => other,
        }
    }

    /// The word in files.
    pub const fn as_str(self) -> &'static str {
        self.word().as_str()
    }
}

/// The one outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// How it ended.
    pub kind: OutcomeKind,
    /// The claimed net effect.
    pub claim: EffectClaim,
    /// Attempts started; 0 if nothing was sent for the call.
    pub attempts: u32,
    /// The last error, if any attempt failed with one.
    pub last_error: Option<ErrorId>,
    /// The first error, if it differs from the last.
    pub first_error: Option<ErrorId>,
    /// The call that opened the circuit or took the last of the budget at which this one stopped. It explains the outcome,
    /// and is no part of it in goldens and recordings.
    pub stopped_by: Option<CallId>,
}
