//! Results files of tau-bench: an array of runs, each with its task, its trial and its messages (`traj`).

use super::messages::{after_error_prefix, walk};
use super::names::{RunLabel, unique};
use super::run::Sink;
use crate::foreign::Oddity;
use crate::json;
use crate::json::Fields;
use crate::text::Foreign;
use playproof_formats::diagnostic::Report;

/// Writes every run of `foreign`.
pub(super) fn read(foreign: &Foreign<'_>, sink: &mut Sink) -> Result<(), Report> {
    let items = json::array(foreign.document()?).ok_or_else(|| foreign.shape("an array of tau-bench results"))?;
    let runs: Vec<Option<Fields<'_>>> = items.into_iter().map(json::object).collect();
    let labels: Vec<RunLabel> = runs.iter().map(|run| run.as_ref().map(task_label).unwrap_or_default()).collect();
    for (n, (run, name)) in runs.iter().zip(unique(&labels)).enumerate() {
        match run {
            Some(run) => {
                let messages = run.get("traj").and_then(json::array).unwrap_or_default();
                walk(&name, &messages, &format!("[{n}].traj"), failure, sink);
            }
            None => sink.loss.saw(Oddity::NotReadable, &format!("[{n}]")),
        }
    }
    Ok(())
}

/// The name of a run after its task.
pub(super) fn task_label(run: &Fields<'_>) -> RunLabel {
    RunLabel {
        base: run.text("task_id").map(|task| format!("task_{task}")),
        trial: run.text("trial").map(String::from),
    }
}

/// tau-bench answers a tool that it does not have with `Unknown action NAME`, and any exception with `Error: ...`.
fn failure<'c>(content: &'c str, tool: Option<&str>) -> Option<&'c str> {
    let unknown = || content.strip_prefix("Unknown action ").is_some_and(|name| Some(name) == tool);
    after_error_prefix(content, tool).or_else(|| unknown().then_some(content))
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn an_unknown_action_is_a_failure_only_where_it_names_the_tool_called() {
        assert_eq!(failure("Unknown action fly", Some("fly")), Some("Unknown action fly"));
        assert_eq!(failure("Unknown action fly", Some("think")), None);
        assert_eq!(failure("Error: x", None), Some("x"));
    }
}
