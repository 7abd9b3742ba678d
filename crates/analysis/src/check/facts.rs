//! Finds out whether a divergence comes from the tool facts: runs the fixture again with other facts of the tool.
//! Draws nothing.

use std::sync::Arc;

use super::case::{Case, GoldenState, check_one};
use super::cause::{Cause, compensation};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::golden::Comparison;
use playproof_formats::playbook::tools::LoadedTools;

/// A fact that differs: its key and its value.
type Other = (&'static str, String);

/// The row of tool facts that causes a divergence: with other facts of the same tool the run is as accepted. None if no
/// other facts help.
pub fn cause_in_facts(
    simulator: &mut Simulator,
    case: &Case<'_>,
    comparison: &Comparison,
    file: &LoadedTools,
) -> Option<Cause> {
    let first = comparison.first.as_ref()?;
    let tool = &*case.fixture.calls.iter().find(|call| *call.name == *first.call)?.tool;
    let now = case.plan.facts(tool);
    let mut is_accepted = |facts: &ToolFacts| {
        let Some(plan) = case.plan.with_tool_facts(tool, *facts) else { return false };
        matches!(check_one(simulator, &Case { plan: &plan, ..case.clone() }).golden, GoldenState::Same)
    };
    let accepted = others(case.plan, tool, now).into_iter().find(|facts| is_accepted(facts))?;
    let differing = differing(now, accepted);
    let (fact, _) = differing.first()?;
    let said: Vec<String> = differing.iter().map(|(fact, value)| format!("`{fact}: {value}`")).collect();
    let (said, name) = (said.join(", "), &file.source.name);
    let diagnostic = Diagnostic::error(comparison.worst()?.as_str(), comparison.headline());
    let diagnostic = match file.place(tool, fact) {
        Some(place) if place.is_said => diagnostic.at(place.span, format!("with {said} the run is as accepted")),
        Some(place) => {
            diagnostic.at(place.span, format!("does not declare `{fact}`; with {said} the run is as accepted"))
        }
        None => diagnostic.help(format!("`{tool}` is not declared; with {said} the run is as accepted")),
    };
    Some(Cause {
        report: Report::one(Arc::clone(&file.source), diagnostic),
        row: format!("tool {tool}"),
        compensation: compensation(&case.plan.playbook, first.actual.as_ref()),
        because: Some(format!(
            "no row of the playbook changed; with {said} of `{tool}` in the tool facts ({name}) the run is as accepted"
        )),
    })
}

/// Facts that the tool may have had before: one of them changed, or the playbook's own.
fn others(plan: &Plan, tool: &str, now: ToolFacts) -> Vec<ToolFacts> {
    let access = if now.access == Access::Read { Access::Write } else { Access::Read };
    vec![
        ToolFacts { idempotent: !now.idempotent, ..now },
        ToolFacts { access, ..now },
        ToolFacts { repeatable: !now.repeatable, ..now },
        plan.playbook.tools.facts(tool),
    ]
}

fn differing(now: ToolFacts, other: ToolFacts) -> Vec<Other> {
    let facts = [
        ("access", now.access != other.access, other.access.as_str().to_owned()),
        ("idempotent", now.idempotent != other.idempotent, other.idempotent.to_string()),
        ("repeatable", now.repeatable != other.repeatable, other.repeatable.to_string()),
        ("timeout_ms", now.timeout != other.timeout, other.timeout.as_millis().to_string()),
    ];
    facts.into_iter().filter(|(_, differs, _)| *differs).map(|(fact, _, value)| (fact, value)).collect()
}
