//! Recorded calls as fixtures: found by their reference, as they are shown. Decides nothing about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::exit::Failure;
use crate::inputs;
use crate::reading::Reading;
use playproof_analysis::recorded::{Arguments, of_recorded};
use playproof_engine::call::RecordedCall;
use playproof_engine::fixture::{Fixture, FixtureTool};
use playproof_engine::glob;
use playproof_engine::playbook::{Access, DEFAULT_TIMEOUT};
use playproof_engine::sim::Plan;
use playproof_trace::redact::RedactionRules;

/// The calls of these references, the first of each; none for one that the input does not have.
///
/// # Errors
/// An input that cannot be read.
pub fn calls(
    input: &str,
    references: &BTreeSet<&str>,
    reading: &Reading,
    redaction: &RedactionRules,
    plan: &Plan,
) -> Result<BTreeMap<String, RecordedCall>, Failure> {
    let mapping = reading.mapping()?;
    let opened = inputs::trace(input, mapping.as_ref(), redaction)?;
    let writes = |tool: &str| plan.facts(tool).access == Access::Write;
    let mut found = BTreeMap::new();
    opened.each_call(0, reading.options(), redaction, &writes, |closed| {
        let reference = closed.shown().reference();
        if references.contains(reference.as_str()) {
            found.entry(reference).or_insert_with(|| closed.shown().clone());
        }
    })?;
    Ok(found)
}

/// A fixture in which the upstream answers as it is recorded to have done, with the tool's facts where they are
/// declared.
pub fn fixture(call: &RecordedCall, title: String, playbook: &str, plan: &Plan) -> Fixture {
    let facts = plan.facts(call.tool());
    let tools = facts.declared.then(|| FixtureTool {
        pattern: glob::escape(call.tool()),
        writes: facts.access == Access::Write,
        idempotent: facts.idempotent,
        repeatable: facts.repeatable,
        timeout: (facts.timeout != DEFAULT_TIMEOUT).then_some(facts.timeout),
    });
    Fixture {
        playbooks: vec![playbook.to_owned()],
        tools: tools.into_iter().collect(),
        ..of_recorded(call, title, Arguments::Values)
    }
}
