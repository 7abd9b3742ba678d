//! The last success of each run: what a refusal of the order asked for may have been done since. Memory is bounded: beyond
//! 65,536 runs, all are forgotten.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_engine::evidence::Moment;
use playproof_engine::sim::Plan;
use playproof_intake::call::CompletedCall;

/// The most runs that are kept; all are forgotten beyond that.
const MOST: usize = 65_536;

/// By run; they belong to one input.
#[derive(Debug, Default)]
pub(super) struct Successes(HashMap<u128, Moment, FixedState>);

impl Successes {
    /// Begins another input.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the next closed call; gives the last success of its run before it. Without a graph there is no order.
    pub(super) fn take(&mut self, closed: &CompletedCall, plans: &[Plan]) -> Option<Moment> {
        if plans.iter().all(|plan| plan.playbook.graph.is_none()) {
            return None;
        }
        let before = self.0.get(&closed.hashes.run).copied();
        if closed.counts.failed_on == 0 && closed.counts.succeeded > 0 {
            if self.0.len() >= MOST {
                self.clear();
            }
            let ended = Moment::new(closed.counts.ended_at, closed.counts.ended_on);
            self.0.insert(closed.hashes.run, ended);
        }
        before
    }
}
