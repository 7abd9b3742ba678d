//! `playproof diff [ID...]`: what waits for review, with the events of golden and run side by side.

use std::collections::BTreeSet;

use crate::checking;
use crate::checking::Selection;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::pending::{nothing_waits, waiting};
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_formats::shell::Command;
use playproof_report::check::{Shown, events, result};
use playproof_report::style::Palette;

/// What is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof diff                              everything that waits for review
  playproof diff standard/the-worked-refund   one of them

Exit codes: 0 it was shown, 2 nothing waits.")]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, or fixtures [default: everything that waits]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

/// Shows.
///
/// # Errors
/// Nothing that waits, or files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let checked =
        checking::check(&workspace, &Selection::of(&args.ids, "playproof diff".into()), checking::jobs(None), false)?;
    let meant = match args.ids.is_empty() {
        true => waiting(&workspace, &checked.report.results),
        false => checked.report.results.iter().filter(|result| !result.passes()).collect(),
    };
    let Some(first) = meant.first() else {
        workspace.refuse_empty()?;
        return Err(nothing_waits(&checked.report.results));
    };
    let palette = Palette::new(terminal.out.colour);
    let (width, above) = (terminal.out.width, workspace.way_up());
    let shown =
        Shown { report: &checked.report, causes: &checked.causes, width, palette, above: &above, show_args: true };
    let one = |of: &&playproof_analysis::check::CaseResult| {
        let page = result(&shown, of, &mut BTreeSet::new());
        let events = of.comparison().map(|comparison| events(comparison, shown.width, palette));
        [Some(page), events].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    };
    let pages: Vec<String> = meant.iter().map(one).collect();
    output.page(&pages.join("\n\n"))?;
    let wants = first.worst().is_some_and(playproof_formats::golden::Class::requires_reason);
    let next = Command::new("playproof accept").name(&first.id.to_string());
    let next = if wants { next.and("--reason '...'") } else { next };
    output.page(&format!("\n{} {next}", palette.strong("next:")))?;
    Ok(Exit::Clean)
}
