//! Runs the waits of a case: single ones through the wait module, a sequence with its limits through a machine.

use serde_json::{Map, Value, json};

use super::amount::Amount;
use super::case::{Case, CaseStep};
use super::compare::Sight;
use super::retry::Calls;
use super::steps::run_steps;
use super::subject::{draw, plan, retry_of};
use super::unmet::Unmet;
use playproof_engine::dispatch::own_wait;
use playproof_engine::event::Draw;
use playproof_engine::playbook::Playbook;
use playproof_engine::time::Duration;

/// Runs a case of kind `backoff`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    let playbook = plan(case)?.playbook;
    let mut previous = None;
    let run = |calls: &mut Calls<'_>, step: &CaseStep| match step.op.as_str() {
        "delay" => single(case, &playbook, step, &mut previous),
        "next" => calls.response(&next(&step.input)),
        _ => {
            previous = None;
            calls.reset();
            Ok(Sight::default())
        }
    };
    run_steps(case, &mut Calls::new(case)?, run, Calls::end)
}

/// The wait before retry `n`.
fn single(
    case: &Case,
    playbook: &Playbook,
    step: &CaseStep,
    previous: &mut Option<(Duration, Draw)>,
) -> Result<Sight, Unmet> {
    let n = step.input.get("n").and_then(Amount::of).and_then(Amount::as_whole).and_then(|n| u32::try_from(n).ok());
    let n = n.ok_or_else(|| Unmet::unsupported("`n` is the number of a retry"))?;
    let retry = retry_of(playbook, step.input.get("class").and_then(Value::as_str))?;
    let draw = draw(case, &step.input)?;
    let wait = own_wait(&retry.backoff, n, draw, previous.filter(|_| n > 1));
    *previous = Some((wait, draw));
    Ok(Sight::default().with("delay_ms", wait).with("stop", false))
}

/// A failure of any kind, with the draw and the time of a step.
fn next(input: &Map<String, Value>) -> Map<String, Value> {
    let mut failed = input.clone();
    failed.insert("outcome".into(), json!({ "class": "failure" }));
    if let Some(took) = failed.remove("advance_ms") {
        failed.insert("duration_ms".into(), took);
    }
    failed
}
