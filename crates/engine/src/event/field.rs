//! The keys of the fields of events and of outcomes, and how severe a change of each is.

use super::class::Class;
use crate::words;

words! {
    /// The fields of events and of outcomes.
    pub enum FieldKey {
        Attempt = "attempt",
        Evidence = "evidence",
        Status = "status",
        Latency = "latency_ms",
        From = "from",
        OverTimeout = "over_timeout",
        Verdict = "verdict",
        Rule = "rule",
        Ignored = "ignored",
        Delay = "delay_ms",
        Due = "due_ms",
        Draw = "draw",
        Told = "told_ms",
        Left = "left",
        Why = "why",
        Queue = "queue",
        Reason = "reason",
        Outcome = "outcome",
        Stop = "stop",
        Lacks = "lacks",
        Effect = "effect",
        Attempts = "attempts",
        Verdicts = "verdicts",
        Error = "error",
        LastError = "last_error",
        FirstError = "first_error",
        Place = "place",
        Leader = "leader",
        Age = "age_ms",
        Ended = "ended",
        By = "by",
        Cause = "cause",
        Code = "code",
        Instead = "instead",
        RetryAfter = "retry_after_ms",
        Server = "server",
        Until = "until_ms",
        Class = "told",
        Retriable = "retriable",
        Action = "action",
        Next = "next",
        Withheld = "withheld",
        Step = "step",
        Completed = "completed_steps",
        Skipped = "skipped",
        ActsAgain = "acts_again",
    }
}

impl FieldKey {
    /// Whether its value is a list of names.
    pub const fn is_list(self) -> bool {
        matches!(
            self,
            FieldKey::Verdicts | FieldKey::Next | FieldKey::Withheld | FieldKey::Completed | FieldKey::Skipped
        )
    }

    /// The class of a divergence in the value of this field.
    pub const fn class(self) -> Class {
        match self {
            FieldKey::Effect => Class::EffectChanged,
            FieldKey::Verdict
            | FieldKey::Verdicts
            | FieldKey::Ignored
            | FieldKey::Why
            | FieldKey::Queue
            | FieldKey::Outcome
            | FieldKey::Stop
            | FieldKey::Lacks
            | FieldKey::Error
            | FieldKey::LastError
            | FieldKey::FirstError
            | FieldKey::Class
            | FieldKey::Retriable => Class::OutcomeChanged,
            FieldKey::Action | FieldKey::Next | FieldKey::Withheld => Class::OutcomeChanged,
            FieldKey::Step | FieldKey::Completed | FieldKey::Skipped => Class::OutcomeChanged,
            FieldKey::ActsAgain => Class::EffectChanged,
            FieldKey::Leader | FieldKey::Ended | FieldKey::By | FieldKey::Cause | FieldKey::Server => {
                Class::OutcomeChanged
            }
            FieldKey::Attempt | FieldKey::Attempts | FieldKey::Evidence | FieldKey::Status => Class::AttemptsChanged,
            FieldKey::Latency
            | FieldKey::OverTimeout
            | FieldKey::Delay
            | FieldKey::Due
            | FieldKey::Draw
            | FieldKey::Told
            | FieldKey::Left
            | FieldKey::Place
            | FieldKey::Age
            | FieldKey::RetryAfter
            | FieldKey::Until => Class::TimingOnly,
            FieldKey::Rule | FieldKey::From | FieldKey::Reason | FieldKey::Code | FieldKey::Instead => Class::Cosmetic,
        }
    }
}
