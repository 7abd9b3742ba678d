//! Lints of graphs: actions that no run can reach, runs that cannot end, and writes that the graph does not judge.

use crate::diagnostic::Diagnostic;
use crate::playbook::overlap;
use crate::playbook::places::Loaded;
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Access, Graph, Others};

/// All lints of the graph.
pub(super) fn graph(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let Some(graph) = &loaded.playbook.graph else { return };
    let reachable = reachable_actions(graph);
    unreachable(loaded, &reachable, found);
    endless(loaded, graph, &reachable, found);
    if graph.others == Others::Pass {
        ungated_writes(loaded, found);
    }
}

/// Whether a run can reach an action: by `ActionId`.
pub fn reachable_actions(graph: &Graph) -> Vec<bool> {
    closure(graph.next.len(), &graph.entry, |action| graph.row(Some(action)).to_vec())
}

/// Whether an action is among `from`, or is reached from one of them: by `ActionId`.
fn closure(count: usize, from: &[ActionId], next: impl Fn(ActionId) -> Vec<ActionId>) -> Vec<bool> {
    let mut reached = vec![false; count];
    let mut open = from.to_vec();
    while let Some(action) = open.pop() {
        match reached.get_mut(action.index()) {
            Some(reached) if !*reached => *reached = true,
            _ => continue,
        }
        open.extend(next(action));
    }
    reached
}

fn unreachable(loaded: &Loaded, reachable: &[bool], found: &mut Vec<Diagnostic>) {
    let actions = (0..).map(ActionId).zip(&loaded.playbook.actions).zip(reachable);
    for ((id, action), _) in actions.filter(|(_, reachable)| !**reachable) {
        let Some(place) = loaded.places.action(id) else { continue };
        found.push(
            Diagnostic::warning("unreachable_action", format!("no run can reach the action `{}`", action.name))
                .at(place, "every call of it is refused")
                .help("name it in `entry`, or in a row of `next` that a run can reach"),
        );
    }
}

/// Actions from which no run comes to an action that nothing follows, said once for all of them: one edge may mend several.
fn endless(loaded: &Loaded, graph: &Graph, reachable: &[bool], found: &mut Vec<Diagnostic>) {
    let ids = || (0..).map(ActionId).take(graph.next.len());
    let ends: Vec<ActionId> = ids().filter(|action| graph.row(Some(*action)).is_empty()).collect();
    if ends.is_empty() {
        found.extend(loaded.places.graph_next().map(|place| {
            Diagnostic::warning("no_way_to_end", "no action ends a run")
                .at(place, "something may follow every action")
                .help("write `[]` for an action that ends a run")
        }));
        return;
    }
    let before = |action| ids().filter(|other| graph.row(Some(*other)).contains(&action)).collect();
    let can_end = closure(graph.next.len(), &ends, before);
    let is_stuck = |id: &ActionId| reachable.get(id.index()) == Some(&true) && can_end.get(id.index()) == Some(&false);
    let named = |id| loaded.places.next_of(id).zip(loaded.playbook.actions.get(id.index()));
    let stuck: Vec<_> = ids().filter(is_stuck).filter_map(named).collect();
    let Some(((first, _), rest)) = stuck.split_first() else { return };
    let names: Vec<String> = stuck.iter().map(|(_, action)| format!("`{}`", action.name)).collect();
    let message = format!("no run that does {} comes to an end", one_of(&names));
    let diagnostic = Diagnostic::warning("no_way_to_end", message)
        .at(first.clone(), "what follows it leads to no action that ends a run")
        .help("add an edge to an action with `[]`");
    found.push(rest.iter().fold(diagnostic, |all, (place, _)| all.at(place.clone(), "nor does what follows this one")));
}

/// `a`, `a or b`, `a, b or c`.
fn one_of(names: &[String]) -> String {
    match names {
        [first @ .., before, last] => [first, &[format!("{before} or {last}")]].concat().join(", "),
        few => few.concat(),
    }
}

/// Tools that are declared writes, and that no action has, where the graph does not judge such calls. A glob that matches
/// the tool of an action is there for that one.
fn ungated_writes(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let Some(others) = loaded.places.graph_others() else { return };
    let playbook = &loaded.playbook;
    let of_an_action = |row: &str| playbook.actions.iter().any(|action| overlap::tool_covers(row, &action.tool));
    for (n, row) in playbook.tools.rows().iter().enumerate() {
        if row.facts.access != Access::Write || of_an_action(&row.pattern) {
            continue;
        }
        let Some(place) = loaded.places.tool(n) else { continue };
        let message = format!("the graph lets every call of the write `{}` pass", row.pattern);
        found.push(
            Diagnostic::warning("ungated_write", message)
                .at(place, "no action has this tool")
                .at(others.clone(), "so the graph does not judge it")
                .help("give it an action with a row in `next`, or write `others: refuse`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::lint::lint;
    use crate::playbook::parse;

    /// `id: what is underlined` of every lint of a playbook with this graph.
    fn lints(next: &str) -> Vec<String> {
        let text = format!(
            "format: playbook/1\nname: test\nverdicts:\n  unclassified: {{ means: m, effect: unknown, then: \
             {{ escalate_to_human: {{ queue: q }} }} }}\nclassify: []\nqueues: [q, people]\n\
             actions: {{ order: {{}}, pay: {{}}, cancel: {{}} }}\n\
             graph: {{ entry: [order], next: {{ {next} }}, stuck: {{ after: 2, queue: people }} }}\n"
        );
        underlined(&text)
    }

    /// `id: what is underlined` of every lint of a playbook.
    fn underlined(text: &str) -> Vec<String> {
        let loaded = parse(Source::whole("t", text.to_owned())).unwrap_or_else(|report| panic!("{report}"));
        let said = lint(&loaded);
        said.iter().map(|said| format!("{}: {}", said.id, &text[said.labels[0].span.clone()])).collect()
    }

    #[test]
    fn an_action_that_no_run_reaches_is_named_and_no_other() {
        assert_eq!(lints("order: [pay], pay: [], cancel: [order]"), ["unreachable_action: cancel"]);
        assert!(lints("order: [pay, cancel], pay: [], cancel: [order]").is_empty(), "and the queue is used");
    }

    #[test]
    fn a_run_that_cannot_end_is_named_where_it_cannot() {
        assert_eq!(lints("order: [pay, cancel], pay: [pay], cancel: []"), ["no_way_to_end: pay"]);
        assert_eq!(lints("order: [pay, cancel], pay: [pay, cancel], cancel: []"), [""; 0]);
        let both = lints("order: [pay], pay: [order], cancel: []");
        assert_eq!(both.len(), 2, "the end is unreachable, and the two before it are told at once: {both:?}");
        assert!(both[1].starts_with("no_way_to_end: "), "{both:?}");
        let none = lints("order: [pay, cancel], pay: [pay], cancel: [order]");
        assert_eq!(none.len(), 1, "{none:?}");
        assert!(none[0].starts_with("no_way_to_end: { order"), "{none:?}");
    }

    #[test]
    fn a_declared_write_that_goes_by_the_graph_is_named() {
        let with = |others: &str, tools: &str| {
            let text = format!(
                "format: playbook/1\nname: test\nverdicts:\n  unclassified: {{ means: m, effect: unknown, then: \
                 {{ escalate_to_human: {{ queue: q }} }} }}\nclassify: []\nqueues: [q]\n\
                 actions: {{ order: {{}}, pay: {{ tool: payments.charge }}, ship: {{ steps: [{{ id: a, tool: slack.post }}] }} }}\n\
                 graph: {{ entry: [order], next: {{ order: [pay, ship], pay: [], ship: [] }}{others} }}\ntools: {{ {tools} }}\n"
            );
            underlined(&text)
        };
        let write = |tool: &str| format!("{tool}: {{ access: write }}");
        for tool in ["payments.refund", "mail.*", "slack.post"] {
            assert_eq!(with(", others: pass", &write(tool)), [format!("ungated_write: {tool}")]);
        }
        for fine in ["order", "payments.charge", "payments.*", "ship"] {
            assert_eq!(with(", others: pass", &write(fine)), [""; 0], "{fine} is there for an action");
        }
        assert_eq!(with(", others: pass", "mail.read: { access: read }"), [""; 0]);
        assert_eq!(with(", others: refuse", &write("payments.refund")), [""; 0]);
        assert_eq!(with("", &write("payments.refund")), [""; 0]);
    }
}
