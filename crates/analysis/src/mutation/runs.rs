//! Counts simulated calls, so that the bound of a judgement does not depend on time.

use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_explore::coverage::Probe;

/// A simulator with a budget of calls.
pub(super) struct CallBudget<'a> {
    simulator: &'a mut Simulator,
    made: u64,
    most: u64,
}

impl<'a> CallBudget<'a> {
    /// None was simulated yet; `most` calls may be.
    pub fn new(simulator: &'a mut Simulator, most: u64) -> CallBudget<'a> {
        CallBudget { simulator, made: 0, most }
    }

    /// Runs a scenario.
    pub fn run_fixture(&mut self, plan: &Plan, scenario: &Scenario<'_>) -> &SimulationRecord {
        self.count(scenario.calls.len());
        self.simulator.run_fixture(plan, scenario)
    }

    /// The fixture of a draft, without the answers that its run does not ask for.
    pub fn probe(&mut self, plan: &Plan, draft: Fixture) -> Fixture {
        self.count(draft.calls.len());
        Probe::of(plan, String::new(), draft, self.simulator).fixture
    }

    /// Counts calls that were simulated elsewhere.
    pub fn count(&mut self, calls: usize) {
        self.made = self.made.saturating_add(calls.max(1) as u64);
    }

    /// Whether no more may be simulated.
    pub const fn are_spent(&self) -> bool {
        self.made >= self.most
    }

    /// Calls that were simulated.
    pub const fn made(&self) -> u64 {
        self.made
    }
}
