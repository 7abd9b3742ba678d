//! Recorded calls as fixtures: found by their reference, as they are shown. Decides nothing about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::exit::Failure;
use crate::cli::inputs;
use crate::cli::reading::{Reading, each_call};
use crate::fixture::model::{Fixture, FixtureTool};
use crate::fixture::{Arguments, of_recorded};
use crate::glob;
use crate::playbook::model::{Access, DEFAULT_TIMEOUT};
use crate::sim::Plan;
use crate::trace::model::RecordedCall;
use crate::trace::redact::RedactionRules;

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
    each_call(0, opened, reading.options(), redaction, &writes, |closed| {
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
