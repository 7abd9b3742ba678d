//! The sums over the gated calls of a replay under one graph: what was refused, what the recordings say of it, and how agents
//! went on. Decides nothing.

use std::collections::BTreeMap;

use playproof_engine::event::AdmissionRefusal;
use playproof_engine::sim::{GateAct, GateStep};

/// Refusals by kind, in the order of [`AdmissionRefusal::OF_GATE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refusals([u64; 3]);

impl Refusals {
    fn add(&mut self, why: AdmissionRefusal) {
        let place = AdmissionRefusal::OF_GATE.iter().position(|kind| *kind == why);
        if let Some(count) = place.and_then(|place| self.0.get_mut(place)) {
            *count += 1;
        }
    }

    fn merge(&mut self, later: Refusals) {
        for (mine, later) in self.0.iter_mut().zip(later.0) {
            *mine += later;
        }
    }

    /// Each kind with its number.
    pub fn rows(self) -> impl Iterator<Item = (AdmissionRefusal, u64)> {
        AdmissionRefusal::OF_GATE.into_iter().zip(self.0)
    }

    /// All of them.
    pub fn total(self) -> u64 {
        self.0.into_iter().sum()
    }
}

/// The sums over gated calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GraphCounts {
    /// Gated calls.
    pub calls: u64,
    /// Recorded refusals.
    pub recorded: u64,
    /// Refusals that the recording has too.
    pub agreed: Refusals,
    /// The first refusal of each run that the recording does not have.
    pub first: Refusals,
    /// Refusals of runs that are off tape by then.
    pub later: Refusals,
    /// Calls right after one of their run that was refused or failed.
    pub after_refusal: u64,
    /// Those of them that the gate let pass.
    pub valid_after_refusal: u64,
    /// Refused or failed calls by the number of calls until one succeeded.
    pub until_ok: BTreeMap<u32, u64>,
}

impl GraphCounts {
    /// Adds one gated call.
    pub fn add(&mut self, step: &GateStep) {
        self.calls += 1;
        self.recorded += u64::from(step.recorded.is_some());
        match step.did {
            GateAct::Passed => {}
            GateAct::Agreed(why) => self.agreed.add(why),
            GateAct::First(why) => self.first.add(why),
            GateAct::Later(why) => self.later.add(why),
        }
        if let Some(is_valid) = step.follows_setback {
            self.after_refusal += 1;
            self.valid_after_refusal += u64::from(is_valid);
        }
        for &calls in &step.recovered {
            *self.until_ok.entry(calls).or_default() += 1;
        }
    }

    /// Adds what was summed up over later calls.
    pub fn merge(&mut self, later: &GraphCounts) {
        self.calls += later.calls;
        self.recorded += later.recorded;
        self.agreed.merge(later.agreed);
        self.first.merge(later.first);
        self.later.merge(later.later);
        self.after_refusal += later.after_refusal;
        self.valid_after_refusal += later.valid_after_refusal;
        for (&calls, &count) in &later.until_ok {
            *self.until_ok.entry(calls).or_default() += count;
        }
    }
}
