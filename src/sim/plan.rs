//! A playbook made ready to run: compiled rules, tool facts, names.

use crate::classify::Classifier;
use crate::event::Names;
use crate::playbook::model::{Playbook, ToolFacts, Tools};

/// Everything about the playbook that a simulation needs.
#[derive(Debug)]
pub struct Plan {
    /// The playbook.
    pub playbook: Playbook,
    /// Its rules, compiled.
    pub classifier: Classifier,
    /// Its names, for reporters.
    pub names: Names,
    tools: Tools,
}

impl Plan {
    /// A plan from a playbook, with tool facts that win over the playbook's own.
    pub fn new(playbook: Playbook, stronger: &Tools) -> Plan {
        Plan {
            classifier: Classifier::new(&playbook),
            names: playbook.names(),
            tools: stronger.over(&playbook.tools),
            playbook,
        }
    }

    /// What is known of `tool`.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        self.tools.facts(tool)
    }
}
