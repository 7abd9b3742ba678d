//! `playproof history`: lists the accepted changes, oldest first.

use super::verify;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::format::formats;
use crate::output::Output;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::history::{History, HistoryEntry};
use playproof_report::history::{json, page};
use playproof_report::style::Extent;

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a pull request or a wiki");

/// The arguments of `history`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is shown.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  playproof history                        what was accepted, oldest first, with rows and reasons
  playproof history --playbook standard    of one playbook
  playproof history verify                 whether it explains every accepted row

Each record is a file NNNN-words.yaml in the folder `history` beside the proposals. `playproof accept` writes one for
each playbook or proposal. Records are ordered by number, then by name; two branches may use the same number.

Exit codes: 0 shown, 2 nothing was ever accepted, or a record that cannot be used."
)]
pub struct Options {
    /// Another question.
    #[command(subcommand)]
    pub question: Option<HistoryQuestion>,

    /// Only records of this playbook, by name or path
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Show every row of every record
    #[arg(long)]
    pub all: bool,
}

/// What else can be asked of the history.
#[derive(Debug, clap::Subcommand)]
pub enum HistoryQuestion {
    /// Verify that records explain every accepted row, and goldens their dangerous changes
    Verify(verify::Args),
}

/// Shows, or answers the other question.
///
/// # Errors
/// Nothing to show, a playbook that no record speaks of, records that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(HistoryQuestion::Verify(args)) = &args.question {
        return verify::run(args, terminal, output);
    }
    let workspace = Workspace::open()?;
    let history = workspace.read_history()?;
    let playbook = args.playbook.as_deref().map(|asked| workspace.known_name(asked));
    let entries = chosen(args, &history, playbook.as_deref())?;
    if entries.is_empty() {
        workspace.refuse_empty()?;
        return Err(Failure::new("nothing was accepted yet: there are no records")
            .help(format!("they lie in `{}`", workspace.here(&workspace.record_path(""))))
            .next("playproof accept --reason '...'"));
    }
    match args.format {
        Format::Json => output.json(json(&entries))?,
        Format::Markdown => output.page(&page(&entries, Extent::All).markdown())?,
        Format::Table => {
            let extent = if args.all { Extent::All } else { Extent::Some };
            output.page(&terminal.out.doc(&page(&entries, extent)))?;
        }
    }
    Ok(Exit::Clean)
}

fn chosen<'a>(args: &Args, history: &'a History, playbook: Option<&str>) -> Result<Vec<&'a HistoryEntry>, Failure> {
    let Some(asked) = playbook else { return Ok(history.entries().iter().collect()) };
    let all = history.entries().iter();
    let found: Vec<&HistoryEntry> = all.clone().filter(|entry| entry.record.playbook == asked).collect();
    if !found.is_empty() || history.entries().is_empty() {
        return Ok(found);
    }
    let failure = Failure::new(format!("no record speaks of a playbook called `{asked}`"));
    let near = did_you_mean(asked, all.map(|entry| entry.record.playbook.as_str()));
    Err(match near {
        None => failure.next(args.flags.without(&["--playbook"]).after("playproof history".into())),
        Some(near) => failure.typo(args.playbook.as_deref().unwrap_or(asked), near),
    })
}
