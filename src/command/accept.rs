//! `playproof accept [ID...]`: what waits for review becomes the goldens.

use crate::checking;
use crate::checking::Selection;
use crate::exit::{Exit, Failure};
use crate::output::{Output, to_stderr};
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use crate::{folders, pending, reason};
use playproof_analysis::check::{CaseId, CaseResult};
use playproof_formats::shell::Command;

/// What is accepted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof accept                              everything that waits for review
  playproof accept standard/the-worked-refund   one of them
  playproof accept --reason 'the upstream now remembers keys for a day'

A changed effect and a weakened guard are not accepted without a reason; it is kept in the golden. What contradicts
the `expect` of its fixture cannot be accepted. Either all that is named is accepted, or nothing.")]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, or fixtures [default: everything that waits]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// Why a changed effect or a weakened guard is accepted
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// Accepts.
///
/// # Errors
/// Nothing that waits, or something that may not be accepted.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let reason = args.reason.as_deref();
    let again = Command::new("playproof accept").flag_if("--reason", reason);
    let checked = checking::check(&workspace, &Selection::of(&args.ids, again), checking::jobs(None), false)?;
    let results = waiting(&workspace, &checked.report.results);
    if results.is_empty() {
        workspace.refuse_empty()?;
        return Err(nothing_waits(&checked.report.results));
    }
    for result in &results {
        refuse_stale(&workspace, result)?;
    }
    let accepted = pending::acceptance(&workspace, &results, reason)?;
    project_lock.commit(&accepted.changes, output)?;
    if terminal.ci {
        to_stderr("playproof: accepting in CI, because this command says so\n");
    }
    let lines: Vec<String> = accepted.ids.iter().map(|id: &CaseId| format!("accepted {id}")).collect();
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// The results of which a pending golden lies beside the accepted one.
pub fn waiting<'a>(workspace: &Workspace, results: &'a [CaseResult]) -> Vec<&'a CaseResult> {
    results.iter().filter(|result| folders::has_file(&workspace.golden(&result.id).pending)).collect()
}

/// That there is nothing to review, and why.
pub fn nothing_waits(results: &[CaseResult]) -> Failure {
    let contradicting = results.iter().find(|result| !result.contradictions.is_empty());
    match contradicting {
        Some(result) => Failure::new(format!("nothing of this waits for review; `{}` cannot be accepted", result.id))
            .help("it contradicts what its fixture is meant to show")
            .next(Command::new("playproof check").name(&result.id.to_string())),
        None => Failure::new("nothing waits for review").next("playproof check"),
    }
}

/// Refuses what was left by an earlier check and is no longer what the run shows.
fn refuse_stale(workspace: &Workspace, result: &CaseResult) -> Result<(), Failure> {
    let source = workspace.read(&workspace.golden(&result.id).pending)?;
    let left = playproof_formats::golden::GoldenFile::parse(&source)?;
    if left.body.text.trim_end() == result.body.render().trim_end() || !result.contradictions.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("what waits for `{}` is no longer what the run shows", result.id))
        .help("something changed after the check that left it")
        .next(Command::new("playproof check").name(&result.id.to_string())))
}
