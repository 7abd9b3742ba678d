//! The tools of synthetic calls: what a playbook declares of them, and the actions that stand in for tools that no action
//! has.

use super::edges::way_to;
use crate::shape::CallShape;
use playproof_engine::fixture::FixtureTool;
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Access, Action, Graph, ToolFacts};
use playproof_engine::sim::Plan;

/// A call of an action in the place of a call of a tool.
pub(super) struct StandIn<'a> {
    /// The action.
    pub action: &'a Action,
    /// The place of the step that meets the answers of the tool; 0 where the action has no steps.
    pub step: usize,
}

impl StandIn<'_> {
    /// The tool that meets the answers.
    pub fn tool(&self) -> &str {
        self.action.steps.get(self.step).map_or(&self.action.tool, |step| &step.tool)
    }

    fn facts(&self, plan: &Plan) -> ToolFacts {
        let facts = plan.facts(self.tool());
        self.action.steps.get(self.step).map_or(facts, |step| step.facts(facts))
    }
}

/// Whether a call of `tool` can have this shape: the tool is not declared, is declared with it, or is only an example.
pub(super) fn may_have(plan: &Plan, tool: &str, shape: CallShape) -> bool {
    tool == shape.tool() || agree(plan.facts(tool), shape.access == Access::Write, shape.idempotent)
}

/// Whether the tool is only an example of a shape, in the place of which another can stand.
fn is_example(tool: &str) -> bool {
    CallShape::all().iter().any(|shape| shape.tool() == tool)
}

/// The example that can stand in the place of this one.
pub(super) fn other_example(tool: &str) -> Option<String> {
    is_example(tool).then(|| format!("other_{tool}"))
}

/// Whether the facts in a fixture's row agree with those that the playbook declares for the tool.
pub(super) fn is_true_of(plan: &Plan, row: &FixtureTool) -> bool {
    agree(plan.facts(&row.pattern), row.writes, row.idempotent == Some(true))
}

/// Repeating a read is harmless whether or not it is called idempotent.
fn agree(facts: ToolFacts, writes: bool, idempotent: bool) -> bool {
    !facts.declared || (facts.access == Access::Write) == writes && (!writes || facts.idempotent == idempotent)
}

/// The first action that a run can reach and that can stand in for `tool`, whose facts the fixture gives in `row`. A tool
/// that has a name of its own is only itself: it is a step of the action. A reversal token is for a call without steps.
pub(super) fn stand_in<'a>(
    plan: &'a Plan,
    graph: &Graph,
    tool: &str,
    row: Option<&FixtureTool>,
    has_token: bool,
) -> Option<StandIn<'a>> {
    let any = is_example(tool);
    let ids = (0..).map(ActionId).take(plan.playbook.actions.len());
    let others = ids.filter(|id| !graph.entry.contains(id) && way_to(graph, *id).is_some());
    let actions = graph.entry.iter().copied().chain(others);
    let actions = actions.filter_map(|id| plan.playbook.actions.get(id.index()));
    let bodies = actions.flat_map(|action| (0..action.steps.len().max(1)).map(move |step| StandIn { action, step }));
    let mut able = bodies.filter(|body| {
        (any || body.tool() == tool)
            && (!has_token || body.action.steps.is_empty())
            && row.is_none_or(|row| agree(body.facts(plan), row.writes, row.idempotent == Some(true)))
    });
    able.next()
}
