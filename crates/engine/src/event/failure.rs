//! What an agent is told of a failed call: the classes of failures, the boundaries that produce them, and the told failure
//! itself. Plain values; `sim` derives them.

use crate::ids::{CallId, ErrorId, VerdictId};
use crate::time::Duration;
use crate::words;

words! {
    /// The class of a failure, for the agent. The set is closed: a new class needs a decision record.
    pub enum FailureClass {
        /// A check refused the operation.
        CapabilityDenied = "capability_denied",
        /// No credential is bound for the operation.
        BindingRequired = "binding_required",
        /// A bound credential was refused.
        BindingFailed = "binding_failed",
        /// A limit of the runtime was hit.
        ResourceLimitExceeded = "resource_limit_exceeded",
        /// The code between dispatcher and upstream failed.
        ConnectorRuntimeError = "connector_runtime_error",
        /// No answer of the upstream arrived.
        NetworkError = "network_error",
        /// The upstream answered with an error.
        ExternalApiError = "external_api_error",
        /// The bytes of an action or a connector are not the declared ones.
        HashMismatch = "hash_mismatch",
        /// A signature does not verify.
        SignatureFailure = "signature_failure",
        /// A person was asked, and said no.
        ApprovalDenied = "approval_denied",
        /// A person was asked, and did not answer in time.
        ApprovalTimeout = "approval_timeout",
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
    /// What there is to know of each class: whether it passes, which boundaries produce it, and its meaning.
    const fn definition(self) -> (Transience, &'static [Boundary], &'static str) {
        use Boundary::{Action, ConnectorManifest, External, Runtime, Sandbox, User};
        use Transience::{Always, ByCause, ByStatus, Never};
        match self {
            FailureClass::CapabilityDenied => {
                (Never, &[Sandbox, ConnectorManifest, Action], "a check refused the operation before it ran")
            }
            FailureClass::BindingRequired => (Never, &[Runtime], "no credential is bound; a person has to bind one"),
            FailureClass::BindingFailed => (ByCause, &[Runtime], "a bound credential was refused"),
            FailureClass::ResourceLimitExceeded => (Never, &[Sandbox], "a limit of the runtime was hit"),
            FailureClass::ConnectorRuntimeError => {
                (ByCause, &[Sandbox], "the code between the dispatcher and the upstream failed")
            }
            FailureClass::NetworkError => (Always, &[External], "no answer of the upstream arrived"),
            FailureClass::ExternalApiError => (ByStatus, &[External], "the upstream answered with an error"),
            FailureClass::HashMismatch => {
                (Never, &[Runtime], "the bytes of an action or a connector are not the declared ones")
            }
            FailureClass::SignatureFailure => (Never, &[Runtime], "a signature does not verify"),
            FailureClass::ApprovalDenied => (Never, &[User], "a person was asked, and said no"),
            FailureClass::ApprovalTimeout => (Never, &[User], "a person was asked, and did not answer in time"),
        }
    }

    /// Whether a failure of this class may pass by itself.
    pub const fn transience(self) -> Transience {
        self.definition().0
    }

    /// The boundaries that produce it; at least one.
    pub const fn boundaries(self) -> &'static [Boundary] {
        self.definition().1
    }

    /// Its meaning, as a sentence without its full stop.
    pub const fn means(self) -> &'static str {
        self.definition().2
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
        matches!(self.transience(), Transience::ByCause)
    }

    /// Whether a failure passes by itself. `status` is that of its error, `transient` what the playbook says; a cause that
    /// nobody states does not pass.
    pub fn passes(self, status: Option<u16>, transient: Option<bool>) -> bool {
        match self.transience() {
            Transience::Never => false,
            Transience::Always => true,
            Transience::ByStatus => status.is_some_and(|status| status == 429 || (500..600).contains(&status)),
            Transience::ByCause => transient == Some(true),
        }
    }

    /// Whether the class says that the upstream never saw the request, so that it cannot have acted.
    pub const fn says_unsent(self) -> bool {
        match self {
            FailureClass::CapabilityDenied
            | FailureClass::BindingRequired
            | FailureClass::NetworkError
            | FailureClass::HashMismatch
            | FailureClass::SignatureFailure
            | FailureClass::ApprovalDenied
            | FailureClass::ApprovalTimeout => true,
            FailureClass::BindingFailed
            | FailureClass::ResourceLimitExceeded
            | FailureClass::ConnectorRuntimeError
            | FailureClass::ExternalApiError => false,
        }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn of_call(told: &[Told], call: CallId) -> Option<&Told> {
        let place = told.binary_search_by_key(&call, |told| told.call).ok()?;
        told.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_the_boundaries_and_the_default_of_its_definition() {
        use Boundary::{Action, ConnectorManifest, External, Runtime, Sandbox, User};
        use FailureClass as Class;
        use Transience::{Always, ByCause, ByStatus, Never};
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
                Transience::Never | Transience::ByStatus => [false; 3],
                Transience::Always => [true; 3],
                Transience::ByCause => [false, false, true],
            };
            assert_eq!(stated, expected, "{class:?}");
        }
    }
}
