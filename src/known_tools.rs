//! The tools that a project and its traces name, for the lint of globs. Decides nothing about playbooks.

use std::collections::BTreeSet;
use std::ops::Range;

use super::exit::Failure;
use super::files;
use super::inputs;
use super::output::say;
use super::project::Project;
use super::read_options::ReadOptions;
use super::threads::Threads;
use super::workspace::Workspace;
use playproof_engine::glob::is_glob;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::fixture;
use playproof_formats::playbook::lint::{SeenArguments, stopped_globs_of_rows};
use playproof_intake::tool_facts::argument_names;

/// The most tools that are kept of traces. A trace with more names a tool anew in each call.
const MOST_TOOLS: usize = 5_000;

/// The tools, and the globs outside playbooks that a dot stops.
#[derive(Debug, Default)]
pub struct KnownTools {
    /// The tools of the fixtures and traces.
    pub known: BTreeSet<String>,
    /// The tools that the tool facts name.
    pub declared: BTreeSet<String>,
    /// By file: of tool facts or a fixture.
    pub stopped: Vec<Report>,
    /// The names of the arguments of recorded calls, by tool.
    pub seen: SeenArguments,
}

/// The tools of the traces, and of the project's tool facts and fixtures as far as these can be read: other commands
/// name what is wrong in them.
///
/// # Errors
/// A trace that cannot be used.
pub fn read(traces: &[String], reading: &ReadOptions) -> Result<KnownTools, Failure> {
    let mut tools = if traces.is_empty() { KnownTools::default() } else { of_traces(traces, reading)? };
    if let Ok(workspace) = Workspace::open() {
        tools.add_project(&workspace);
    }
    Ok(tools)
}

impl KnownTools {
    fn add_project(&mut self, workspace: &Workspace) {
        for name in workspace.fixture_names().unwrap_or_default() {
            let Ok(source) = workspace.read(&workspace.fixture_path(&name)) else { continue };
            let Ok(fixture) = fixture::parse(source.clone()) else { continue };
            let calls: BTreeSet<String> =
                fixture.calls.iter().filter(|call| !call.is_action).map(|call| call.tool.clone()).collect();
            let rows = fixture.tools.iter().map(|row| (row.pattern.as_str(), place(&source, &row.pattern)));
            self.stop(&source, &stopped_globs_of_rows(&rows.collect::<Vec<_>>(), &calls));
            self.known.extend(calls);
        }
        if let Ok(Some(file)) = workspace.tools_file() {
            let rows = file.rows();
            self.declared.extend(rows.iter().filter(|(tool, _)| !is_glob(tool)).map(|(tool, _)| (*tool).to_owned()));
            let mut found = stopped_globs_of_rows(&rows, &self.known);
            found.extend(file.unseen_arguments(&self.seen));
            self.stop(&file.source, &found);
        }
    }

    fn stop(&mut self, source: &std::sync::Arc<Source>, found: &[Diagnostic]) {
        if !found.is_empty() {
            self.stopped.push(Report { source: source.clone(), diagnostics: found.to_vec() });
        }
    }
}

/// The place of a pattern in a fixture, which keeps no places: its key below `tools`.
fn place(source: &Source, pattern: &str) -> Range<usize> {
    let text = &*source.text;
    let tools = text.find("\ntools:").map_or(0, |at| at + "\ntools:".len());
    let is_key = |&at: &usize| {
        let ends = text[at + pattern.len()..].trim_start_matches(['"', '\'', ' ']).starts_with(':');
        ends && text[..at].ends_with(['"', '\'', ' ', '{', ','])
    };
    let found = text[tools..].match_indices(pattern).map(|(at, _)| tools + at).find(is_key);
    found.map_or(0..0, |at| at..at + pattern.len())
}

fn of_traces(traces: &[String], reading: &ReadOptions) -> Result<KnownTools, Failure> {
    let redaction = Project::find()?.redaction;
    let mapping = reading.reading(Threads::default())?;
    let (mut known, mut seen, mut is_full) = (BTreeSet::new(), SeenArguments::new(), false);
    for (number, path) in traces.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let input = inputs::trace(path, &mapping, &redaction)?;
        let ledger = input.each_call(number, reading.options(), &redaction, &|_| true, |closed| {
            let tool = closed.shown().tool();
            if seen.contains_key(tool) || seen.len() < MOST_TOOLS {
                let names = closed.shown().args().map(argument_names).unwrap_or_default();
                let known = seen.entry(tool.to_owned()).or_default();
                known.extend(names.into_iter().take(MOST_TOOLS.saturating_sub(known.len())));
            }
            // No dot stops a glob before a tool without one.
            if tool.contains('.') && !known.contains(tool) {
                match known.len() < MOST_TOOLS {
                    true => drop(known.insert(tool.to_owned())),
                    false => is_full = true,
                }
            }
        })?;
        reading.account_for(&files::display_name(path), &ledger)?;
    }
    if is_full {
        say(&format!("note: the traces have more tools: the first {MOST_TOOLS} are compared with globs"));
    }
    Ok(KnownTools { known, seen, ..KnownTools::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_where_the_tools_of_a_fixture_name_it() {
        let text =
            "title: no pay.* here, `pay.*: x` neither\ntools:\n  \"re.pay.*\": {}\n  'pay.*' : { access: write }\n";
        let found = place(&Source::whole("f.yaml", text), "pay.*");
        assert_eq!(found.start, text.find("'pay.*'").unwrap() + 1);
        let flow = "title: pay.*\ntools: { get: {}, pay.*: {} }\n";
        assert_eq!(place(&Source::whole("f.yaml", flow), "pay.*"), 31..36);
        assert_eq!(place(&Source::whole("f.yaml", flow), "other"), 0..0);
    }
}
