//! Runs single failures through the rules of a case's playbook, and single headers through its sources.

use serde_json::{Map, Value};

use super::case::{Case, CaseStep};
use super::compare::{Shown, Sight};
use super::driver::{Answer, Driver, NewCall, Told, nothing_sent};
use super::steps::run_steps;
use super::subject::{error, moment, plan};
use super::unmet::Unmet;
use super::write::TOOL;
use playproof_engine::classify::Signal;
use playproof_engine::event::{Decision, Outcome, OutcomeKind, StopReason};
use playproof_engine::ids::AttemptNo;
use playproof_engine::sim::Plan;

/// Runs a case of kind `classify`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    let run = |plan: &mut Plan, step: &CaseStep| {
        let mut facts = step.input.clone();
        facts.remove("ok");
        let failure = error(&facts, None, None)?;
        let signal = Signal::new(Some(&failure), TOOL, plan.facts(TOOL), false, AttemptNo::FIRST);
        let verdict = plan.playbook.verdict(plan.classifier.classify(&signal).verdict);
        Ok(Sight::default().with("retryable", verdict.then.retry().is_some()))
    };
    run_steps(case, &mut plan(case)?, run, |_| Sight::default())
}

/// Runs a case of kind `server_delay_parse`: what a retry is told to wait.
pub(super) fn run_headers(case: &Case) -> Result<(), Unmet> {
    let run = |fresh: &mut Driver, step: &CaseStep| {
        let mut driver = Driver { now: moment(&step.input, "now_ms").unwrap_or_default(), ..fresh.clone() };
        let (call, told) = driver.call(NewCall::of(TOOL));
        let (attempt, _) = told.sent.ok_or_else(nothing_sent)?;
        let failure = error(&Map::new(), step.input.get("headers").and_then(Value::as_object), None)?;
        let told = driver.fail(&Answer::to(call, attempt), TOOL, &failure);
        Ok(Sight::default().with("delay_ms", wish(&told)))
    };
    run_steps(case, &mut Driver::new(plan(case)?), run, |_| Sight::default())
}

/// The wish that counted, or that the upstream forbids a retry.
fn wish(told: &Told) -> Shown {
    let forbids = |outcome: &Outcome| outcome.kind == OutcomeKind::Exhausted(StopReason::ToldNotTo);
    let wish = told.decisions.iter().find_map(|decision| match decision {
        Decision::RetryScheduled { told, .. } => *told,
        _ => None,
    });
    if told.outcome().is_some_and(forbids) { "stop".into() } else { wish.into() }
}
