//! How bad a divergence is. No logic of alignment.

use std::fmt;

use crate::event::{Aspect, Key, words};
use crate::golden::said::Said;

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

    /// Of another value in a field of a call's end: verdicts that go on where the others end are more attempts.
    pub(super) fn of_end(key: Key, before: Option<&Said>, after: Option<&Said>) -> Class {
        match (before, after) {
            (Some(Said::Names(a)), Some(Said::Names(b))) if is_begun_by(a, b) || is_begun_by(b, a) => {
                Class::AttemptsChanged
            }
            _ => key.aspect().into(),
        }
    }
}

/// Whether a list begins with another one, neither of them empty.
fn is_begun_by(long: &[String], short: &[String]) -> bool {
    !short.is_empty() && long.starts_with(short)
}

impl From<Aspect> for Class {
    fn from(aspect: Aspect) -> Class {
        match aspect {
            Aspect::Effect => Class::EffectChanged,
            Aspect::Outcome => Class::OutcomeChanged,
            Aspect::Attempts => Class::AttemptsChanged,
            Aspect::Timing => Class::TimingOnly,
            Aspect::Words => Class::Cosmetic,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
