//! What `playproof impact` can be told.

use clap::ValueEnum;

use crate::format::PublicFormat;
use crate::read_options::ReadOptions;
use crate::{missing_answer, reason};
use playproof_engine::upstream::MissingAnswerPolicy;

const EXAMPLES: &str = "\
Every recorded call is put through both playbooks and the two are held together. Where they first decide
differently stands the cause: another verdict for the same failure, or the changed row of the playbook.

  widening    the candidate attempts a write (or redeems a reversal token) where the base does not
  narrowing   the reverse
  neutral     as many writes are attempted

Calls whose end a recording cannot tell (undetermined) are counted apart, never as unchanged; where the playbooks
decide differently before that, the cause is shown all the same. `--beyond-tape` answers where recordings end.

Examples:
  playproof impact --base standard --candidate my.yaml trace.jsonl
  playproof impact --candidate my.yaml trace.jsonl --fail-on widening,effects
  playproof impact --base my-old.yaml --candidate my.yaml traces/*.jsonl.gz --beyond-tape fail:timeout --format markdown

Exit codes: 0 clean; 1 what --fail-on names, or an unsafe finding under the candidate only; 2 unusable input or usage,
nothing to compare; 3 with --fail-on nothing was decided, with --strict an undetermined call.";

/// What makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A call for which the candidate attempts a write that the base does not attempt
    Widening,
    /// A call whose effect is another one: as claimed, in the ledger, or in that it may be made twice
    Effects,
}

/// What `impact` is told.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces or foreign recordings; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// The playbook that is: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub base: Option<String>,

    /// The playbook that may be
    #[arg(short, long, value_name = "P")]
    pub candidate: String,

    /// Tool facts; they win over those of both playbooks
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where a recording ends: `ok`, `repeat` (the last answer), `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// Exit with 1 where a call widens, or its effects change, and with 3 where no failed call ends determined; both:
    /// `widening,effects`
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,

    /// Let widening pass, and say why in the result
    #[arg(long, value_name = "REASON", requires = "fail_on", value_parser = reason::parse)]
    pub allow_widening: Option<String>,

    /// Exit with 3 where a call is undetermined
    #[arg(long)]
    pub strict: bool,

    /// Nothing to compare, or to decide, is no error
    #[arg(long)]
    pub allow_empty: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: PublicFormat,

    /// Threads; the result is the same for any number [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = crate::values::threads)]
    pub jobs: Option<std::num::NonZeroUsize>,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}
