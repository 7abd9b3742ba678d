//! What a verdict tells the agent of its failures. Whether the agent may try again is no part of it: that is computed.

use std::sync::Arc;

use crate::event::{Boundary, FailureClass};

/// The `tell` of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tell {
    /// The class of its failures.
    pub class: FailureClass,
    /// The layer that produces them; one of the class's.
    pub boundary: Boundary,
    /// Whether they pass by themselves; some exactly if the class leaves that to the cause.
    pub transient: Option<bool>,
    /// Further details for the agent, sorted by key.
    pub details: Vec<(Arc<str>, Arc<str>)>,
}

impl Tell {
    /// The keys that are computed for each call, in the details or beside them. The details of a playbook cannot have them:
    /// an agent that finds `retriable` there might believe it.
    pub const COMPUTED: [&str; 11] = [
        "class",
        "message",
        "retriable",
        "boundary",
        "audit_id",
        "status",
        "retried",
        "retry",
        "step",
        "completed_steps",
        "retry_after_ms",
    ];

    /// Failures of `class` without details, at its only or first boundary; what depends on the cause does not pass.
    pub fn of(class: FailureClass) -> Tell {
        let boundary = class.boundaries().first().copied().unwrap_or(Boundary::Runtime); // each class has one
        Tell { class, boundary, transient: class.depends_on_cause().then_some(false), details: Vec::new() }
    }
}
