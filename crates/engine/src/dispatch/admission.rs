//! The checks before attempt 1, in their order. They read the machine and change nothing.

use super::io::{CallFacts, RequestCheck};
use super::machine::Machine;
use crate::event::AdmissionRefusal;
use crate::ids::ErrorId;
use crate::playbook::Playbook;
use crate::time::Instant;

/// A check before attempt 1: says why a call must not start now, with its error, or nothing. The machine does not have the
/// call yet.
pub(super) type AdmissionCheck = fn(&Machine, &Playbook, Instant, &CallFacts) -> Option<Refusal>;

/// Why admission refuses a call, and the error that it gets.
pub(super) type Refusal = (AdmissionRefusal, Option<ErrorId>);

/// The admission checks in their order (docs/adr/0023); the first that refuses decides. A refused call starts no attempt
/// and costs nothing.
pub(super) const CHECKS: &[AdmissionCheck] = &[registry];

/// The registry: the tool is declared, and the arguments fit its schema.
fn registry(_: &Machine, _: &Playbook, _: Instant, facts: &CallFacts) -> Option<Refusal> {
    match facts.request {
        RequestCheck::Fine => None,
        RequestCheck::UnknownTool(error) => Some((AdmissionRefusal::NotFound, Some(error))),
        RequestCheck::Invalid(error) => Some((AdmissionRefusal::Schema, Some(error))),
    }
}
