//! What the dispatcher decided or saw, one event at a time: the table of decision events, and what follows from it. Goldens,
//! JSON, recordings, lists and comparisons read the table. Contains no layout and no sentences.

use super::fields::{Class, Draw, FieldKey, FieldValue, NameId, TokensLeft};
use super::outcome::{EffectClaim, Outcome, OutcomeKind, OutcomeWord};
use super::reason::{AdmissionRefusal, DeprecationReason, OpenReason, ReversalRefusal, SuppressionReason};
use super::request::{Provenance, RequestKind, Status};
use super::transaction::Became;
use crate::ids::{
    ActionId, AttemptNo, CallId, ErrorId, EvidenceId, QueueId, ReasonId, RuleId, ServerId, StepId, VerdictId,
};
use crate::time::{Duration, Instant};
use crate::words;

events! {
    /// Admission refused the call: no attempt is made.
    Refused = "refused" (Admission) {
        /// Why.
        why: AdmissionRefusal => Why,
        /// What the caller gets.
        error: Option<ErrorId> => Error,
        /// The call that opened the circuit, took the last tool call of the run, or withholds the action.
        by: Option<CallId> => Cause,
        /// How long to wait before another call, if that is known.
        retry_after: Option<Duration> => RetryAfter,
    };
    /// No permit is free, or a gated call of the run has not ended: the next attempt waits.
    Queued = "queued" (Waiting) {
        /// Its place in the queue, from 1.
        place: u32 => Place,
        /// The gated call that it waits for; none: it waits for a permit.
        behind: Option<CallId> => Cause,
    };
    /// An attempt may still be at work, and a second one could act again: the graph does not offer the action.
    ActionWithheld = "action_withheld" (Offer) {
        /// The action.
        action: ActionId => Action,
    };
    /// That attempt has failed: the graph offers the action again.
    ActionReleased = "action_released" (Offer) {
        /// The action.
        action: ActionId => Action,
    };
    /// A step of the action has ended.
    StepEnded = "step_ended" (Attempt) {
        /// The action.
        action: ActionId,
        /// The step.
        step: StepId => Step (FieldValue::Name(NameId::Step(action, step))),
        /// How; of one that joined another call, how that one ended.
        ended: OutcomeWord => Ended,
        /// The claimed effect.
        claim: EffectClaim => Effect,
        /// Its attempts.
        attempts: u32 => Attempts,
        /// The verdict of its last failure; shown with its own call.
        verdict: Option<VerdictId>,
        /// Whether doing it once more could act again: a repetition of the action would.
        acts_again: bool => ActsAgain,
    };
    /// A step is not done, because one before it did not succeed.
    StepSkipped = "step_skipped" (Stop) {
        /// The action.
        action: ActionId,
        /// The step.
        step: StepId => Step (FieldValue::Name(NameId::Step(action, step))),
    };
    /// The call waits for another one with its key, and ends as that one does.
    Joined = "joined" (Admission) {
        /// The call that it waits for.
        leader: CallId => Leader,
    };
    /// A call with the same key has succeeded: the call gets the same result.
    ServedFromCache = "served_from_cache" (Admission) {
        /// That call.
        leader: CallId => Leader,
        /// How long ago that call ended.
        age: Duration => Age,
    };
    /// The call that it waited for was lost: it is sent itself.
    TookOver = "took_over" (Attempt) {
        /// The lost call.
        leader: CallId => Leader,
    };
    /// The caller went away.
    Cancelled = "cancelled" (Stop) says By = "caller";
    /// The breaker of a server lets no request pass.
    CircuitOpened = "circuit_opened" (Stop) {
        /// The server.
        server: ServerId => Server,
        /// What opened it.
        why: OpenReason => Why,
        /// The end of its open period; none: until somebody changes it.
        until: Option<Instant> => Until,
    };
    /// The breaker of a server lets probes pass.
    CircuitHalfOpen = "circuit_half_open" (Waiting) {
        /// The server.
        server: ServerId => Server,
    };
    /// The breaker of a server lets every request pass, and has counted nothing yet.
    CircuitClosed = "circuit_closed" (Waiting) {
        /// The server.
        server: ServerId => Server,
    };
    /// An attempt was sent.
    AttemptStarted = "attempt_started" (Attempt) {
        /// Its number.
        attempt: AttemptNo => Attempt,
        /// The evidence it carries.
        evidence: EvidenceId => Evidence,
    };
    /// An attempt ended.
    AttemptFinished = "attempt_finished" (Attempt) {
        /// Its number.
        attempt: AttemptNo => Attempt,
        /// How it ended.
        status: Status => Status,
        /// From start to end; none if the recording has no times.
        latency: Option<Duration> => Latency (FieldValue::Latency(latency)),
        /// Where the answer comes from.
        provenance: Provenance => From,
        /// A recorded answer that took longer than the attempt's timeout allows.
        over_timeout: bool => OverTimeout,
    };
    /// An answer came after its attempt had timed out; no decision changes.
    LateAnswer = "late_answer" (Attempt) {
        /// The attempt it answers.
        attempt: AttemptNo => Attempt,
        /// Success or failure.
        status: Status => Status,
    };
    /// A failure got its verdict.
    FailureClassified = "failure_classified" (Attempt) {
        /// What it means.
        verdict: VerdictId => Verdict,
        /// The rule that matched; none: no rule matched.
        rule: Option<RuleId> => Rule (FieldValue::Name(NameId::Rule(rule))),
        /// A study playbook obeys only the first failure, and ignored this one.
        ignored: bool => Ignored,
    };
    /// A further attempt will be sent.
    RetryScheduled = "retry_scheduled" (Resend) {
        /// Its number.
        attempt: AttemptNo => Attempt,
        /// The wait before it.
        delay: Duration => Delay,
        /// When it starts.
        due: Instant => Due,
        /// The draw, if the wait depends on one.
        draw: Option<Draw> => Draw,
        /// The upstream's wish, if it counted.
        told: Option<Duration> => Told,
        /// What the retry budget that paid for it has left, if it has tokens.
        left: Option<TokensLeft> => Left,
    } guard(Retry, false) does(RetryWithBackoff);
    /// The retry budget is empty: the call waits as if there were a further attempt, and ends.
    RetryUnpaid = "retry_unpaid" (Stop) {
        /// The number of the attempt that will not be sent.
        attempt: AttemptNo => Attempt,
        /// The wait before the end.
        delay: Duration => Delay,
    } guard(Retry, false);
    /// The retry guard stopped a further attempt.
    RetrySuppressed = "retry_suppressed" (Stop) {
        /// Why.
        why: SuppressionReason => Why,
    } guard(Retry, true);
    /// A new evidence snapshot was requested, and the request ended.
    EvidenceRefreshed = "evidence_refreshed" (Resend) {
        /// The requested snapshot.
        evidence: EvidenceId => Evidence,
        /// How the request ended.
        status: Status => Status,
        /// Where the answer comes from.
        provenance: Provenance => From,
    } does(RefreshEvidence);
    /// The call was handed to a human.
    Escalated = "escalated" (Stop) {
        /// Where it waits.
        queue: QueueId => Queue,
    } does(EscalateToHuman);
    /// The reversal was refused.
    ReversalRefused = "reversal_refused" (Stop) {
        /// Why.
        why: ReversalRefusal => Why,
    } guard(Token, !why.was_sent()) does(IssueReversal, why.was_sent());
    /// The reversal token was redeemed.
    ReversalRedeemed = "reversal_redeemed" (GiveUp) {
        /// The playbook's reason.
        reason: ReasonId => Reason,
        /// Where the answer comes from.
        provenance: Provenance => From,
    } guard(Token, false) does(IssueReversal);
    /// The local attempt was given up.
    Deprecated = "deprecated" (GiveUp) {
        /// Why.
        why: DeprecationReason => Reason,
    } does(DeprecateToolCall);
    /// A transaction began or ended, or a write of state in it was staged, committed or discarded.
    Transaction = "transaction" (Scope) {
        /// What became of it.
        became: Became => Became,
        /// The call because of which it is rolled back.
        by: Option<CallId> => Cause,
    };
    /// The call ended. [`Outcome::each_field`] has the fields of its outcome.
    Outcome = "outcome" (End) [outcome: Outcome => Outcome (FieldValue::Word(outcome.kind.as_str()))];
}

/// The role of an event for its call.
enum Role {
    /// Admission stops the call before its first attempt.
    Admission,
    /// An attempt waits for others.
    Waiting,
    /// An attempt, its end or its classification.
    Attempt,
    /// A compensation that leads to the next attempt.
    Resend,
    /// A guard or a queue stops the call from being sent again.
    Stop,
    /// A compensation that ends the call without another attempt.
    GiveUp,
    /// It changes what the graph offers after the call.
    Offer,
    /// It says what becomes of state.
    Scope,
    /// The end.
    End,
}

impl EventKind {
    /// The key of its value: its first one.
    pub const fn value_key(self) -> FieldKey {
        self.keys()[0] // an event without a key does not compile
    }

    /// The class of a divergence in which only one of two runs has such an event.
    pub const fn class(self) -> Class {
        match self.role() {
            Role::Attempt | Role::Resend => Class::AttemptsChanged,
            Role::Waiting => Class::TimingOnly,
            Role::Admission | Role::Stop | Role::GiveUp | Role::Offer | Role::Scope | Role::End => {
                Class::OutcomeChanged
            }
        }
    }

    /// Whether it stops the call from being sent again. Sending the call anyway is a weakened guard.
    pub const fn stops(self) -> bool {
        matches!(self.role(), Role::Admission | Role::Stop)
    }

    /// Whether it carries out a compensation, or stops one.
    pub const fn is_compensation(self) -> bool {
        matches!(self.role(), Role::Resend | Role::Stop | Role::GiveUp)
    }
}

/// The largest number of fields of an event.
const MOST_FIELDS: usize = 6;

const _: () = {
    let mut n = 0;
    while n < EventKind::ALL.len() {
        assert!(!EventKind::ALL[n].keys().is_empty(), "an event has a value");
        assert!(EventKind::ALL[n].keys().len() <= MOST_FIELDS, "`fields` has room for all fields");
        n += 1;
    }
};

/// One decision, when it was made and about which call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct DecisionEvent {
    /// The moment, in virtual time.
    pub at: Instant,
    /// The call.
    pub call: CallId,
    /// The decision.
    pub what: Decision,
}

impl Decision {
    /// Its fields, the value first.
    pub fn fields(&self) -> impl Iterator<Item = (FieldKey, FieldValue)> + use<> {
        let mut values = [FieldValue::Nothing; MOST_FIELDS];
        let mut n = 0;
        self.each_field(|_, value| {
            values[n] = value; // `MOST_FIELDS` is checked below
            n += 1;
        });
        self.kind().keys().iter().copied().zip(values)
    }

    /// The value of its first field.
    pub fn value(&self) -> FieldValue {
        self.fields().next().map_or(FieldValue::Nothing, |(_, value)| value)
    }

    /// Why the call was refused, if this event says so. If a step of an action was refused, only the outcome of the action
    /// says so.
    pub const fn refusal(&self) -> Option<AdmissionRefusal> {
        match self {
            Decision::Refused { why, .. } => Some(*why),
            Decision::Outcome(outcome) => match outcome.kind {
                OutcomeKind::Refused(why) => Some(why),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this shows that the reversal token was sent to the upstream, whatever the answer.
    pub const fn sent_reversal(&self) -> bool {
        match self {
            Decision::Outcome(outcome) => {
                use OutcomeKind::{Suspected, Undetermined, Unfinished};
                matches!(outcome.kind, Undetermined(asked) | Suspected(asked) | Unfinished(asked) if matches!(asked, RequestKind::Reversal))
            }
            what => matches!(what.carries_out(), Some(CompensationWord::IssueReversal)),
        }
    }

    /// The server whose breaker changed, and how, if this event says so.
    pub const fn circuit(&self) -> Option<(ServerId, CircuitChange)> {
        match *self {
            Decision::CircuitOpened { server, why, until } => Some((server, CircuitChange::Opened { why, until })),
            Decision::CircuitHalfOpen { server } => Some((server, CircuitChange::HalfOpen)),
            Decision::CircuitClosed { server } => Some((server, CircuitChange::Closed)),
            _ => None,
        }
    }
}

/// A change of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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

impl CircuitChange {
    /// The event of this change at the breaker of `server`.
    pub const fn event(self, server: ServerId) -> Decision {
        match self {
            CircuitChange::Opened { why, until } => Decision::CircuitOpened { server, why, until },
            CircuitChange::HalfOpen => Decision::CircuitHalfOpen { server },
            CircuitChange::Closed => Decision::CircuitClosed { server },
        }
    }
}

words! {
    /// The compensations.
    pub enum CompensationWord {
        /// Wait, then send again with the same key.
        RetryWithBackoff = "retry_with_backoff",
        /// Take a new evidence snapshot first.
        RefreshEvidence = "refresh_evidence",
        /// Hand the call to people.
        EscalateToHuman = "escalate_to_human",
        /// Redeem the reversal token.
        IssueReversal = "issue_reversal",
        /// Give up the local attempt.
        DeprecateToolCall = "deprecate_tool_call",
    }
}

words! {
    /// The guards.
    pub enum GuardKind {
        /// Before a further attempt.
        Retry = "retry_guard",
        /// Before a reversal token is redeemed.
        Token = "token_guard",
    }
}
