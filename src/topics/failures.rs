//! The help texts of the classes of failures that an agent is told. `event::FailureClass` owns the ids and their meanings.

use playproof_engine::event::FailureClass;

/// When a call is told this class, and whether it passes.
pub const fn explain(class: FailureClass) -> &'static str {
    match class {
        FailureClass::CapabilityDenied => {
            "A check refused the operation: of the sandbox, of the tool's declaration or of the action. Admission tells it of \
             a call that it refuses. It never passes by itself. `tell` must say the boundary: `sandbox`, \
             `connector_manifest` or `action`."
        }
        FailureClass::BindingRequired => {
            "The operation needs a credential, and none is bound. A person has to bind one; until then the class never \
             passes. Boundary: `runtime`."
        }
        FailureClass::BindingFailed => {
            "A bound credential was refused: it expired, was revoked, or lacks a scope. Whether it passes depends on the \
             cause, so `tell` must say `transient`. Boundary: `runtime`."
        }
        FailureClass::ResourceLimitExceeded => {
            "A limit of the runtime was hit: memory, time, or the tool calls of the run. Admission tells it of a call for \
             which no budget or place in the queue is left. It never passes by itself. Boundary: `sandbox`."
        }
        FailureClass::ConnectorRuntimeError => {
            "The code between the dispatcher and the upstream failed. An error without a status is told so unless a verdict \
             says more or no answer came. Whether it passes depends on the cause, so `tell` must say `transient`; without \
             `tell` it does not pass. Boundary: `sandbox`."
        }
        FailureClass::NetworkError => {
            "No answer of the upstream arrived: a timeout, or a connection that failed. It passes. That says nothing about the \
             effect: a request without an answer may have acted, and then the retry guard decides whether the agent may try \
             again. Boundary: `external`."
        }
        FailureClass::ExternalApiError => {
            "The upstream answered with an error. An error with a status is told so unless a verdict says more. It passes \
             with status 429 and 500 to 599. Boundary: `external`."
        }
        FailureClass::HashMismatch => {
            "The bytes of an action or a connector are not the declared ones. It never passes. Boundary: `runtime`."
        }
        FailureClass::SignatureFailure => "A signature does not verify. It never passes. Boundary: `runtime`.",
        FailureClass::ApprovalDenied => {
            "A person was asked to approve the call, and said no. It never passes: asking again changes no answer. \
             Boundary: `user`."
        }
        FailureClass::ApprovalTimeout => {
            "A person was asked to approve the call, and did not answer in time. It is not `approval_denied`: nobody said no. \
             It never passes by itself. Boundary: `user`."
        }
    }
}
