//! From the command line to a review and its exit code.

use console::Term;

use super::desk::AtTerminal;
use super::session::{Tally, review};
use crate::checking;
use crate::checking::Selection;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::pending;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseResult;
use playproof_formats::shell::Command;
use playproof_report::check::Shown;
use playproof_report::style::Palette;
use playproof_report::text::counted;

/// What is reviewed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Checks first, then shows what differs, worst first, and waits for a key:
  a accept   r reject   s skip   A R S the same for all the rest
  e the events of golden and run side by side   q or Esc quit; what was decided stays decided

A changed effect and a weakened guard ask for a reason. Without a terminal: playproof diff, accept, reject.
The goldens are in insta's format: `cargo insta review` reads them too, but it knows no reasons.

Exit codes: 0 nothing is left, 1 something still differs, 2 there is no terminal, or files cannot be used.")]
pub struct Args {
    /// Fixtures, or single runs as PLAYBOOK/FIXTURE [default: all]
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
    if terminal.ci || !terminal.out.is_terminal || !console::user_attended() || !input_is_terminal() {
        let why = if terminal.ci { "this is a CI job" } else { "there is no terminal" };
        return Err(Failure::new(format!("a review needs somebody to ask, and {why}"))
            .help("the same without questions: `playproof diff`, then `playproof accept` or `playproof reject`")
            .next("playproof diff"));
    }
    let checked =
        checking::check(&workspace, &Selection::of(&args.ids, "playproof review".into()), checking::jobs(None), false)?;
    pending::leave(&workspace, &checked.report.results, output)?;
    let failing = checked.report.failing();
    let (open, closed): (Vec<&CaseResult>, Vec<&CaseResult>) =
        failing.into_iter().partition(|result| result.pending_golden().is_some());
    let palette = Palette::new(terminal.out.colour);
    let width = terminal.out.width;
    let above = workspace.way_up();
    let shown =
        Shown { report: &checked.report, causes: &checked.causes, width, palette, above: &above, show_args: true };
    let tally = review(&mut AtTerminal { term, workspace: &workspace, shown, output }, &open)?;
    output.page(&end(&tally, &closed, palette))?;
    let is_clean = tally.skipped + tally.rejected == 0 && closed.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Found })
}

#[expect(clippy::disallowed_methods, reason = "asks whether somebody can answer; reads nothing")]
fn input_is_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stdin())
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
    } else {
        lines.push(format!("{} playproof check", palette.strong("next:")));
    }
    lines.join("\n")
}
