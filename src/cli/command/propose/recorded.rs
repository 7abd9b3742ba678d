//! Recorded calls as fixtures: found by their reference, redacted where they are read. Decides nothing about them.

use crate::cli::exit::Failure;
use crate::cli::inputs;
use crate::cli::reading::{Reading, each_call};
use crate::fixture::Arguments;
use crate::fixture::model::{Fixture, FixtureTool};
use crate::playbook::model::{Access, DEFAULT_TIMEOUT};
use crate::sim::Plan;
use crate::trace::model::RecordedCall;
use crate::trace::redact::RedactionRules;

/// The call of this reference.
///
/// # Errors
/// An input that cannot be read, or has no such call.
pub fn call(
    input: &str,
    reference: &str,
    reading: &Reading,
    redaction: &RedactionRules,
    plan: &Plan,
) -> Result<RecordedCall, Failure> {
    let mapping = reading.mapping()?;
    let opened = inputs::trace(input, mapping.as_ref())?;
    let writes = |tool: &str| plan.facts(tool).access == Access::Write;
    let mut found = None;
    each_call(0, opened, reading.options(), redaction, &writes, |closed| {
        if found.is_none() {
            found = Some(closed.into_call()).filter(|call| call.reference() == reference);
        }
    })?;
    found.ok_or_else(|| {
        Failure::said(format!("there is no call `{reference}` in {input}"))
            .next(format!("playproof mine {}", crate::report::text::shell_word(input)))
    })
}

/// A fixture in which the upstream answers as it is recorded to have done, with the tool's facts where they are
/// declared.
pub fn fixture(call: &RecordedCall, title: String, playbook: &str, plan: &Plan) -> Fixture {
    let facts = plan.facts(call.tool());
    let tools = facts.declared.then(|| FixtureTool {
        pattern: call.tool().to_owned(),
        writes: facts.access == Access::Write,
        idempotent: facts.idempotent,
        repeatable: facts.repeatable,
        timeout: (facts.timeout != DEFAULT_TIMEOUT).then_some(facts.timeout),
    });
    Fixture {
        playbooks: vec![playbook.to_owned()],
        tools: tools.into_iter().collect(),
        ..Fixture::of_recorded(call, title, Arguments::Values)
    }
}
