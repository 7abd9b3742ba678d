//! How a call ended: the outcome, its claim, its steps, what is valid after it, and what its agent is told. `sim` derives them.

use super::reason::{AdmissionRefusal, DeprecationReason, StopReason};
use super::request::RequestKind;
use crate::ids::{ActionId, CallId, ErrorId, QueueId, ReasonId, VerdictId};
use crate::time::Duration;
use crate::words;
use Boundary::{Action, ConnectorManifest, External, Runtime, Sandbox, User};
use Transience::{Always, ByCause, ByStatus, Never};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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

/// What is valid after a call: the actions of the run's row of the graph, in the author's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ValidNext {
    /// The action that the run did last; none: it is at its beginning.
    pub position: Option<ActionId>,
    /// The valid actions.
    pub next: Vec<ActionId>,
    /// Actions of the row that are withheld: an attempt of them may still be at work.
    pub withheld: Vec<ActionId>,
}

words! {
    /// The class of a failure, for the agent: whether it passes, which boundaries produce it, its meaning, and whether it says
    /// that the upstream never saw the request. The set is closed: a new class needs a decision record.
    pub enum FailureClass: (Transience, &'static [Boundary], &'static str, bool) {
        /// A check refused the operation.
        CapabilityDenied = "capability_denied" =>
            (Never, &[Sandbox, ConnectorManifest, Action], "a check refused the operation before it ran", true),
        /// No credential is bound for the operation.
        BindingRequired = "binding_required" =>
            (Never, &[Runtime], "no credential is bound; a person has to bind one", true),
        /// A bound credential was refused.
        BindingFailed = "binding_failed" =>
            (ByCause, &[Runtime], "a bound credential was refused", false),
        /// A limit of the runtime was hit.
        ResourceLimitExceeded = "resource_limit_exceeded" =>
            (Never, &[Sandbox], "a limit of the runtime was hit", false),
        /// The code between dispatcher and upstream failed.
        ConnectorRuntimeError = "connector_runtime_error" =>
            (ByCause, &[Sandbox], "the code between the dispatcher and the upstream failed", false),
        /// No answer of the upstream arrived.
        NetworkError = "network_error" =>
            (Always, &[External], "no answer of the upstream arrived", true),
        /// The upstream answered with an error.
        ExternalApiError = "external_api_error" =>
            (ByStatus, &[External], "the upstream answered with an error", false),
        /// The bytes of an action or a connector are not the declared ones.
        HashMismatch = "hash_mismatch" =>
            (Never, &[Runtime], "the bytes of an action or a connector are not the declared ones", true),
        /// A signature does not verify.
        SignatureFailure = "signature_failure" =>
            (Never, &[Runtime], "a signature does not verify", true),
        /// A person was asked, and said no.
        ApprovalDenied = "approval_denied" =>
            (Never, &[User], "a person was asked, and said no", true),
        /// A person was asked, and did not answer in time.
        ApprovalTimeout = "approval_timeout" =>
            (Never, &[User], "a person was asked, and did not answer in time", true),
    }
}

words! {
    /// The layer that produced a failure.
    pub enum Boundary {
        /// Where the code of a connector runs.
        Sandbox = "sandbox",
        /// The declarations of a tool.
        ConnectorManifest = "connector_manifest",
        /// The action that the agent calls.
        Action = "action",
        /// The dispatcher and what it runs on.
        Runtime = "runtime",
        /// The upstream and the way to it.
        External = "external",
        /// A person who was asked.
        User = "user",
    }
}

/// Whether a failure of a class may pass by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transience {
    /// It stays until somebody changes something.
    Never,
    /// It may.
    Always,
    /// The status of the error says so: 429 and 500 to 599.
    ByStatus,
    /// It depends on the cause: a playbook says so with `transient`.
    ByCause,
}

impl FailureClass {
    /// Whether a failure of this class may pass by itself.
    pub const fn transience(self) -> Transience {
        self.row().0
    }

    /// The boundaries that produce it; at least one.
    pub const fn boundaries(self) -> &'static [Boundary] {
        self.row().1
    }

    /// Its meaning, as a sentence without its full stop.
    pub const fn means(self) -> &'static str {
        self.row().2
    }

    /// Its boundary, if only one produces it.
    pub const fn only_boundary(self) -> Option<Boundary> {
        match self.boundaries() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether a playbook has to say if a failure of this class passes.
    pub const fn depends_on_cause(self) -> bool {
        matches!(self.transience(), ByCause)
    }

    /// Whether a failure passes by itself. `status` is that of its error, `transient` what the playbook says; a cause that
    /// nobody states does not pass.
    pub fn passes(self, status: Option<u16>, transient: Option<bool>) -> bool {
        match self.transience() {
            Never => false,
            Always => true,
            ByStatus => status.is_some_and(|status| status == 429 || (500..600).contains(&status)),
            ByCause => transient == Some(true),
        }
    }

    /// Whether the class says that the upstream never saw the request, so that it cannot have acted.
    pub const fn says_unsent(self) -> bool {
        self.row().3
    }
}

words! {
    /// Why a failure that may pass is not to be retried by the agent.
    pub enum NoRetry {
        /// A further attempt may act twice.
        Suppressed = "suppressed",
        /// A limit was hit: the dispatcher has retried as often as it may.
        Exhausted = "exhausted",
    }
}

/// What the agent is told of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Told {
    /// The call.
    pub call: CallId,
    /// Its class.
    pub class: FailureClass,
    /// Which layer failed.
    pub boundary: Boundary,
    /// Whether the agent may make this call again now.
    pub retriable: bool,
    /// Why a failure that may pass is not retriable, if that is the reason.
    pub retry: Option<NoRetry>,
    /// Attempts after the first.
    pub retried: u32,
    /// The status of the error.
    pub status: Option<u16>,
    /// How long the upstream, or the breaker, asks to wait.
    pub retry_after: Option<Duration>,
    /// The verdict whose `tell` gives further details.
    pub verdict: Option<VerdictId>,
    /// The error that is told.
    pub error: Option<ErrorId>,
}

impl Told {
    /// What is told of `call`: `told` is in the order of the calls.
    pub fn find(told: &[Told], call: CallId) -> Option<&Told> {
        let place = told.binary_search_by_key(&call, |told| told.call).ok()?;
        told.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_the_boundaries_and_the_default_of_its_definition() {
        use FailureClass as Class;
        let table: [(Class, &[Boundary], Transience); FailureClass::ALL.len()] = [
            (Class::CapabilityDenied, &[Sandbox, ConnectorManifest, Action], Never),
            (Class::BindingRequired, &[Runtime], Never),
            (Class::BindingFailed, &[Runtime], ByCause),
            (Class::ResourceLimitExceeded, &[Sandbox], Never),
            (Class::ConnectorRuntimeError, &[Sandbox], ByCause),
            (Class::NetworkError, &[External], Always),
            (Class::ExternalApiError, &[External], ByStatus),
            (Class::HashMismatch, &[Runtime], Never),
            (Class::SignatureFailure, &[Runtime], Never),
            (Class::ApprovalDenied, &[User], Never),
            (Class::ApprovalTimeout, &[User], Never),
        ];
        assert_eq!(table.map(|(class, ..)| class), FailureClass::ALL);
        for (class, boundaries, transience) in table {
            assert_eq!((class.boundaries(), class.transience()), (boundaries, transience), "{class:?}");
        }
    }

    #[test]
    fn an_error_of_the_upstream_passes_by_its_status_and_others_by_their_class() {
        for status in 400..=599 {
            let passes = FailureClass::ExternalApiError.passes(Some(status), None);
            assert_eq!(passes, status == 429 || status >= 500, "{status}");
            assert!(FailureClass::NetworkError.passes(Some(status), None));
            assert!(!FailureClass::ConnectorRuntimeError.passes(Some(status), None));
        }
        assert!(!FailureClass::ExternalApiError.passes(None, None));
        for class in FailureClass::ALL {
            let stated = [None, Some(false), Some(true)].map(|transient| class.passes(None, transient));
            let expected = match class.transience() {
                Never | ByStatus => [false; 3],
                Always => [true; 3],
                ByCause => [false, false, true],
            };
            assert_eq!(stated, expected, "{class:?}");
        }
    }
}
