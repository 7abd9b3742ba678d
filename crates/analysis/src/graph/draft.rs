//! A graph from recorded calls: an edge for every call that was made from where its run was, failed ones too. A run is at its
//! last call that succeeded. Writes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::replay::{CallResult, Observer};
use playproof_engine::call::Reply;
use playproof_engine::event::AdmissionRefusal;

/// A graph that is drafted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The actions, in the order of their first calls.
    pub actions: Vec<DraftAction>,
    /// The actions with which runs began.
    pub entry: Vec<DraftEdge>,
    /// Edges that were left out because too few runs took them: from, to, runs; none: from the beginning.
    pub rare: Vec<(Option<String>, DraftEdge)>,
    /// Conditions of edges in the source, which a graph cannot have: from, to, condition.
    pub conditions: Vec<(String, String, String)>,
    /// The number of runs; none: the source knows none.
    pub runs: Option<u64>,
}

/// An action of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftAction {
    /// Its tool.
    pub tool: String,
    /// What may follow it, in the order in which that was seen first.
    pub next: Vec<DraftEdge>,
}

/// An action that may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftEdge {
    /// Its tool.
    pub tool: String,
    /// In how many runs it was seen; none: the source knows no runs.
    pub runs: Option<u64>,
}

/// What a draft needs of a recorded call. Calls of one run come in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftedCall {
    /// Its run.
    pub run: u128,
    /// Its tool.
    pub tool: String,
    /// Whether it did its action.
    pub succeeded: bool,
}

/// Collects the calls of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Drafter;

impl Observer for Drafter {
    type Part = Vec<DraftedCall>;

    fn part(&self) -> Vec<DraftedCall> {
        Vec::new()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut Vec<DraftedCall>) {
        let call = result.call.raw();
        if let Some(AdmissionRefusal::InvalidTransition | AdmissionRefusal::UnknownAction) = call.gate_refusal() {
            return; // the recording's own gate says that there is no such edge
        }
        let succeeded = call.attempts().last().is_some_and(|(_, answer)| answer.reply == Reply::Ok);
        let run = result.run();
        part.push(DraftedCall {
            run,
            tool: result.call.tool().to_owned(),
            succeeded: succeeded && !call.key_is_reused && !call.key_is_reversed,
        });
    }
}

/// From an action (none: the beginning) to another, by the order of their first calls.
type SeenEdge = (Option<usize>, usize);

/// The edges as they are seen.
#[derive(Debug, Default)]
struct SeenEdges {
    /// In the order in which they were seen first.
    order: Vec<SeenEdge>,
    runs: BTreeMap<SeenEdge, u64>,
}

impl Draft {
    /// A draft from recorded calls; edges of fewer than `min_runs` runs are left out.
    pub fn of_calls(calls: impl IntoIterator<Item = DraftedCall>, min_runs: u64) -> Draft {
        let (mut tools, mut numbers) = (Vec::new(), BTreeMap::new());
        let mut runs: BTreeMap<u128, (Option<usize>, BTreeSet<SeenEdge>)> = BTreeMap::new();
        let mut seen = SeenEdges::default();
        for DraftedCall { run, tool, succeeded } in calls {
            let number = *numbers.entry(tool.clone()).or_insert_with(|| {
                tools.push(tool);
                tools.len() - 1
            });
            let (position, taken) = runs.entry(run).or_default();
            let edge = (*position, number);
            if taken.insert(edge) {
                let count = seen.runs.entry(edge).or_default();
                if *count == 0 {
                    seen.order.push(edge);
                }
                *count += 1;
            }
            if succeeded {
                *position = Some(number);
            }
        }
        seen.into_draft(&tools, runs.len() as u64, min_runs)
    }
}

impl SeenEdges {
    fn into_draft(self, tools: &[String], runs: u64, min_runs: u64) -> Draft {
        let name = |number: usize| tools.get(number).cloned().unwrap_or_default();
        let actions = tools.iter().map(|tool| DraftAction { tool: tool.clone(), next: Vec::new() });
        let mut draft = Draft { actions: actions.collect(), runs: Some(runs), ..Draft::default() };
        for edge in self.order {
            let count = self.runs.get(&edge).copied().unwrap_or_default();
            let (from, to) = (edge.0, DraftEdge { tool: name(edge.1), runs: Some(count) });
            match (count < min_runs, from) {
                (true, from) => draft.rare.push((from.map(name), to)),
                (false, None) => draft.entry.push(to),
                (false, Some(from)) => {
                    if let Some(action) = draft.actions.get_mut(from) {
                        action.next.push(to);
                    }
                }
            }
        }
        draft
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(run: u128, tool: &str, succeeded: bool) -> DraftedCall {
        DraftedCall { run, tool: tool.to_owned(), succeeded }
    }

    fn names(edges: &[DraftEdge]) -> Vec<(&str, u64)> {
        edges.iter().map(|edge| (edge.tool.as_str(), edge.runs.unwrap_or_default())).collect()
    }

    #[test]
    fn an_edge_leads_to_every_call_that_was_made_from_the_last_success() {
        let calls = [
            call(1, "order", true),
            call(2, "order", false),
            call(1, "pay", false),
            call(2, "menu", true),
            call(1, "pay", true),
            call(1, "make", true),
            call(2, "order", true),
            call(2, "pay", true),
        ];
        let draft = Draft::of_calls(calls.clone(), 1);
        assert_eq!(names(&draft.entry), [("order", 2), ("menu", 1)]);
        let tools: Vec<&str> = draft.actions.iter().map(|action| action.tool.as_str()).collect();
        assert_eq!(tools, ["order", "pay", "menu", "make"]);
        assert_eq!(names(&draft.actions[0].next), [("pay", 2)], "twice in a run is once");
        assert_eq!(names(&draft.actions[1].next), [("make", 1)], "a failed call moves nothing");
        assert_eq!(names(&draft.actions[3].next), []);
        let common = Draft::of_calls(calls, 2);
        assert_eq!((names(&common.entry), common.rare.len()), (vec![("order", 2)], 3));
        assert_eq!(common.rare[0], (None, DraftEdge { tool: "menu".to_owned(), runs: Some(1) }));
    }
}
