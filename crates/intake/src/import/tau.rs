//! Results files of tau-bench and tau2-bench. tau-bench writes an array of runs, each with its task, its trial and its
//! messages (`traj`). tau2-bench writes an object whose `simulations` are runs: results may carry an `error` flag, messages
//! carry their times, and the simulated user may call tools too.

use super::messages::walk;
use super::names::{RunLabel, unique};
use super::run::ImportOutput;
use crate::imported::ImportWarning;
use crate::json;
use crate::json::Fields;
use crate::raw_value::{RawValue, Tape};
use crate::source_text::SourceText;
use playproof_formats::diagnostic::Report;

/// How a results file names its runs.
struct RunsShape {
    /// The path of the array of runs.
    runs: &'static str,
    /// The field of a run that holds its messages.
    messages: &'static str,
}

/// Writes every run of a tau-bench file.
pub(super) fn read_tau(source: &SourceText<'_>, output: &mut ImportOutput) -> Result<(), Report> {
    let mut tape = Tape::default();
    let items = json::array(source.on_tape(&mut tape)?).ok_or_else(|| source.shape("an array of tau-bench results"))?;
    write_runs(items, &RunsShape { runs: "", messages: "traj" }, output);
    Ok(())
}

/// Writes every run of a tau2-bench file.
pub(super) fn read_tau2(source: &SourceText<'_>, output: &mut ImportOutput) -> Result<(), Report> {
    let mut tape = Tape::default();
    let simulations = json::object(source.on_tape(&mut tape)?)
        .and_then(|document| document.get("simulations").and_then(json::array))
        .ok_or_else(|| source.shape("a tau2-bench results file: `simulations` is no array"))?;
    let shape = RunsShape { runs: "simulations", messages: "messages" };
    write_runs(simulations, &shape, output);
    Ok(())
}

fn write_runs(items: Vec<RawValue<'_>>, shape: &RunsShape, output: &mut ImportOutput) {
    let runs: Vec<Option<Fields<'_>>> = items.into_iter().map(json::object).collect();
    let labels: Vec<RunLabel> = runs.iter().map(|run| run.as_ref().map(task_label).unwrap_or_default()).collect();
    for (n, (run, name)) in runs.iter().zip(unique(&labels)).enumerate() {
        let place = format!("{}[{n}]", shape.runs);
        match run {
            Some(run) => {
                let messages = run.get(shape.messages).and_then(json::array).unwrap_or_default();
                walk(Some(&name), &messages, &format!("{place}.{}", shape.messages), output);
            }
            None => output.loss.warn(ImportWarning::NotReadable, &place),
        }
    }
}

/// Names a run after its task.
fn task_label(run: &Fields<'_>) -> RunLabel {
    RunLabel {
        base: run.text("task_id").map(|task| format!("task_{task}")),
        trial: run.text("trial").map(String::from),
    }
}
