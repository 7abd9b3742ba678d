//! `playproof replay INPUT...`: runs recorded calls or fixtures and shows what was decided.

use clap::ValueEnum;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  playproof replay trace.jsonl
      what the standard playbook would have done with every recorded failure
  playproof replay trace.jsonl --tools tools.yaml --only findings
      with declared tool facts, and only what needs attention
  playproof replay fixtures/refund.yaml --playbook study/retry-everything --playbook standard
      two playbooks side by side
  zcat trace.gz | playproof replay - --format json
      from a pipe, for a program

Inputs are traces (JSONL, also gzip or zstd), foreign recordings that are recognised (OpenAI chat messages,
tau-bench, tau2-bench), recordings with a mapping (--map), and fixtures. Nothing is sent anywhere.

Exit codes: 0 clean, 1 an unsafe finding, 2 unusable input or usage, 3 with --strict a doubt.";

/// How the result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Pages for people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line: every decision event, then its call, at the end the summary
    Jsonl,
    /// For a pull request or a wiki
    Markdown,
}

/// What `replay` is told.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces, foreign recordings or fixtures; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// A playbook: an embedded name or a path; several are shown side by side [default: the project's, or standard]
    #[arg(short, long = "playbook", value_name = "P")]
    pub playbooks: Vec<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// How to read a foreign recording
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,

    /// Only these calls: `failed`, `findings`, or the name of a verdict
    #[arg(long, value_name = "failed|findings|VERDICT")]
    pub only: Option<String>,

    /// Only this call: a reference such as `r1#3`, or the call's own id
    #[arg(long, value_name = "REF|ID")]
    pub call: Option<String>,

    /// Only the calls of this run
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,

    /// Show every one, not the 20 most serious
    #[arg(long)]
    pub all: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Show arguments in Markdown, not only their keys and types
    #[arg(long)]
    pub show_args: bool,

    /// Read an identical call after a failed one as its next attempt
    #[arg(long)]
    pub join_resends: bool,

    /// What answers where the recording ends: `ok`, `repeat` (the last answer), `fail:KIND`
    #[arg(long, value_name = "ANSWER")]
    pub beyond_tape: Option<String>,

    /// Calls kept open for late results, counted in later calls
    #[arg(long, value_name = "CALLS", default_value_t = 10_000)]
    pub reorder_window: usize,

    /// Count malformed lines instead of stopping at the first
    #[arg(long)]
    pub skip_invalid: bool,

    /// Exit with 3 where there is a doubt
    #[arg(long)]
    pub strict: bool,

    /// An input without calls is no error
    #[arg(long)]
    pub allow_empty: bool,

    /// Threads; the result is the same for any number [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
}

/// Replays.
pub fn run(_args: &Args, _terminal: &Terminal, _output: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::said("not yet"))
}
