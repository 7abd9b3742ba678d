//! How bad a divergence is, and which word of a golden belongs to which class. One table, no logic of alignment.

use std::fmt;

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

    /// Of another value in a field of a call's end.
    pub(super) fn of_end(field: &str, before: Option<&str>, after: Option<&str>) -> Class {
        let goes_on = |short: Option<&str>, long: Option<&str>| {
            long.unwrap_or_default().strip_prefix(short.unwrap_or_default()).is_some_and(|rest| rest.starts_with(", "))
        };
        match field {
            "verdicts" if goes_on(before, after) || goes_on(after, before) => Class::AttemptsChanged,
            "effect" => Class::EffectChanged,
            "attempts" => Class::AttemptsChanged,
            "reason" => Class::Cosmetic, // the outcome's kind is a field of its own
            _ => Class::OutcomeChanged,
        }
    }

    /// Of an event that only one side has.
    pub(super) fn of_event(kind: &str) -> Class {
        match kind {
            "attempt_started" | "attempt_finished" | "late_answer" | "failure_classified" | "retry_scheduled"
            | "evidence_refreshed" => Class::AttemptsChanged,
            _ => Class::OutcomeChanged,
        }
    }

    /// Of another value behind the kind of an event.
    pub(super) fn of_value(kind: &str) -> Class {
        match kind {
            "deprecated" | "reversal_redeemed" => Class::Cosmetic, // the playbook's own words for its reason
            "attempt_started" | "attempt_finished" | "late_answer" | "retry_scheduled" | "evidence_refreshed" => {
                Class::AttemptsChanged
            }
            _ => Class::OutcomeChanged, // verdict, queue, outcome, why a guard stopped it
        }
    }

    /// Of another value in a field of an event.
    pub(super) fn of_field(field: &str) -> Class {
        match field {
            "delay_ms" | "latency_ms" | "over_timeout" => Class::TimingOnly,
            "rule" | "from" => Class::Cosmetic,
            "ignored" => Class::OutcomeChanged,
            _ => Class::AttemptsChanged, // what an attempt carried, or was answered
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
