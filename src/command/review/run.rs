//! From the command line to a review and its exit code.

use console::Term;

use super::session::{Item, Tally, review};
use super::terminal::AtTerminal;
use crate::checking;
use crate::checking::Selection;
use crate::command::accept::{ArgumentNames, EditedRows};
use crate::command::propose::stored;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::pending;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseResult;
use playproof_formats::shell::Command;
use playproof_report::check::CheckPage;
use playproof_report::style::Palette;
use playproof_report::text::counted;

/// What is reviewed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Checks first. Then shows each run that differs from its golden, worst first, each playbook with edited rows and each
proposal, and waits for a key:
  a accept   r reject   s skip   A R S the same for all the rest of its kind
  e the events of golden and run side by side   q or Esc quit; what was decided stays decided

Rows, proposals, a changed effect and a weakened guard ask for a reason. Edited rows cannot be rejected: undo the edit.
The same without a terminal: `playproof check`, `playproof accept` and `playproof reject`.
The goldens are in insta's format: `cargo insta review` reads them too, but it knows no reasons.

Exit codes: 0 nothing is left, 1 something still waits, 2 there is no terminal, or files cannot be used.")]
pub struct Args {
    /// Fixtures, runs as PLAYBOOK/FIXTURE, playbooks or proposals [default: all]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

/// Reviews.
///
/// # Errors
/// No terminal, or files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let term = Term::stdout();
    if !terminal.can_ask() {
        workspace.refuse_empty()?;
        let why = if terminal.ci { "this is a CI job" } else { "there is no terminal" };
        return Err(Failure::new(format!("a review asks questions, and {why}"))
            .help("the same without questions: `playproof check`, then `playproof accept` or `playproof reject`")
            .next("playproof check"));
    }
    let named = ArgumentNames::find(&workspace, &args.ids, &[])?;
    let is_of_runs = named.playbooks.is_empty() && named.proposals.is_empty();
    let named_runs = if is_of_runs { named.runs.as_slice() } else { &[] };
    let selection = Selection::named(named_runs);
    let checked = checking::check(&workspace, &selection, Threads::default().number(), false)?;
    pending::leave(&workspace, &checked.report.results, output)?;
    let is_meant =
        |result: &CaseResult| named.is_empty() || named.runs.iter().any(|run| workspace.names_run(run, &result.id));
    let failing = checked.report.failing().into_iter().filter(|result| is_meant(result));
    let (open, closed): (Vec<&CaseResult>, Vec<&CaseResult>) =
        failing.partition(|result| result.pending_golden().is_some());
    let playbooks = match named.is_empty() {
        true => EditedRows::find(&workspace, &checked, &[])?.playbooks(),
        false => named.playbooks,
    };
    let proposals = if args.ids.is_empty() { stored::ids(&workspace)? } else { named.proposals };
    let rows = playbooks.iter().map(|playbook| Item::Rows(playbook));
    let proposals = proposals.iter().map(|id| Item::Proposal(id));
    let items: Vec<Item<'_>> = open.into_iter().map(Item::Golden).chain(rows).chain(proposals).collect();
    let palette = terminal.out.palette();
    let above = workspace.way_up();
    let shown = CheckPage { report: &checked.report, causes: &checked.causes, above: &above, show_args: true };
    let out = terminal.out;
    let screen = &mut AtTerminal { term, out, workspace: &workspace, checked: &checked, shown, output };
    let tally = review(screen, &items)?;
    output.page(&end(&tally, &closed, palette))?;
    let is_clean = tally.skipped + tally.rejected == 0 && closed.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Found })
}

fn end(tally: &Tally, closed: &[&CaseResult], palette: Palette) -> String {
    let mut lines = Vec::new();
    if *tally == Tally::default() {
        lines.push("nothing to review".to_owned());
    } else {
        lines.push(format!("\n{} accepted, {} rejected, {} skipped", tally.accepted, tally.rejected, tally.skipped));
    }
    if let Some(first) = closed.first() {
        let many = counted(closed.len() as u64, "run", "runs");
        let why = "against what the fixture is meant to show, or beside a golden that cannot be read";
        lines.push(format!("{}: {why}", palette.bad(&format!("{many} cannot be accepted"))));
        let next = Command::new("playproof check").name(&first.id.to_string());
        lines.push(format!("{} {next}", palette.strong("next:")));
    } else if tally.skipped > 0 {
        let wait = if tally.skipped == 1 { "waits" } else { "wait" };
        lines.push(format!("{} still {wait}\n{} playproof review", tally.skipped, palette.strong("next:")));
    } else {
        lines.push(format!("{} playproof check", palette.strong("next:")));
    }
    lines.join("\n")
}
