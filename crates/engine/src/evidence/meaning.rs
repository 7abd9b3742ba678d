//! What one failure means: what its error says under any playbook, and what its verdict adds. Simulations, recordings
//! and explanations ask here.

use crate::classify::{reads_as_denial, reads_as_processed};
use crate::event::{AdmissionRefusal, EffectClaim, ErrorFacts};
use crate::ids::VerdictId;

use crate::plan::Plan;

/// What a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureMeaning {
    /// The upstream may have acted.
    pub may_have_acted: bool,
    /// It is a denial.
    pub denied: bool,
    /// It says that the upstream had processed the key of the call.
    pub processed: bool,
    /// Whether the agent was told that it may make the call again, if that is recorded.
    pub advice: Option<bool>,
    /// It says that the call came out of order.
    pub out_of_order: bool,
}

impl FailureMeaning {
    /// What the error alone says; whether the upstream acted, only a verdict tells. `keyed`: the call has a key.
    pub fn of_error(error: Option<&ErrorFacts>, keyed: bool) -> FailureMeaning {
        FailureMeaning {
            may_have_acted: false,
            denied: error.is_some_and(reads_as_denial),
            processed: error.is_some_and(|error| reads_as_processed(error, keyed)),
            advice: error.and_then(|error| error.retriable),
            out_of_order: error.is_some_and(|error| {
                use AdmissionRefusal::{InvalidTransition, UnknownAction};
                matches!(error.gate_refusal(), Some(InvalidTransition | UnknownAction))
            }),
        }
    }

    /// The same with a verdict of `plan`.
    #[must_use]
    pub fn with_verdict(self, plan: &Plan, verdict: VerdictId, keyed: bool) -> FailureMeaning {
        FailureMeaning {
            may_have_acted: self.may_have_acted || plan.playbook.verdict(verdict).effect != EffectClaim::NotApplied,
            denied: self.denied || plan.reserved.denied == Some(verdict),
            processed: self.processed || keyed && plan.reserved.processed == Some(verdict),
            ..self
        }
    }

    /// What an error means that got `verdict` under `plan`.
    pub fn under(plan: &Plan, verdict: VerdictId, error: Option<&ErrorFacts>, keyed: bool) -> FailureMeaning {
        FailureMeaning::of_error(error, keyed).with_verdict(plan, verdict, keyed)
    }
}
