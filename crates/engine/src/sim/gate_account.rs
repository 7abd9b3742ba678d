//! What the gate did to the recorded calls of a run, one after the other: whether the recording says the same, and how the
//! agent went on after a refusal. Facts only; sums are made elsewhere.

use crate::call::RecordedCall;
use crate::event::{AdmissionRefusal, Decision, EffectClaim, Outcome, OutcomeKind};

use super::record::SimulationRecord;

/// The most calls without success whose recovery is awaited in one run.
const MOST_AWAITED: usize = 1_000;

/// What the gate did to one recorded call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateStep {
    /// The refusal that is recorded, if one is.
    pub recorded: Option<AdmissionRefusal>,
    /// What the gate did.
    pub did: GateAct,
    /// Whether the gate let it pass, if the call of the run before it was refused or failed.
    pub follows_setback: Option<bool>,
    /// Of each refused or failed call that this success ends: how many calls later it came.
    pub recovered: Vec<u32>,
}

/// What the gate did to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GateAct {
    /// It let the call pass.
    #[default]
    Passed,
    /// It refused the call, and so does the recording.
    Agreed(AdmissionRefusal),
    /// The first refusal of its run that the recording does not have, and the run's first departure from the tape.
    First(AdmissionRefusal),
    /// The same, of a run that has left it.
    Later(AdmissionRefusal),
}

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
        let refused = gate_refusal(record);
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

/// The refusal that a recording has in place of an answer of the upstream. That there is no such tool is one only where the
/// gate knows no such action either: else it may be an answer.
pub(super) fn recorded_refusal(call: &RecordedCall, refused: Option<AdmissionRefusal>) -> Option<AdmissionRefusal> {
    let error = call.only_error()?;
    let unknown = refused.filter(|why| *why == AdmissionRefusal::UnknownAction && error.is_of_unknown_tool());
    error.gate_refusal().or(unknown)
}

/// Why the gate refused the record's only call.
pub(super) fn gate_refusal(record: &SimulationRecord) -> Option<AdmissionRefusal> {
    record.events.iter().find_map(|event| match event.what {
        Decision::Refused { why, .. } if why.is_of_gate() => Some(why),
        _ => None,
    })
}

fn has_succeeded(outcome: &Outcome) -> bool {
    outcome.kind.is_success()
        || matches!(outcome.kind, OutcomeKind::Cached { .. })
        || outcome.claim == EffectClaim::Applied
}
