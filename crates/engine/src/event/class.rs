//! How bad it is that two runs differ in something, worst first. Which class a thing has is said where it is defined.

use std::fmt;

use crate::words;

words! {
    /// How bad a divergence is, worst first.
    pub enum Class {
        /// A claim, the ledger or a finding is another one.
        EffectChanged = "effect_changed",
        /// The golden suppresses, refuses or escalates where the run attempts or redeems.
        GuardWeakened = "guard_weakened",
        /// A call ends in another way, or a failure means something else.
        OutcomeChanged = "outcome_changed",
        /// More, fewer or other attempts.
        AttemptsChanged = "attempts_changed",
        /// The same decisions at other times.
        TimingOnly = "timing_only",
        /// Other words for the same decisions.
        Cosmetic = "cosmetic",
    }
}

impl Class {
    /// In words, for people.
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

    /// What it says, in a sentence without its end.
    pub const fn means(self) -> &'static str {
        match self {
            Class::EffectChanged => "a claim, the ledger or a finding is another one",
            Class::GuardWeakened => "the golden suppresses, refuses or escalates where the run attempts or redeems",
            Class::OutcomeChanged => "a call ends in another way, or a failure means something else",
            Class::AttemptsChanged => "more, fewer or other attempts",
            Class::TimingOnly => "the same decisions at other times",
            Class::Cosmetic => "other words for the same decisions",
        }
    }

    /// Whether nobody may accept it without saying why.
    pub const fn wants_reason(self) -> bool {
        matches!(self, Class::EffectChanged | Class::GuardWeakened)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
