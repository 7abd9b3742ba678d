//! The failure object: class, message, `retriable`, boundary, audit id and details.

use serde::Serialize;

use super::audit_id::audit_id;
use super::call::ToldFailure;
use super::details::Details;

/// `{ "error": ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureEnvelope<'a> {
    /// The failure.
    pub error: FailureBody<'a>,
}

/// The content of the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureBody<'a> {
    /// The class.
    pub class: &'static str,
    /// What happened, for people; redacted.
    pub message: String,
    /// Whether the agent may make the call again now.
    pub retriable: bool,
    /// Which layer failed.
    pub boundary: &'static str,
    /// Its id in an audit log.
    pub audit_id: String,
    /// What else there is to know.
    pub details: Details<'a>,
}

impl<'a> ToldFailure<'a> {
    pub(super) fn envelope(&self) -> FailureEnvelope<'a> {
        let error = FailureBody {
            class: self.told.class.as_str(),
            message: self.message(),
            retriable: self.told.retriable,
            boundary: self.told.boundary.as_str(),
            audit_id: audit_id(self.call.run, self.call.reference),
            details: self.details(),
        };
        FailureEnvelope { error }
    }
}
