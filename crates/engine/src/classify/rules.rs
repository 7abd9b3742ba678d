//! The rules of one playbook, compiled once. Pure and total: every failure gets a verdict and a reason.

use super::condition::{CompiledCondition, ConditionEvaluation, Lowered, RuleEvaluation};
use crate::event::ErrorFacts;
use crate::ids::{AttemptNo, RuleId, VerdictId};
use crate::playbook::{Access, ConditionKind, Playbook, ToolFacts};
use crate::time::Duration;

/// All that a rule may ask about a failed attempt.
#[derive(Clone, Copy, Debug)]
pub struct Signal<'a> {
    /// The adapter's name for what went wrong.
    pub kind: Option<&'a str>,
    /// The error's text.
    pub message: Option<&'a str>,
    /// The transport's status.
    pub status: Option<u16>,
    /// The upstream's own error name.
    pub code: Option<&'a str>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the failure came with an error object.
    pub has_error: bool,
    /// The tool's name.
    pub tool: &'a str,
    /// Whether the tool changes the upstream.
    pub access: Access,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
    /// Whether the call has an idempotency key.
    pub keyed: bool,
    /// The attempt that failed.
    pub attempt: AttemptNo,
}

impl<'a> Signal<'a> {
    /// The signal of `attempt` of a call of `tool` that failed with `error`.
    pub fn new(
        error: Option<&'a ErrorFacts>,
        tool: &'a str,
        facts: ToolFacts,
        keyed: bool,
        attempt: AttemptNo,
    ) -> Signal<'a> {
        Signal {
            kind: error.and_then(|error| error.kind.as_deref()),
            message: error.and_then(|error| error.message.as_deref()),
            status: error.and_then(|error| error.status),
            code: error.and_then(|error| error.code.as_deref()),
            retry_after: error.and_then(|error| error.retry_after),
            has_error: error.is_some(),
            tool,
            access: facts.access,
            idempotent: facts.idempotent,
            keyed,
            attempt,
        }
    }
}

/// What a signal has where a condition asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum SignalValue<'a> {
    Text(Option<&'a str>),
    Number(Option<u32>),
    Access(Access),
    Is(bool),
    /// Whether it is there at all.
    There(bool),
}

impl<'a> Signal<'a> {
    pub(super) fn find(&self, ask: ConditionKind) -> SignalValue<'a> {
        match ask {
            ConditionKind::Kind => SignalValue::Text(self.kind),
            ConditionKind::Message => SignalValue::Text(self.message),
            ConditionKind::Status => SignalValue::Number(self.status.map(u32::from)),
            ConditionKind::Code => SignalValue::Text(self.code),
            ConditionKind::Tool => SignalValue::Text(Some(self.tool)),
            ConditionKind::Access => SignalValue::Access(self.access),
            ConditionKind::Idempotent => SignalValue::Is(self.idempotent),
            ConditionKind::Keyed => SignalValue::Is(self.keyed),
            ConditionKind::Attempt => SignalValue::Number(Some(self.attempt.get())),
            ConditionKind::RetryAfter => SignalValue::There(self.retry_after.is_some()),
            ConditionKind::Error => SignalValue::There(self.has_error),
        }
    }
}

/// What a failure means, and which rule said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The verdict.
    pub verdict: VerdictId,
    /// The rule; none: no rule matched, and `otherwise` spoke.
    pub rule: Option<RuleId>,
}

/// The compiled rules of one playbook.
#[derive(Debug)]
pub struct Classifier {
    rules: Vec<(Vec<CompiledCondition>, VerdictId)>,
    otherwise: VerdictId,
    asks_for_tools: bool,
    asks_for_attempts: bool,
}

impl Classifier {
    /// Compiles the playbook's rules.
    pub fn new(playbook: &Playbook) -> Classifier {
        Classifier {
            rules: playbook.rules.iter().map(|rule| (CompiledCondition::of(&rule.when), rule.verdict)).collect(),
            otherwise: playbook.otherwise,
            asks_for_tools: playbook.rules.iter().any(|rule| rule.when.get(ConditionKind::Tool).is_some()),
            asks_for_attempts: playbook.rules.iter().any(|rule| rule.when.get(ConditionKind::Attempt).is_some()),
        }
    }

    /// The verdict of the first rule whose every condition holds, else `otherwise`.
    pub fn classify(&self, signal: &Signal<'_>) -> Classification {
        let mut lowered = Lowered::default();
        for (n, (checks, verdict)) in self.rules.iter().enumerate() {
            if checks.iter().all(|check| check.holds(signal, &mut lowered)) {
                return Classification { verdict: *verdict, rule: Some(rule_id(n)) };
            }
        }
        Classification { verdict: self.otherwise, rule: None }
    }

    /// Whether any rule asks for the tool's name.
    pub(super) fn asks_for_tools(&self) -> bool {
        self.asks_for_tools
    }

    /// Whether any rule asks for the attempt's number.
    pub(super) fn asks_for_attempts(&self) -> bool {
        self.asks_for_attempts
    }

    /// Every rule up to the first that matches, with what each of its conditions asked and found: what was found is said
    /// in the words of `shown`, the same signal as it may be shown.
    pub fn explain(&self, signal: &Signal<'_>, shown: &Signal<'_>) -> Vec<RuleEvaluation> {
        let mut lowered = Lowered::default();
        let mut trials = Vec::new();
        for (n, (checks, _)) in self.rules.iter().enumerate() {
            let conditions: Vec<ConditionEvaluation> = checks
                .iter()
                .map(|check| ConditionEvaluation {
                    asked: check.asked(),
                    found: check.found(shown),
                    held: check.holds(signal, &mut lowered),
                })
                .collect();
            let matched = conditions.iter().all(|condition| condition.held);
            trials.push(RuleEvaluation { rule: rule_id(n), matched, conditions });
            if matched {
                break;
            }
        }
        trials
    }
}

/// A playbook has at most 65,535 rules: `lower` refuses more.
fn rule_id(n: usize) -> RuleId {
    RuleId(u16::try_from(n).unwrap_or(u16::MAX))
}
