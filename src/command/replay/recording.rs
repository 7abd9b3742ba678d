//! `replay --record` and `--same-decisions`: writes the run of a fixture as a trace, and compares the decisions that a trace
//! has with those of a playbook.

use std::sync::{Mutex, PoisonError};

use super::args::{Args, Format};
use super::prepared::{LoadedFixture, with_playbooks};
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::{Output, say};
use crate::project::Project;
use crate::stream::Stream;
use crate::terminal::Terminal;
use crate::{files, inputs, outputs};
use playproof_analysis::replay::{CallResult, Observer};
use playproof_engine::call::Place;
use playproof_engine::event::unnamed;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Pace, Plan};
use playproof_formats::shell::Command;
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;
use playproof_report::decisions::{ComparedDecisions, DecisionDifference, tools_of, trace_of};
use playproof_serve::chain::Chain;
use serde_json::Value;

/// Calls that differ and are shown.
const SHOWN: usize = 20;

/// Writes the run of the only fixture under the only plan to `file`.
pub fn record(args: &Args, file: &str, loaded: &[LoadedFixture<'_>], output: &mut Output) -> Result<(), Failure> {
    let [(path, fixture, plans)] = loaded else {
        return Err(Failure::new("`--record` takes one fixture").help("record each fixture into its own file"));
    };
    let [(name, plan)] = plans.as_slice() else {
        let names: Vec<&str> = plans.iter().map(|(name, _)| name.as_str()).collect();
        let first = with_playbooks(args, &names[..names.len().min(1)]);
        return Err(Failure::new("`--record` takes one playbook: a trace has the decisions of one dispatcher")
            .help(format!("the fixture is for {}", names.join(", ")))
            .next(first.after(Command::new("playproof replay").path(path))));
    };
    if fixture.crash.is_some() {
        return Err(Failure::new("`--record` takes no fixture with a `crash`: what it lost left no line")
            .help("without it, it can be recorded"));
    }
    let (facts, facts_file) = (tools_of(fixture), facts_file(file));
    let files = std::iter::once(file).chain(facts.is_some().then_some(facts_file.as_str()));
    for file in files {
        outputs::refuse_input(file, [path.as_str()])?;
        outputs::refuse(file)?;
    }
    outputs::refuse_others(file, "recording of a fixture", |beginning| {
        beginning.starts_with(b"{\"type\":\"recording\"")
    })?;
    if facts.is_some() {
        outputs::refuse_others(&facts_file, "tool facts file", |beginning| beginning.starts_with(b"format: tools/1"))?;
    }
    let lines = trace_of(plan, fixture).into_bytes();
    let mut linked = Vec::new();
    if args.chain {
        Chain::default().link(&mut linked, &lines);
    }
    outputs::write(file, if args.chain { &linked } else { &lines }, output)?;
    if let Some(facts) = facts {
        outputs::write(&facts_file, facts.as_bytes(), output)?;
        let again = Command::new("playproof replay").path(file).flag("--playbook", name).flag("--tools", &facts_file);
        say(&format!("note: `{facts_file}` has the tool facts of the fixture: `{again}`"));
    }
    Ok(())
}

/// The file for the tool facts of a recorded fixture: `run.tools.yaml` beside `run.jsonl`.
fn facts_file(trace: &str) -> String {
    format!("{}.tools.yaml", trace.strip_suffix(".jsonl").unwrap_or(trace))
}

/// Compares the decisions of every call.
struct DecisionObserver {
    sources: Sources,
    total: Mutex<ComparedDecisions>,
}

impl Observer for DecisionObserver {
    type Part = ComparedDecisions;

    fn part(&self) -> ComparedDecisions {
        ComparedDecisions::default()
    }

    fn on_call(&self, seen: &CallResult<'_>, part: &mut ComparedDecisions) {
        let Some((record, plan)) = seen.records().next().zip(seen.plans.first()) else { return };
        let reference = [seen.call.reference()];
        let place = |line| self.sources.describe(Place { line, ..seen.call.place });
        part.add(&seen.call, &record.transcript(&plan.names, &reference, &unnamed), place);
    }
}

/// Compares the decisions of traces with those of the only plan.
pub fn compare(
    args: &Args,
    paths: &InputPaths,
    (plans, tools): (&[Plan], &Tools),
    project: &Project,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let [plan] = plans else {
        return Err(Failure::new("`--same-decisions` takes one playbook")
            .help("a trace has the decisions of one dispatcher")
            .next(
                args.flags.without(&["--playbook"]).after(Command::new("playproof replay").paths(paths.shortest())),
            ));
    };
    if let Some(mut compared) = decided_again(paths, plan, tools)? {
        if compared.calls == 0 && !args.allow_empty {
            return Err(Failure::new("no call was decided: there is nothing to compare")
                .help("the journal has its head alone; `--allow-empty` takes that for the same"));
        }
        compared.differences.iter_mut().for_each(|difference| hide(difference, &project.redaction));
        return shown(args, &compared, plan, terminal, output);
    }
    let observer = DecisionObserver { sources: paths.sources().clone(), total: Mutex::default() };
    let stream = Stream {
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        pace: args.pace.or(Some(Pace::Recorded)),
        threads: args.threads,
        allow_empty: Some(args.allow_empty),
        ..Stream::new("replay", paths, &args.reading, args.flags.clone())
    };
    let streamed = stream.write(plans, &observer, project, terminal, |part| {
        observer.total.lock().unwrap_or_else(PoisonError::into_inner).merge(part);
        Ok(())
    })?;
    let compared = observer.total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_whole = streamed.replayed.ledger().skipped == 0;
    streamed.all_read()?;
    if compared.calls == 0 {
        let lacks = if is_whole { "no `decision` lines" } else { "no `decision` lines beside those that were skipped" };
        return Err(Failure::new(format!("the trace has {lacks}: there is nothing to compare"))
            .help("`playproof replay FIXTURE --record FILE` writes a trace that has them")
            .next(
                args.flags
                    .without(&["--same-decisions"])
                    .after(Command::new("playproof replay").paths(paths.shortest())),
            ));
    }
    shown(args, &compared, plan, terminal, output)
}

/// The decisions of journals, whose lines are decided again; none: the inputs are traces.
fn decided_again(paths: &InputPaths, plan: &Plan, tools: &Tools) -> Result<Option<ComparedDecisions>, Failure> {
    let mut all: Option<ComparedDecisions> = None;
    for (n, path) in paths.files().iter().enumerate() {
        match (inputs::journal(path)?, &all) {
            (None, None) if n == 0 => return Ok(None),
            (Some(journal), _) if n == 0 || all.is_some() => {
                let name = files::display_name(path);
                let plan = Plan::new(plan.playbook.clone(), tools).with_seed(plan.seed);
                let compared = playproof_serve::decided_again(&journal, plan, |line| format!("{name}:{line}"));
                all.get_or_insert_default().merge(compared.map_err(|why| inputs::unusable_journal(&name, why))?);
            }
            _ => {
                return Err(Failure::new("`--same-decisions` takes traces or journals, not both")
                    .help("compare the journals by themselves"));
            }
        }
    }
    Ok(all)
}

/// Hides in a difference what the project's redaction names: a journal has raw values.
fn hide(difference: &mut DecisionDifference, redaction: &RedactionRules) {
    let hidden = |said: &Value| serde_json::from_str(&redaction.json(&said.to_string())).unwrap_or_default();
    difference.reference = redaction.text(&difference.reference).into_owned();
    for said in [&mut difference.recorded, &mut difference.decided].into_iter().flatten() {
        *said = hidden(said);
    }
}

/// Shows what differs.
fn shown(
    args: &Args,
    compared: &ComparedDecisions,
    plan: &Plan,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match args.format {
        Format::Json | Format::Jsonl => output.json(compared.json(&plan.playbook.name))?,
        Format::Markdown => output.page(&compared.page(plan, SHOWN).markdown())?,
        Format::Table => output.page(&terminal.out.doc(&compared.page(plan, SHOWN)))?,
    }
    Ok(if compared.differences.is_empty() { Exit::Clean } else { Exit::Found })
}
