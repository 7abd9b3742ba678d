//! Counterfactuals: the same simulation without one rule, or with one guard inverted.

use super::subject::{Simulation, Subject};
use playproof_engine::event::{
    Decision, GuardKind, IntentBalance, Outcome, OutcomeKind, OutcomeWord, PlaybookNames, RequestKind,
};
use playproof_engine::ids::RuleId;
use playproof_engine::playbook::{GuardMode, Playbook, Study, Tools};
use playproof_engine::sim::Plan;

/// One change of the playbook, and its result for the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterfactual {
    /// The change.
    pub change: PlaybookChange,
    /// The difference.
    pub difference: OutcomeDifference,
}

/// A change of a playbook. Verdicts, queues and reasons keep their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaybookChange {
    /// Without a rule that gave a verdict.
    WithoutRule(RuleId),
    /// With a guard that lets everything pass, or stops everything.
    Guard(GuardKind, GuardMode),
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutcomeDifference {
    /// The simulation does not reach the call.
    Unknown,
    /// Nothing.
    Nothing,
    /// Only the verdicts differ.
    Verdicts(Vec<String>),
    /// The end differs.
    End {
        /// The verdicts, if they differ too.
        verdicts: Vec<String>,
        /// The outcome.
        outcome: Outcome,
        /// The effects in the ledger; none if undetermined, or without an intent.
        truth: Option<IntentBalance>,
    },
}

/// One counterfactual for each rule that matched and each guard that was asked. A recorded call is taken alone for it: with
/// another end, its run might have gone on in another way. There is none where it ends otherwise alone.
pub fn counterfactuals(subject: &Subject, plan: &Plan, tools: &Tools, simulation: &Simulation) -> Vec<Counterfactual> {
    if plan.shares_state && subject.simulate_alone(plan).outcome() != simulation.outcome() {
        return Vec::new();
    }
    let rules = rules_that_matched(simulation).into_iter().map(PlaybookChange::WithoutRule);
    let guards = [GuardKind::Retry, GuardKind::Token].into_iter();
    let guards = guards.filter_map(|kind| Some(PlaybookChange::Guard(kind, guard_flipped(simulation, kind)?)));
    let run = |change: PlaybookChange| {
        let other = Plan::new(change.apply(&plan.playbook), tools).with_seed(plan.seed);
        let difference = difference((simulation, plan), (&subject.simulate_alone(&other), &other));
        Counterfactual { change, difference }
    };
    rules.chain(guards).map(run).collect()
}

fn rules_that_matched(simulation: &Simulation) -> Vec<RuleId> {
    let mut rules = Vec::new();
    for (_, decision) in simulation.decisions() {
        if let Decision::FailureClassified { rule: Some(rule), .. } = decision
            && !rules.contains(&rule)
        {
            rules.push(rule);
        }
    }
    rules
}

/// The opposite of the answer of the guard, if it was asked.
fn guard_flipped(simulation: &Simulation, kind: GuardKind) -> Option<GuardMode> {
    let asked = simulation.decisions().filter_map(|(_, decision)| decision.guard());
    let stops: Vec<bool> = asked.filter(|(guard, _)| *guard == kind).map(|(_, stops)| stops).collect();
    match stops.contains(&true) {
        true => Some(GuardMode::Off),
        false => (!stops.is_empty()).then_some(GuardMode::Stops),
    }
}

impl PlaybookChange {
    fn apply(self, playbook: &Playbook) -> Playbook {
        let mut other = playbook.clone();
        match self {
            PlaybookChange::WithoutRule(rule) if rule.index() < other.rules.len() => {
                other.rules.remove(rule.index());
            }
            PlaybookChange::WithoutRule(_) => {}
            PlaybookChange::Guard(kind, guard) => {
                let mut study = other.study.take().unwrap_or_else(|| Study::safe("a second run of `explain`"));
                match kind {
                    GuardKind::Retry => study.retry_guard = guard,
                    GuardKind::Token => study.token_guard = guard,
                }
                other.study = Some(study);
            }
        }
        other
    }
}

fn difference(before: (&Simulation, &Plan), after: (&Simulation, &Plan)) -> OutcomeDifference {
    let ((before, plan), (after, other)) = (before, after);
    let (Some(was), Some(is)) = (before.outcome(), after.outcome()) else { return OutcomeDifference::Unknown };
    let mut verdicts = after.verdicts(other);
    if verdicts == before.verdicts(plan) {
        verdicts.clear();
    }
    let is_same_end = is_same(was.kind, is.kind, &plan.names)
        && (was.claim, was.attempts) == (is.claim, is.attempts)
        && before.truth() == after.truth();
    match (is_same_end, verdicts.is_empty()) {
        (true, true) => OutcomeDifference::Nothing,
        (true, false) => OutcomeDifference::Verdicts(verdicts),
        (false, _) => {
            let is_known = is.kind.word() != OutcomeWord::Undetermined && after.intent.is_some();
            OutcomeDifference::End { verdicts, outcome: *is, truth: is_known.then(|| after.truth()) }
        }
    }
}

/// Whether two outcomes read the same: the number of an evidence refresh does not matter.
fn is_same(was: OutcomeKind, is: OutcomeKind, names: &PlaybookNames) -> bool {
    use OutcomeKind::{Deprecated, Reversed, Undetermined};
    match (was, is) {
        (Deprecated(_), Deprecated(_))
        | (Undetermined(RequestKind::Refresh(_)), Undetermined(RequestKind::Refresh(_))) => true,
        (Reversed(was), Reversed(is)) => names.reason(was) == names.reason(is),
        _ => was == is,
    }
}
