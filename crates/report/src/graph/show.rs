//! A graph as a page, as JSON, and as drawings that other programs make: Mermaid and DOT.

use std::fmt::Write;

use crate::doc::{Block, Doc, Table};
use crate::json::{Object, document};
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Action, Graph, Playbook};

/// The names of some actions.
fn names<'a>(playbook: &'a Playbook, row: &[ActionId]) -> Vec<&'a str> {
    row.iter().filter_map(|id| playbook.actions.get(id.index())).map(|action| &*action.name).collect()
}

/// The tool of an action, or its steps with theirs.
fn body(action: &Action) -> String {
    match action.steps.as_slice() {
        [] => action.tool.to_string(),
        steps => {
            let steps: Vec<String> = steps.iter().map(|step| format!("{}: {}", step.name, step.tool)).collect();
            format!("steps {}", steps.join(", "))
        }
    }
}

/// Each action with its tool and what may follow it.
pub fn page(playbook: &Playbook, graph: &Graph) -> Doc {
    let mut table = Table::named(["action", "tool", "next"]);
    let mut row = |action: &str, tool: &str, next: &[ActionId]| {
        let next = if next.is_empty() { "(end)".to_owned() } else { names(playbook, next).join(", ") };
        table.row([action.into(), tool.into(), next.into()]);
    };
    row("(begin)", "", &graph.entry);
    for (action, next) in playbook.actions.iter().zip(&graph.next) {
        row(&action.name, &body(action), next);
    }
    let stuck = graph.stuck.map_or_else(String::new, |stuck| {
        let queue = playbook.queues.get(stuck.queue.index()).map_or("?", |name| name);
        format!("queue {queue}, after {} times in a row", stuck.after)
    });
    let rest = [("tools that no action has", graph.others.as_str().to_owned()), ("the same refused call", stuck)];
    Doc::with("", vec![Block::Table(table), Block::pairs(rest)])
}

/// A state diagram of Mermaid.
pub fn mermaid(playbook: &Playbook, graph: &Graph) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    let mut line = |words: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "    {words}"); // writing to a String cannot fail
    };
    for (n, action) in playbook.actions.iter().enumerate() {
        line(format_args!("state \"{}\" as a{n}", action.name));
    }
    for entry in &graph.entry {
        line(format_args!("[*] --> a{}", entry.index()));
    }
    for (n, next) in graph.next.iter().enumerate() {
        for action in next {
            line(format_args!("a{n} --> a{}", action.index()));
        }
        if next.is_empty() {
            line(format_args!("a{n} --> [*]"));
        }
    }
    text
}

/// A directed graph of Graphviz.
pub fn dot(playbook: &Playbook, graph: &Graph) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = format!("digraph {} {{\n", quoted(&playbook.name));
    let mut line = |words: String| {
        let _ = writeln!(text, "  {words};"); // as above
    };
    line("\"\" [shape=point]".to_owned());
    for (action, next) in playbook.actions.iter().zip(&graph.next) {
        let shape = if next.is_empty() { "doublecircle" } else { "box" };
        line(format!("{} [shape={shape}]", quoted(&action.name)));
    }
    for name in names(playbook, &graph.entry) {
        line(format!("\"\" -> {}", quoted(name)));
    }
    for (action, next) in playbook.actions.iter().zip(&graph.next) {
        for name in names(playbook, next) {
            line(format!("{} -> {}", quoted(&action.name), quoted(name)));
        }
    }
    text.push_str("}\n");
    text
}

/// The graph as JSON.
pub fn json(playbook: &Playbook, graph: &Graph) -> String {
    let action = |(action, next): (&Action, &Vec<ActionId>)| {
        let steps = action.steps.iter();
        let steps = steps.map(|step| Object::default().with("step", &*step.name).with("tool", &*step.tool));
        let inputs = action.inputs.as_ref().and_then(|inputs| serde_json::from_str(inputs.text()).ok());
        Object::default()
            .with("action", &*action.name)
            .with("tool", &*action.tool)
            .list("steps", steps.collect())
            .maybe("inputs", inputs.map(|inputs: serde_json::Value| inputs))
            .with("next", names(playbook, next))
    };
    let stuck = graph.stuck.map(|stuck| {
        let queue = playbook.queues.get(stuck.queue.index()).map_or("?", |name| name);
        Object::default().with("after", stuck.after).with("queue", queue)
    });
    let actions: Vec<Object> = playbook.actions.iter().zip(&graph.next).map(action).collect();
    document(
        &Object::document("graph/1")
            .with("playbook", &*playbook.name)
            .with("actions", actions)
            .with("entry", names(playbook, &graph.entry))
            .with("others", graph.others.as_str())
            .maybe("stuck", stuck),
    )
}
