//! One thing in which a run differs from its golden, and what led to it. Plain values.

use std::ops::Range;

use crate::golden::body::EventLine;
use playproof_engine::event::Class;
use playproof_engine::time::Instant;

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How bad it is.
    pub class: Class,
    /// Where in the golden.
    pub place: DivergencePlace,
    /// What: `effect`, `delay_ms`, `event`.
    pub field: String,
    /// What the golden says; none where it says nothing.
    pub expected: Option<String>,
    /// What the run shows; none where it shows nothing.
    pub actual: Option<String>,
    /// Where it stands in the golden's body; none where the golden has no such line.
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
    /// As accepted; none for an event that the run alone has.
    pub expected: Option<EventLine>,
    /// As it happened; none for an event that the golden alone has.
    pub actual: Option<EventLine>,
    /// The worst in which the two differ; none if they do not.
    pub class: Option<Class>,
}

/// The first decision that differs, and what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstChange {
    /// For which call.
    pub call: String,
    /// In virtual time.
    pub at: Instant,
    /// What the golden says; none where the run alone decides something.
    pub golden: Option<String>,
    /// What the run decides; none where the golden alone does.
    pub run: Option<String>,
    /// What the golden had classified last.
    pub expected: Option<PrecedingVerdict>,
    /// What the run had classified last.
    pub actual: Option<PrecedingVerdict>,
}

/// The verdict that a decision followed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrecedingVerdict {
    /// The verdict.
    pub verdict: String,
    /// The rule that gave it; `otherwise` where none matched.
    pub rule: String,
}
