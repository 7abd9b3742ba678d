//! The rules of one playbook, compiled once. Pure and total: every failure gets a verdict and a reason.

use super::condition::{CompiledCondition, ConditionEvaluation, Lowered, RuleEvaluation};
use super::signal::Signal;
use crate::ids::{RuleId, VerdictId};
use crate::playbook::{ConditionKind, Playbook};

/// What a failure means, and the rule that decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The verdict.
    pub verdict: VerdictId,
    /// The rule; none: no rule matched, and `otherwise` applies.
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

    /// Whether any rule tests the tool's name.
    pub(super) fn asks_for_tools(&self) -> bool {
        self.asks_for_tools
    }

    /// Whether any rule tests the attempt's number.
    pub(super) fn asks_for_attempts(&self) -> bool {
        self.asks_for_attempts
    }

    /// Evaluates every rule up to the first that matches. What conditions found is described from `shown`, the redacted
    /// form of the same signal.
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
