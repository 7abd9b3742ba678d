//! The classes of divergence, explained: what each means, and what to do about it.

use playproof_formats::golden::Class;

/// What the class says, in paragraphs.
pub fn explain(class: Class) -> &'static str {
    match class {
        Class::EffectChanged => {
            "What the run claims or does upstream is not what was accepted: another claim (applied, not applied, \
             unknown), another ledger (an effect more or less), or a finding that came or went. It is the worst there \
             is: money moves here. It is accepted with a reason only: playproof accept ID --reason '...'"
        }
        Class::GuardWeakened => {
            "The golden suppresses a retry, refuses a reversal or hands the call to a human, and the run sends an \
             attempt after that, or redeems a token. It is found by what is sent, so a guard that now stops one \
             attempt later is weaker too. It is accepted with a reason only: playproof accept ID --reason '...'"
        }
        Class::OutcomeChanged => {
            "A call ends in another way, waits in another queue, stops at another limit, or a failure got another \
             verdict; its effect is the same."
        }
        Class::AttemptsChanged => {
            "The call ends as it did, after more, fewer or other attempts or refreshes. Look at what that means for \
             the load of the upstream."
        }
        Class::TimingOnly => "The decisions are the same and come at other times: a delay or a wait is another one.",
        Class::Cosmetic => {
            "Other words for the same decisions: a rule or a reason was renamed, or lines stand in another order."
        }
    }
}
