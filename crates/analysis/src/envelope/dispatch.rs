//! The error of a dispatcher in the form of JSON-RPC: a code, a message, and a kind of failure.

use serde::Serialize;

use super::call::ToldFailure;
use playproof_engine::classify::reads_as_unanswered;
use playproof_engine::event::{AdmissionRefusal, Transience};

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DispatchError {
    /// -32601: no such tool or action; -32602: wrong arguments or key; -32603: anything else.
    pub code: i32,
    /// What happened, for people; redacted.
    pub message: String,
    /// What a harness decides on.
    pub data: DispatchData,
}

/// The data of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DispatchData {
    /// `timeout`, `transient`, `schema`, `not_found`, `internal`, `budget_exceeded`, `circuit_open` or `invalid_transition`.
    pub kind: &'static str,
    /// Attempts that were made.
    pub attempts: u32,
}

/// Kinds of errors by which tools refuse arguments.
const ARGUMENTS: [&str; 4] = ["invalid_arguments", "schema", "schema_validation", "validation_failed"];

/// Kinds of errors for a tool that does not exist.
const NO_TOOL: [&str; 2] = ["unknown_tool", "unknown_action"];

const NOT_FOUND: (&str, i32) = ("not_found", -32_601);
const SCHEMA: (&str, i32) = ("schema", -32_602);
const INTERNAL: i32 = -32_603;

impl ToldFailure<'_> {
    pub(super) fn dispatch_error(&self) -> DispatchError {
        let (kind, code) = self.refused().map_or_else(|| self.kind_of_error(), kind_of_refusal);
        let attempts = self.transcript.outcomes.get(self.told.call.index()).map_or(0, |outcome| outcome.attempts);
        DispatchError { code, message: self.message(), data: DispatchData { kind, attempts } }
    }

    fn kind_of_error(&self) -> (&'static str, i32) {
        let is_kind = |kinds: &[&str]| {
            let kind = self.error().and_then(|error| error.kind.as_deref());
            kind.is_some_and(|kind| kinds.contains(&kind))
        };
        let passes = match self.told.class.transience() {
            Transience::ByStatus => self.told.class.passes(self.told.status, None),
            Transience::Always => true,
            Transience::Never | Transience::ByCause => self.told.retriable,
        };
        if self.error().is_some_and(reads_as_unanswered) && is_kind(&["timeout"]) {
            ("timeout", INTERNAL)
        } else if is_kind(&NO_TOOL) {
            NOT_FOUND
        } else if is_kind(&ARGUMENTS) {
            SCHEMA
        } else {
            (if passes { "transient" } else { "internal" }, INTERNAL)
        }
    }
}

const fn kind_of_refusal(why: AdmissionRefusal) -> (&'static str, i32) {
    match why {
        AdmissionRefusal::UnknownAction | AdmissionRefusal::NotFound => NOT_FOUND,
        AdmissionRefusal::ValidationFailed
        | AdmissionRefusal::Schema
        | AdmissionRefusal::KeyMissing
        | AdmissionRefusal::KeyLength
        | AdmissionRefusal::KeyReused => SCHEMA,
        AdmissionRefusal::InvalidTransition => ("invalid_transition", INTERNAL), // its arguments may be right
        AdmissionRefusal::BudgetExceeded => ("budget_exceeded", INTERNAL),
        AdmissionRefusal::CircuitOpen => ("circuit_open", INTERNAL),
        AdmissionRefusal::QueueFull | AdmissionRefusal::KeyInFlight => ("transient", INTERNAL),
        AdmissionRefusal::Unsettled | AdmissionRefusal::RolledBack => ("internal", INTERNAL),
    }
}
