//! The facts of tools by the hashes of their names: to find them runs through all rows. Decides nothing.

use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::Plan;

use super::bounded_map::BoundedMap;

/// Tool facts by tool hash, so that globs are matched once per tool.
#[derive(Debug, Default)]
pub(super) struct FactsCache(BoundedMap<ToolFacts>);

impl FactsCache {
    /// The facts of the tool of `call`, whose hash is `tool`. Reads the call only if the tool is new.
    #[inline]
    pub(super) fn facts(&mut self, plan: &Plan, tool: u128, call: &RecordedCall) -> ToolFacts {
        if plan.has_steps && call.step().is_some() {
            return plan.facts_of(call); // it may be less than its tool
        }
        if let Some(&facts) = self.0.get(&tool) {
            return facts;
        }
        let facts = plan.facts(call.tool());
        self.0.insert(tool, facts);
        facts
    }
}
