//! The last success of each run: what a refusal of the order asked for may have been done since.

use playproof_engine::evidence::Moment;
use playproof_engine::sim::Plan;
use playproof_intake::call::CompletedCall;

use super::bounded_map::BoundedMap;

/// By run; they belong to one input.
#[derive(Debug, Default)]
pub(super) struct Successes(BoundedMap<Moment>);

impl Successes {
    /// Takes the next closed call; gives the last success of its run before it. Without a graph there is no order.
    pub(super) fn take(&mut self, closed: &CompletedCall, plans: &[Plan]) -> Option<Moment> {
        if plans.iter().all(|plan| plan.playbook.graph.is_none()) {
            return None;
        }
        let before = self.0.get(&closed.hashes.run).copied();
        if closed.counts.failed_on == 0 && closed.counts.succeeded > 0 {
            let ended = Moment::new(closed.counts.ended_at, closed.counts.ended_on);
            self.0.insert(closed.hashes.run, ended);
        }
        before
    }
}
