//! What a recording adds to what the agent is told: a failure that says more than a refusal makes no call harmless. Asks
//! what `explain` asks, and only where the call would otherwise count as one that may be made again.

use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, NoRetry};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::SimulationRecord;
use playproof_trace::failure::{is_plain_refusal, tells_of_something_done};

/// Takes back that a write may be made again, if an answer to it says that something was done, or, without a key, more than
/// a refusal.
pub fn settle_told(record: &mut SimulationRecord, call: &RecordedCall, facts: ToolFacts) {
    let [told] = record.told.as_mut_slice() else { return };
    if !told.retriable || facts.access == Access::Read || facts.idempotent {
        return;
    }
    let is_keyed = call.is_keyed() && !facts.ignores_keys;
    let says_more = |error: &ErrorFacts| {
        error.message.as_deref().is_some_and(tells_of_something_done) || !is_keyed && !is_plain_refusal(error)
    };
    let doubts = |reply: &Reply| matches!(reply, Reply::Failed(Some(error)) if says_more(error));
    if call.attempts().any(|(_, answer)| doubts(&answer.reply)) {
        (told.retriable, told.retry) = (false, Some(NoRetry::Suppressed));
    }
}
