//! What became of the steps of an action, in sentences, and whether to make it again.

use super::others::joined;
use super::words::{ReasonWords, no};
use crate::text;
use playproof_analysis::explain::{Basis, ResendReason, StepsShown, UpstreamState};
use playproof_engine::sim::StepAct;

/// The state of the upstream.
pub(super) fn state(shown: &StepsShown) -> String {
    let mut said: Vec<String> = shown.acts.iter().map(|act| there(shown, act)).collect();
    if !shown.unknown.is_empty() {
        said.push(format!("Unknown: {}.", unknown(shown)));
    }
    let failed = shown.failed.as_deref().filter(|_| !shown.is_unknown);
    let failed = failed.map_or_else(String::new, |failed| format!("; `{failed}` ended it"));
    let skipped = match (&shown.skipped, shown.is_unknown) {
        (names, false) if !names.is_empty() => format!("; not done: {}", list(names)),
        (_, true) if shown.unknown.is_empty() => format!("; nothing is known of {}", list(&open(shown))),
        _ => String::new(),
    };
    let completed = list(&shown.completed);
    said.push(format!(
        "Steps that are done: {completed}{failed}{skipped}. What each did upstream stands with its own call."
    ));
    said.join(" ")
}

/// Whether to make the action again, for what its steps say.
pub(super) fn reason(reason: ResendReason, state: &UpstreamState) -> ReasonWords {
    let Basis::Steps(shown) = &state.basis else { return no("what became of its steps is unknown", "") };
    match reason {
        ResendReason::StepsRead => {
            let said = "the steps that had their turn only read";
            ReasonWords { answer: format!("Yes, because {said}."), to_a_person: said.to_owned() }
        }
        ResendReason::StepsSafe => {
            let said = "no step that has acted would act again";
            ReasonWords { answer: format!("Yes, because {said}."), to_a_person: said.to_owned() }
        }
        ResendReason::StepsAct => {
            no("a step that has acted, or may have, would be done again", ". Nothing undoes it, and no key protects it")
        }
        ResendReason::StepsMade => {
            let acts = shown.acts.iter().filter(|act| act.acts_again);
            let acts: Vec<String> = acts.map(|act| format!("{}, {}", acted(act), anyway(shown, act))).collect();
            no(joined(acts), ". Nothing undoes it, and no key protects it")
        }
        ResendReason::StepsBefore => {
            let before = shown.before.as_ref();
            let action = before.and_then(|act| act.before.as_deref()).unwrap_or_default();
            let acted = before.map(acted).unwrap_or_default();
            no(
                format!("{} is the same action, and its {acted}", text::fitted(action, 60)),
                ". Nothing undoes it, and no key protects it",
            )
        }
        ResendReason::StepsUnknown => no(unknown(shown), ". Look upstream first"),
        _ => {
            let said = "all steps would be done again, and what became of each says whether that does harm";
            ReasonWords { answer: format!("Only after a look at each step: {said}."), to_a_person: said.to_owned() }
        }
    }
}

/// That the effect of a step is there, or may be.
fn there(shown: &StepsShown, act: &StepAct) -> String {
    let (name, anyway) = (named(act), anyway(shown, act));
    match act.is_proved {
        true => format!("The effect is there: {name} was answered with ok, {anyway}."),
        false => format!("Unknown: {name} may have acted, {anyway}."),
    }
}

/// That a step has acted, or may have.
fn acted(act: &StepAct) -> String {
    let what = if act.is_proved { "has acted" } else { "may have acted" };
    format!("{} {what}", named(act))
}

/// ``step `post` (r1#3)``.
fn named(act: &StepAct) -> String {
    let by = act.by.as_deref().map_or_else(String::new, |by| format!(" ({})", text::fitted(by, 60)));
    format!("step `{}`{by}", text::fitted(&act.step, 60))
}

/// Why the playbook does not count what a step did.
fn anyway(shown: &StepsShown, act: &StepAct) -> &'static str {
    match shown.had_turn(&act.step) {
        true => "whatever the playbook uses of its answers",
        false => "although the playbook skips it",
    }
}

/// That steps are not recorded.
fn unknown(shown: &StepsShown) -> String {
    format!("nothing is known of {}, and {} may have acted", list(&open(shown)), list(&shown.unknown))
}

/// The steps of which nothing is known.
fn open(shown: &StepsShown) -> Vec<String> {
    let first = shown.failed.iter().filter(|name| !shown.acts.iter().any(|act| act.step == **name));
    first.chain(&shown.skipped).cloned().collect()
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}
