//! Mutants of actions and graph: an edge less, an edge more, arguments unchecked, the words of the graph.

use super::mutant::{Mutant, MutantRow, slug};
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Graph, Others, Playbook, Step};

/// The row of a graph that is changed; none: the entry.
type Place = Option<usize>;

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, action) in playbook.actions.iter().enumerate().filter(|(_, action)| action.inputs.is_some()) {
        let mut row = MutantRow::new(format!("action {}", action.name), all);
        row.add("unchecked", "its arguments are not checked", move |playbook| {
            playbook.actions.iter_mut().skip(n).take(1).for_each(|action| action.inputs = None);
        });
    }
    steps(playbook, all);
    let Some(graph) = &playbook.graph else { return };
    edges(playbook, None, &graph.entry, &mut MutantRow::new("graph entry".to_owned(), all));
    for (n, (action, next)) in playbook.actions.iter().zip(&graph.next).enumerate() {
        edges(playbook, Some(n), next, &mut MutantRow::new(format!("graph next {}", action.name), all));
    }
    let others = match graph.others {
        Others::Refuse => Others::Pass,
        Others::Pass => Others::Refuse,
    };
    let mut row = MutantRow::new("graph others".to_owned(), all);
    row.add("other", format!("`others: {}`", others.as_str()), move |playbook| {
        change(playbook, |graph| graph.others = others)
    });
    if let Some(stuck) = graph.stuck {
        let mut row = MutantRow::new("graph stuck".to_owned(), all);
        row.add("drop", "a repeated refusal goes to nobody", |playbook| change(playbook, |graph| graph.stuck = None));
        let after = stuck.after.saturating_add(1);
        row.add("later", format!("`after: {after}`"), move |playbook| {
            change(playbook, |graph| graph.stuck.iter_mut().for_each(|stuck| stuck.after = after));
        });
    }
}

/// Each step less, each before the one before it, and each that is less than its tool as its tool.
fn steps(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, action) in playbook.actions.iter().enumerate() {
        let mut row = MutantRow::new(format!("action {}", action.name), all);
        for (place, step) in action.steps.iter().enumerate() {
            let name = slug(&step.name);
            if action.steps.len() > 1 {
                row.add(format!("without-{name}"), format!("without the step `{}`", step.name), move |playbook| {
                    change_steps(playbook, n, |steps| drop(steps.remove(place)));
                });
            }
            if let Some(before) = place.checked_sub(1) {
                let what = format!("the step `{}` before the one before it", step.name);
                row.add(format!("earlier-{name}"), what, move |playbook| {
                    change_steps(playbook, n, |steps| steps.swap(before, place));
                });
            }
            if step.never_idempotent {
                let what = format!("the step `{}` without `idempotent: false`", step.name);
                row.add(format!("as-its-tool-{name}"), what, move |playbook| {
                    change_steps(playbook, n, |steps| steps[place].never_idempotent = false);
                });
            }
        }
    }
}

/// Changes the steps of an action, whose places are those of the playbook that the mutant was made of.
fn change_steps(playbook: &mut Playbook, action: usize, change: impl FnOnce(&mut Vec<Step>)) {
    if let Some(action) = playbook.actions.get_mut(action) {
        change(&mut action.steps);
    }
}

/// Each edge less, and each one more; an entry keeps one.
fn edges(playbook: &Playbook, place: Place, row_of: &[ActionId], row: &mut MutantRow<'_>) {
    for (id, action) in (0..).map(ActionId).zip(&playbook.actions) {
        let (name, has) = (&action.name, row_of.contains(&id));
        if has && place.is_none() && row_of.len() == 1 {
            continue;
        }
        let (word, what) = match has {
            true => ("without", format!("without `{name}`")),
            false => ("with", format!("with `{name}`")),
        };
        row.add(format!("{word}-{}", slug(name)), what, move |playbook| {
            change(playbook, |graph| {
                let Some(row) = row_at(graph, place) else { return };
                match has {
                    true => row.retain(|action| *action != id),
                    false => row.push(id),
                }
            });
        });
    }
}

fn row_at(graph: &mut Graph, place: Place) -> Option<&mut Vec<ActionId>> {
    match place {
        None => Some(&mut graph.entry),
        Some(place) => graph.next.get_mut(place),
    }
}

fn change(playbook: &mut Playbook, change: impl FnOnce(&mut Graph)) {
    if let Some(graph) = &mut playbook.graph {
        change(graph);
    }
}
