//! `playproof mutate [PLAYBOOK...]`: changes a playbook one row at a time, and lists the changes that no fixture
//! notices.

use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::Given;
use crate::folders::{self, Taken};
use crate::format::formats;
use crate::output::{Output, to_stderr};
use crate::project;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::values::whole;
use crate::workspace::Workspace;
use playproof_analysis::coverage::NamedFixture;
use playproof_analysis::mutation::{Accepted, MutationReport, judge};
use playproof_formats::shell::Command;
use playproof_report::diagnostic;
use playproof_report::mutation::{json, page, stale};
use playproof_report::style::Extent;
use playproof_report::text::{count, counted};

/// Calls that are simulated for each playbook unless more are asked for: about ten seconds of a busy machine.
const MAX_CALLS: u64 = 2_000_000;

formats!(Format: Table = "For people", Json = "One JSON document");

/// The arguments of `mutate`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is mutated.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof mutate                       the project's playbook, under the fixtures that name it
  playproof mutate standard reversing    several
  playproof mutate --all                 with the fixture that would catch each survivor

A mutant is the playbook with one row changed: a rule removed, moved or widened, a compensation replaced, a limit changed
by one, a guard switched off, another queue, wait or effect claim. A fixture catches a mutant if its golden would change
in more than the names of rules. A mutant that no fixture catches is a survivor. List survivors that are right in
mutants.yaml, with the reason:

  format: mutants/1
  standard:
    rule timeout/drop: another rule says the same

Exit codes: 0 every survivor is accepted, 1 a survivor or a stale entry, 2 no fixture, or unusable input,
3 not every mutant was judged (--max-calls).")]
pub struct Options {
    /// Playbooks: names (of `playbooks/`, else embedded) or paths [default: the project's, or standard]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// The folder of the fixtures [default: the project's, or fixtures]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<String>,

    /// The list of accepted survivors [default: the project's mutants.yaml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Show also accepted mutants, and the fixture that would catch each survivor
    #[arg(long)]
    pub all: bool,

    /// Simulate at most about this many calls for each playbook; exit with 3 if that is not enough
    #[arg(long, value_name = "N", default_value_t = MAX_CALLS, value_parser = whole::<u64>(1..=u64::MAX))]
    pub max_calls: u64,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,
}

/// Mutates.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_playbooks(&args.playbooks, |once| {
        args.flags.after(Command::new("playproof mutate").paths(once))
    })?;
    let workspace = Workspace::open()?.with_fixtures(args.fixtures.as_deref());
    let accepted = accepted(args.accepted.as_deref(), &workspace)?;
    workspace.say_guesses()?;
    let jobs = args.threads.number();
    let asked: Vec<Option<&str>> = match args.playbooks.as_slice() {
        [] => vec![None],
        named => named.iter().map(|name| Some(name.as_str())).collect(),
    };
    let (mut reports, mut names) = (Vec::new(), Vec::new());
    for asked in asked {
        let (name, used) = workspace.playbook(asked)?;
        let fixtures = workspace.fixtures_of(&name, jobs)?;
        let cases: Vec<NamedFixture> =
            fixtures.into_iter().map(|(name, fixture)| NamedFixture { name, fixture }).collect();
        let report =
            judge(&name, &used.loaded.playbook, workspace.tools(), &cases, accepted.of(&name), jobs, args.max_calls);
        reports.push(report);
        names.push(asked.map_or_else(|| workspace.playbook_argument(&name), str::to_owned));
    }
    match args.format {
        Format::Json => output.json(json(&reports))?,
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
    let palette = terminal.out.palette();
    let pages = reports.iter().zip(names).map(|(report, name)| {
        let command = args.flags.without(&["--all", "--format"]).after(Command::new("playproof mutate").path(name));
        page(report, extent, terminal.out.width, palette, &command)
    });
    pages.collect::<Vec<_>>().join("\n\n")
}

/// Prints stale entries, and what to do about survivors, on standard error.
fn conclude(reports: &[MutationReport], accepted: &Accepted, terminal: &Terminal) {
    for report in reports.iter().filter_map(|report| stale(report, accepted)) {
        to_stderr(&diagnostic::render(&report, terminal.err.width, terminal.err.colour));
    }
    if reports.iter().any(|report| report.survivors().next().is_some()) {
        to_stderr("next: write a fixture for each survivor, or say in mutants.yaml why none is needed\n");
    } else if reports.iter().any(|report| !report.stale.is_empty()) {
        to_stderr("next: take the stale entries from the list\n");
    }
}
