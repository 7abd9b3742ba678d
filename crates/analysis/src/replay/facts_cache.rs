//! The facts of tools by the hashes of their names: to find them runs through all rows. Decides nothing.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::Plan;

/// Tool facts by tool hash, so that globs are matched once per tool.
#[derive(Debug, Default)]
pub(super) struct FactsCache(HashMap<u128, ToolFacts, FixedState>);

/// The most tools in the cache; it is cleared beyond that.
const MAX_TOOLS: usize = 65_536;

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
        if self.0.len() >= MAX_TOOLS {
            self.0.clear();
        }
        let facts = plan.facts(call.tool());
        self.0.insert(tool, facts);
        facts
    }
}
