//! One divergence of a run from its golden, and the verdict before it. Plain values.

use std::ops::Range;

use crate::golden::body::EventLine;
use playproof_engine::event::Class;
use playproof_engine::time::Instant;

/// One divergence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Its class.
    pub class: Class,
    /// The part of the golden.
    pub place: DivergencePlace,
    /// The field: `effect`, `delay_ms`, `event`.
    pub field: String,
    /// The golden's value, if it has one.
    pub expected: Option<String>,
    /// The run's value, if it has one.
    pub actual: Option<String>,
    /// Its place in the golden's body; none if the golden has no such line.
    pub span: Option<Range<usize>>,
}

/// The part of a golden in which a divergence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DivergencePlace {
    /// The end of a call, by name.
    Call(String),
    /// The ledger line of an intent, by name.
    Ledger(String),
    /// A finding at a call.
    Finding(String),
    /// An event of a call: the place of its pair in `pairs`.
    Event(String, usize),
    /// The golden as a whole.
    Whole,
}

/// One event of the golden beside its counterpart in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPair {
    /// The golden's event; none if only the run has it.
    pub expected: Option<EventLine>,
    /// The run's event; none if only the golden has it.
    pub actual: Option<EventLine>,
    /// The worst class of their divergences; none if they are the same.
    pub class: Option<Class>,
}

/// The first decision that differs, and the verdict before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstChange {
    /// The call.
    pub call: String,
    /// The moment in virtual time.
    pub at: Instant,
    /// The decision on both sides; if all decisions are the same, the last one of the call that ended differently.
    pub pair: EventPair,
    /// The golden's decision; none if only the run decides something.
    pub golden: Option<String>,
    /// The run's decision; none if only the golden decides something.
    pub run: Option<String>,
    /// The last classification in the golden.
    pub expected: Option<PrecedingVerdict>,
    /// The last classification in the run.
    pub actual: Option<PrecedingVerdict>,
}

/// The verdict before a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrecedingVerdict {
    /// The verdict.
    pub verdict: String,
    /// The rule that matched; `otherwise` if none did.
    pub rule: String,
}
