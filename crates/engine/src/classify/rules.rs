//! The rules of one playbook, compiled once. Pure and total: every failure gets a verdict and a reason.

use std::collections::BTreeMap;

use super::condition::{CompiledCondition, ConditionEvaluation, Lowered, RuleEvaluation};
use super::signal::Signal;
use crate::ids::{RuleId, VerdictId};
use crate::playbook::{ConditionKind, ConditionTest, Playbook, Rule};

/// What a failure means, and the rule that decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The verdict.
    pub verdict: VerdictId,
    /// The rule; none: no rule matched, and `otherwise` applies.
    pub rule: Option<RuleId>,
}

/// What rules test of a failure besides its error and the traits of its call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedTraits {
    /// The tool's name.
    pub tools: bool,
    /// The attempt's number.
    pub attempts: bool,
}

impl AskedTraits {
    /// What either tests.
    #[must_use]
    pub const fn or(self, other: AskedTraits) -> AskedTraits {
        AskedTraits { tools: self.tools || other.tools, attempts: self.attempts || other.attempts }
    }
}

/// The compiled rules of one playbook.
#[derive(Debug)]
pub struct Classifier {
    rules: Vec<(Vec<CompiledCondition>, VerdictId)>,
    candidates: Candidates,
    otherwise: VerdictId,
    asks: AskedTraits,
}

/// The rules that a failure of one kind can match, as far as its kind alone tells; most rules name the kinds that they are
/// about.
#[derive(Debug)]
struct Candidates {
    /// The places of rules, by each kind that some rule names.
    by_kind: BTreeMap<String, Vec<usize>>,
    /// Those of rules that name no kind.
    of_other_kinds: Vec<usize>,
}

impl Candidates {
    fn of(playbook: &Playbook) -> Candidates {
        let kinds = |rule: &Rule| match rule.when.get(ConditionKind::Kind) {
            Some(ConditionTest::AnyOf(kinds)) => Some(kinds.clone()),
            _ => None,
        };
        let kinds: Vec<Option<Vec<String>>> = playbook.rules.iter().map(kinds).collect();
        let that = |fits: &dyn Fn(&[String]) -> bool| -> Vec<usize> {
            let named = kinds.iter().enumerate().filter(|(_, kinds)| kinds.as_deref().is_none_or(fits));
            named.map(|(place, _)| place).collect()
        };
        let each = kinds.iter().flatten().flatten();
        let by_kind = each.map(|kind| (kind.clone(), that(&|kinds| kinds.contains(kind)))).collect();
        Candidates { by_kind, of_other_kinds: that(&|_| false) }
    }

    fn of_kind(&self, kind: Option<&str>) -> &[usize] {
        kind.and_then(|kind| self.by_kind.get(kind)).unwrap_or(&self.of_other_kinds)
    }
}

impl Classifier {
    /// Compiles the playbook's rules.
    pub fn new(playbook: &Playbook) -> Classifier {
        let asks = |kind| playbook.rules.iter().any(|rule| rule.when.get(kind).is_some());
        Classifier {
            rules: playbook.rules.iter().map(|rule| (CompiledCondition::of(&rule.when), rule.verdict)).collect(),
            candidates: Candidates::of(playbook),
            otherwise: playbook.otherwise,
            asks: AskedTraits { tools: asks(ConditionKind::Tool), attempts: asks(ConditionKind::Attempt) },
        }
    }

    /// The verdict of the first rule whose every condition holds, else `otherwise`.
    pub fn classify(&self, signal: &Signal<'_>) -> Classification {
        let mut lowered = Lowered::default();
        // A candidate is the place of a rule.
        for (n, (checks, verdict)) in self.candidates.of_kind(signal.kind).iter().map(|&n| (n, &self.rules[n])) {
            if checks.iter().all(|check| check.holds(signal, &mut lowered)) {
                return Classification { verdict: *verdict, rule: Some(rule_id(n)) };
            }
        }
        Classification { verdict: self.otherwise, rule: None }
    }

    /// How many rules a failure of this kind is compared with, at most.
    pub fn candidates(&self, kind: Option<&str>) -> usize {
        self.candidates.of_kind(kind).len()
    }

    /// What its rules test besides the error and the traits of the call.
    pub fn asks(&self) -> AskedTraits {
        self.asks
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
