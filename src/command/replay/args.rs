//! The arguments of `playproof replay`.

use std::ops::RangeInclusive;

use crate::flags::Given;
use crate::format::formats;
use crate::missing_answer;
use crate::read_options::ReadOptions;
use crate::reports::{self, ReportTo};
use crate::threads::Threads;
use playproof_analysis::envelope::EnvelopeKind;
use playproof_engine::event::FailureClass;
use playproof_engine::sim::Pace;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_report::listing::ToolSelection;

/// The most seeds of one command.
const MOST_SEEDS: u64 = 100_000;

const EXAMPLES: &str = "\
Examples:
  playproof replay trace.jsonl
      what the standard playbook would have done with every recorded failure
  playproof replay trace.jsonl --tools tools.yaml --only findings
      with declared tool facts, and only what was found
  playproof replay fixtures/refund.yaml --playbook study/retry-everything --playbook standard
      two playbooks side by side
  playproof replay trace.jsonl --report html=replay.html
      the same as a page for a browser: one file without scripts
  zcat trace.gz | playproof replay - --format json
      from a pipe, for a program

Inputs are traces (JSON Lines, also gzip or zstd), foreign recordings that are recognised (`playproof formats`) or
mapped (--map), and fixtures (*.yaml). Nothing is sent anywhere.

--only, --failed, --class, --tool, --call and --run select the calls that are listed. The summary is always that of the whole input, and so is
the exit code: 0 clean, 1 an unsafe finding, 2 unusable input or usage, 3 with --strict a doubt.";

formats!(Format: Table = "For people", Json = "One JSON document", Jsonl = "One JSON object a line: every decision event, every call, then the summary", Markdown = "For a pull request or a wiki");

/// The arguments of `replay`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Traces, foreign recordings or fixtures: files, folders or globs; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// A playbook: a name (of `playbooks/`, else embedded) or a path; several are shown side by side [default: the project's, or standard]
    #[arg(short, long = "playbook", value_name = "P")]
    pub playbooks: Vec<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where a recording ends: `ok`, `repeat` (the last answer), `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// The seed of the draws that jittered waits need and a fixture or recording does not give [default: the fixture's, or 0]
    #[arg(long, value_name = "N", value_parser = crate::values::whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,

    /// When a call starts under a playbook whose calls share something: `causal`, as long after the calls that it followed as
    /// recorded, or `recorded`, at its recorded time [default: recorded under the playbook that the trace
    /// says decided it and with `--same-decisions`, else causal]
    #[arg(long, value_name = "causal|recorded", value_parser = crate::values::word(&Pace::TABLE))]
    pub pace: Option<Pace>,

    /// Run a fixture with each of these seeds: how ends, attempts and waits spread, and which seeds contradict what it
    /// expects (exit 1)
    #[arg(long, value_name = "A-B", value_parser = seeds, conflicts_with_all = ["seed", "record", "call"])]
    pub seeds: Option<RangeInclusive<u64>>,

    /// Write the run of a fixture under one playbook as a trace, with the decisions; it replays to the same events. The
    /// tool facts of the fixture are written beside it (`run.tools.yaml` beside `run.jsonl`), for `--tools`
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,

    /// Run a fixture once for each moment between two inputs at which its dispatcher can die and come back a second later,
    /// and show what became of it, worst first (exit 1: an unsafe finding that the run without a crash lacks)
    #[arg(long, conflicts_with_all = ["seeds", "record", "audit", "same_decisions", "call", "report", "envelope"])]
    pub crash_everywhere: bool,

    /// With `--crash-everywhere`: the dispatcher comes back without its journal and knows nothing, and who waited for a call
    /// makes it again
    #[arg(long, requires = "crash_everywhere")]
    pub no_journal: bool,

    /// Write a line for each call that failed: what its agent is told, and the id that the message has
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "same_decisions"])]
    pub audit: Option<String>,

    /// Link each line of `--record` or `--audit` to the one before it (`playproof audit verify`); `--audit` then adds to a file
    #[arg(long, conflicts_with_all = ["seeds", "same_decisions"])]
    pub chain: bool,

    /// Write the sums of the traces as a file that `playproof merge` adds to others, in place of a page. No run may be in two
    /// such files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "record", "crash_everywhere", "audit", "same_decisions", "stats", "format", "report", "envelope", "show_args", "strict"])]
    pub partial: Option<String>,

    /// Only compare the decisions that a trace has (`decision` lines) with those of the playbook: exit with 1 if they differ
    #[arg(long, conflicts_with_all = ["record", "only", "failed", "class", "tool", "call", "run", "all"])]
    pub same_decisions: bool,

    /// List only these calls: `failed`, `findings`, or the name of a verdict
    #[arg(long, value_name = "failed|findings|VERDICT", conflicts_with = "call", help_heading = "Showing")]
    pub only: Option<String>,

    /// List only the calls that failed: `--only failed`
    #[arg(long, conflicts_with_all = ["only", "call"], help_heading = "Showing")]
    pub failed: bool,

    /// List only the failed calls of this class, which is what their agent is told: `playproof help failures` has the classes
    #[arg(long, value_name = "CLASS", value_parser = crate::values::word(&FailureClass::TABLE), hide_possible_values = true, conflicts_with = "call", help_heading = "Showing")]
    pub class: Option<FailureClass>,

    /// List only the calls of this tool, or of the tools that a glob matches, as in a playbook
    #[arg(long, value_name = "TOOL|GLOB", value_parser = ToolSelection::new, conflicts_with = "call", help_heading = "Showing")]
    pub tool: Option<ToolSelection>,

    /// List only this call: a reference such as `r1#3`, the place FILE:LINE of its line or of a
    /// result's, or its own id
    #[arg(long, value_name = "REF|PLACE|ID", allow_hyphen_values = true, help_heading = "Showing")]
    pub call: Option<String>,

    /// List only the calls of this run
    #[arg(long, value_name = "RUN", help_heading = "Showing")]
    pub run: Option<String>,

    /// List every call; by default only the 20 most serious, similar ones folded. Each takes about 4 kB of memory,
    /// except with `--format jsonl`
    #[arg(long, help_heading = "Showing")]
    pub all: bool,

    /// Count too: findings, verdicts, outcomes, effects, and how delays and upstream calls are spread. Markdown, JSON and
    /// pages always do
    #[arg(long, help_heading = "Showing")]
    pub stats: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table", help_heading = "Showing")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page, conflicts_with_all = ["seeds", "same_decisions"], help_heading = "Showing")]
    pub report: Option<ReportTo>,

    /// Add to each call of `--format json|jsonl` what its agent gets of it, in this form; null where it gets no such answer
    #[arg(long, value_name = "failure|refusal|dispatch|openai|anthropic", value_parser = crate::values::word(&EnvelopeKind::TABLE), conflicts_with_all = ["seeds", "same_decisions"], help_heading = "Showing")]
    pub envelope: Option<EnvelopeKind>,

    /// Show arguments in Markdown and on the page of `--report`, not only their keys and types
    #[arg(long, help_heading = "Showing")]
    pub show_args: bool,

    /// Exit with 3 if any finding is a doubt, or if no call has a result
    #[arg(long)]
    pub strict: bool,

    /// Accept an input without calls
    #[arg(long)]
    pub allow_empty: bool,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// The flags that select calls of a trace to be listed, beside the name of one.
pub const SELECTING: [&str; 5] = ["--only", "--failed", "--class", "--tool", "--run"];

impl Options {
    /// What `--only` says, or `--failed`.
    pub fn only(&self) -> Option<&str> {
        self.only.as_deref().or(self.failed.then_some("failed"))
    }

    /// What was asked for with the flags that select calls, by their names.
    pub fn selected(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("only", self.only()),
            ("class", self.class.map(FailureClass::as_str)),
            ("tool", self.tool.as_ref().map(ToolSelection::as_str)),
            ("call", self.call.as_deref()),
            ("run", self.run.as_deref()),
        ];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value?)))
    }
}

/// Reads a range of seeds: `1-1000`.
///
/// # Errors
/// No range, or one of more than 100,000 seeds.
fn seeds(given: &str) -> Result<RangeInclusive<u64>, String> {
    let ends = given.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let range = ends.map(|(first, last): (u64, u64)| first..=last);
    let is_short = |range: &RangeInclusive<u64>| !range.is_empty() && range.end() - range.start() < MOST_SEEDS;
    range
        .filter(is_short)
        .ok_or("expected the first and the last of at most 100,000 seeds, such as `1-1000`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_first_and_a_last_seed() {
        assert_eq!((seeds("1-1000"), seeds("7-7"), seeds("0-99999")), (Ok(1..=1_000), Ok(7..=7), Ok(0..=99_999)));
        for wrong in ["", "1", "2-1", "1-", "-1", "a-b", "0-100000", "1-2-3"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
