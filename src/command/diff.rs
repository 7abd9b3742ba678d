//! `playproof diff [ID...]`: shows what waits for review, with the events of golden and run side by side.

use std::collections::BTreeSet;

use crate::checking;
use crate::checking::Selection;
use crate::command::accept::{ArgumentNames, EditedRows, argument_of_proposal};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::pending::{nothing_waits, waiting};
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseResult;
use playproof_formats::shell::Command;
use playproof_report::check::{CheckPage, events, result};

/// What is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof diff                              everything that waits for review
  playproof diff standard/the-worked-refund   one of them
  playproof diff standard                     the edited rows of a playbook

Exit codes: 0 it was shown, 2 nothing waits.")]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, fixtures, or playbooks with edited rows [default: everything that waits]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

/// Shows.
///
/// # Errors
/// Nothing that waits, or files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let named = ArgumentNames::find(&workspace, &args.ids, &[])?;
    if let Some(proposal) = named.proposals.first() {
        let check = Command::new("playproof propose check").name(&argument_of_proposal(&workspace, proposal));
        return Err(
            Failure::new(format!("`{proposal}` is a proposal, and a proposal has a page of its own")).next(check)
        );
    }
    // Rows need the runs of all fixtures, to know which playbooks are used.
    let selected = if named.playbooks.is_empty() { named.runs.as_slice() } else { &[] };
    let selection = Selection::named(selected);
    let checked = checking::check(&workspace, &selection, Threads::default().number(), false)?;
    let results = &checked.report.results;
    let is_meant = |result: &CaseResult| named.runs.iter().any(|run| workspace.names_run(run, &result.id));
    let meant = match named.is_empty() {
        true => waiting(&workspace, results),
        false => results.iter().filter(|result| !result.passes() && is_meant(result)).collect(),
    };
    let rows = match named.is_empty() || !named.playbooks.is_empty() {
        true => Some(EditedRows::find(&workspace, &checked, &named.playbooks)?).filter(|rows| !rows.is_empty()),
        false => None,
    };
    let palette = terminal.out.palette();
    let (width, above) = (terminal.out.width, workspace.way_up());
    let shown =
        CheckPage { report: &checked.report, causes: &checked.causes, width, palette, above: &above, show_args: true };
    let one = |of: &&CaseResult| {
        let page = result(&shown, of, &mut BTreeSet::new());
        let events = of.comparison().map(|comparison| events(comparison, shown.width, palette));
        [Some(page), events].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    };
    let rows_pages = rows.iter().flat_map(|rows| rows.pages(width, palette));
    let pages: Vec<String> = meant.iter().map(one).chain(rows_pages).collect();
    let next = match (meant.first(), &rows) {
        (Some(first), _) => {
            let wants = first.worst().is_some_and(playproof_formats::golden::Class::requires_reason);
            let next = Command::new("playproof accept").name(&first.id.to_string());
            if wants { next.and("--reason '...'") } else { next }
        }
        (None, Some(rows)) => Command::new("playproof accept").names(rows.playbooks()).and("--reason '...'"),
        (None, None) => {
            workspace.refuse_empty()?;
            return Err(nothing_waits(results, &args.ids, terminal.ci));
        }
    };
    output.page(&pages.join("\n\n"))?;
    output.page(&format!("\n{} {next}", palette.strong("next:")))?;
    Ok(Exit::Clean)
}
