//! Values of the engine as the pages want them.

use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::{Access, DEFAULT_TIMEOUT, ToolFacts};
use playproof_engine::time::Instant;
use playproof_report::view::CallView;
use playproof_trace::origin::Sources;

/// What is known of a tool: `write, not idempotent (assumed)`.
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

/// The same beside a recorded call, with what its recording does not tell.
pub fn facts_of_recorded(call: &RecordedCall, facts: ToolFacts) -> String {
    let status = if call.is_read_from_text() { " · status read from the text" } else { "" };
    facts_in_words(facts) + status
}

/// A recorded call as pages see it; whether its tool is declared is for the caller to add.
pub fn of_recorded<'a>(
    call: &'a RecordedCall,
    reference: &'a str,
    facts: &'a str,
    sources: &'a Sources,
) -> CallView<'a> {
    let origin = sources.of(call.place);
    CallView {
        reference,
        id: call.id(),
        run: call.run(),
        input: sources.name(call.place.input),
        input_from_root: sources.name_from_root(call.place.input),
        line: Some(origin.line),
        path: origin.path,
        tool: call.tool(),
        args: call.args(),
        key: call.key(),
        token: call.token(),
        facts,
        declared: false,
        at: call.at.unwrap_or(Instant::ZERO),
        timed: call.at.is_some(),
        recorded: Some(call),
    }
}
