//! Observes every call of a replay under two plans, on any thread.

use super::call_run::CallRun;
use super::compare::compare;
use super::pairing::Pairing;
use super::result::Impact;
use super::tally::Tallies;
use crate::replay::{CallResult, Observer, Replayed};
use playproof_engine::sim::Plan;

/// Compares the first plan of a replay, the base, with the second, the candidate.
#[derive(Debug)]
pub struct Comparer {
    pairing: Pairing,
    /// Whether calls of one dispatcher share something under one of the playbooks.
    shares_state: bool,
}

/// The result for a batch of calls, or for all.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ImpactPart(Tallies);

impl Comparer {
    /// A watcher of a replay whose plans are these two.
    pub fn new(base: &Plan, candidate: &Plan) -> Comparer {
        let shares_state = base.shares_state || candidate.shares_state;
        Comparer { pairing: Pairing::new(base, candidate), shares_state }
    }

    /// The comparison; `part` is the sum of all parts.
    pub fn finish(self, mut part: ImpactPart, plans: [&Plan; 2], replayed: &Replayed) -> Impact {
        part.0.settle();
        Impact::new(self.pairing.rows, part.0, plans, replayed)
    }
}

impl ImpactPart {
    /// Adds later calls.
    pub fn merge(&mut self, later: ImpactPart) {
        self.0.merge(later.0);
    }

    /// Renumbers its inputs, as if `inputs` others had been read before.
    #[must_use]
    pub fn after_inputs(mut self, inputs: u32) -> ImpactPart {
        self.0.put_behind(inputs);
        self
    }

    /// What the count of a tool may lack at most, because there are too many.
    pub fn missed_at_most(&self) -> u64 {
        self.0.missed_at_most()
    }

    /// Calls of causes that are too many to be told apart.
    pub const fn overflow(&self) -> u64 {
        self.0.counts.overflow
    }
}

impl Observer for Comparer {
    type Part = ImpactPart;

    fn part(&self) -> ImpactPart {
        ImpactPart::default()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut ImpactPart) {
        let runs = result.plans.iter().zip(result.records()).zip(result.facts());
        let tool = result.call.raw().tool();
        let mut runs =
            runs.filter_map(|((plan, record), &facts)| CallRun::of(plan, tool, record, facts, result.recorded));
        let (Some(base), Some(candidate)) = (runs.next(), runs.next()) else { return };
        let difference = compare(&self.pairing, base, candidate);
        let dispatcher = self.shares_state.then_some(result.dispatcher);
        part.0.add(result.call, dispatcher, [base, candidate], difference);
    }
}
