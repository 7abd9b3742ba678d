//! What would have happened otherwise: the same simulation, run again without one rule or with one guard flipped.

use super::case::{Case, Ran};
use super::story::claim_in_words;
use playproof_engine::event::{Decision, GuardKind, OutcomeKind};
use playproof_engine::ids::RuleId;
use playproof_engine::playbook::{Guard, Playbook, Study, Tools};
use playproof_engine::sim::Plan;
use playproof_report::{block, text, timeline};

const SAME: &str = "nothing would be different.";
const SAME_BY_ANOTHER_RULE: &str = "another rule would give the same verdict, and nothing else would be different.";

/// One sentence for each rule and each guard that had a say.
pub fn tell(case: &Case, plan: &Plan, tools: &Tools, ran: &Ran) -> Vec<String> {
    let mut said = Vec::new();
    for rule in rules_that_spoke(plan, ran) {
        let name = plan.names.rule(Some(rule)).to_owned();
        let other = Plan::new(without_rule(&plan.playbook, rule), tools);
        said.push(format!("Without the rule `{name}`, {}", ending(case, plan, ran, &other, SAME_BY_ANOTHER_RULE)));
    }
    for (kind, name) in [(GuardKind::Retry, "retry"), (GuardKind::Token, "token")] {
        if let Some(guard) = guard_flipped(plan, ran, kind) {
            let other = Plan::new(with_guard(&plan.playbook, kind, guard), tools);
            said.push(format!("{}, {}", flipped(name, guard), ending(case, plan, ran, &other, SAME)));
        }
    }
    said
}

fn rules_that_spoke(plan: &Plan, ran: &Ran) -> Vec<RuleId> {
    let mut rules = Vec::new();
    for (_, decision) in ran.run(plan).decisions() {
        if let Decision::FailureClassified { rule: Some(rule), .. } = decision
            && !rules.contains(&rule)
        {
            rules.push(rule);
        }
    }
    rules
}

/// The opposite of what the guard said, if it was asked at all.
fn guard_flipped(plan: &Plan, ran: &Ran, kind: GuardKind) -> Option<Guard> {
    let run = ran.run(plan);
    let spoke = run.decisions().filter_map(|(_, decision)| decision.guard());
    let stops: Vec<bool> = spoke.filter(|(guard, _)| *guard == kind).map(|(_, stops)| stops).collect();
    match stops.contains(&true) {
        true => Some(Guard::Off),
        false => (!stops.is_empty()).then_some(Guard::Stops),
    }
}

fn flipped(name: &str, guard: Guard) -> String {
    match guard {
        Guard::Off => format!("With the {name} guard off"),
        Guard::Stops | Guard::Asked => format!("Had the {name} guard stopped it"),
    }
}

fn without_rule(playbook: &Playbook, rule: RuleId) -> Playbook {
    let mut other = playbook.clone();
    if rule.index() < other.rules.len() {
        other.rules.remove(rule.index());
    }
    other
}

fn with_guard(playbook: &Playbook, kind: GuardKind, guard: Guard) -> Playbook {
    let mut other = playbook.clone();
    let mut study = other.study.take().unwrap_or_else(|| Study::safe("a second run of `explain`"));
    match kind {
        GuardKind::Retry => study.retry_guard = guard,
        GuardKind::Token => study.token_guard = guard,
    }
    other.study = Some(study);
    other
}

/// How the case ends under another plan, and whether that is a difference.
fn ending(case: &Case, plan: &Plan, ran: &Ran, other: &Plan, same: &str) -> String {
    let again = case.simulate(other);
    let (before, after) = (ran.run(plan), again.run(other));
    let (Some(was), Some(is)) = (before.outcome(), after.outcome()) else {
        return "nothing can be said.".to_owned();
    };
    let first_verdict = |ran: &Ran, plan: &Plan| {
        let run = ran.run(plan);
        run.transcript.verdicts(run.call).map(str::to_owned).collect::<Vec<_>>()
    };
    let verdicts = first_verdict(&again, other);
    let same_end = timeline::outcome(&before.transcript, was.kind) == timeline::outcome(&after.transcript, is.kind);
    if same_end && was.claim == is.claim && was.attempts == is.attempts && before.truth() == after.truth() {
        return match verdicts == first_verdict(ran, plan) {
            true => same.to_owned(),
            false => format!("the verdict would be {}, and the call would end the same way.", list(&verdicts)),
        };
    }
    let verdict = if verdicts == first_verdict(ran, plan) || verdicts.is_empty() {
        String::new()
    } else {
        format!("the verdict would be {}, and ", list(&verdicts))
    };
    let truth = match (is.kind, after.intent) {
        (OutcomeKind::Undetermined(_), _) | (_, None) => String::new(),
        _ => format!("; {}", block::truth(after.truth())),
    };
    format!(
        "{verdict}the call would end {}, with the effect {}, after {}{truth}.",
        timeline::outcome(&after.transcript, is.kind),
        claim_in_words(is.claim),
        text::counted(is.attempts.into(), "attempt", "attempts")
    )
}

fn list(verdicts: &[String]) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for verdict in verdicts {
        match runs.last_mut() {
            Some((name, times)) if name == verdict => *times += 1,
            _ => runs.push((verdict, 1)),
        }
    }
    let named: Vec<String> = runs
        .into_iter()
        .map(|(name, times)| if times == 1 { format!("`{name}`") } else { format!("`{name}` ({times} times)") })
        .collect();
    named.join(", then ")
}
