//! Recorded calls that say that they are steps and are none under a playbook: how many, and where the first one is. They
//! are calls like any other.

use playproof_engine::call::Place;
use playproof_engine::sim::OddStep;

/// Calls that are not taken for steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OddSteps {
    /// Their action is not found.
    pub no_action: OddStepCount,
    /// No action has such a step with their tool.
    pub no_step: OddStepCount,
}

/// How many, and the place of the first; none: there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OddStepCount {
    /// How many.
    pub calls: u64,
    /// The place of the first.
    pub first: Option<Place>,
}

impl OddSteps {
    /// Counts a call.
    pub fn add(&mut self, why: OddStep, place: Place) {
        let count = match why {
            OddStep::NoAction => &mut self.no_action,
            OddStep::NoStep => &mut self.no_step,
        };
        count.merge(OddStepCount { calls: 1, first: Some(place) });
    }

    /// The same, of inputs that come behind `inputs` others.
    #[must_use]
    pub fn behind(mut self, inputs: u32) -> OddSteps {
        for count in [&mut self.no_action, &mut self.no_step] {
            count.first = count.first.map(|place| place.behind(inputs));
        }
        self
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &OddSteps) {
        self.no_action.merge(other.no_action);
        self.no_step.merge(other.no_step);
    }
}

impl OddStepCount {
    fn merge(&mut self, other: OddStepCount) {
        self.calls += other.calls;
        self.first = self.first.into_iter().chain(other.first).min();
    }
}
