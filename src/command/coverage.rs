//! `playproof coverage [PLAYBOOK]`: lists what the fixtures exercise of a playbook, and prints or writes fixtures for the
//! rest.

use crate::changeset::{Change, ProjectLock};
use crate::exit::{Exit, Failure};
use crate::format::formats;
use crate::output::{Output, to_stderr};
use crate::reports::{self, ReportTo};
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::values::{Permille, permille};
use crate::workspace::Workspace;
use playproof_analysis::coverage::{NamedFixture, Suggestion, measure};
use playproof_formats::diagnostic::counted;
use playproof_formats::shell::Command;
use playproof_report::coverage::{json, lines, page, percent};
use playproof_report::html;
use playproof_report::style::Extent;

formats!(Format: Table = "For people", Json = "One JSON document", Lines = "The playbook's lines, marked");

/// What is measured.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof coverage                            the project's playbook, by the fixtures that run under it
  playproof coverage reversing --format lines   the playbook's lines, marked
  playproof coverage --all                      with the text of every fixture that is missing
  playproof coverage --write fixtures           write every fixture that is missing; then review them
  playproof coverage --fail-under 80            exit with 1 below 80 percent

Counts rules, verdicts, compensations, guards (passed and stopped), outcomes, stop reasons, queues, tool facts, and cells
(a verdict on a read or write, with or without key and token, on the first or a later attempt). What no fixture can
exercise does not count.

A fixture counts for the playbooks that it names: `playbooks: [NAME]`. One that names none counts for the project's.

Exit codes: 0 measured or written, 1 below --fail-under, 2 no fixture, unusable input, or a file that is there already.")]
pub struct Args {
    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// The same as PLAYBOOK, as other commands spell it
    #[arg(short = 'p', long = "playbook", value_name = "P", hide = true, conflicts_with = "playbook")]
    pub playbook_flag: Option<String>,

    /// The folder of the fixtures [default: the project's, or fixtures]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Show the text of every missing fixture
    #[arg(long)]
    pub all: bool,

    /// Write every missing fixture into this folder of the project, over no file: each `expect` is what the playbook does
    /// now, for you to review
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "all", "fail_under", "report"])]
    pub write: Option<String>,

    /// Exit with 1 if the fixtures exercise less than this
    #[arg(long, value_name = "PERCENT", value_parser = permille)]
    pub fail_under: Option<Permille>,
}

/// Measures.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    reports::refuse_page(args.report.as_ref(), &[])?;
    let workspace = Workspace::open()?.with_fixtures(args.fixtures.as_deref());
    let project_lock = args.write.as_ref().map(|_| workspace.project_lock()).transpose()?;
    workspace.say_guesses()?;
    let typed = args.playbook.as_ref().or(args.playbook_flag.as_ref());
    let (name, used) = workspace.playbook(typed.map(String::as_str))?;
    let fixtures = workspace.fixtures_of(&name, Threads::default().number())?;
    let cases: Vec<NamedFixture> = fixtures.into_iter().map(|(name, fixture)| NamedFixture { name, fixture }).collect();
    let report = measure(&name, &used.loaded, workspace.tools(), &cases);
    if let (Some(folder), Some(project_lock)) = (&args.write, project_lock) {
        return write(&workspace.with_fixtures(Some(folder)), &report.suggestions, &project_lock, output);
    }
    let typed = typed.cloned().unwrap_or_else(|| workspace.playbook_argument(&name));
    let command = Command::new("playproof coverage").path(&typed).flag_if("--fixtures", args.fixtures.as_deref());
    let palette = terminal.out.palette();
    let source = &used.loaded.places.source;
    let write = command.clone().flag("--write", &workspace.fixtures_here());
    reports::write_page(args.report.as_ref(), || html::coverage(&report, source, &write), output)?;
    match args.format {
        Format::Json => output.json(json(&report, source))?,
        Format::Lines => output.page(&lines(&report, source, palette))?,
        Format::Table => {
            let extent = if args.all { Extent::All } else { Extent::Some };
            output.page(&page(&report, extent, terminal.out.width, palette, &command))?;
        }
    }
    if args.fail_under.is_some() && report.tally(None).1 == 0 {
        to_stderr("error: nothing of the playbook can be exercised, so there is nothing to measure\n");
        return Ok(Exit::Inconclusive);
    }
    match args.fail_under {
        Some(Permille(wanted)) if report.permille() < wanted => {
            let said = format!(
                "error: {} is below {}.{} %\n  next: {}\n",
                percent(&report),
                wanted / 10,
                wanted % 10,
                command.and("--all")
            );
            to_stderr(&said);
            Ok(Exit::Found)
        }
        _ => Ok(Exit::Clean),
    }
}

/// Writes the missing fixtures into the folder of fixtures of `workspace`: all or none, and over no file.
fn write(
    workspace: &Workspace,
    suggestions: &[Suggestion],
    project_lock: &ProjectLock,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut changes = Vec::new();
    for suggestion in suggestions {
        let path = workspace.fixture_path(&suggestion.name);
        workspace.refuse_new_fixture(&path)?;
        changes.push(Change::Write(path, suggestion.text.clone().into_bytes()));
    }
    if changes.is_empty() {
        output.page("no fixture is missing: the fixtures exercise all that can be exercised")?;
        return Ok(Exit::Clean);
    }
    project_lock.commit(&changes, output)?;
    let fixtures = counted(changes.len() as u64, "fixture", "fixtures");
    output.lines(&[
        format!("wrote {fixtures} into {}", workspace.fixtures_here()),
        "each `expect` is what the playbook does now: review it before you accept its golden".to_owned(),
        "next: playproof check".to_owned(),
    ])?;
    Ok(Exit::Clean)
}
