//! What `playproof impact` can be told.

use clap::ValueEnum;

use crate::format::Format;
use crate::read_options::ReadOptions;
use crate::{missing_answer, reason};
use playproof_engine::upstream::MissingAnswerPolicy;

const EXAMPLES: &str = "\
Runs every recorded call under both playbooks and compares the two. A cause is the first decision that differs: another
verdict for the same failure, or a changed row of the playbook.

  widening    the candidate attempts a write (or redeems a reversal token) where the base does not
  narrowing   the base does, and the candidate does not
  neutral     both attempt as many writes

Calls whose end the recording does not tell (undetermined) are counted apart, never as unchanged; a cause before that
end is still shown. `--beyond-tape` supplies answers where recordings end.

Examples:
  playproof impact --base standard --candidate my.yaml trace.jsonl
  playproof impact --candidate my.yaml trace.jsonl --fail-on widening,effects
  playproof impact --base my-old.yaml --candidate my.yaml traces/*.jsonl.gz --beyond-tape fail:timeout --format markdown

Exit codes: 0 clean; 1 what --fail-on names, or an unsafe finding under the candidate only; 2 unusable input or usage,
nothing to compare; 3 with --fail-on nothing was decided, with --strict an undetermined call.";

/// What makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// The candidate attempts a write that the base does not attempt
    Widening,
    /// An effect claim, a ledger entry or a finding about effects changes
    Effects,
}

/// What `impact` is told.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces or foreign recordings; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// The current playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub base: Option<String>,

    /// The changed playbook
    #[arg(short, long, value_name = "P")]
    pub candidate: String,

    /// Tool facts; they win over those of both playbooks
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where a recording ends: `ok`, `repeat` (the last answer), `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// Exit with 1 where a call widens or its effects change, and with 3 where no failed call can be decided; for both:
    /// `widening,effects`
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,

    /// Let widening pass, and say why in the result
    #[arg(long, value_name = "REASON", requires = "fail_on", value_parser = reason::parse)]
    pub allow_widening: Option<String>,

    /// Exit with 3 where a call is undetermined
    #[arg(long)]
    pub strict: bool,

    /// Accept an input in which nothing can be compared or decided
    #[arg(long)]
    pub allow_empty: bool,

    /// How to write the result
    #[arg(long, value_parser = Format::one_of(&[Format::Table, Format::Json, Format::Markdown]), value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Threads; the result is the same for any number [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = crate::values::threads)]
    pub jobs: Option<std::num::NonZeroUsize>,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}
