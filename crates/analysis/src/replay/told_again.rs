//! What a recording adds to what the agent is told: a failure that says more than a refusal makes no call harmless. Asks
//! what `explain` asks, and only where the call would otherwise count as one that may be made again.

use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, NoRetry, StepsEnd};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_intake::failure::{is_plain_refusal, tells_of_something_done};

/// Takes back that a write may be made again, if an answer to it says that something was done, or, without a key, more than
/// a refusal. Of an action, the answers of the step that ended it are asked: its own is what a harness made of them.
pub fn settle_told(plan: &Plan, record: &mut SimulationRecord, call: &RecordedCall, facts: ToolFacts) {
    let [told] = record.told.as_slice() else { return };
    if !told.retriable {
        return;
    }
    let is_keyed = call.is_keyed() && !facts.ignores_keys;
    let says_more = |error: &ErrorFacts| {
        error.message.as_deref().is_some_and(tells_of_something_done) || !is_keyed && !is_plain_refusal(error)
    };
    let doubts = |reply: &Reply| matches!(reply, Reply::Failed(Some(error)) if says_more(error));
    let steps = if call.step().is_none() { plan.steps_of(call.tool()) } else { &[] };
    let is_doubted = if call.is_repeat_unwise {
        true
    } else if steps.is_empty() {
        facts.adds_effects() && call.attempts().any(|(_, answer)| doubts(&answer.reply))
    } else {
        let failed = StepsEnd::read(record.events.iter()).and_then(|end| steps.get(end.failed?.index()));
        let acts = failed.is_some_and(|step| step.facts(plan.facts(&step.tool)).adds_effects());
        acts && record.errors.iter().any(|error| says_more(error))
    };
    if is_doubted && let [told] = record.told.as_mut_slice() {
        (told.retriable, told.retry) = (false, Some(NoRetry::Suppressed));
    }
}
