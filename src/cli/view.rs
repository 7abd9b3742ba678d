//! Values of the engine as the pages want them.

use crate::playbook::model::{Access, DEFAULT_TIMEOUT, ToolFacts};

/// What is known of a tool: `write, not idempotent (assumed: nobody declared this tool)`.
pub fn facts_in_words(facts: ToolFacts) -> String {
    let mut words = match (facts.access, facts.idempotent) {
        (Access::Read, _) => "read".to_owned(),
        (Access::Write, true) => "write, idempotent".to_owned(),
        (Access::Write, false) => "write, not idempotent".to_owned(),
    };
    if facts.repeatable {
        words += ", repeatable";
    }
    if facts.timeout != DEFAULT_TIMEOUT {
        words += &format!(", timeout {} ms", facts.timeout);
    }
    if !facts.declared {
        words += " (assumed)";
    }
    words
}
