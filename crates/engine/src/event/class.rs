//! How severe a difference between two runs is, worst first. The class of each thing stands where the thing is defined.

use std::fmt;

use crate::words;

words! {
    /// How severe a divergence is, worst first.
    pub enum Class {
        /// An effect claim, ledger entry or finding changed.
        EffectChanged = "effect_changed",
        /// The golden suppresses, refuses or escalates where the run attempts or redeems; or the agent is told that it may try
        /// again, and was told that it may not.
        GuardWeakened = "guard_weakened",
        /// A call ends differently, or a failure means something else.
        OutcomeChanged = "outcome_changed",
        /// More, fewer or different attempts.
        AttemptsChanged = "attempts_changed",
        /// The same decisions at other times.
        TimingOnly = "timing_only",
        /// Different words for the same decisions.
        Cosmetic = "cosmetic",
    }
}

impl Class {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Class::EffectChanged => "effect changed",
            Class::GuardWeakened => "guard weakened",
            Class::OutcomeChanged => "outcome changed",
            Class::AttemptsChanged => "attempts changed",
            Class::TimingOnly => "timing only",
            Class::Cosmetic => "cosmetic",
        }
    }

    /// Its meaning, as a sentence without its full stop.
    pub const fn means(self) -> &'static str {
        match self {
            Class::EffectChanged => "an effect claim, ledger entry or finding changed",
            Class::GuardWeakened => {
                "the golden stops where the run attempts or redeems, or the agent is now told that it may try again"
            }
            Class::OutcomeChanged => "a call ends differently, or a failure means something else",
            Class::AttemptsChanged => "more, fewer or different attempts",
            Class::TimingOnly => "the same decisions at other times",
            Class::Cosmetic => "different words for the same decisions",
        }
    }

    /// Whether accepting it requires a reason.
    pub const fn requires_reason(self) -> bool {
        matches!(self, Class::EffectChanged | Class::GuardWeakened)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
