//! Results files of tau2-bench: an object whose `simulations` are runs. Results may carry an `error` flag,
//! messages their times; the simulated user may call tools too.

use super::messages::{after_error_prefix, walk};
use super::names::{RunLabel, unique};
use super::run::Sink;
use super::tau::task_label;
use crate::foreign::Oddity;
use crate::json;
use crate::json::Fields;
use crate::text::Foreign;
use playproof_formats::diagnostic::Report;

/// Writes every run of `foreign`.
pub(super) fn read(foreign: &Foreign<'_>, sink: &mut Sink) -> Result<(), Report> {
    let simulations = json::object(foreign.document()?)
        .and_then(|document| document.get("simulations").and_then(json::array))
        .ok_or_else(|| foreign.shape("a tau2-bench results file: `simulations` is no array"))?;
    let runs: Vec<Option<Fields<'_>>> = simulations.into_iter().map(json::object).collect();
    let labels: Vec<RunLabel> = runs.iter().map(|run| run.as_ref().map(task_label).unwrap_or_default()).collect();
    for (n, (run, name)) in runs.iter().zip(unique(&labels)).enumerate() {
        match run {
            Some(run) => {
                let messages = run.get("messages").and_then(json::array).unwrap_or_default();
                walk(&name, &messages, &format!("simulations[{n}].messages"), after_error_prefix, sink);
            }
            None => sink.loss.saw(Oddity::NotReadable, &format!("simulations[{n}]")),
        }
    }
    Ok(())
}
