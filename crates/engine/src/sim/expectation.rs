//! Compares a run with the expectations of its fixture. Accepts nothing.

use std::collections::BTreeMap;
use std::fmt;

use crate::dispatch::RetryBalance;
use crate::event::{AdmissionRefusal, Decision, EffectClaim, FindingId, Outcome, OutcomeKind, StepsEnd, ValidNext};
use crate::fixture::{Expect, ExpectCall};
use crate::ids::{ActionId, CallId, StepId};
use crate::playbook::BudgetScope;
use crate::time::Instant;

use super::record::SimulationRecord;
use super::scenario::Scenario;
use crate::plan::Plan;

/// One expectation that a run does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The call; none for the whole run.
    pub call: Option<String>,
    /// The field of `expect`.
    pub field: &'static str,
    /// The fixture's value.
    pub expected: String,
    /// The run's value.
    pub actual: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = &self.call {
            write!(f, "{call}.")?;
        }
        let said = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() }; // an empty list
        write!(f, "{}: expected {}, got {}", self.field, said(&self.expected), said(&self.actual))
    }
}

/// All differences of `record` from the fixture's expectations.
pub fn contradictions(
    expect: &Expect,
    plan: &Plan,
    scenario: &Scenario<'_>,
    record: &SimulationRecord,
) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for (n, (call, outcome)) in scenario.calls.iter().zip(&record.outcomes).enumerate() {
        let by_group = call.group.and_then(|group| expect.calls.get(group));
        for expected in expect.calls.get(call.name).into_iter().chain(by_group) {
            let id = CallId::at(n);
            let mut check = ExpectationCheck { call: Some(call.name), found: &mut found };
            check_call(&mut check, expected, plan, record, id, outcome);
            let leader = match outcome.kind {
                OutcomeKind::Joined { leader, .. } | OutcomeKind::Cached { leader } => {
                    scenario.calls.get(leader.index())
                }
                _ => None,
            };
            check.holds("leader", expected.leader.as_deref(), &leader.map_or("none", |leader| leader.name));
        }
    }
    for (group, counts) in expect.calls.iter().filter_map(|(name, call)| Some((name, call.outcomes.as_ref()?))) {
        let mut check = ExpectationCheck { call: Some(group), found: &mut found };
        check.holds("outcomes", Some(counted(counts)), &counted(&outcomes_of(group, scenario, record)));
    }
    let mut check = ExpectationCheck { call: None, found: &mut found };
    let effects: u32 = record.ledger.net().values().map(|net| net.effects).sum();
    check.holds("effects", expect.effects, &effects);
    check.holds("peak_in_flight", expect.peak_in_flight, &record.peak_in_flight());
    check.holds("sends", expect.sends, &record.tallies.iter().map(|tally| tally.sends).sum());
    check_findings(&mut check, expect.findings.as_deref(), record);
    if let Some(death) = record.death.filter(|death| record.events.iter().all(|event| event.at < death.back)) {
        let expected = format!("something that it interrupts at {} ms", death.at.since(Instant::ZERO));
        check.holds("crash", Some(expected), &"nothing: all was over".to_owned());
    }
    for (server, state) in &expect.circuits {
        let actual = format!("{server}: {}", circuit(server, plan, record));
        check.holds("circuits", Some(format!("{server}: {state}")), &actual);
    }
    for ((budget, server), left) in &expect.retry_budgets {
        let of = server.as_ref().map_or_else(|| budget.clone(), |server| format!("{budget} of {server}"));
        let actual = format!("{of}: {}", budget_left(budget, server.as_deref(), plan, record));
        check.holds("retry_budgets", Some(format!("{of}: {left}")), &actual);
    }
    found
}

/// The state of a server's breaker at the end, or why there is none.
fn circuit(server: &str, plan: &Plan, record: &SimulationRecord) -> &'static str {
    match record.server(server) {
        None => "no call uses this server",
        Some(_) if plan.playbook.breaker_id(server).is_none() => "the server has no breaker",
        Some(id) => record.circuit(id).as_str(),
    }
}

/// What a retry budget has left at the end, or why it has nothing to show.
fn budget_left(name: &str, server: Option<&str>, plan: &Plan, record: &SimulationRecord) -> String {
    let Some(place) = plan.playbook.retry_budgets.iter().position(|(known, _)| **known == *name) else {
        return "there is no such budget".to_owned();
    };
    let (_, budget) = &plan.playbook.retry_budgets[place]; // just found
    let id = match (server, budget.per) {
        (Some(server), BudgetScope::Server) => match record.server(server) {
            Some(id) => Some(id),
            None => return "no call uses this server".to_owned(),
        },
        (None, BudgetScope::Dispatcher) => None,
        (None, BudgetScope::Server) => return "each server has its own".to_owned(),
        (Some(_), BudgetScope::Dispatcher) => return "all servers share it".to_owned(),
    };
    if !budget.kind.has_tokens() {
        return "it has no tokens".to_owned();
    }
    let used = record.budgets.iter().find(|used| used.budget.index() == place && used.server == id);
    used.map_or_else(
        || RetryBalance::default().left(&budget.kind, Instant::ZERO).to_string(),
        |used| used.left.to_string(),
    )
}

/// How many calls of a group ended in which way.
fn outcomes_of(group: &str, scenario: &Scenario<'_>, record: &SimulationRecord) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let ended = scenario.calls.iter().zip(&record.outcomes);
    for (_, outcome) in ended.filter(|(call, _)| call.group == Some(group)) {
        *counts.entry(outcome.kind.as_str().to_owned()).or_default() += 1;
    }
    counts
}

/// `succeeded 3, refused 1`.
fn counted(counts: &BTreeMap<String, u32>) -> String {
    let words: Vec<String> = counts.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    words.join(", ")
}

fn check_call(
    check: &mut ExpectationCheck<'_>,
    expected: &ExpectCall,
    plan: &Plan,
    record: &SimulationRecord,
    id: CallId,
    outcome: &Outcome,
) {
    let queue = match outcome.kind {
        OutcomeKind::Escalated(queue) => plan.names.queue(queue),
        _ => "none",
    };
    let stop = match outcome.kind {
        OutcomeKind::Exhausted(stop) => stop.as_str(),
        _ => "none",
    };
    let why = record.events_of(id).find_map(|event| event.what.refusal()).map_or("none", AdmissionRefusal::as_str);
    check.holds("why", expected.why.as_deref(), &why);
    check.holds("outcome", expected.outcome.as_deref(), &outcome.kind.as_str());
    check.holds("effect", expected.effect.map(EffectClaim::as_str), &outcome.claim.as_str());
    check.holds("attempts", expected.attempts, &outcome.attempts);
    let told = record.told_of(id);
    check.holds("told", expected.told.as_deref(), &told.map_or("none", |told| told.class.as_str()));
    let retriable = told.map_or_else(|| "none".to_owned(), |told| told.retriable.to_string());
    check.holds("retriable", expected.retriable.map(|may| may.to_string()), &retriable);
    check.holds("queue", expected.queue.as_deref(), &queue);
    check.holds("stop", expected.stop.as_deref(), &stop);
    let verdicts = record.events_of(id).filter_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(plan.names.verdict(verdict)),
        _ => None,
    });
    let verdicts = verdicts.collect::<Vec<_>>();
    for excluded in expected.not_verdicts.iter().flatten().filter(|one| verdicts.contains(&one.as_str())) {
        check.holds("not_verdicts", Some(format!("any but {excluded}")), &verdicts.join(", "));
    }
    let verdicts = verdicts.join(", ");
    if expected.next.is_some() || expected.withheld.is_some() {
        let valid = record.valid_next.get(id.index()).and_then(Option::as_ref);
        let actions = |ids: fn(&ValidNext) -> &[ActionId]| -> String {
            let Some(valid) = valid else { return "no graph".to_owned() };
            ids(valid).iter().map(|id| plan.names.action(*id)).collect::<Vec<_>>().join(", ")
        };
        check.holds("next", expected.next.as_ref().map(|next| next.join(", ")), &actions(|valid| &valid.next));
        let withheld = expected.withheld.as_ref().map(|withheld| withheld.join(", "));
        check.holds("withheld", withheld, &actions(|valid| &valid.withheld));
    }
    check.holds("verdicts", expected.verdicts.as_ref().map(|verdicts| verdicts.join(", ")), &verdicts);
    check_steps(check, expected, plan, StepsEnd::read(record.events_of(id)).as_ref());
}

/// The step that ended an action, and those that are done and not done. A call without steps has none of them.
fn check_steps(check: &mut ExpectationCheck<'_>, expected: &ExpectCall, plan: &Plan, end: Option<&StepsEnd>) {
    let failed = end.and_then(|end| Some(plan.names.step(end.action, end.failed?)));
    check.holds("step", expected.step.as_deref(), &failed.unwrap_or("none"));
    let actual = |ids: fn(&StepsEnd) -> &[StepId]| -> String {
        let names = end.into_iter().flat_map(|end| ids(end).iter().map(|id| plan.names.step(end.action, *id)));
        format!("[{}]", names.collect::<Vec<_>>().join(", "))
    };
    let wanted = |names: &Option<Vec<String>>| names.as_ref().map(|names| format!("[{}]", names.join(", ")));
    check.holds("completed_steps", wanted(&expected.completed_steps), &actual(|end| &end.completed));
    check.holds("skipped", wanted(&expected.skipped), &actual(|end| &end.skipped));
}

/// Every named finding is required; an empty list requires that there are none.
fn check_findings(check: &mut ExpectationCheck<'_>, expected: Option<&[FindingId]>, record: &SimulationRecord) {
    let words = |mut ids: Vec<FindingId>| {
        ids.sort_unstable();
        ids.dedup();
        format!("[{}]", ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", "))
    };
    let Some(expected) = expected else { return };
    let actual: Vec<FindingId> = record.findings.iter().map(|finding| finding.id).collect();
    let met = match expected.is_empty() {
        true => actual.is_empty(),
        false => expected.iter().all(|id| actual.contains(id)),
    };
    if !met {
        check.holds("findings", Some(words(expected.to_vec())), &words(actual));
    }
}

/// Collects the contradictions of one call, or of the run.
struct ExpectationCheck<'a> {
    call: Option<&'a str>,
    found: &'a mut Vec<Contradiction>,
}

impl ExpectationCheck<'_> {
    fn holds<T: PartialEq + fmt::Display>(&mut self, field: &'static str, expected: Option<T>, actual: &T) {
        if let Some(expected) = expected.filter(|expected| expected != actual) {
            self.found.push(Contradiction {
                call: self.call.map(str::to_owned),
                field,
                expected: expected.to_string(),
                actual: actual.to_string(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_said_to_be_none() {
        let of = |expected: &str, actual: &str| {
            let field = "withheld";
            let (expected, actual) = (expected.to_owned(), actual.to_owned());
            Contradiction { call: Some("m".into()), field, expected, actual }.to_string()
        };
        assert_eq!(of("pay", ""), "m.withheld: expected pay, got none");
        assert_eq!(of("", "pay"), "m.withheld: expected none, got pay");
    }
}
