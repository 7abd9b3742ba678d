//! What a step, and a call that the graph gates, did: it is counted over a run.

use crate::event::AdmissionRefusal;
use crate::ids::CallId;

/// A step that has acted, or may have.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StepAct {
    /// The call of the action for which it counts.
    pub call: CallId,
    /// The name of the step.
    pub step: String,
    /// The name of its call; none: it is not recorded.
    pub by: Option<String>,
    /// The call of the identical action whose step it is; none: it is a step of this action.
    pub before: Option<String>,
    /// Whether an answer proves that it has acted.
    pub is_proved: bool,
    /// Whether it would act again if the action were made again.
    pub acts_again: bool,
}

/// What the gate did to one recorded call.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
