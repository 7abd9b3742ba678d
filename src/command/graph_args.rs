//! The arguments of `playproof graph`.

use crate::flags::Given;
use crate::format::formats;
use crate::read_options::ReadOptions;
use crate::values::whole;

/// The most calls or runs.
const MOST: u64 = 1_000_000_000;

/// What is asked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub what: What,
}

/// What is asked of a graph.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Show the actions of a playbook, and what may follow each
    Show(Show),
    /// Show what is valid at one moment of a recorded run, and what a call would get there
    Next(Given<Next>),
    /// Show the calls of a recorded run, and what was valid after each
    History(Given<History>),
    /// Draft `actions` and `graph` from recordings, or from the `graph.json` of Burr
    Draft(Given<Draft>),
}

formats!(Format: Table = "For people", Mermaid = "A state diagram of Mermaid", Dot = "A graph of Graphviz", Json = "One JSON document");
formats!(NextFormat: Table = "For people", Json = "One JSON document");
formats!(HistoryFormat: Table = "For people", Json = "One JSON document");

/// The playbook.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof graph show coffee
  playproof graph show coffee --format mermaid")]
pub struct Show {
    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(value_name = "P")]
    pub playbook: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Not an option of this command, but of those beside it; named so that its refusal can say what to do.
    #[arg(short = 'p', long = "playbook", hide = true, value_name = "P")]
    pub option: Option<String>,
}

/// Which run of which recordings, under which playbook.
#[derive(Debug, clap::Args)]
pub struct RecordedRun {
    /// Traces or foreign recordings: files, folders or globs; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// The run [default: the only one]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// A moment of a run, and a call to try there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The calls of the run are simulated as `replay` does. `--try` asks what one more call would get there: nothing is sent, and \
the run goes on in no other way. An argument `idempotency_key` or `idempotencyKey` is the key of the call, as in recordings; \
`inputs` are checked without it.

Examples:
  playproof graph next trace.jsonl --run r_1 --playbook coffee
  playproof graph next trace.jsonl --run r_1 --playbook coffee --after 2 --try 'pay {\"amount\":5}'
  playproof graph next trace.jsonl --run r_1 --playbook coffee --try 'pay {\"amount\":5,\"idempotency_key\":\"k1\"}'")]
pub struct Next {
    /// The run
    #[command(flatten)]
    pub recorded: RecordedRun,

    /// After so many calls of the run [default: all]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=MOST))]
    pub after: Option<u32>,

    /// A call to try: an action, and its arguments as JSON
    #[arg(long = "try", value_name = "CALL")]
    pub tried: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: NextFormat,
}

/// A run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof graph history trace.jsonl --run r_1 --playbook coffee --format json")]
pub struct History {
    /// The run
    #[command(flatten)]
    pub recorded: RecordedRun,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: HistoryFormat,
}

/// The source of a draft.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run is at its last call that succeeded; the draft has an edge from there to every call that was made, failed ones too, \
with the number of runs that took it. Of Burr, the draft has the topology; conditions are dropped and named, and the draft \
is wider than the source.

Examples:
  playproof graph draft trace.jsonl
  playproof graph draft traces/*.jsonl --min-runs 5
  playproof graph draft graph.json")]
pub struct Draft {
    /// Traces or foreign recordings: files, folders or globs; or one `graph.json` of Burr
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<String>,

    /// Leave out edges that fewer runs took
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1..=MOST))]
    pub min_runs: u64,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}
