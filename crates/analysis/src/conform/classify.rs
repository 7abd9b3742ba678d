//! Runs single failures through the rules of a case's playbook, and single headers through its sources.

use serde_json::{Map, Value};

use super::case::Case;
use super::compare::{Shown, Sight, compare};
use super::driver::{Answer, Driver, NewCall, Told, nothing_sent};
use super::subject::{error, moment, plan};
use super::unmet::Unmet;
use super::write::TOOL;
use playproof_engine::classify::Signal;
use playproof_engine::event::{Decision, OutcomeKind, StopReason};
use playproof_engine::ids::AttemptNo;

/// Runs a case of kind `classify`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    let plan = plan(case)?;
    for step in &case.steps {
        let mut facts = step.input.clone();
        facts.remove("ok");
        let failure = error(&facts, None, None)?;
        let signal = Signal::new(Some(&failure), TOOL, plan.facts(TOOL), false, AttemptNo::FIRST);
        let verdict = plan.playbook.verdict(plan.classifier.classify(&signal).verdict);
        let retries = verdict.then.retry().is_some();
        compare(&step.expect, &Sight::default().with("retryable", retries), case.tolerance_ms)?;
    }
    Ok(())
}

/// Runs a case of kind `server_delay_parse`: what a retry is told to wait.
pub(super) fn run_headers(case: &Case) -> Result<(), Unmet> {
    let fresh = Driver::new(plan(case)?);
    for step in &case.steps {
        let mut driver = Driver { now: moment(&step.input, "now_ms").unwrap_or_default(), ..fresh.clone() };
        let (call, told) = driver.call(NewCall::of(TOOL));
        let (attempt, _) = told.sent.ok_or_else(nothing_sent)?;
        let failure = error(&Map::new(), step.input.get("headers").and_then(Value::as_object), None)?;
        let told = driver.fail(&Answer::to(call, attempt), TOOL, &failure);
        compare(&step.expect, &Sight::default().with("delay_ms", wish(&told)), case.tolerance_ms)?;
    }
    Ok(())
}

/// The wish that counted, or that the upstream forbids a retry.
fn wish(told: &Told) -> Shown {
    let forbids = |decision: &Decision| {
        let Decision::Outcome(outcome) = decision else { return false };
        outcome.kind == OutcomeKind::Exhausted(StopReason::ToldNotTo)
    };
    let wish = told.decisions.iter().find_map(|decision| match decision {
        Decision::RetryScheduled { told, .. } => *told,
        _ => None,
    });
    if told.decisions.iter().any(forbids) { "stop".into() } else { wish.into() }
}
