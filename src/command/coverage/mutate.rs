//! `playproof coverage --mutate`: changes a playbook one row at a time, and lists the changes that no fixture
//! notices.

use super::args::{Args, Format, MAX_CALLS};
use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::folders::{self, Taken};
use crate::output::{Output, to_stderr};
use crate::project;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::mutation::{Accepted, MutationReport, judge};
use playproof_explore::coverage::NamedFixture;
use playproof_formats::shell::Command;
use playproof_report::diagnostic;
use playproof_report::mutation::{json, page, stale};
use playproof_report::style::Extent;
use playproof_report::text::{count, counted};

/// Mutates.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_playbooks(&args.playbooks, |once| {
        args.flags.after(Command::new("playproof coverage").paths(once))
    })?;
    let workspace = Workspace::open()?.with_fixtures(args.fixtures.as_deref());
    let accepted = accepted(args.accepted.as_deref(), &workspace)?;
    workspace.say_guesses()?;
    let jobs = args.threads.number();
    let named = args.playbooks.iter().map(|name| Some(name.as_str()));
    let asked: Vec<_> = if args.playbooks.is_empty() { vec![None] } else { named.collect() };
    let (mut reports, mut names) = (Vec::new(), Vec::new());
    for asked in asked {
        let (name, used) = workspace.playbook(asked)?;
        let fixtures = workspace.fixtures_of(&name, jobs)?;
        let cases: Vec<NamedFixture> =
            fixtures.into_iter().map(|(name, fixture)| NamedFixture { name, fixture }).collect();
        let report =
            judge(&name, &used.loaded, workspace.tools(), &cases, accepted.entries(&name), jobs, args.max_calls);
        reports.push(report);
        names.push(asked.map_or_else(|| workspace.playbook_argument(&name), str::to_owned));
    }
    match args.format {
        Format::Json => output.json(json(&reports))?,
        Format::Lines => {
            let table =
                args.flags.without(&["--format"]).after(Command::new("playproof coverage").paths(&args.playbooks));
            return Err(Failure::new("`--format lines` shows what is exercised; `--mutate` has no lines").next(table));
        }
        Format::Table => output.page(&pages(&reports, args, &names, terminal))?,
    }
    conclude(&reports, &accepted, terminal);
    if let Some(said) = inconclusive(&reports, args) {
        to_stderr(&said);
        return Ok(Exit::Inconclusive);
    }
    match reports.iter().all(MutationReport::is_settled) {
        true => Ok(Exit::Clean),
        false => Ok(Exit::Found),
    }
}

/// Why nothing can be concluded: not every mutant was judged, or there is none.
fn inconclusive(reports: &[MutationReport], args: &Args) -> Option<String> {
    let not_judged: usize = reports.iter().map(MutationReport::not_judged).sum();
    if not_judged > 0 {
        let mutants = counted(not_judged as u64, "mutant was", "mutants were");
        let more = args.max_calls.saturating_mul(10).max(MAX_CALLS);
        return Some(format!(
            "error: {} simulated calls were not enough: {mutants} not judged\n  help: `--max-calls {more}` raises the limit\n",
            count(args.max_calls)
        ));
    }
    let nothing = reports.iter().all(|report| report.mutants.is_empty());
    nothing.then(|| "error: there is nothing in the playbook that could be changed\n".to_owned())
}

/// What is accepted; nothing where no file is named and the project has none.
fn accepted(asked: Option<&str>, workspace: &Workspace) -> Result<Accepted, Failure> {
    let own = workspace.root().join(project::MUTANTS);
    let source = match asked {
        Some(path) => files::read_small(path)?,
        None if folders::taken(&own)? == Taken::Free => return Ok(Accepted::nothing()),
        None => workspace.read(&own)?,
    };
    Ok(Accepted::parse(source)?)
}

fn pages(reports: &[MutationReport], args: &Args, names: &[String], terminal: &Terminal) -> String {
    let extent = if args.all { Extent::All } else { Extent::Some };
    let pages = reports.iter().zip(names).map(|(report, name)| {
        let command = args.flags.without(&["--all", "--format"]).after(Command::new("playproof coverage").path(name));
        terminal.out.doc(&page(report, extent, &command))
    });
    pages.collect::<Vec<_>>().join("\n\n")
}

/// Prints stale entries, and what to do about survivors, on standard error.
fn conclude(reports: &[MutationReport], accepted: &Accepted, terminal: &Terminal) {
    for report in reports.iter().filter_map(|report| stale(report, accepted)) {
        to_stderr(&diagnostic::render(&report, terminal.err.width, terminal.err.colour));
    }
    if reports.iter().any(|report| report.survivors().next().is_some()) {
        to_stderr("help: write a fixture for each survivor, or say in mutants.yaml why none is needed\n");
    } else if reports.iter().any(|report| !report.stale.is_empty()) {
        to_stderr("help: take the stale entries from the list\n");
    }
}
