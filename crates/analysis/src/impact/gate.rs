//! The gate of a comparison: what must not change. Knows no exit codes.

use super::cause::{ChangeKind, Direction};
use super::result::Impact;

/// The conditions under which a comparison fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpactGate {
    /// Fails if a call widens.
    pub widening: bool,
    /// Fails if the effects of a call change.
    pub effects: bool,
    /// The stated reason why widening is right this time.
    pub allow_widening: Option<String>,
    /// Passes even if nothing was decided.
    pub allow_empty: bool,
}

/// One reason why a comparison does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateFailure {
    /// Calls with an unsafe finding under the candidate only; always checked.
    Unsafe(u64),
    /// Calls that widen.
    Widening(u64),
    /// Calls whose effects change.
    Effects(u64),
}

impl ImpactGate {
    /// Whether it is active and has nothing to judge: no call with a failed attempt is determined under both playbooks.
    pub fn is_undecided(&self, impact: &Impact) -> bool {
        (self.widening || self.effects) && !self.allow_empty && impact.counts.decided == 0
    }

    /// Every reason why `impact` does not pass; none if it does.
    pub fn judge(&self, impact: &Impact) -> Vec<GateFailure> {
        let widening = if self.widening && self.allow_widening.is_none() {
            impact.counts.in_direction(Direction::Widening)
        } else {
            0
        };
        let effects = if self.effects { impact.counts.changes.count(ChangeKind::Effect) } else { 0 };
        let all = [
            (GateFailure::Unsafe as fn(u64) -> GateFailure, impact.unsafe_gained),
            (GateFailure::Widening, widening),
            (GateFailure::Effects, effects),
        ];
        all.into_iter().filter(|(_, calls)| *calls > 0).map(|(refusal, calls)| refusal(calls)).collect()
    }
}
