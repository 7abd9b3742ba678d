//! Lints of actions with steps: a repetition of the action, or another action, would do a write of a step once more.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Access, Action, Step, Tools};

/// Actions with a write that another step follows: if that one fails, a repetition of the action does the write again.
pub(super) fn repeated_writes(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (id, action) in (0..).map(ActionId).zip(&loaded.playbook.actions) {
        let Some((step, next)) = repeated(action, &loaded.playbook.tools) else { continue };
        let place = action.steps.iter().position(|one| one.name == step.name);
        let Some(place) = place.and_then(|place| loaded.places.step_of(id, place)) else { continue };
        let message = format!("a repetition of `{}` does the write `{}` again", action.name, step.name);
        found.push(
            Diagnostic::warning("steps_repeat_a_write", message)
                .at(place, format!("`{}` may fail after it", next.name))
                .help("make it the last step, call the action with a key, or write `idempotent: false` if it is meant"),
        );
    }
}

/// The first step that is declared a write, can be repeated by no declaration, and is not marked; with the one after it.
fn repeated<'a>(action: &'a Action, tools: &Tools) -> Option<(&'a Step, &'a Step)> {
    let pairs = action.steps.iter().zip(action.steps.iter().skip(1));
    pairs.into_iter().find(|(step, _)| {
        let facts = tools.facts(&step.tool);
        let is_plain_write = facts.declared && facts.access == Access::Write && !facts.idempotent && !facts.repeatable;
        is_plain_write && !facts.needs_key && !step.never_idempotent
    })
}

/// Actions whose tool is also a step of another action, unless it may be called again: the graph does not connect the two.
pub(super) fn also_actions(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let (actions, tools) = (&loaded.playbook.actions, &loaded.playbook.tools);
    for (id, action) in (0..).map(ActionId).zip(actions).filter(|(_, action)| action.steps.is_empty()) {
        let facts = tools.facts(&action.tool);
        if facts.access == Access::Read || facts.idempotent || facts.repeatable {
            continue;
        }
        let Some((with_steps, place)) = first_step(loaded, &action.tool) else { continue };
        let message =
            format!("`{}` is the tool of `{}` and of a step of `{}`", action.tool, action.name, with_steps.name);
        found.extend(loaded.places.action_tool(id).map(|own| {
            Diagnostic::warning("tool_of_action_and_step", message)
                .at(own, "offered while the step may be at work")
                .at(place, "the step")
                .help("let the step have a tool of its own, or say that the tool is `idempotent` or `repeatable`, if it is")
        }));
    }
}

/// Writes that are steps of two actions, unless they may be done again: while the step of one is at work, the graph offers
/// the other.
pub(super) fn of_two_actions(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let actions = &loaded.playbook.actions;
    let mut named: Vec<&str> = Vec::new();
    for (n, action) in actions.iter().enumerate() {
        let Ok(id) = u16::try_from(n).map(ActionId) else { return };
        for (step, place) in action.steps.iter().zip(0..) {
            let facts = step.facts(loaded.playbook.tools.facts(&step.tool));
            if facts.access == Access::Read || facts.idempotent || facts.repeatable || named.contains(&&*step.tool) {
                continue;
            }
            let others = actions.get(..n).unwrap_or_default();
            let does_it = |step_of: &Step| *step_of.tool == *step.tool;
            let Some(other) = others.iter().find(|other| other.steps.iter().any(does_it)) else { continue };
            let Some((_, first)) = first_step(loaded, &step.tool) else { continue };
            named.push(&step.tool);
            let message = format!("`{}` does a step of `{}` and one of `{}`", step.tool, other.name, action.name);
            found.extend(loaded.places.step_of(id, place).map(|own| {
                Diagnostic::warning("tool_of_two_actions", message)
                    .at(own, format!("offered while the step of `{}` may be at work", other.name))
                    .at(first, "the other step")
                    .help("give one of them a tool of its own, or say that the tool is `idempotent` or `repeatable`, if it is")
            }));
        }
    }
}

/// The first step that `tool` does, with its action and its place.
fn first_step<'a>(loaded: &'a Loaded, tool: &str) -> Option<(&'a Action, Range<usize>)> {
    (0..).map(ActionId).zip(&loaded.playbook.actions).find_map(|(id, action)| {
        let step = action.steps.iter().position(|step| *step.tool == *tool)?;
        Some((action, loaded.places.step_of(id, step)?))
    })
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::{Diagnostic, Source};
    use crate::playbook::lint::lint;
    use crate::playbook::parse;

    /// `id: what is underlined` of every lint of a playbook with these steps.
    fn lints(steps: &str) -> Vec<String> {
        underlined(&format!("a: {{ steps: {steps} }}"))
    }

    /// `id: what is underlined` of every lint of a playbook with these actions.
    fn underlined(actions: &str) -> Vec<String> {
        let text = format!(
            "format: playbook/1\nname: test\nverdicts:\n  unclassified: {{ means: m, effect: unknown, then: \
             {{ escalate_to_human: {{ queue: q }} }} }}\nclassify: []\nqueues: [q]\nactions: {{ {actions} }}\n\
             tools:\n  find: {{ access: read }}\n  pay: {{ access: write }}\n  put: {{ access: write, idempotent: true }}\n  \
             keyed: {{ access: write, key: required }}\n"
        );
        let loaded = parse(Source::whole("t", text.clone())).unwrap_or_else(|report| panic!("{report}"));
        let said = lint(&loaded);
        let places =
            |said: &Diagnostic| -> Vec<&str> { said.labels.iter().map(|label| &text[label.span.clone()]).collect() };
        said.iter().map(|said| format!("{}: {}", said.id, places(said).join("|"))).collect()
    }

    #[test]
    fn a_write_before_another_step_is_named_unless_it_can_be_repeated_or_is_meant() {
        let steps = "[ { id: x, tool: find }, { id: y, tool: pay }, { id: z, tool: put } ]";
        assert_eq!(lints(steps), ["steps_repeat_a_write: { id: y, tool: pay }"], "that step, and no other");
        for fine in [
            "[ { id: x, tool: find }, { id: y, tool: put }, { id: z, tool: pay } ]",
            "[ { id: y, tool: pay } ]",
            "[ { id: y, tool: pay, idempotent: false }, { id: z, tool: put } ]",
            "[ { id: y, tool: keyed }, { id: z, tool: put } ]",
            "[ { id: y, tool: of_which_nothing_is_known }, { id: z, tool: put } ]",
        ] {
            assert!(lints(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn a_write_that_is_an_action_and_a_step_is_named_unless_it_may_be_called_again() {
        let with = |action: &str, tool: &str| {
            underlined(&format!("{action}, other: {{ steps: [ {{ id: x, tool: find }}, {{ id: y, tool: {tool} }} ] }}"))
        };
        let place = "{ id: y, tool: pay }";
        assert_eq!(with("charge: { tool: pay }", "pay"), [format!("tool_of_action_and_step: pay|{place}")]);
        assert_eq!(with("pay: {}", "pay"), [format!("tool_of_action_and_step: pay|{place}")], "its own name");
        assert_eq!(with("any: {}", "any").len(), 1, "of which nothing is known");
        for fine in ["find", "put"] {
            assert!(with("charge: { tool: pay }", fine).is_empty(), "{fine} is no action");
            assert!(with(&format!("charge: {{ tool: {fine} }}"), fine).is_empty(), "{fine} may be called again");
        }
    }

    #[test]
    fn a_write_that_is_a_step_of_two_actions_is_named_unless_it_may_be_done_again() {
        let both = |tool: &str| {
            let one = format!("{{ steps: [ {{ id: y, tool: {tool} }} ] }}");
            underlined(&format!("a: {one}, b: {one}, c: {one}"))
        };
        let place = "{ id: y, tool: pay }";
        assert_eq!(both("pay"), [format!("tool_of_two_actions: {place}|{place}")], "once for each tool");
        for fine in ["find", "put"] {
            assert!(both(fine).is_empty(), "{fine} may be done again");
        }
        let once =
            "a: { steps: [ { id: x, tool: find }, { id: y, tool: pay } ] }, b: { steps: [ { id: x, tool: find } ] }";
        assert!(underlined(once).is_empty());
    }
}
