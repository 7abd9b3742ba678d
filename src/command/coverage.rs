//! `playproof coverage [PLAYBOOK]`: lists what the fixtures exercise of a playbook, and prints fixtures for the rest.

use crate::checking;
use crate::exit::{Exit, Failure};
use crate::format::Format;
use crate::output::{Output, to_stderr};
use crate::terminal::Terminal;
use crate::values::{Permille, permille};
use crate::workspace::Workspace;
use playproof_analysis::coverage::{NamedFixture, measure};
use playproof_formats::shell::Command;
use playproof_report::coverage::{json, lines, page, percent};
use playproof_report::style::{Extent, Palette};

/// What is measured.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof coverage                            the project's playbook, by the fixtures that name it
  playproof coverage reversing --format lines   the playbook's lines, marked
  playproof coverage --all                      with the text of every fixture that is missing
  playproof coverage --fail-under 80            exit with 1 below 80 percent

Counts rules, verdicts, compensations, guards (passed and stopped), outcomes, stop reasons, queues, tool facts, and cells
(a verdict on a read or write, with or without key and token, on the first or a later attempt). What no fixture can
exercise does not count.

Exit codes: 0 measured, 1 below --fail-under, 2 no fixture, or unusable input.")]
pub struct Args {
    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// The folder of the fixtures [default: the project's, or fixtures]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<String>,

    /// How to write the result
    #[arg(long, value_parser = Format::one_of(&[Format::Table, Format::Json, Format::Lines]), value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Show the text of every missing fixture
    #[arg(long)]
    pub all: bool,

    /// Exit with 1 if the fixtures exercise less than this
    #[arg(long, value_name = "PERCENT", value_parser = permille)]
    pub fail_under: Option<Permille>,
}

/// Measures.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?.with_fixtures(args.fixtures.as_deref());
    workspace.say_guesses()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    let fixtures = workspace.fixtures_of(&name, checking::jobs(None))?;
    let cases: Vec<NamedFixture> = fixtures.into_iter().map(|(name, fixture)| NamedFixture { name, fixture }).collect();
    let report = measure(&name, &used.loaded, workspace.tools(), &cases);
    let typed = args.playbook.clone().unwrap_or_else(|| workspace.playbook_argument(&name));
    let command = Command::new("playproof coverage").path(&typed).flag_if("--fixtures", args.fixtures.as_deref());
    let palette = Palette::new(terminal.out.colour);
    let source = &used.loaded.places.source;
    match args.format {
        Format::Json => output.json(json(&report, source))?,
        Format::Lines => output.page(&lines(&report, source, palette))?,
        _ => {
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
