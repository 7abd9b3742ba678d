//! What an agent can do, and in which order: `actions` and `graph`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::names::Declared;
use super::steps::steps;
use super::tools::argument_schema;
use super::waiting::word;
use crate::arguments;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::{GraphPlaces, SharedPlaces};
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader, shorten};
use playproof_engine::glob::is_glob;
use playproof_engine::ids::{ActionId, QueueId};
use playproof_engine::playbook::{Action, Graph, Others, Stuck};

/// Actions and graph of a playbook, with their places.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    pub actions: Vec<Action>,
    pub graph: Option<Graph>,
    pub places: GraphPlaces,
}

/// The actions and the graph over them.
pub(super) fn ordered(record: &MapReader<'_>, queues: &Declared) -> Option<Ordered> {
    let mut names = Declared::new("action");
    let actions = match record.optional("actions") {
        Some(at) => actions(at, &mut names),
        None => Some(Vec::new()),
    };
    let graph = match (record.optional("graph"), record.optional("actions")) {
        (None, _) => Some(None),
        (Some(at), None) => {
            let message = "a graph orders `actions`, and there are none";
            let said = Diagnostic::error("graph_without_actions", message).at(at.span(), "of which actions?");
            at.report(said.help("add `actions:`, one row for each action of the graph"));
            None
        }
        (Some(at), Some(_)) => graph(at, &names, queues).map(Some),
    };
    let (actions, action_places): (_, Vec<ActionPlaces>) = actions?.into_iter().unzip();
    let (graph, mut places) = match graph? {
        Some((graph, places)) => (Some(graph), places),
        None => (None, GraphPlaces::default()),
    };
    (places.actions, places.steps) = action_places.into_iter().unzip();
    Some(Ordered { actions, graph, places })
}

fn actions(at: Cursor<'_>, names: &mut Declared) -> Option<Vec<(Action, ActionPlaces)>> {
    let mut bodies: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    let mut written = Vec::new();
    for (name, body) in at.entries("`actions`")? {
        let is_named = body.named(&name, "");
        if is_named {
            names.declare(&name, body);
        }
        let Some(record) = body.record("an action", syntax::ACTION) else {
            written.push(None);
            continue;
        };
        let steps = record.optional("steps").map_or(Some(Vec::new()), |at| steps(at, &record));
        let (tool, place) = match record.optional("tool").filter(|_| record.optional("steps").is_none()) {
            None => (Some(name.text), name.span.clone()),
            Some(at) => (at.words(), at.span()),
        };
        let tool = tool.filter(|tool| is_body(body, tool, &place, &mut bodies));
        let inputs = record.optional("inputs").map_or(Some(None), |at| arguments::inputs(at).map(Some));
        let places = SharedPlaces::new(&name, &record, syntax::ACTION);
        let step_places: Vec<Range<usize>> = steps.iter().flatten().map(|(_, place)| place.step.clone()).collect();
        let tools = steps.iter().flatten().map(|(step, place)| (Arc::clone(&step.tool), place.tool.clone())).collect();
        let action = tool.zip(inputs).zip(steps).filter(|_| is_named).map(|((tool, inputs), steps)| Action {
            name: name.text.into(),
            tool: Arc::from(tool),
            steps: steps.into_iter().map(|(step, _)| step).collect(),
            inputs: inputs.map(argument_schema),
        });
        written.push(action.map(|action| (action, (places, step_places), tools)));
    }
    let written: Option<Vec<(Action, ActionPlaces, Vec<StepTool>)>> = written.into_iter().collect();
    let written = written?;
    let names: Vec<Arc<str>> = written.iter().filter(|(action, ..)| !action.steps.is_empty()).map(name_of).collect();
    let mut good = true;
    for (tool, place) in written.iter().flat_map(|(.., tools)| tools).filter(|(tool, _)| names.contains(tool)) {
        let message = format!("`{}` is an action with steps, and a step is one call", shorten(tool));
        let said = Diagnostic::error("nested_steps", message).at(place.clone(), "not a tool");
        at.report(said.help("write its steps here"));
        good = false;
    }
    good.then(|| written.into_iter().map(|(action, places, _)| (action, places)).collect())
}

/// The tool of a step, and its place.
type StepTool = (Arc<str>, Range<usize>);

/// The places of an action and of its steps.
type ActionPlaces = (SharedPlaces, Vec<Range<usize>>);

fn name_of((action, ..): &(Action, ActionPlaces, Vec<StepTool>)) -> Arc<str> {
    Arc::clone(&action.name)
}

/// Whether a tool can be the body of one more action.
fn is_body<'a>(
    at: Cursor<'_>,
    tool: &'a str,
    place: &Range<usize>,
    bodies: &mut BTreeMap<&'a str, Range<usize>>,
) -> bool {
    if is_glob(tool) {
        let message = format!("an action has one tool, and `{}` is a glob", shorten(tool));
        at.report(Diagnostic::error("glob_as_body", message).at(place.clone(), "not the name of a tool"));
        return false;
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
    true // so that names in the graph resolve
}

fn graph(at: Cursor<'_>, names: &Declared, queues: &Declared) -> Option<(Graph, GraphPlaces)> {
    let record = at.record("`graph`", syntax::GRAPH)?;
    let entry = record.required("entry").and_then(|at| entry(at, names));
    let next = record.required("next").and_then(|at| next(at, names));
    let others = word(&record, "others", &Others::TABLE, Others::Refuse);
    let stuck = record.optional("stuck").map_or(Some(None), |at| stuck(at, queues).map(Some));
    let (next, next_places) = next?.into_iter().unzip();
    let graph = Graph { entry: entry?, next, others: others?, stuck: stuck? };
    let places = GraphPlaces {
        actions: Vec::new(),
        steps: Vec::new(),
        graph: record.span(),
        entry: record.optional("entry").map(Cursor::span),
        next_all: record.optional("next").map(Cursor::span),
        next: next_places,
        others: record.optional("others").map(Cursor::span),
        stuck: record.optional("stuck").map(Cursor::span),
    };
    Some((graph, places))
}

fn entry(at: Cursor<'_>, names: &Declared) -> Option<Vec<ActionId>> {
    let entry = row(at, names)?;
    if entry.is_empty() {
        at.wrong("empty_entry", "no run could begin", "name the actions with which a run begins");
        return None;
    }
    Some(entry)
}

/// A row for each action, in their order, with its place.
fn next(at: Cursor<'_>, names: &Declared) -> Option<Vec<(Vec<ActionId>, Range<usize>)>> {
    let mut rows: Vec<Option<(Vec<ActionId>, Range<usize>)>> = vec![None; names.len()];
    let mut good = true;
    for (name, value) in at.entries("`next`")? {
        let read = row(value, names);
        good &= read.is_some();
        match names.number(name.text) {
            Some(action) => {
                if let (Some(slot), Some(read)) = (rows.get_mut(usize::from(action)), read) {
                    *slot = Some((read, name.span.clone()));
                }
            }
            None => {
                value.dangling(&name, "action", names.names());
                good = false;
            }
        }
    }
    for (name, place) in names.names().zip(names.places()) {
        if at.entry(name).is_none() {
            let message = format!("the graph has no row for `{}`", shorten(name));
            at.report(
                Diagnostic::error("missing_row", message)
                    .at(place.clone(), "what may follow it?")
                    .help(format!("write `{name}: []` in `next` if nothing may follow it")),
            );
            good = false;
        }
    }
    if !good {
        return None;
    }
    rows.into_iter().collect()
}

/// Some actions, each once, in the order of the text; `"*"`: all of them.
fn row(at: Cursor<'_>, names: &Declared) -> Option<Vec<ActionId>> {
    if at.is_text(syntax::ANY_ACTION) {
        return Some((0..).map(ActionId).take(names.len()).collect());
    }
    let mut row: Vec<(ActionId, Range<usize>)> = Vec::new();
    let mut good = true;
    for item in at.list_of("a list of actions, or `\"*\"` for every action")? {
        if item.is_text(syntax::ANY_ACTION) {
            let message = "`\"*\"` is every action, and stands alone in place of the list";
            let said = Diagnostic::error("any_in_list", message).at(item.span(), "not in a list");
            item.report(said.help("write `\"*\"` without brackets, or the names of the actions"));
            good = false;
            continue;
        }
        match names.find(item).map(ActionId) {
            Some(action) => match row.iter().find(|(known, _)| *known == action) {
                None => row.push((action, item.span())),
                Some((_, first)) => {
                    let said = Diagnostic::error("named_twice", "this action is named twice in one row");
                    item.report(said.at(item.span(), "again here").at(first.clone(), "first here"));
                    good = false;
                }
            },
            None => good = false,
        }
    }
    good.then(|| row.into_iter().map(|(action, _)| action).collect())
}

fn stuck(at: Cursor<'_>, queues: &Declared) -> Option<Stuck> {
    let record = at.record("`stuck`", syntax::STUCK)?;
    let after = record.required("after").and_then(|at| at.count(1..=syntax::MOST_REFUSALS));
    let queue = record.required("queue").and_then(|at| queues.find(at)).map(QueueId);
    Some(Stuck { after: after?, queue: queue? })
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
