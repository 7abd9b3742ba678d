//! What an agent can do, and in which order: `actions` and `graph`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::names::Declared;
use super::steps::steps;
use super::tools::argument_schema;
use crate::arguments;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::{Key, shorten};
use playproof_engine::glob::is_glob;
use playproof_engine::ids::{ActionId, QueueId};
use playproof_engine::playbook::{Action, Graph, Others, Stuck};

/// In a row of the graph: every action.
const ANY_ACTION: &str = "*";

/// The actions and the graph over them.
pub(super) fn ordered(root: At<'_>, queues: &Declared) -> Option<(Vec<Action>, Option<Graph>)> {
    let mut names = Declared::new("action", root.get("actions"));
    let actions = actions(root, &mut names);
    let graph = match (root.get("graph"), root.get("actions")) {
        (Some(at), None) => {
            let message = "a graph orders `actions`, and there are none";
            let said = Diagnostic::error("graph_without_actions", message).at(at.span(), "of which actions?");
            at.report(said.help("add `actions:`, one row for each action of the graph"));
            None
        }
        _ => root.optional("graph", |at| graph(at, &names, queues)),
    };
    Some((actions?, graph?))
}

fn actions(root: At<'_>, names: &mut Declared) -> Option<Vec<Action>> {
    let mut bodies: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    let mut written = Vec::new();
    for (name, at) in root.get("actions").into_iter().flat_map(At::entries) {
        names.declare(&name, at);
        let (tool, place) = match at.get("tool").filter(|_| at.get("steps").is_none()) {
            None => (Some(name.text), name.span.clone()),
            Some(at) => (at.text(), at.span()),
        };
        if let Some(tool) = tool {
            check_body(at, tool, &place, &mut bodies);
        }
        let (steps, inputs) = (at.optional("steps", steps), at.optional("inputs", arguments::inputs));
        written.push(tool.zip(inputs).zip(steps).map(|((tool, inputs), steps)| Action {
            name: name.text.into(),
            tool: Arc::from(tool),
            steps: steps.unwrap_or_default(),
            inputs: inputs.map(argument_schema),
        }));
    }
    refuse_nested_steps(root);
    written.into_iter().collect()
}

/// Refuses steps whose tool is an action with steps itself.
fn refuse_nested_steps(root: At<'_>) {
    let of_actions = || root.get("actions").into_iter().flat_map(At::entries);
    let has_steps = |(name, at): (Key<'_>, At<'_>)| at.get("steps").map(|_| name.text.to_owned());
    let names: BTreeSet<String> = of_actions().filter_map(has_steps).collect();
    for step in of_actions().filter_map(|(_, at)| at.get("steps")).flat_map(At::items) {
        let Some(tool) = step.get("tool").and_then(At::key) else { continue };
        if names.contains(tool.text) {
            let message = format!("`{}` is an action with steps, and a step is one call", shorten(tool.text));
            let said = Diagnostic::error("nested_steps", message).at(tool.span, "not a tool");
            step.report(said.help("write its steps here"));
        }
    }
}

/// Checks that a tool can be the body of one more action.
fn check_body<'a>(at: At<'_>, tool: &'a str, place: &Range<usize>, bodies: &mut BTreeMap<&'a str, Range<usize>>) {
    if is_glob(tool) {
        let message = format!("an action has one tool, and `{}` is a glob", shorten(tool));
        return at.report(Diagnostic::error("glob_as_body", message).at(place.clone(), "not the name of a tool"));
    }
    match bodies.get(tool) {
        None => drop(bodies.insert(tool, place.clone())),
        Some(first) => {
            let message = format!("`{}` is the tool of two actions", shorten(tool));
            at.report(
                Diagnostic::error("tool_of_two_actions", message)
                    .at(place.clone(), "again here")
                    .at(first.clone(), "first here")
                    .help("a call of the tool would be a call of both: merge the actions"),
            );
        }
    }
}

fn graph(at: At<'_>, names: &Declared, queues: &Declared) -> Option<Graph> {
    let entry = at.get("entry").and_then(|at| row(at, names));
    let next = at.get("next").and_then(|at| next(at, names));
    let stuck = at.optional("stuck", |at| stuck(at, queues));
    Some(Graph { entry: entry?, next: next?, others: at.word("others", Others::parse)?, stuck: stuck? })
}

/// A row for each action, in their order.
fn next(at: At<'_>, names: &Declared) -> Option<Vec<Vec<ActionId>>> {
    let mut rows: Vec<Option<Vec<ActionId>>> = vec![None; names.len()];
    let mut is_written = vec![false; names.len()];
    for (name, value) in at.entries() {
        let read = row(value, names);
        if let Some(action) = names.find_key(&name, at).map(usize::from) {
            is_written[action] = true; // ids count the names
            rows[action] = read;
        }
    }
    for ((name, place), _) in names.names().zip(names.places()).zip(is_written).filter(|(_, is_written)| !is_written) {
        let message = format!("the graph has no row for `{}`", shorten(name));
        at.report(
            Diagnostic::error("missing_row", message)
                .at(place.clone(), "what may follow it?")
                .help(format!("write `{name}: []` in `next` if nothing may follow it")),
        );
    }
    rows.into_iter().collect()
}

/// Some actions, each once, in the order of the text; `"*"`: all of them.
fn row(at: At<'_>, names: &Declared) -> Option<Vec<ActionId>> {
    if at.is_text(ANY_ACTION) {
        return Some((0..).map(ActionId).take(names.len()).collect());
    }
    let mut row: Vec<Option<ActionId>> = Vec::new();
    let mut places: BTreeMap<ActionId, Range<usize>> = BTreeMap::new();
    for item in at.items() {
        if item.is_text(ANY_ACTION) {
            let message = "`\"*\"` is every action, and stands alone in place of the list";
            let said = Diagnostic::error("any_in_list", message).at(item.span(), "not in a list");
            item.report(said.help("write `\"*\"` without brackets, or the names of the actions"));
            continue;
        }
        let action = names.find(item).map(ActionId);
        if let Some(first) = action.and_then(|action| places.insert(action, item.span())) {
            let said = Diagnostic::error("named_twice", "this action is named twice in one row");
            item.report(said.at(item.span(), "again here").at(first, "first here"));
        }
        row.push(action);
    }
    row.into_iter().collect::<Option<_>>().filter(|_| at.fits())
}

fn stuck(at: At<'_>, queues: &Declared) -> Option<Stuck> {
    let queue = at.get("queue").and_then(|at| queues.find(at)).map(QueueId);
    Some(Stuck { after: at.number("after")?, queue: queue? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::tests::{LEAST, diagnostics, loaded, wrong};
    use crate::playbook::{Loaded, fingerprint, rows};

    const ORDERED: &str = "\
actions:
  order: {}
  add: { inputs: { required: [what], properties: { what: { enum: [oat, soy] } } } }
  pay: { tool: payments.charge }
graph:
  entry: [order]
  next: { order: [pay, add], add: '*', pay: [] }
  others: pass
  stuck: { after: 3, queue: on_call }
";

    fn texts(parts: &str) -> Vec<String> {
        let all = rows(&loaded(parts).playbook).into_iter().map(|row| format!("{} {}", row.name, row.text));
        all.filter(|row| row.starts_with("action") || row.starts_with("graph")).collect()
    }

    #[test]
    fn names_resolve_and_omitted_parts_have_the_documented_defaults() {
        let playbook = loaded(ORDERED).playbook;
        let graph = playbook.graph.as_ref().unwrap();
        let ids = |ids: [u16; 2]| ids.map(ActionId).to_vec();
        assert_eq!(graph.entry, [ActionId(0)]);
        assert_eq!(
            graph.next,
            [ids([2, 1]), [0, 1, 2].map(ActionId).to_vec(), vec![]],
            "the author's order; `*` is all"
        );
        assert_eq!((graph.others, graph.stuck), (Others::Pass, Some(Stuck { after: 3, queue: QueueId(1) })));
        let tools: Vec<&str> = playbook.actions.iter().map(|action| &*action.tool).collect();
        assert_eq!(tools, ["order", "add", "payments.charge"]);
        let plain = loaded("actions: { a: {} }\ngraph: { entry: '*', next: { a: [] } }\n").playbook.graph.unwrap();
        assert_eq!((plain.entry.len(), plain.others, plain.stuck), (1, Others::Refuse, None));
        let unordered = loaded("actions: { a: {} }\n").playbook;
        assert_eq!((unordered.actions.len(), unordered.graph), (1, None));
        let without = loaded("").playbook;
        assert!(without.actions.is_empty() && without.graph.is_none());
    }

    #[test]
    fn inputs_are_an_object_that_fits() {
        let playbook = loaded(ORDERED).playbook;
        let inputs = playbook.actions[1].inputs.as_ref().unwrap();
        assert!(inputs.check(r#"{"what":"oat"}"#).is_ok());
        for args in [r#"{"what":"moon"}"#, "{}", "[]", "null", "\"oat\"", "not json"] {
            assert!(inputs.check(args).is_err(), "{args}");
        }
    }

    #[test]
    fn several_errors_are_underlined_at_once_each_at_its_place() {
        let parts = "\
actions:
  order: {}
  pay: { tool: payments.charge }
  settle: { tool: payments.charge }
  any: { tool: 'mail.*' }
  odd: { stepz: 1 }
graph:
  entry: []
  next:
    order: [pai, settle, settle]
    cancel: [order]
    pay: order
  others: perhaps
  stuck: { after: 0, queue: nobody }
";
        let expected = [
            "payments.charge|payments.charge",
            "'mail.*'",
            "stepz",
            "settle",
            "any",
            "odd",
            "[]",
            "pai",
            "settle|settle",
            "cancel",
            "order",
            "perhaps",
            "0",
            "nobody",
        ];
        let mut found = wrong(parts);
        let mut expected: Vec<String> = expected.map(str::to_owned).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn all_errors_of_inputs_are_underlined_at_once() {
        let parts = "\
actions:
  order:
    inputs:
      type: array
      oneOf: []
      minimum: few
      properties: { a: { type: strin, format: date }, b: { enum: [] } }
";
        let mut found = wrong(parts);
        found.sort();
        assert_eq!(found, ["[]", "array", "few", "format", "oneOf", "strin"]);
    }

    #[test]
    fn each_wrong_value_is_underlined() {
        for (parts, underlined) in [
            ("graph: { entry: [a], next: { a: [] } }", "{ entry: [a], next: { a: [] } }"),
            ("actions: { a: {} }\ngraph: { next: { a: [] } }", "{ next: { a: [] } }"),
            ("actions: { a: {} }\ngraph: { entry: [a] }", "{ entry: [a] }"),
            ("actions: { a: {} }\ngraph: { entry: [b], next: { a: [] } }", "b"),
            ("actions: { a: {}, b: {} }\ngraph: { entry: [a], next: { a: [b] } }", "b"),
            ("actions: { a: {} }\ngraph: { entry: [a], next: { a: [] }, stuck: { after: 3 } }", "{ after: 3 }"),
            ("actions: { a: {} }\ngraph: { entry: [a], next: { a: [] }, stuck: 3 }", "3"),
            ("actions: { a: { tool: '' } }", "''"),
            ("actions: { 'a b': {} }", "'a b'"),
            ("actions: [a]", "[a]"),
            ("actions: { a: {} }\ngraph: { entry: [a], next: { a: ['*'] } }", "'*'"),
            ("actions: { a: {} }\ngraph: { entry: ['*', a], next: { a: [] } }", "'*'"),
            ("actions: { a: { inputs: { type: array } } }", "array"),
            ("actions: { a: { inputs: { oneOf: [] } } }", "oneOf"),
        ] {
            assert_eq!(wrong(&format!("{parts}\n")), [underlined], "{parts}");
        }
    }

    #[test]
    fn an_error_in_a_row_says_how_to_name_every_action() {
        let message = |row: &str| {
            let text = format!("{LEAST}actions: {{ a: {{}} }}\ngraph: {{ entry: {row}, next: {{ a: [] }} }}\n");
            diagnostics(&text).into_iter().map(|(said, _)| said.message).collect::<Vec<_>>()
        };
        assert_eq!(message("a"), ["expected a list of actions, or `\"*\"` for every action, found `a`"]);
        assert!(!message("[b]")[0].contains('*'), "a name that is none is another matter");
    }

    #[test]
    fn every_part_is_in_its_row_and_what_is_not_written_has_none() {
        let rows = texts(ORDERED);
        assert_eq!(
            rows,
            [
                r#"action add {"inputs":{"properties":{"what":{"enum":["oat","soy"]}},"required":["what"],"type":["object"]},"tool":"add"}"#,
                r#"action order {"tool":"order"}"#,
                r#"action pay {"tool":"payments.charge"}"#,
                r#"graph entry ["order"]"#,
                r#"graph next add ["order","add","pay"]"#,
                r#"graph next order ["pay","add"]"#,
                r#"graph next pay []"#,
                r#"graph others "pass""#,
                r#"graph stuck {"after":3,"queue":"on_call"}"#,
            ]
        );
        assert!(texts("").is_empty());
        for (from, to) in [
            ("[pay, add]", "[add, pay]"),
            ("entry: [order]", "entry: [order, pay]"),
            ("others: pass", "others: refuse"),
            ("after: 3", "after: 4"),
            ("queue: on_call", "queue: q"),
            ("payments.charge", "payments.pay"),
            ("oat, soy", "oat"),
        ] {
            let (before, after) = (loaded(ORDERED).playbook, loaded(&ORDERED.replace(from, to)).playbook);
            assert_ne!(fingerprint(&before), fingerprint(&after), "{to}");
        }
        let spelt = ORDERED.replace("'*'", "[order, add, pay]");
        assert_eq!(texts(&spelt), rows, "`*` is short for all of them");
    }

    #[test]
    fn each_row_has_its_place() {
        let Loaded { playbook, places } = loaded(ORDERED);
        let text = &places.source.text;
        for (row, path, underlined) in [
            ("action pay", "", "pay"),
            ("action pay", "tool", "payments.charge"),
            ("graph entry", "", "[order]"),
            ("graph next order", "", "order"),
            ("graph others", "", "pass"),
            ("graph stuck", "", "{ after: 3, queue: on_call }"),
        ] {
            let span = places.row(&playbook, row, path).unwrap_or_else(|| panic!("{row}"));
            assert_eq!(&text[span], underlined, "{row}");
        }
    }
}
