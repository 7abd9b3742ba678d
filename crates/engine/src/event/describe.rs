//! The one definition of each event's name, fields and severity: goldens, JSON, lists and comparisons read it. Contains
//! no layout and no sentences.

use super::class::Class;
use super::decision::{CircuitChange, Decision, EventKind, Provenance, RequestKind, Status};
use super::decision::{Outcome, OutcomeKind};
use super::draw::Draw;
use super::field::FieldKey;
use super::finding::FindingId;
use super::reason::{AdmissionRefusal, DeprecationReason, ReversalRefusal};
use super::tokens_left::TokensLeft;
use crate::ids::{ActionId, CallId, ErrorId, QueueId, ReasonId, RuleId, ServerId, StepId, VerdictId};
use crate::time::{Duration, Instant};
use crate::words;

/// The value of a field. Names are still ids; the [`Transcript`](super::Transcript) resolves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number, or a count.
    Number(u32),
    /// A flag; goldens and JSON leave out false ones.
    Flag(bool),
    /// How an attempt or a refresh ended.
    Status(Status),
    /// A span of time, if it is known.
    Latency(Option<Duration>),
    /// A span of time.
    Span(Duration),
    /// A span of time that goldens and JSON leave out if there is none.
    OptionalSpan(Option<Duration>),
    /// A draw; goldens and JSON leave out none.
    Draw(Option<Draw>),
    /// What a retry budget has left; goldens and JSON leave out none.
    Left(Option<TokensLeft>),
    /// A moment.
    Instant(Instant),
    /// Where an answer comes from.
    Provenance(Provenance),
    /// Why a reversal was refused.
    Refused(ReversalRefusal),
    /// One of a closed set of words.
    Word(&'static str),
    /// A whole number of a closed set, as its digits.
    Code(&'static str),
    /// A verdict.
    Verdict(VerdictId),
    /// A rule; none: no rule matched.
    Rule(Option<RuleId>),
    /// A queue.
    Queue(QueueId),
    /// The playbook's reason.
    Reason(ReasonId),
    /// Why a call was given up.
    GivenUp(DeprecationReason),
    /// The missing answer.
    Lacks(RequestKind),
    /// A call.
    Call(CallId),
    /// An action.
    Action(ActionId),
    /// A step of an action.
    Step(ActionId, StepId),
    /// A server.
    Server(ServerId),
    /// An error.
    Error(ErrorId),
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

impl EventKind {
    /// The key of its value, the keys of its fields, and its role for the call.
    #[inline]
    const fn definition(self) -> (FieldKey, &'static [FieldKey], Role) {
        match self {
            EventKind::Refused => {
                (FieldKey::Why, &[FieldKey::Error, FieldKey::Cause, FieldKey::RetryAfter], Role::Admission)
            }
            EventKind::Queued => (FieldKey::Place, &[FieldKey::Cause], Role::Waiting),
            EventKind::ActionWithheld => (FieldKey::Action, &[], Role::Offer),
            EventKind::ActionReleased => (FieldKey::Action, &[], Role::Offer),
            EventKind::StepEnded => (FieldKey::Step, STEP_END, Role::Attempt),
            EventKind::StepSkipped => (FieldKey::Step, &[], Role::Stop),
            EventKind::Joined => (FieldKey::Leader, &[], Role::Admission),
            EventKind::ServedFromCache => (FieldKey::Leader, &[FieldKey::Age], Role::Admission),
            EventKind::TookOver => (FieldKey::Leader, &[], Role::Attempt),
            EventKind::Cancelled => (FieldKey::By, &[], Role::Stop),
            EventKind::CircuitOpened => (FieldKey::Server, &[FieldKey::Why, FieldKey::Until], Role::Stop),
            EventKind::CircuitHalfOpen | EventKind::CircuitClosed => (FieldKey::Server, &[], Role::Waiting),
            EventKind::AttemptStarted => (FieldKey::Attempt, &[FieldKey::Evidence], Role::Attempt),
            EventKind::AttemptFinished => (
                FieldKey::Attempt,
                &[FieldKey::Status, FieldKey::Latency, FieldKey::From, FieldKey::OverTimeout],
                Role::Attempt,
            ),
            EventKind::LateAnswer => (FieldKey::Attempt, &[FieldKey::Status], Role::Attempt),
            EventKind::FailureClassified => (FieldKey::Verdict, &[FieldKey::Rule, FieldKey::Ignored], Role::Attempt),
            EventKind::RetryScheduled => (
                FieldKey::Attempt,
                &[FieldKey::Delay, FieldKey::Due, FieldKey::Draw, FieldKey::Told, FieldKey::Left],
                Role::Resend,
            ),
            EventKind::RetryUnpaid => (FieldKey::Attempt, &[FieldKey::Delay], Role::Stop),
            EventKind::RetrySuppressed => (FieldKey::Why, &[], Role::Stop),
            EventKind::EvidenceRefreshed => (FieldKey::Evidence, &[FieldKey::Status, FieldKey::From], Role::Resend),
            EventKind::Escalated => (FieldKey::Queue, &[], Role::Stop),
            EventKind::ReversalRefused => (FieldKey::Why, &[], Role::Stop),
            EventKind::ReversalRedeemed => (FieldKey::Reason, &[FieldKey::From], Role::GiveUp),
            EventKind::Deprecated => (FieldKey::Reason, &[], Role::GiveUp),
            EventKind::Outcome => (FieldKey::Outcome, &[], Role::End),
        }
    }

    /// The key of its value, and the keys of its fields.
    #[inline]
    pub const fn keys(self) -> (FieldKey, &'static [FieldKey]) {
        let (value, fields, _) = self.definition();
        (value, fields)
    }

    /// The class of a divergence in which only one of two runs has such an event.
    pub const fn class(self) -> Class {
        match self.definition().2 {
            Role::Attempt | Role::Resend => Class::AttemptsChanged,
            Role::Waiting => Class::TimingOnly,
            Role::Admission | Role::Stop | Role::GiveUp | Role::Offer | Role::End => Class::OutcomeChanged,
        }
    }

    /// Whether it stops the call from being sent again. Sending the call anyway is a weakened guard.
    pub const fn stops(self) -> bool {
        matches!(self.definition().2, Role::Admission | Role::Stop)
    }

    /// Whether it carries out a compensation, or stops one.
    pub const fn is_compensation(self) -> bool {
        matches!(self.definition().2, Role::Resend | Role::Stop | Role::GiveUp)
    }
}

const STEP_END: &[FieldKey] = &[FieldKey::Ended, FieldKey::Effect, FieldKey::Attempts, FieldKey::ActsAgain];

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
    /// The end.
    End,
}

/// The largest number of fields of an event.
const MOST: usize = 5;

/// The name and the fields of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The kind of event.
    pub kind: EventKind,
    /// Its value.
    pub value: FieldValue,
    fields: [Option<FieldValue>; MOST],
}

impl Description {
    const fn new<const N: usize>(kind: EventKind, value: FieldValue, said: [FieldValue; N]) -> Description {
        let mut fields = [None; MOST];
        let mut n = 0;
        while n < N {
            fields[n] = Some(said[n]);
            n += 1;
        }
        Description { kind, value, fields }
    }

    /// Its fields, with their keys.
    pub fn fields(&self) -> impl Iterator<Item = (FieldKey, FieldValue)> {
        self.kind.keys().1.iter().copied().zip(self.fields.into_iter().flatten())
    }

    /// Passes its fields to `take`; see [`Decision::described`].
    #[inline(always)]
    pub fn each_field(&self, mut take: impl FnMut(FieldKey, FieldValue)) {
        for n in 0..MOST {
            if let (Some(key), Some(value)) = (self.kind.keys().1.get(n), self.fields[n]) {
                take(*key, value);
            }
        }
    }

    /// Its value and its fields.
    pub fn all(&self) -> impl Iterator<Item = (FieldKey, FieldValue)> {
        [(self.kind.keys().0, self.value)].into_iter().chain(self.fields())
    }
}

impl Decision {
    /// Describes the event.
    pub fn describe(&self) -> Description {
        self.described(|description| description)
    }

    /// Passes the description of the event to `then`, which the compiler repeats for each kind of event: there the fields
    /// are known, and writing a trace's millions of events needs no loop over them.
    #[inline(always)]
    pub fn described<R>(&self, then: impl FnOnce(Description) -> R) -> R {
        use EventKind as Kind;
        match *self {
            Decision::Refused { .. }
            | Decision::Queued { .. }
            | Decision::ActionWithheld { .. }
            | Decision::ActionReleased { .. }
            | Decision::StepEnded { .. }
            | Decision::StepSkipped { .. }
            | Decision::Joined { .. }
            | Decision::ServedFromCache { .. }
            | Decision::TookOver { .. }
            | Decision::Cancelled
            | Decision::RetryUnpaid { .. }
            | Decision::Circuit { .. } => then(self.rare()),
            Decision::AttemptStarted { attempt, evidence } => then(Description::new(
                Kind::AttemptStarted,
                FieldValue::Number(attempt.get()),
                [FieldValue::Number(evidence.0)],
            )),
            Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => then(Description::new(
                Kind::AttemptFinished,
                FieldValue::Number(attempt.get()),
                [
                    FieldValue::Status(status),
                    FieldValue::Latency(latency),
                    FieldValue::Provenance(provenance),
                    FieldValue::Flag(over_timeout),
                ],
            )),
            Decision::LateAnswer { attempt, status } => then(Description::new(
                Kind::LateAnswer,
                FieldValue::Number(attempt.get()),
                [FieldValue::Status(status)],
            )),
            Decision::FailureClassified { verdict, rule, ignored } => then(Description::new(
                Kind::FailureClassified,
                FieldValue::Verdict(verdict),
                [FieldValue::Rule(rule), FieldValue::Flag(ignored)],
            )),
            Decision::RetryScheduled { attempt, delay, due, draw, told, left } => then(Description::new(
                Kind::RetryScheduled,
                FieldValue::Number(attempt.get()),
                [
                    FieldValue::Span(delay),
                    FieldValue::Instant(due),
                    FieldValue::Draw(draw),
                    FieldValue::OptionalSpan(told),
                    FieldValue::Left(left),
                ],
            )),
            Decision::RetrySuppressed { why } => {
                then(Description::new(Kind::RetrySuppressed, FieldValue::Word(why.as_str()), []))
            }
            Decision::EvidenceRefreshed { evidence, status, provenance } => then(Description::new(
                Kind::EvidenceRefreshed,
                FieldValue::Number(evidence.0),
                [FieldValue::Status(status), FieldValue::Provenance(provenance)],
            )),
            Decision::Escalated { queue } => then(Description::new(Kind::Escalated, FieldValue::Queue(queue), [])),
            Decision::ReversalRefused { why } => {
                then(Description::new(Kind::ReversalRefused, FieldValue::Refused(why), []))
            }
            Decision::ReversalRedeemed { reason, provenance } => then(Description::new(
                Kind::ReversalRedeemed,
                FieldValue::Reason(reason),
                [FieldValue::Provenance(provenance)],
            )),
            Decision::Deprecated { why } => then(Description::new(Kind::Deprecated, FieldValue::GivenUp(why), [])),
            Decision::Outcome(outcome) => {
                then(Description::new(Kind::Outcome, FieldValue::Word(outcome.kind.as_str()), []))
            }
        }
    }

    /// The description of an event of admission, of what calls share, or of the caller: few calls have one.
    fn rare(&self) -> Description {
        use EventKind as Kind;
        match *self {
            Decision::Refused { why, error, by, retry_after } => Description::new(
                Kind::Refused,
                FieldValue::Word(why.as_str()),
                [
                    error.map_or(FieldValue::Flag(false), FieldValue::Error),
                    by.map_or(FieldValue::Flag(false), FieldValue::Call),
                    FieldValue::OptionalSpan(retry_after),
                ],
            ),
            Decision::Queued { place, behind } => Description::new(
                Kind::Queued,
                FieldValue::Number(place),
                [behind.map_or(FieldValue::Flag(false), FieldValue::Call)],
            ),
            Decision::ActionWithheld { action } => {
                Description::new(Kind::ActionWithheld, FieldValue::Action(action), [])
            }
            Decision::ActionReleased { action } => {
                Description::new(Kind::ActionReleased, FieldValue::Action(action), [])
            }
            Decision::StepEnded { action, step, ended, claim, attempts, acts_again, .. } => Description::new(
                Kind::StepEnded,
                FieldValue::Step(action, step),
                [
                    FieldValue::Word(ended.as_str()),
                    FieldValue::Word(claim.as_str()),
                    FieldValue::Number(attempts),
                    FieldValue::Flag(acts_again),
                ],
            ),
            Decision::StepSkipped { action, step } => {
                Description::new(Kind::StepSkipped, FieldValue::Step(action, step), [])
            }
            Decision::Joined { leader } => Description::new(Kind::Joined, FieldValue::Call(leader), []),
            Decision::ServedFromCache { leader, age } => {
                Description::new(Kind::ServedFromCache, FieldValue::Call(leader), [FieldValue::Span(age)])
            }
            Decision::TookOver { leader } => Description::new(Kind::TookOver, FieldValue::Call(leader), []),
            Decision::RetryUnpaid { attempt, delay } => {
                Description::new(Kind::RetryUnpaid, FieldValue::Number(attempt.get()), [FieldValue::Span(delay)])
            }
            Decision::Circuit { server, change: CircuitChange::Opened { why, until } } => Description::new(
                Kind::CircuitOpened,
                FieldValue::Server(server),
                [
                    FieldValue::Word(why.as_str()),
                    FieldValue::OptionalSpan(until.map(|until| until.since(Instant::ZERO))),
                ],
            ),
            Decision::Circuit { server, change: CircuitChange::HalfOpen } => {
                Description::new(Kind::CircuitHalfOpen, FieldValue::Server(server), [])
            }
            Decision::Circuit { server, change: CircuitChange::Closed } => {
                Description::new(Kind::CircuitClosed, FieldValue::Server(server), [])
            }
            // `Cancelled`: the others are described where this is called.
            _ => Description::new(Kind::Cancelled, FieldValue::Word("caller"), []),
        }
    }

    /// The guard that decided, and whether it stopped the compensation. A redemption that the upstream refuses has passed
    /// the guard.
    pub const fn guard(&self) -> Option<(GuardKind, bool)> {
        self.act().0
    }

    /// The compensation that this carries out. A reversal is carried out if its token was sent, whatever the answer.
    pub const fn carries_out(&self) -> Option<CompensationWord> {
        self.act().1
    }

    const fn act(&self) -> (Option<(GuardKind, bool)>, Option<CompensationWord>) {
        use CompensationWord as Then;
        const PASSED: bool = false;
        match self {
            Decision::RetryScheduled { .. } => (Some((GuardKind::Retry, PASSED)), Some(Then::RetryWithBackoff)),
            Decision::RetryUnpaid { .. } => (Some((GuardKind::Retry, PASSED)), None),
            Decision::RetrySuppressed { .. } => (Some((GuardKind::Retry, !PASSED)), None),
            Decision::EvidenceRefreshed { .. } => (None, Some(Then::RefreshEvidence)),
            Decision::Escalated { .. } => (None, Some(Then::EscalateToHuman)),
            Decision::ReversalRefused { why } if !why.was_sent() => (Some((GuardKind::Token, !PASSED)), None),
            Decision::ReversalRefused { .. } | Decision::ReversalRedeemed { .. } => {
                (Some((GuardKind::Token, PASSED)), Some(Then::IssueReversal))
            }
            Decision::Deprecated { .. } => (None, Some(Then::DeprecateToolCall)),
            Decision::Refused { .. }
            | Decision::Queued { .. }
            | Decision::ActionWithheld { .. }
            | Decision::ActionReleased { .. }
            | Decision::StepEnded { .. }
            | Decision::StepSkipped { .. }
            | Decision::Joined { .. }
            | Decision::ServedFromCache { .. }
            | Decision::TookOver { .. }
            | Decision::Circuit { .. }
            | Decision::Cancelled
            | Decision::AttemptStarted { .. }
            | Decision::AttemptFinished { .. }
            | Decision::LateAnswer { .. }
            | Decision::FailureClassified { .. }
            | Decision::Outcome(_) => (None, None),
        }
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
}

impl Outcome {
    /// Passes the fields of an outcome, without its verdicts, to `take`.
    #[inline(always)]
    pub fn each_field(&self, mut take: impl FnMut(FieldKey, FieldValue)) {
        take(FieldKey::Outcome, FieldValue::Word(self.kind.as_str()));
        match self.kind {
            OutcomeKind::Succeeded
            | OutcomeKind::SucceededAfterCompensation
            | OutcomeKind::Skipped
            | OutcomeKind::Cancelled => {}
            OutcomeKind::Joined { leader, ended } => {
                take(FieldKey::Leader, FieldValue::Call(leader));
                take(FieldKey::Ended, FieldValue::Word(ended.as_str()));
            }
            OutcomeKind::Cached { leader } => take(FieldKey::Leader, FieldValue::Call(leader)),
            OutcomeKind::Escalated(queue) => take(FieldKey::Queue, FieldValue::Queue(queue)),
            OutcomeKind::Refused(why) => {
                take(FieldKey::Why, FieldValue::Word(why.as_str()));
                take(FieldKey::Code, FieldValue::Code(why.code()));
                take(FieldKey::Instead, FieldValue::Word(why.instead()));
            }
            OutcomeKind::Exhausted(stop) => take(FieldKey::Stop, FieldValue::Word(stop.as_str())),
            OutcomeKind::Suspected(_) => take(FieldKey::Why, FieldValue::Word(FindingId::SuspectedFailure.as_str())),
            OutcomeKind::Unfinished(_) => take(FieldKey::Why, FieldValue::Word(FindingId::Unfinished.as_str())),
            OutcomeKind::Undetermined(asked) => take(FieldKey::Lacks, FieldValue::Lacks(asked)),
            OutcomeKind::Reversed(reason) => take(FieldKey::Reason, FieldValue::Reason(reason)),
            OutcomeKind::Deprecated(why) => take(FieldKey::Reason, FieldValue::GivenUp(why)),
        }
        take(FieldKey::Effect, FieldValue::Word(self.claim.as_str()));
        take(FieldKey::Attempts, FieldValue::Number(self.attempts));
        if let Some(error) = self.last_error {
            take(FieldKey::LastError, FieldValue::Error(error));
        }
        if let Some(error) = self.first_error {
            take(FieldKey::FirstError, FieldValue::Error(error));
        }
    }
}
