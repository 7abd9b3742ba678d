//! The graph that Burr's tracker writes (`graph.json`): its topology. Conditions of its transitions test a state that
//! recordings do not have; they are dropped and named, which makes the graph wider, never narrower. Its `inputs` say the
//! wrong thing and are not read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::draft::{Draft, DraftAction, DraftEdge};
use playproof_formats::steps;

/// The text is no graph of Burr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotABurrGraph(pub String);

/// The condition of a transition that always holds.
const ALWAYS: &str = "default";

/// A draft from the text of a `graph.json`.
///
/// # Errors
/// It is none, or names an action that it does not have.
pub fn burr(text: &str) -> Result<Draft, NotABurrGraph> {
    let read: Value = serde_json::from_str(text).map_err(|error| NotABurrGraph(error.to_string()))?;
    let actions: Vec<&str> =
        list(&read, "actions")?.iter().map(|action| name(action, "name")).collect::<Result<_, _>>()?;
    let numbers: BTreeMap<&str, usize> = actions.iter().rev().copied().zip((0..actions.len()).rev()).collect();
    let number = |name| numbers.get(name).copied().ok_or_else(|| unknown(name));
    let edge = |tool: &str| DraftEdge { tool: tool.to_owned(), runs: None };
    let entry = name(&read, "entrypoint")?;
    number(entry)?;
    let mut draft = Draft {
        entry: vec![edge(entry)],
        actions: actions
            .iter()
            .map(|tool| DraftAction { tool: (*tool).to_owned(), steps: Vec::new(), next: Vec::new() })
            .collect(),
        ..Draft::default()
    };
    let mut seen = BTreeSet::new();
    for transition in list(&read, "transitions")? {
        steps::count(1);
        let (from, to) = (name(transition, "from_")?, name(transition, "to")?);
        let ends = (number(from)?, number(to)?);
        if let Some(action) = draft.actions.get_mut(ends.0).filter(|_| seen.insert(ends)) {
            action.next.push(edge(to));
        }
        let condition = transition.get("condition").and_then(Value::as_str).filter(|condition| *condition != ALWAYS);
        draft.conditions.extend(condition.map(|condition| (from.to_owned(), to.to_owned(), condition.to_owned())));
    }
    Ok(draft)
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, NotABurrGraph> {
    value.get(key).and_then(Value::as_array).ok_or_else(|| NotABurrGraph(format!("it has no list `{key}`")))
}

fn name<'a>(value: &'a Value, key: &str) -> Result<&'a str, NotABurrGraph> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| NotABurrGraph(format!("it has no text `{key}`")))
}

fn unknown(name: &str) -> NotABurrGraph {
    NotABurrGraph(format!("no action is called `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"type":"application","entrypoint":"order","actions":[{"name":"order","inputs":["wrong"]},
        {"name":"pay"}],"transitions":[{"from_":"order","to":"pay","condition":"stage == 'ordered'"},
        {"from_":"order","to":"order","condition":"default"},{"from_":"order","to":"pay","condition":"default"}]}"#;

    #[test]
    fn the_topology_is_read_and_each_condition_is_named() {
        let draft = burr(TEXT).unwrap();
        let next: Vec<&str> = draft.actions[0].next.iter().map(|edge| edge.tool.as_str()).collect();
        assert_eq!((draft.entry[0].tool.as_str(), next), ("order", vec!["pay", "order"]));
        assert_eq!(draft.conditions, [("order".to_owned(), "pay".to_owned(), "stage == 'ordered'".to_owned())]);
        assert!(draft.actions[1].next.is_empty());
    }

    #[test]
    fn what_is_no_graph_of_burr_is_refused() {
        assert!(burr("{}").is_err());
        let dangling = TEXT.replace(r#""to":"order""#, r#""to":"cancel""#);
        assert_eq!(burr(&dangling), Err(NotABurrGraph("no action is called `cancel`".to_owned())));
        assert!(burr(&TEXT.replace(r#""entrypoint":"order""#, r#""entrypoint":"x""#)).is_err());
    }
}
