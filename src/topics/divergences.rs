//! The help texts of the classes of divergence.

use playproof_formats::golden::Class;

/// The help text of a class.
pub fn explain(class: Class) -> &'static str {
    match class {
        Class::EffectChanged => {
            "An effect claim (applied, not applied, unknown), a ledger entry or a finding changed. This is the worst \
             class: money moves here. Accepting it needs a reason: playproof accept ID --reason '...'"
        }
        Class::GuardWeakened => {
            "The golden suppresses a retry, refuses a reversal or escalates, and the run then sends an attempt or redeems \
             a token. A guard that stops one attempt later than before also counts as weakened. So does `retriable: true` \
             where the golden has `false`: the agent acts on what it is told. \
             Accepting it needs a reason: playproof accept ID --reason '...'"
        }
        Class::OutcomeChanged => {
            "The outcome, its queue, its stop reason or a verdict changed. The effect is the same."
        }
        Class::AttemptsChanged => {
            "The outcome is the same after more, fewer or other attempts or refreshes. Check the load on the upstream."
        }
        Class::TimingOnly => "The decisions are the same at other times: a delay or a wait changed.",
        Class::Cosmetic => "The decisions are the same. A rule or a reason was renamed, or the order of lines changed.",
    }
}
