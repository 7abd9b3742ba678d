//! `playproof propose check [ID]`: shows what proposals change, and the objections to them.

use super::args::{Check, Format};
use super::context::{TrialResult, Trials};
use super::stored;
use crate::command::accept::tried_out;
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::playbooks;
use crate::project::Project;
use crate::reports;
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::impact::{Comparer, ImpactGate, ImpactPart};
use playproof_analysis::proposal::ProposalReport;
use playproof_engine::sim::Plan;
use playproof_formats::shell::Command;
use playproof_report::doc::Block;
use playproof_report::impact;
use playproof_report::proposal::{MARKER, json, page, proposals};

/// Checks.
///
/// # Errors
/// No proposals, one that cannot be used, a project or corpus that cannot be used.
pub fn run(args: &Check, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    reports::refuse_page(args.report.as_ref(), &args.corpus)?;
    let workspace = Workspace::open()?;
    if !args.corpus.is_empty() && args.format == Format::Json {
        return Err(Failure::new("`--corpus` shows a page or Markdown; for JSON compare the two playbooks")
            .next("playproof impact --candidate proposals/ID/playbook.yaml --format json TRACE"));
    }
    let ids = match &args.id {
        Some(id) => vec![id.clone()],
        None => stored::ids(&workspace)?,
    };
    if ids.is_empty() {
        return nothing(args, &workspace, output);
    }
    workspace.say_guesses()?;
    let trials = Trials::open(&workspace, args.threads.number())?;
    let mut tried = Vec::new();
    let mut failed: Option<Failure> = None;
    for id in &ids {
        match stored::load(&workspace, id).and_then(|stored| tried_out(&trials, &stored)) {
            Ok(trial) => tried.push(trial),
            Err(failure) => {
                failed = Some(match failed {
                    Some(first) => first.and(failure),
                    None => failure,
                });
            }
        }
    }
    show(args, terminal, &tried, output)?;
    match failed {
        Some(failure) => Err(failure),
        None if tried.iter().all(|trial| trial.judged.gates.is_empty()) => Ok(Exit::Clean),
        None => Ok(Exit::Found),
    }
}

fn nothing(args: &Check, workspace: &Workspace, output: &mut Output) -> Result<Exit, Failure> {
    let folder = workspace.name(workspace.proposals());
    if !args.allow_empty {
        workspace.refuse_empty()?;
        return Err(Failure::new(format!("nothing to check: there are no proposals in `{folder}`"))
            .help("`--allow-empty` if that is no error")
            .next("playproof propose new VERDICT"));
    }
    let doc = proposals(Vec::new());
    reports::write_page(args.report.as_ref(), || doc.html(), output)?;
    match args.format {
        Format::Markdown => output.page(&doc.comment(MARKER))?,
        Format::Json => output.json(json(&[]))?,
        Format::Table => output.page("no proposals")?,
    }
    Ok(Exit::Clean)
}

fn show(args: &Check, terminal: &Terminal, tried: &[TrialResult], output: &mut Output) -> Result<(), Failure> {
    let mut pages = Vec::new();
    // An unreadable corpus is reported before any page.
    for trial in tried {
        let corpus = if args.corpus.is_empty() { Vec::new() } else { corpus(args, terminal, trial)? };
        pages.push(page(&trial.judged, Some(&trial.applied.loaded), corpus));
    }
    let doc = proposals(pages);
    reports::write_page(args.report.as_ref(), || doc.html(), output)?;
    match args.format {
        Format::Markdown => output.page(&doc.comment(MARKER)),
        Format::Json => {
            let judged: Vec<ProposalReport> = tried.iter().map(|trial| trial.judged.clone()).collect();
            output.json(json(&judged))
        }
        Format::Table => output.page(&terminal.out.drawn(&doc.blocks)),
    }
}

/// What a proposal changes on recorded calls.
fn corpus(args: &Check, terminal: &Terminal, trial: &TrialResult) -> Result<Vec<Block>, Failure> {
    let project = Project::find()?;
    let tools = playbooks::facts(args.tools.as_deref(), &project)?;
    let mut proposed = trial.applied.loaded.playbook.clone();
    proposed.name = format!("{} as proposed", proposed.name).into();
    let plans = [Plan::new(trial.used.loaded.playbook.clone(), &tools), Plan::new(proposed, &tools)];
    let [base, candidate] = &plans;
    let watcher = Comparer::new(base, candidate);
    let command = Command::new("playproof propose check").names(&args.id);
    let corpus = InputPaths::find(&args.corpus)?;
    let flags = args.flags.without(&["--tools", "--corpus"]);
    let stream = Stream {
        command: command.flag_if("--tools", args.tools.as_deref()).and("--corpus"),
        threads: args.threads,
        ..Stream::new("propose", &corpus, &args.reading, flags)
    };
    let mut all = ImpactPart::default();
    let streamed = stream.run(&plans, &watcher, &project, terminal, |part| all.merge(part))?.all_read()?;
    let compared = watcher.finish(all, [base, candidate], &streamed.replayed);
    let gate = ImpactGate::default();
    let Streamed { replayed, notes, .. } = &streamed;
    let shown = impact::ImpactPage { impact: &compared, replayed, notes, remarks: &[], gate: &gate, next: None };
    let doc = impact::page(&shown);
    Ok(doc.blocks.into_iter().chain(doc.answer).collect())
}
