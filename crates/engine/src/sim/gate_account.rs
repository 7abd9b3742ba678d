//! What the gate did to the recorded calls of a run, one after the other: whether the recording says the same, and how the
//! agent went on after a refusal. Facts only; sums are made elsewhere.

use crate::call::RecordedCall;
use crate::event::{EffectClaim, Outcome, OutcomeKind};

use super::acts::{GateAct, GateStep};
use super::record::{SimulationRecord, recorded_refusal};

/// The most calls without success whose recovery is awaited in one run.
const MOST_AWAITED: usize = 1_000;

/// What a run did so far.
#[derive(Clone, Debug, Default)]
pub(super) struct GateAccount {
    /// Gated calls that ended.
    calls: u32,
    has_left_tape: bool,
    /// The numbers of the calls that were refused or failed since the last success.
    setbacks: Vec<u32>,
    /// Whether the last call was one of them.
    was_setback: bool,
}

impl GateAccount {
    /// A gated call of the run has ended.
    pub(super) fn take(&mut self, call: &RecordedCall, record: &SimulationRecord, outcome: &Outcome) -> GateStep {
        self.calls = self.calls.saturating_add(1);
        let refused = record.gate_refusal();
        let recorded = recorded_refusal(call, refused);
        let did = match (refused, recorded) {
            (None, _) => GateAct::Passed,
            (Some(why), Some(_)) => GateAct::Agreed(why),
            (Some(why), None) if self.has_left_tape => GateAct::Later(why),
            (Some(why), None) => GateAct::First(why),
        };
        let is_open = matches!(
            outcome.kind,
            OutcomeKind::Undetermined(_) | OutcomeKind::Suspected(_) | OutcomeKind::Unfinished(_)
        );
        let departs = record.tallies.iter().any(|tally| tally.off_tape.is_some());
        self.has_left_tape |= matches!(did, GateAct::First(_)) || departs || is_open;
        let follows_setback = self.was_setback.then_some(did == GateAct::Passed);
        let number = self.calls;
        let mut recovered = Vec::new();
        self.was_setback = !has_succeeded(outcome);
        match self.was_setback {
            false => recovered.extend(self.setbacks.drain(..).map(|setback| number - setback)),
            true if self.setbacks.len() < MOST_AWAITED => self.setbacks.push(number),
            true => {}
        }
        GateStep { recorded, did, follows_setback, recovered }
    }
}

fn has_succeeded(outcome: &Outcome) -> bool {
    outcome.kind.is_success()
        || matches!(outcome.kind, OutcomeKind::Cached { .. })
        || outcome.claim == EffectClaim::Applied
}
