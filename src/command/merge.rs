//! `playproof merge FILE...`: adds partial results, and shows the whole as their command would.

use clap::FromArgMatches;

use super::replay;
use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::format::formats;
use crate::output::Output;
use crate::reports::{self, ReportTo};
use crate::terminal::Terminal;
use playproof_analysis::envelope::EnvelopeKind;
use playproof_formats::shell::Command;

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a pull request or a wiki");

/// The arguments of `merge`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `merge`. What is shown of the whole is said here; how it was replayed, its parts say.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof replay monday.jsonl --partial monday.json
  playproof replay tuesday.jsonl --partial tuesday.json
  playproof merge monday.json tuesday.json
      the same as `playproof replay monday.jsonl tuesday.jsonl`

No run may be in two parts. What only the whole could compare is named.

Exit codes: those of `replay`.")]
pub struct Options {
    /// What `playproof replay --partial` wrote, in any order
    #[arg(required = true, value_name = "FILE")]
    pub parts: Vec<String>,

    /// Count too, as `replay --stats` does
    #[arg(long)]
    pub stats: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Add to each call of `--format json` what its agent gets of it, in this form
    #[arg(long, value_name = "failure|refusal|dispatch|openai|anthropic", value_parser = crate::values::word(&EnvelopeKind::TABLE))]
    pub envelope: Option<EnvelopeKind>,

    /// Show arguments in Markdown and on the page of `--report`, not only their keys and types
    #[arg(long)]
    pub show_args: bool,

    /// Exit with 3 if any finding is a doubt, or if no call has a result
    #[arg(long)]
    pub strict: bool,

    /// Accept parts without calls
    #[arg(long)]
    pub allow_empty: bool,
}

/// Adds, and shows.
///
/// # Errors
/// A part that cannot be read; parts that cannot be added.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let merge = |parts: &[&str], flags: &crate::flags::Flags| flags.after(Command::new("playproof merge").paths(parts));
    duplicate_args::refuse_inputs(&args.parts, &args.flags, merge)?;
    reports::refuse_page(args.report.as_ref(), &args.parts)?;
    let parts = replay::Parts::read(&args.parts)?;
    let definition = <replay::Args as clap::Args>::augment_args(clap::Command::new("replay").no_binary_name(true));
    let matches = definition.try_get_matches_from(parts.words(&args.flags));
    let of_parts = matches.and_then(|matches| replay::Args::from_arg_matches(&matches));
    let of_parts = of_parts.map_err(|error| Failure::new(format!("the flags of the parts: {}", error.kind())))?;
    replay::show_merged(&of_parts, parts, terminal, output)
}
