//! The recordings that the project names: each of their runs is checked like a fixture, under the project's playbook.

use std::path::Path;

use super::root::Workspace;
use crate::exit::Failure;
use crate::input_paths::InputPaths;
use crate::inputs;
use crate::project::{self, Project};
use crate::read_options::ReadOptions;
use crate::threads::Threads;
use playproof_analysis::recorded::{fixture_of_run, runs_of};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::first_free;

/// The most runs of all recordings: each has a golden that people review.
const MOST_RUNS: usize = 1_000;

/// A run of a recording.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// Its name beside those of fixtures: `traces/FILE/RUN`.
    pub name: String,
    /// The recording, as messages name it.
    pub file: String,
    /// The run as a fixture without expectations.
    pub fixture: Fixture,
}

impl Workspace {
    /// The runs of all recordings that the project names, in their order.
    ///
    /// # Errors
    /// A recording that cannot be read; more runs than people can review.
    pub fn recorded_runs(&self, threads: Threads) -> Result<Vec<RecordedRun>, Failure> {
        let project = Project::find()?;
        if project.traces.is_empty() {
            return Ok(Vec::new());
        }
        let reading = ReadOptions::plain(None).reading(threads)?;
        let mut runs: Vec<RecordedRun> = Vec::new();
        for path in InputPaths::find(&project.traces)?.files() {
            self.refuse_outside(Path::new(path))?;
            let calls = inputs::trace(path, &reading, &project.redaction)?.calls(&project.redaction)?;
            let stem = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or_default();
            for (run, calls) in runs_of(&calls) {
                let name = format!("traces/{}/{}", in_a_path(stem), in_a_path(run.unwrap_or("unnamed")));
                let name = first_free(&name, |name| runs.iter().any(|other| other.name == name));
                let fixture = Fixture { title: format!("A recorded run of {stem}"), ..fixture_of_run(&calls) };
                runs.push(RecordedRun { name, file: self.name(Path::new(path)), fixture });
            }
            if runs.len() > MOST_RUNS {
                let said = format!("the recordings that `{}` names have more than {MOST_RUNS} runs", project::FILE);
                return Err(Failure::new(said)
                    .help("each run has a golden that people review: name the recordings that matter")
                    .next("playproof schema project"));
            }
        }
        Ok(runs)
    }

    /// The names of all fixtures and of all runs of recordings.
    ///
    /// # Errors
    /// A folder or a recording that cannot be read.
    pub fn checked_names(&self) -> Result<Vec<String>, Failure> {
        let recorded = self.recorded_runs(Threads::default())?.into_iter().map(|run| run.name);
        Ok(self.fixture_names()?.into_iter().chain(recorded).collect())
    }
}

/// The text with a dash for each character that a file's name should not have.
fn in_a_path(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = text.chars().map(|c| if fits(c) { c } else { '-' }).take(100).collect();
    let plain = plain.trim_matches(['-', '.']);
    if plain.is_empty() { "unnamed".to_owned() } else { plain.to_owned() }
}
