//! In which scope the effects of recorded calls are summed: by their facts, keys and counts. Sums nothing itself.

use playproof_engine::playbook::{Access, ToolFacts};
use playproof_intake::call::{AttemptCounts, CompletedCall};

/// The scope in which the effects of an intent are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffectScope {
    /// None: it had no effect, or may have several.
    None,
    /// One call, because each call of the tool is an intent.
    Call,
    /// Among the last calls.
    Recent,
    /// Over the whole input.
    Input,
    /// Over all inputs, with its key.
    Key,
}

/// The scope for a call.
pub(super) fn sum_of(closed: &CompletedCall, facts: ToolFacts) -> EffectScope {
    if facts.access == Access::Read {
        EffectScope::None
    } else if closed.hashes.key_under(facts) != 0 {
        EffectScope::Key
    } else if net_effects(&closed.counts, facts) == 0 || facts.idempotent {
        EffectScope::None
    } else if facts.repeatable {
        EffectScope::Call
    } else if facts.declared {
        EffectScope::Input
    } else {
        EffectScope::Recent
    }
}

/// Proved effects of a call, which a read never has.
pub(super) fn net_effects(counts: &AttemptCounts, facts: ToolFacts) -> u32 {
    match facts.access {
        Access::Read => 0,
        Access::Write => counts.net_effects(),
    }
}
