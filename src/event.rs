//! What a simulation says happened: decision events, outcomes, ledger entries, findings.
//! The only seam between the engine and every reporter; plain values, no logic of either side.

use std::fmt;
use std::sync::Arc;

use crate::ids::{AttemptNo, CallId, ErrorId, EvidenceId, KeyId, QueueId, ReasonId, RuleId, ToolId, VerdictId};
use crate::time::{Duration, Instant};

/// What is claimed of a call's effect on the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectClaim {
    /// The upstream made the change.
    Applied,
    /// The upstream did not make the change.
    NotApplied,
    /// The upstream may have made the change.
    Unknown,
}

impl EffectClaim {
    /// The word of the files: `applied`, `not_applied`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            EffectClaim::Applied => "applied",
            EffectClaim::NotApplied => "not_applied",
            EffectClaim::Unknown => "unknown",
        }
    }

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

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// The trace holds it.
    Recorded,
    /// An identical later call of the trace, read as this call's next attempt.
    Inferred,
    /// A fixture's script says it.
    Scripted,
    /// The key dialect, `--beyond-tape` or the attempt's timeout made it.
    Modelled,
    /// There is none.
    Unanswered,
}

impl Provenance {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provenance::Recorded => "recorded",
            Provenance::Inferred => "inferred",
            Provenance::Scripted => "scripted",
            Provenance::Modelled => "modelled",
            Provenance::Unanswered => "unanswered",
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The upstream said yes.
    Ok,
    /// It failed; the error is in the record's table, unless none came with the failure.
    Failed(Option<ErrorId>),
    /// Nothing came back and no later answer is known.
    Unanswered,
}

/// What the dispatcher asks of the upstream for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asked {
    /// The call itself, for the numbered time.
    Attempt(AttemptNo),
    /// A new snapshot of the call's evidence.
    Refresh(EvidenceId),
    /// The redemption of the call's reversal token.
    Reversal,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Attempt(attempt) => write!(f, "attempt {attempt}"),
            Asked::Refresh(evidence) => write!(f, "refresh {}", evidence.0),
            Asked::Reversal => f.write_str("the reversal"),
        }
    }
}

/// Why a further attempt was suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuppressedWhy {
    /// The tool is a write that is not idempotent, the call has no key, and an earlier attempt may have acted.
    MayHaveActed,
    /// The same, and an earlier attempt did act.
    HasActed,
}

impl SuppressedWhy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            SuppressedWhy::MayHaveActed => "may_have_acted",
            SuppressedWhy::HasActed => "has_acted",
        }
    }
}

/// Why a reversal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedWhy {
    /// The call carries no reversal token.
    NoToken,
    /// The token has been redeemed before.
    TokenRedeemed,
    /// The upstream refused the redemption.
    UpstreamRefused,
    /// The redemption timed out; it may have been redeemed.
    NoAnswer,
}

impl RefusedWhy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            RefusedWhy::NoToken => "no_token",
            RefusedWhy::TokenRedeemed => "token_redeemed",
            RefusedWhy::UpstreamRefused => "upstream_refused",
            RefusedWhy::NoAnswer => "no_answer",
        }
    }
}

/// The limit that ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The verdict's own number of retries.
    MaxRetries,
    /// `limits.max_attempts`.
    MaxAttempts,
    /// `limits.deadline_ms`.
    Deadline,
    /// The upstream asked to wait longer than `max_wait_ms`.
    MaxWait,
    /// `max_refreshes`.
    MaxRefreshes,
    /// The refresh itself failed.
    RefreshFailed,
    /// A refused reversal, where a study playbook gives up on it.
    ReversalRefused,
}

impl StopReason {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            StopReason::MaxRetries => "max_retries",
            StopReason::MaxAttempts => "max_attempts",
            StopReason::Deadline => "deadline",
            StopReason::MaxWait => "max_wait",
            StopReason::MaxRefreshes => "max_refreshes",
            StopReason::RefreshFailed => "refresh_failed",
            StopReason::ReversalRefused => "reversal_refused",
        }
    }
}

/// Why a call was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeprecatedWhy {
    /// The playbook's own `reason`.
    Stated(ReasonId),
    /// `refresh_evidence: { then: abort }`.
    RefreshAbort,
    /// A study playbook gives up after the first refresh that did not help.
    RefreshFutile,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutcomeKind {
    /// Nothing failed.
    Succeeded,
    /// A later attempt succeeded.
    SucceededAfterCompensation,
    /// Given up here; the planner reconciles.
    Deprecated(DeprecatedWhy),
    /// A human decides, from this queue.
    Escalated(QueueId),
    /// The reversal token was redeemed, for this reason.
    Reversed(ReasonId),
    /// A limit was hit.
    Exhausted(StopReason),
    /// An answer was needed that nothing supplies.
    Undetermined(Asked),
}

impl OutcomeKind {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            OutcomeKind::Succeeded => "succeeded",
            OutcomeKind::SucceededAfterCompensation => "succeeded_after_compensation",
            OutcomeKind::Deprecated(_) => "deprecated",
            OutcomeKind::Escalated(_) => "escalated",
            OutcomeKind::Reversed(_) => "reversed",
            OutcomeKind::Exhausted(_) => "exhausted",
            OutcomeKind::Undetermined(_) => "undetermined",
        }
    }
}

/// How a call ended, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Which way.
    pub kind: OutcomeKind,
    /// The net effect claimed.
    pub claim: EffectClaim,
    /// Attempts started, from 1.
    pub attempts: u32,
    /// The last error, if any attempt failed with one.
    pub last_error: Option<ErrorId>,
    /// The first error, where it is another one than the last.
    pub first_error: Option<ErrorId>,
}

/// One thing that the dispatcher decided or saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionEvent {
    /// When, in virtual time.
    pub at: Instant,
    /// For which call.
    pub call: CallId,
    /// What.
    pub what: Decision,
}

/// The kinds of decision events (DESIGN.md section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
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
        /// How.
        status: Status,
        /// Start to end; none where the recording does not tell.
        latency: Option<Duration>,
        /// Whence the answer.
        provenance: Provenance,
        /// A recorded answer that took longer than the attempt's timeout allows.
        over_timeout: bool,
    },
    /// An answer came after its attempt had timed out; no decision changes.
    LateAnswer {
        /// The attempt it answers.
        attempt: AttemptNo,
        /// What it said.
        status: Status,
    },
    /// A failure got its verdict.
    FailureClassified {
        /// What it means.
        verdict: VerdictId,
        /// The rule that said so; none: no rule matched.
        rule: Option<RuleId>,
        /// A study playbook that obeys the first failure only did not act on this one.
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
    },
    /// The retry guard stopped a further attempt.
    RetrySuppressed {
        /// Why.
        why: SuppressedWhy,
    },
    /// The upstream was asked for a new evidence snapshot, and this came of it.
    EvidenceRefreshed {
        /// The snapshot asked for.
        evidence: EvidenceId,
        /// Whether it was taken.
        status: Status,
        /// Whence the answer.
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
        why: RefusedWhy,
    },
    /// The reversal token was redeemed.
    ReversalRedeemed {
        /// The playbook's reason.
        reason: ReasonId,
        /// Whence the answer.
        provenance: Provenance,
    },
    /// The local attempt was given up.
    Deprecated {
        /// Why.
        why: DeprecatedWhy,
    },
    /// The call ended.
    Outcome(Outcome),
}

/// What the upstream did, or is not known to have done, for an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LedgerKind {
    /// It was there before the simulation began.
    Existing,
    /// It made the change.
    Applied,
    /// It took the change back.
    Reversed,
    /// A recorded write failed; whether it acted is not known.
    Unobserved,
}

impl LedgerKind {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            LedgerKind::Existing => "existing",
            LedgerKind::Applied => "applied",
            LedgerKind::Reversed => "reversed",
            LedgerKind::Unobserved => "unobserved",
        }
    }
}

/// What a call wants done once, as the ledger books it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    /// A keyed call: tool and key.
    Keyed(ToolId, KeyId),
    /// An unkeyed write: tool and canonical arguments.
    Unkeyed(ToolId, crate::ids::ArgsId),
    /// A call of a repeatable tool: itself.
    Single(CallId),
}

/// One line of the simulated upstream's book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LedgerEntry {
    /// When it landed.
    pub at: Instant,
    /// What it was for.
    pub intent: Intent,
    /// What it was.
    pub kind: LedgerKind,
    /// The call that caused it; none for effects that existed before.
    pub call: Option<CallId>,
    /// The attempt that caused it; none for reversals and effects that existed before.
    pub attempt: Option<AttemptNo>,
    /// How the book knows.
    pub provenance: Provenance,
}

/// How bad a finding is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingSeverity {
    /// Harm was done, or would be.
    Unsafe,
    /// It cannot be told, and someone should look.
    Doubt,
    /// Worth knowing.
    Note,
}

impl FindingSeverity {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingSeverity::Unsafe => "unsafe",
            FindingSeverity::Doubt => "doubt",
            FindingSeverity::Note => "note",
        }
    }
}

/// By whom a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingBy {
    /// The agent or its harness did it.
    Recorded,
    /// The dispatcher would do it under this playbook.
    Playbook,
}

impl FindingBy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingBy::Recorded => "recorded",
            FindingBy::Playbook => "playbook",
        }
    }
}

/// What a run can show; the ids never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingId {
    /// One intent, more than one net effect (declared tool facts only).
    DuplicateEffect,
    /// The claim contradicts the ledger.
    UntruthfulOutcome,
    /// A further attempt after a denial.
    RetriedAfterDenial,
    /// A further attempt after the upstream said that it had processed the key.
    RetriedAfterConflict,
    /// A further attempt that the retry guard would have stopped.
    UnsafeRetry,
    /// A failure whose meaning the playbook does not know.
    Unclassified,
    /// An answer was needed that nothing supplies.
    Undetermined,
    /// As `duplicate_effect`, on assumed tool facts.
    PossibleDuplicateEffect,
    /// One call, unchanged, more often than is plausible.
    RunawayLoop,
    /// A failed call sent again unchanged, nothing written between, that failed again.
    FutileRetry,
    /// A recorded answer that came after the tool's timeout.
    OverTimeout,
    /// A guard stopped what would have done no harm.
    GuardRedundant,
}

impl FindingId {
    /// Every id, in the order of severity.
    pub const ALL: [FindingId; 12] = [
        FindingId::DuplicateEffect,
        FindingId::UntruthfulOutcome,
        FindingId::RetriedAfterDenial,
        FindingId::RetriedAfterConflict,
        FindingId::UnsafeRetry,
        FindingId::Unclassified,
        FindingId::Undetermined,
        FindingId::PossibleDuplicateEffect,
        FindingId::RunawayLoop,
        FindingId::FutileRetry,
        FindingId::OverTimeout,
        FindingId::GuardRedundant,
    ];

    /// The stable id that files and `playproof help` use.
    pub const fn as_str(self) -> &'static str {
        match self {
            FindingId::DuplicateEffect => "duplicate_effect",
            FindingId::UntruthfulOutcome => "untruthful_outcome",
            FindingId::RetriedAfterDenial => "retried_after_denial",
            FindingId::RetriedAfterConflict => "retried_after_conflict",
            FindingId::UnsafeRetry => "unsafe_retry",
            FindingId::Unclassified => "unclassified",
            FindingId::Undetermined => "undetermined",
            FindingId::PossibleDuplicateEffect => "possible_duplicate_effect",
            FindingId::RunawayLoop => "runaway_loop",
            FindingId::FutileRetry => "futile_retry",
            FindingId::OverTimeout => "over_timeout",
            FindingId::GuardRedundant => "guard_redundant",
        }
    }

    /// How bad it is.
    pub const fn severity(self) -> FindingSeverity {
        match self {
            FindingId::DuplicateEffect
            | FindingId::UntruthfulOutcome
            | FindingId::RetriedAfterDenial
            | FindingId::RetriedAfterConflict
            | FindingId::UnsafeRetry => FindingSeverity::Unsafe,
            FindingId::Unclassified
            | FindingId::Undetermined
            | FindingId::PossibleDuplicateEffect
            | FindingId::RunawayLoop => FindingSeverity::Doubt,
            FindingId::FutileRetry | FindingId::OverTimeout | FindingId::GuardRedundant => FindingSeverity::Note,
        }
    }
}

/// Something that a simulation shows about one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// What.
    pub id: FindingId,
    /// By whom.
    pub by: FindingBy,
    /// At which call.
    pub call: CallId,
    /// How many: effects of the intent, attempts, repetitions; 1 where there is nothing to count.
    pub count: u32,
}

/// What came with a failed answer, as the adapter reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ErrorFacts {
    /// The adapter's name for what went wrong.
    pub kind: Option<Box<str>>,
    /// For people.
    pub message: Option<Box<str>>,
    /// The transport's status number.
    pub status: Option<u16>,
    /// The upstream's own error name.
    pub code: Option<Box<str>>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
}

/// The names behind the numbers of a playbook, for reporters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The playbook's own name.
    pub playbook: Arc<str>,
    /// By `VerdictId`.
    pub verdicts: Vec<Arc<str>>,
    /// By `RuleId`.
    pub rules: Vec<Arc<str>>,
    /// By `QueueId`.
    pub queues: Vec<Arc<str>>,
    /// By `ReasonId`.
    pub reasons: Vec<Arc<str>>,
}

impl Names {
    /// The verdict's name.
    pub fn verdict(&self, id: VerdictId) -> &str {
        self.verdicts.get(id.index()).map_or("?", |name| name)
    }

    /// The rule's name, or `otherwise` where no rule matched.
    pub fn rule(&self, id: Option<RuleId>) -> &str {
        id.and_then(|id| self.rules.get(id.index())).map_or("otherwise", |name| name)
    }

    /// The queue's name.
    pub fn queue(&self, id: QueueId) -> &str {
        self.queues.get(id.index()).map_or("?", |name| name)
    }

    /// The reason's text.
    pub fn reason(&self, id: ReasonId) -> &str {
        self.reasons.get(id.index()).map_or("?", |text| text)
    }

    /// Why a call was given up, in the playbook's words or the engine's.
    pub fn deprecated_why(&self, why: DeprecatedWhy) -> &str {
        match why {
            DeprecatedWhy::Stated(reason) => self.reason(reason),
            DeprecatedWhy::RefreshAbort => "refresh_evidence requested abort",
            DeprecatedWhy::RefreshFutile => "post-refresh retry still failing",
        }
    }
}

/// Everything that a reporter may say of one simulation, with the names behind the numbers.
#[derive(Clone, Copy)]
pub struct Transcript<'a> {
    /// The playbook's names.
    pub names: &'a Names,
    /// The calls' names, by `CallId`.
    pub calls: &'a [String],
    /// The name of an intent.
    pub intent_name: &'a dyn Fn(Intent) -> String,
    /// Ordered by time, then emission.
    pub events: &'a [DecisionEvent],
    /// By `CallId`.
    pub outcomes: &'a [Outcome],
    /// In the order in which effects landed.
    pub ledger: &'a [LedgerEntry],
    /// By `ErrorId`.
    pub errors: &'a [ErrorFacts],
    /// Worst first.
    pub findings: &'a [Finding],
}

impl<'a> Transcript<'a> {
    /// The name of a call.
    pub fn call(&self, id: CallId) -> &'a str {
        self.calls.get(id.index()).map_or("?", |name| name)
    }

    /// The kind of an error, or `error` where it has none.
    pub fn error_kind(&self, id: Option<ErrorId>) -> &'a str {
        id.and_then(|id| self.errors.get(id.index())).and_then(|error| error.kind.as_deref()).unwrap_or("error")
    }

    /// The verdicts of a call's failures, in order.
    pub fn verdicts(&self, call: CallId) -> impl Iterator<Item = &'a str> + use<'a> {
        let (names, events) = (self.names, self.events);
        events.iter().filter_map(move |event| match event.what {
            Decision::FailureClassified { verdict, .. } if event.call == call => Some(names.verdict(verdict)),
            _ => None,
        })
    }
}
