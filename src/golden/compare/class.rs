//! How bad a divergence is. No logic of alignment.

use std::fmt;

use crate::event::{Aspect, Key};
use crate::golden::said::Said;

/// How bad a divergence is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A claim, the ledger or a finding is another one.
    EffectChanged,
    /// The golden suppresses, refuses or escalates where the run attempts or redeems.
    GuardWeakened,
    /// A call ends in another way, or a failure means something else.
    OutcomeChanged,
    /// More, fewer or other attempts.
    AttemptsChanged,
    /// The same decisions at other times.
    TimingOnly,
    /// Other words for the same decisions.
    Cosmetic,
}

impl Class {
    /// Every class, worst first.
    pub const ALL: [Class; 6] = [
        Class::EffectChanged,
        Class::GuardWeakened,
        Class::OutcomeChanged,
        Class::AttemptsChanged,
        Class::TimingOnly,
        Class::Cosmetic,
    ];

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

    /// The stable id of reports: `effect_changed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::EffectChanged => "effect_changed",
            Class::GuardWeakened => "guard_weakened",
            Class::OutcomeChanged => "outcome_changed",
            Class::AttemptsChanged => "attempts_changed",
            Class::TimingOnly => "timing_only",
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
