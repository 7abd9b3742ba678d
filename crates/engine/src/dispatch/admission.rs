//! What is asked before attempt 1: an ordered list of checks, of which the first that says no decides. A call that is
//! refused starts no attempt and costs nothing.

use super::io::CallFacts;
use super::machine::Machine;
use crate::event::AdmissionRefusal;
use crate::playbook::Playbook;
use crate::time::Instant;

/// Says why a call must not start now, or nothing. The machine does not have the call yet.
pub(super) type AdmissionCheck = fn(&Machine, &Playbook, Instant, &CallFacts) -> Option<AdmissionRefusal>;

/// The checks, in their order (docs/adr/0023).
pub(super) const CHECKS: &[AdmissionCheck] = &[];
