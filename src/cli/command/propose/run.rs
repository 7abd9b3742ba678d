//! `playproof propose`: from what was asked to the command that does it.

use super::args::{Args, What};
use super::{accept, check, list, new, rebase, reject};
use crate::cli::changeset;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal::Terminal;
use crate::cli::workspace::Workspace;

/// Does what was asked.
///
/// # Errors
/// Wrong usage, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        What::New(args) => new::run(args, terminal, output),
        What::Check(args) => check::run(args, terminal, output),
        What::Accept(args) => accept::run(args, terminal, output),
        What::Reject(args) => reject::run(args, output),
        What::Rebase(args) => rebase::run(args, output),
        What::List => list::run(terminal, output),
        What::Recover => recover(output),
    }
}

fn recover(output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::even_after_an_interruption()?;
    let recovered = changeset::recover(&workspace.staging())?;
    if !recovered.was_interrupted {
        output.page("nothing was interrupted")?;
        return Ok(Exit::Clean);
    }
    let mut lines: Vec<String> = recovered.back.iter().map(|path| format!("put back {path}")).collect();
    let aside = |(path, aside): &(String, String)| format!("what was written to {path} since lies in {aside}");
    lines.extend(recovered.aside.iter().map(aside));
    lines.push(match recovered.back.is_empty() {
        true => {
            "the command that was interrupted had not changed anything yet; what it had laid out is gone".to_owned()
        }
        false => "everything is as it was before the command that was interrupted".to_owned(),
    });
    lines.push("next: playproof propose list".to_owned());
    output.page(&lines.join("\n"))?;
    Ok(Exit::Clean)
}
