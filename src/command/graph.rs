//! `playproof graph`: shows the order of actions of a playbook, and asks it about recorded runs; drafts one.

use crate::command::graph_args::{
    Args, Draft, Format, History, HistoryFormat, Next, NextFormat, RecordedRun, Show, What,
};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::{Flags, Given};
use crate::input_paths::InputPaths;
use crate::output::{Output, say};
use crate::playbooks;
use crate::project::Project;
use crate::stream::Stream;
use crate::terminal::Terminal;
use playproof_analysis::graph::{self, DraftedCall, Drafter, Historian, HistoryStep, Tried, burr, valid_at};
use playproof_engine::playbook::Graph;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::shell::Command;
use playproof_report::graph as report;

/// The most names that a message lists.
const SHOWN: usize = 3;

/// Runs one of them.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        What::Show(args) => show(args, terminal, output),
        What::Next(args) => next(args, terminal, output),
        What::History(args) => history(args, terminal, output),
        What::Draft(args) => draft(args, terminal, output),
    }
}

fn show(args: &Show, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(option) = &args.option {
        let failure = Failure::new("`graph show` takes the playbook as its argument; there is no `--playbook`");
        return Err(failure.next(Command::new("playproof graph show").path(option)));
    }
    let name = playbooks::name(args.playbook.as_deref(), &Project::find()?);
    let playbook = playbooks::load(&name)?.playbook;
    let graph = graph_of(playbook.graph.as_ref(), &name)?;
    match args.format {
        Format::Json => output.json(report::json(&playbook, graph))?,
        Format::Mermaid => output.page(&report::mermaid(&playbook, graph))?,
        Format::Dot => output.page(&report::dot(&playbook, graph))?,
        Format::Table => output.page(&terminal.out.doc(&report::page(&playbook, graph)))?,
    }
    Ok(Exit::Clean)
}

/// The graph of a playbook.
fn graph_of<'a>(graph: Option<&'a Graph>, name: &str) -> Result<&'a Graph, Failure> {
    graph.ok_or_else(|| {
        Failure::new(format!("the playbook `{name}` has no graph"))
            .help("`actions` and `graph` say what an agent can do, and in which order")
            .next("playproof graph draft TRACE")
    })
}

/// The calls of a run under the playbook.
fn steps(
    name: &'static str,
    recorded: &RecordedRun,
    flags: &Flags,
    terminal: &Terminal,
) -> Result<(Plan, Vec<HistoryStep>), Failure> {
    let paths = InputPaths::find(&recorded.inputs)?;
    let flags = flags.reading(&["--playbook", "--run", "--tools"]);
    let stream = Stream::new(name, &paths, &recorded.reading, flags);
    let (project, tools) = stream.begin(recorded.tools.as_deref())?;
    let named = playbooks::name(recorded.playbook.as_deref(), &project);
    let plans = [Plan::new(playbooks::load(&named)?.playbook, &tools)];
    graph_of(plans[0].playbook.graph.as_ref(), &named)?; // one plan
    let mut all: Vec<HistoryStep> = Vec::new();
    let streamed = stream.run(&plans, &Historian, &project, terminal, |part| all.extend(part))?;
    streamed.all_read()?;
    let [plan] = plans;
    let steps = of_run(recorded, all)?;
    if let Some(said) = of_no_action(&plan, &steps) {
        say(&said);
    }
    Ok((plan, steps))
}

/// Says which tools of a run no action has, and what to write where an action has the name of one.
fn of_no_action(plan: &Plan, steps: &[HistoryStep]) -> Option<String> {
    let mut tools: Vec<&str> = Vec::new();
    for step in steps.iter().filter(|step| step.is_of_no_action) {
        if !tools.contains(&step.action.as_str()) {
            tools.push(&step.action);
        }
    }
    let listed: Vec<String> = tools.iter().take(SHOWN).map(|tool| format!("`{tool}`")).collect();
    let (listed, more) = (listed.join(", "), if tools.len() > SHOWN { ", ..." } else { "" });
    let same_name = tools.iter().find_map(|tool| plan.playbook.action_named(tool));
    let hint = same_name.map_or_else(
        || "an action names its tool with `tool:`".to_owned(),
        |action| {
            let (name, tool) = (&action.name, &action.tool);
            format!("the action `{name}` has the tool `{tool}`; for this recording write `tool: {name}`")
        },
    );
    let said = format!("note: no action of `{}` has a tool of these: {listed}{more}; {hint}", plan.names.playbook);
    (!tools.is_empty()).then_some(said)
}

/// The steps of the wanted run, or of the only one.
fn of_run(recorded: &RecordedRun, all: Vec<HistoryStep>) -> Result<Vec<HistoryStep>, Failure> {
    let steps = named_run(recorded, all)?;
    if steps.iter().any(|step| step.id != steps[0].id) {
        let failure = Failure::new("two inputs have the run, and a run is within one of them");
        return Err(failure.help("name the input that is meant"));
    }
    Ok(steps)
}

/// The steps of all runs with the wanted name.
fn named_run(recorded: &RecordedRun, all: Vec<HistoryStep>) -> Result<Vec<HistoryStep>, Failure> {
    let mut runs: Vec<&str> = all.iter().map(|step| step.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    let wanted = match (&recorded.run, runs.as_slice()) {
        (Some(run), runs) if runs.contains(&run.as_str()) => run.clone(),
        (Some(run), runs) => {
            let failure = Failure::new(format!("no run is called `{run}`"));
            return Err(match did_you_mean(run, runs.iter().copied()) {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure.help(some_of(runs)),
            });
        }
        (None, [only]) => (*only).to_owned(),
        (None, runs) => {
            let failure = Failure::new(format!("there are {} runs: `--run` says which", runs.len()));
            return Err(failure.help(some_of(runs)));
        }
    };
    Ok(all.into_iter().filter(|step| step.run == wanted).collect())
}

/// A few of the runs. Calls whose line names no run are one run for each input.
fn some_of(runs: &[&str]) -> String {
    let named: Vec<&str> = runs.iter().copied().filter(|run| !run.is_empty()).collect();
    if named.is_empty() {
        return "no call names its run: give one input, without `--run`; a mapping can read the run (`run: $file`)"
            .to_owned();
    }
    let (few, more) = named.split_at(named.len().min(SHOWN));
    format!("runs: {}{}", few.join(", "), if more.is_empty() { "" } else { ", ..." })
}

fn history(args: &Given<History>, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let (plan, steps) = steps("graph history", &args.recorded, &args.flags, terminal)?;
    match args.format {
        HistoryFormat::Json => output.json(report::history(&plan.names, &steps))?,
        HistoryFormat::Table => output.page(&terminal.out.doc(&report::history_page(&plan.names, &steps)))?,
    }
    Ok(Exit::Clean)
}

fn next(args: &Given<Next>, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let call = args.tried.as_deref().map(named_call).transpose()?;
    let (plan, steps) = steps("graph next", &args.recorded, &args.flags, terminal)?;
    let after = args.after.map_or(steps.len(), |after| usize::try_from(after).unwrap_or(usize::MAX));
    let at = valid_at(&plan, &steps, after).ok_or_else(|| {
        Failure::new(format!("the run has {} calls, and `--after {after}` asks for more", steps.len()))
    })?;
    let tried = call.map(|(name, args)| Tried::of(&plan, &at, name, Some(args)));
    match args.format {
        NextFormat::Json => output.json(report::next(&plan.names, after, &at.valid, tried.as_ref()))?,
        NextFormat::Table => {
            let page = report::next_page(&plan.names, after, &at.valid, tried.as_ref());
            output.page(&terminal.out.doc(&page))?;
        }
    }
    Ok(Exit::Clean)
}

/// `pay {"amount":5}`: an action or a tool, and its arguments.
fn named_call(text: &str) -> Result<(&str, &str), Failure> {
    let text = text.trim();
    let (name, args) = text.split_once(char::is_whitespace).map_or((text, "{}"), |(name, args)| (name, args.trim()));
    let wrong = match serde_json::from_str(args) {
        _ if name.is_empty() => "`--try` names no call".to_owned(),
        _ if name.starts_with(['{', '[']) => "`--try` has arguments, and no action before them".to_owned(),
        Ok(serde_json::Value::Object(_)) => return Ok((name, args)),
        Ok(_) => format!("the arguments `{args}` are no JSON object"),
        Err(_) => format!("the arguments `{args}` are no JSON"),
    };
    Err(Failure::new(wrong).help("write an action and its arguments: `--try 'pay {\"amount\":5}'`"))
}

fn draft(args: &Given<Draft>, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let paths = InputPaths::find(&args.inputs)?;
    if let [path] = paths.files()
        && args.reading.map.is_none()
        && let Some(text) = graph_file(path)
    {
        let draft = burr(&text)
            .map_err(|graph::NotABurrGraph(why)| Failure::new(format!("`{path}` is no graph of Burr: {why}")))?;
        output.page(&report::yaml(&draft, &files::display_name(path)))?;
        return Ok(Exit::Clean);
    }
    let stream = Stream::new("graph draft", &paths, &args.reading, args.flags.clone());
    let (project, tools) = stream.begin(None)?;
    let plans = [Plan::new(playbooks::load("standard")?.playbook, &tools)];
    let mut calls: Vec<DraftedCall> = Vec::new();
    let streamed = stream.run(&plans, &Drafter, &project, terminal, |part| calls.extend(part))?;
    streamed.all_read()?;
    let draft = graph::Draft::of_calls(calls, args.min_runs);
    if draft.entry.is_empty() {
        let failure = Failure::new(format!("no run begins with an edge that {} runs took", args.min_runs));
        return Err(failure.help("a graph needs an action to begin with: lower `--min-runs`"));
    }
    let names: Vec<String> = paths.files().iter().map(|path| files::display_name(path)).collect();
    output.page(&report::yaml(&draft, &names.join(", ")))?;
    Ok(Exit::Clean)
}

/// The text of a file that begins as a graph of Burr does; none: it is something else.
fn graph_file(path: &str) -> Option<String> {
    let is_graph = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(value.get("entrypoint").is_some() && value.get("transitions").is_some())
    };
    files::size(path).filter(|_| path != files::STDIN)?; // what is read of standard input or a pipe is gone
    let source = files::read_small(path).ok()?;
    (is_graph(&source.text) == Some(true)).then(|| source.text.clone())
}
