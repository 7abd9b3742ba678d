//! Tool facts by a tool's mark, so that names and globs are looked up once a tool and not once a call.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::Plan;

/// Facts that were asked for before.
#[derive(Debug, Default)]
pub struct KnownFacts(HashMap<u128, ToolFacts, FixedState>);

/// Tools that are remembered; a trace with more is looked up anew.
const MAX_TOOLS: usize = 65_536;

impl KnownFacts {
    /// What `plan` knows of the tool of `call`, whose mark is `tool`. Looks at the call only if the tool is new.
    pub fn of(&mut self, plan: &Plan, tool: u128, call: &RecordedCall) -> ToolFacts {
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
