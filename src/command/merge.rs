//! `playproof merge FILE...`: adds partial results, and shows the whole as their command would.

use super::impact;
use super::propose::find;
use super::replay::{self, ReplaySums};
use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::format::formats;
use crate::output::Output;
use crate::partial::{PartFiles, Parts, Sums};
use crate::reports::{self, ReportTo};
use crate::terminal::Terminal;
use playproof_analysis::envelope::EnvelopeKind;
use playproof_analysis::impact::ImpactPart;
use playproof_analysis::mining::MinedPart;
use playproof_formats::shell::Command;

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a pull request or a wiki");

/// The arguments of `merge`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `merge`. What is shown of the whole is said here; how it was made, its parts say.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof replay monday.jsonl --partial monday.json
  playproof replay tuesday.jsonl --partial tuesday.json
  playproof merge monday.json tuesday.json
      the same as `playproof replay monday.jsonl tuesday.jsonl`

Parts of `impact` and `propose find` add up in the same way. No run may be in two parts. What only the whole could compare
is named.

Exit codes: those of the command that made the parts.")]
pub struct Options {
    /// What one command wrote with `--partial`, in any order
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

    /// Exit with 3 where the command that made the parts does with `--strict`
    #[arg(long)]
    pub strict: bool,

    /// Accept parts without calls, or in which nothing can be compared
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
    let parts = PartFiles::read(&args.parts)?;
    match parts.command() {
        ReplaySums::COMMAND => {
            let (of_parts, parts) = parsed::<replay::Args, ReplaySums>(args, parts)?;
            replay::show_merged(&of_parts, parts, terminal, output)
        }
        ImpactPart::COMMAND => {
            let (of_parts, parts) = parsed::<impact::Args, ImpactPart>(args, parts)?;
            impact::show_merged(&of_parts, parts, terminal, output)
        }
        MinedPart::COMMAND => {
            let (of_parts, parts) = parsed::<find::Args, MinedPart>(args, parts)?;
            find::show_merged(&of_parts, parts, terminal, output)
        }
        other => Err(Failure::new(format!("`playproof {other}` makes no partial results"))),
    }
}

/// The arguments of the command that made the parts, with what is said here of the whole.
fn parsed<A: clap::Args, S: Sums>(args: &Args, parts: PartFiles) -> Result<(A, Parts<S>), Failure> {
    let parts = parts.parts::<S>()?;
    let definition = A::augment_args(clap::Command::new(S::COMMAND).no_binary_name(true));
    let matches = definition.try_get_matches_from(parts.words(&args.flags));
    let of_parts = matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failure::new(format!("these are parts of `playproof {}`: {first}", S::COMMAND))
            .help(format!("`merge` takes what `playproof {} --help` has", S::COMMAND))
    })?;
    Ok((of_parts, parts))
}
