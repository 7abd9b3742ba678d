//! One call at a time under one plan: its record, simulated or that of its kind. Sums up nothing.

use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord, Simulator, UsualCalls};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_intake::call::CompletedCall;

use super::facts_cache::FactsCache;
use super::told_again::settle_told;

/// What a worker keeps of one plan.
#[derive(Default)]
pub(super) struct PlanState {
    sim: Simulator,
    facts: FactsCache,
    usual: UsualCalls,
    /// The record of the call at work, unless it is that of its kind.
    own: SimulationRecord,
}

impl PlanState {
    /// Takes a call; gives the facts of its tool. `joined` is its record if it was simulated together with others;
    /// `simulates_each`: also where one of its kind has been simulated.
    pub(super) fn take(
        &mut self,
        plan: &Plan,
        closed: &CompletedCall,
        joined: Option<Box<SimulationRecord>>,
        (beyond, simulates_each): (&MissingAnswerPolicy, bool),
    ) -> ToolFacts {
        let PlanState { sim, facts, usual, own } = self;
        let (call, tool) = (closed.raw(), closed.hashes.tool);
        let facts = facts.facts(plan, tool, call);
        usual.leave();
        if let Some(finished) = joined {
            *own = *finished;
            settle_told(plan, own, call, facts);
        } else if !simulates_each && let Some(record) = usual.take(plan, (call, tool), facts) {
            record.show(closed.shown_errors(&record.errors));
        } else {
            sim.replay(plan, call, facts, beyond);
            sim.swap_record(own);
            settle_told(plan, own, call, facts);
            own.show(closed.shown_errors(&own.errors));
            usual.learn(own);
        }
        facts
    }

    /// The record of the call at work.
    pub(super) fn record(&self) -> &SimulationRecord {
        self.usual.taken().unwrap_or(&self.own)
    }
}
