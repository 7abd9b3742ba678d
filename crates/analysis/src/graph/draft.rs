//! A graph from recorded calls: an edge for every call that was made from where its run was, failed ones too. A run is at its
//! last call that succeeded; an action with recorded steps did if each of its steps did. Writes nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::replay::{CallResult, Observer};
use playproof_engine::call::Reply;
use playproof_engine::event::{AdmissionRefusal, ErrorFacts};
use playproof_engine::time::Instant;
use playproof_intake::call_hashes::id_hash;

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
    /// Its steps with their tools, in the order in which they were seen first.
    pub steps: Vec<(String, String)>,
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
    /// A hash of its id, if it has one.
    pub id: Option<u128>,
    /// If it says that it is a step: a hash of the id of its action's call, and its name.
    pub step: Option<(u128, String)>,
    /// Its tool.
    pub tool: String,
    /// Whether it did its action.
    pub succeeded: bool,
    /// When it was made and when it ended, where it matters: a read may overlap itself.
    pub span: Option<(Instant, Instant)>,
}

/// The calls of steps, by those of their actions.
#[derive(Debug, Default)]
struct SeenSteps {
    /// By the tool of the action: its steps with their tools.
    steps: BTreeMap<String, Vec<(String, String)>>,
    /// By the id of an action's call: whether the last call of each of its steps did it.
    done: BTreeMap<u128, BTreeMap<(String, String), bool>>,
}

impl SeenSteps {
    /// Takes the steps out of all calls. A step whose action is not there before it is a call like any other.
    fn take(calls: impl IntoIterator<Item = DraftedCall>) -> (SeenSteps, Vec<DraftedCall>) {
        let (mut seen, mut actions) = (SeenSteps::default(), BTreeMap::new());
        let mut others = Vec::new();
        for call in calls {
            let of = call.step.as_ref().and_then(|(parent, name)| Some((*parent, name, actions.get(parent)?)));
            let Some((parent, name, action)) = of else {
                call.id.filter(|_| call.step.is_none()).map(|id| actions.insert(id, call.tool.clone()));
                others.push(call);
                continue;
            };
            let step = (name.clone(), call.tool);
            let steps = seen.steps.entry(String::clone(action)).or_default();
            if !steps.iter().any(|(known, _)| *known == step.0) {
                steps.push(step.clone());
            }
            seen.done.entry(parent).or_default().insert(step, call.succeeded);
        }
        (seen, others)
    }

    /// Whether a call did its action.
    fn succeeded(&self, call: &DraftedCall) -> bool {
        let Some(steps) = self.steps.get(&call.tool) else { return call.succeeded };
        let done = call.id.and_then(|id| self.done.get(&id));
        done.is_some_and(|done| steps.iter().all(|step| done.get(step) == Some(&true)))
    }
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
        if call.only_error().is_some_and(ErrorFacts::is_of_unknown_tool) {
            return; // nor is there an action that does not exist
        }
        let succeeded = call.attempts().last().is_some_and(|(_, answer)| answer.reply == Reply::Ok);
        let run = result.run();
        part.push(DraftedCall {
            run,
            id: call.id().map(|id| id_hash(run, id)),
            step: call.step().map(|(parent, step)| (id_hash(run, parent), step.to_owned())),
            tool: result.call.tool().to_owned(),
            succeeded: succeeded && !call.key_is_reused && !call.key_is_reversed,
            span: call.at.zip(call.end()).map(|(made, (ended, _))| (made, ended)).filter(|_| {
                let facts = result.facts().first();
                facts.is_none_or(|facts| facts.adds_effects())
            }),
        });
    }
}

/// The most positions of a run that are remembered.
const MOST_POSITIONS: usize = 16;

/// The calls of a run that succeeded last, with their ends where they are known.
#[derive(Debug, Default)]
struct Positions(VecDeque<(usize, Option<Instant>)>);

impl Positions {
    fn push(&mut self, number: usize, ended: Option<Instant>) {
        if self.0.len() >= MOST_POSITIONS {
            self.0.pop_front();
        }
        self.0.push_back((number, ended));
    }

    /// Where the run was when a call of an action was made: calls of the same action that still ran had done nothing yet.
    fn at(&self, number: usize, made: Option<Instant>) -> Option<usize> {
        let still_ran = |of: usize, ended: Option<Instant>| {
            of == number && ended.zip(made).is_some_and(|(ended, made)| ended > made)
        };
        self.0.iter().rev().find(|(of, ended)| !still_ran(*of, *ended)).map(|(of, _)| *of)
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
        let mut runs: BTreeMap<u128, (Positions, BTreeSet<SeenEdge>)> = BTreeMap::new();
        let mut seen = SeenEdges::default();
        let (mut steps, calls) = SeenSteps::take(calls);
        for call in calls {
            let succeeded = steps.succeeded(&call);
            let DraftedCall { run, tool, span, .. } = call;
            let number = *numbers.entry(tool.clone()).or_insert_with(|| {
                tools.push(tool);
                tools.len() - 1
            });
            let (positions, taken) = runs.entry(run).or_default();
            let edge = (positions.at(number, span.map(|(made, _)| made)), number);
            if taken.insert(edge) {
                let count = seen.runs.entry(edge).or_default();
                if *count == 0 {
                    seen.order.push(edge);
                }
                *count += 1;
            }
            if succeeded {
                positions.push(number, span.map(|(_, ended)| ended));
            }
        }
        let mut draft = seen.into_draft(&tools, runs.len() as u64, min_runs);
        for action in &mut draft.actions {
            action.steps = steps.steps.remove(&action.tool).unwrap_or_default();
        }
        draft
    }
}

impl SeenEdges {
    fn into_draft(self, tools: &[String], runs: u64, min_runs: u64) -> Draft {
        let name = |number: usize| tools.get(number).cloned().unwrap_or_default();
        let actions = tools.iter().map(|tool| DraftAction { tool: tool.clone(), steps: Vec::new(), next: Vec::new() });
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
        DraftedCall { run, id: None, step: None, tool: tool.to_owned(), succeeded, span: None }
    }

    fn names(edges: &[DraftEdge]) -> Vec<(&str, u64)> {
        edges.iter().map(|edge| (edge.tool.as_str(), edge.runs.unwrap_or_default())).collect()
    }

    #[test]
    fn a_step_is_part_of_its_action_and_a_run_is_at_an_action_whose_steps_are_done() {
        let action = |run, id| DraftedCall { id: Some(id), ..call(run, "ship", true) };
        let step = |run, parent, name: &str, succeeded| DraftedCall {
            step: Some((parent, name.to_owned())),
            ..call(run, &format!("tool.{name}"), succeeded)
        };
        let calls = [
            action(1, 10),
            step(1, 10, "find", true),
            step(1, 10, "post", true),
            call(1, "close", true),
            action(2, 20),
            step(2, 20, "find", true),
            step(2, 20, "post", false),
            call(2, "cancel", true),
            step(3, 99, "find", true),
        ];
        let draft = Draft::of_calls(calls, 1);
        let tools: Vec<&str> = draft.actions.iter().map(|action| action.tool.as_str()).collect();
        assert_eq!(tools, ["ship", "close", "cancel", "tool.find"], "one step has no action");
        let steps: Vec<&str> = draft.actions[0].steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(steps, ["find", "post"]);
        assert_eq!(names(&draft.actions[0].next), [("close", 1)]);
        assert_eq!(names(&draft.entry), [("ship", 2), ("cancel", 1), ("tool.find", 1)], "its second step failed");
        assert!(draft.actions[1..].iter().all(|action| action.steps.is_empty()));
    }

    #[test]
    fn a_write_that_was_sent_while_it_still_ran_does_not_follow_itself() {
        let span = |made, ended| Some((Instant::from_millis(made), Instant::from_millis(ended)));
        let calls = |first_ended| {
            [
                call(1, "order", true),
                DraftedCall { span: span(10, first_ended), ..call(1, "pay", true) },
                DraftedCall { span: span(510, 520), ..call(1, "pay", true) },
                call(1, "fulfill", true),
            ]
        };
        let draft = Draft::of_calls(calls(1_010), 1);
        assert_eq!(names(&draft.actions[0].next), [("pay", 1)]);
        assert_eq!(names(&draft.actions[1].next), [("fulfill", 1)]);
        let one_by_one = Draft::of_calls(calls(20), 1);
        assert_eq!(names(&one_by_one.actions[1].next), [("pay", 1), ("fulfill", 1)]);
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
