//! Lints of actions with steps: a repetition of the action would do a write once more.

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

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::lint::lint;
    use crate::playbook::parse;

    /// `id: what is underlined` of every lint of a playbook with these steps.
    fn lints(steps: &str) -> Vec<String> {
        let text = format!(
            "format: playbook/1\nname: test\nverdicts:\n  unclassified: {{ means: m, effect: unknown, then: \
             {{ escalate_to_human: {{ queue: q }} }} }}\nclassify: []\nqueues: [q]\nactions: {{ a: {{ steps: {steps} }} }}\n\
             tools:\n  find: {{ access: read }}\n  pay: {{ access: write }}\n  put: {{ access: write, idempotent: true }}\n  \
             keyed: {{ access: write, key: required }}\n"
        );
        let loaded = parse(Source::whole("t", text.clone())).unwrap_or_else(|report| panic!("{report}"));
        let said = lint(&loaded);
        said.iter().map(|said| format!("{}: {}", said.id, &text[said.labels[0].span.clone()])).collect()
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
}
