//! `playproof approve [PLAYBOOK...] --reason TEXT`: the rows of playbooks as they are become the approved ones.

use crate::cli::checking::{self, Selection};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Output, to_stderr};
use crate::cli::terminal::Terminal;
use crate::cli::workspace::Workspace;
use crate::cli::{pending, reason};
use crate::diagnostic::did_you_mean;
use crate::playbook::rows;
use crate::report::check;
use crate::report::style::Palette;

/// What is approved.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof approve --reason 'the gateway now answers within 300 ms'
  playproof approve standard --reason 'first version'

Approving says that the rows of a playbook are meant as they are; what they change in the goldens is accepted apart.")]
pub struct Args {
    /// Playbooks by the names that fixtures use [default: all of them]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// Why the rows changed; kept beside each of them
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// Approves.
///
/// # Errors
/// No reason, a playbook that no fixture uses, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let reason = args.reason.as_deref();
    let reason = reason.ok_or_else(|| {
        Failure::said("rows are not approved without a reason")
            .help("it is kept in the lock, beside each row that changed")
            .next("playproof approve --reason '...'")
    })?;
    let workspace = Workspace::open()?;
    let checked = checking::check(&workspace, &Selection::default(), checking::jobs(None), false)?;
    for asked in &args.playbooks {
        let known = || checked.used.keys().map(String::as_str);
        if !known().any(|name| name == asked) {
            let failure = Failure::said(format!("no fixture uses a playbook called `{asked}`"));
            let near = did_you_mean(asked, known());
            return Err(near.map_or_else(
                || failure,
                |near| {
                    Failure::said(format!("no fixture uses a playbook called `{asked}`"))
                        .help(format!("did you mean `{near}`?"))
                },
            ));
        }
    }
    let is_meant = |name: &str| args.playbooks.is_empty() || args.playbooks.iter().any(|asked| asked == name);
    let changed: Vec<_> = checked.report.rows.iter().filter(|rows| is_meant(&rows.playbook)).collect();
    if changed.is_empty() {
        output.page("every row is approved already")?;
        return Ok(Exit::Clean);
    }
    let mut lock = workspace.read_lock()?.unwrap_or_default();
    for rows_of in &changed {
        match checked.used.get(&rows_of.playbook) {
            Some(used) => {
                let rows = rows(&used.loaded.playbook);
                lock.approve(&rows_of.playbook, rows.iter().map(|row| (&*row.name, &*row.text)), reason);
            }
            None => drop(lock.playbooks.remove(&rows_of.playbook)),
        }
    }
    if terminal.ci {
        to_stderr("playproof: approving in CI, because this command says so\n");
    }
    pending::write(&workspace.lock_path(), &lock.render())?;
    let palette = Palette::new(terminal.out.colour);
    let pages: Vec<String> = changed.iter().map(|rows| check::rows(rows, terminal.out.width, palette)).collect();
    output.page(&format!("{}\n\napproved in {}", pages.join("\n\n"), workspace.name(&workspace.lock_path())))?;
    Ok(Exit::Clean)
}
