//! The arguments of `playproof confirm`.

use crate::flags::Given;
use crate::read_options::ReadOptions;

/// The arguments of `confirm`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is asked, and the answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Results whose words only suggest that they failed, or that the work is not done yet, are asked by the template of their
message. The answers go into the mapping that --map or the project names, else into mapping.yaml.

A log does not say whether a tool reads or writes, and whether doing it twice is doing it once. Both are guessed, from
the tool's name or from the hints of a tool list in the log. Until you confirm a guess, it declares nothing: the tool
counts as a write that is not idempotent.

At a terminal, one key answers each guess, worst first: tools that failed most often. Without one, the command prints
itself with the guesses as answers, for you to correct. The answers go into the tool facts file that the project names,
else into tools.yaml. Rows of that file win over the playbook's own tool facts; other missing fields keep the playbook's
value. A row with a tool's exact name wins over a row with a glob, in either file.

Examples:
  playproof confirm trace.jsonl
  playproof confirm trace.jsonl --read 'search.*' --write payments.issue_refund
  playproof confirm trace.jsonl --guessed           every guess is right
  playproof confirm --guessed 'get_*'               guesses in the tool facts file that are right
  playproof confirm trace.jsonl --draft -o t.yaml   a file to edit: each guess has the mark `# guessed: confirm`

Exit codes: 0 nothing is left to ask, or the draft is written, 1 some guesses are left, 2 there are guesses and no
terminal, unusable input or usage, 3 more lines skipped than read.")]
pub struct Options {
    /// Traces or foreign recordings: files, folders or globs; `-` is standard input [default: ask the guesses of the tool
    /// facts file]
    #[arg(value_name = "LOG")]
    pub inputs: Vec<String>,

    /// The tool facts file [default: the project's, else tools.yaml]
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// These tools only read; may be given several times
    #[arg(long, value_name = "GLOB", conflicts_with = "draft")]
    pub read: Vec<String>,

    /// These tools write
    #[arg(long, value_name = "GLOB", conflicts_with = "draft")]
    pub write: Vec<String>,

    /// These tools write, and doing it twice is doing it once
    #[arg(long, value_name = "GLOB", conflicts_with = "draft")]
    pub idempotent: Vec<String>,

    /// Results with this message failed; its numbers, ids and quoted texts are placeholders
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "draft")]
    pub failed: Vec<String>,

    /// Results with this message are answers
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "draft")]
    pub ok: Vec<String>,

    /// Results with this message say that the work is not done yet
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "draft")]
    pub unfinished: Vec<String>,

    /// The guesses are right for these tools, or for this template [default: all]
    #[arg(long, value_name = "GLOB", num_args = 0..=1, default_missing_value = "**", conflicts_with = "draft")]
    pub guessed: Vec<String>,

    /// Ask nothing: write a new tool facts file with each guess and its mark
    #[arg(long, requires = "inputs", conflicts_with = "tools")]
    pub draft: bool,

    /// Where to write the draft, a new file [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "draft")]
    pub output: Option<String>,

    /// How the logs are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}
