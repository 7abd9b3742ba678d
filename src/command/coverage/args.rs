//! The arguments of `playproof coverage`.

use crate::flags::Given;
use crate::format::formats;
use crate::reports::{self, ReportTo};
use crate::threads::Threads;
use crate::values::{Permille, permille, whole};

/// Calls that are simulated for each playbook unless more are asked for: about ten seconds of a busy machine.
pub const MAX_CALLS: u64 = 2_000_000;

formats!(Format: Table = "For people", Json = "One JSON document", Lines = "The playbook's lines, marked");

/// The arguments of `coverage`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is measured, or mutated.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof coverage                            the project's playbook, by the fixtures that run under it
  playproof coverage reversing --format lines   the playbook's lines, marked
  playproof coverage --all                      with the text of every fixture that is missing
  playproof coverage --write fixtures           write every fixture that is missing; then review them
  playproof coverage --fail-under 80            exit with 1 below 80 percent
  playproof coverage --mutate                   the changes of the playbook that no fixture notices
  playproof coverage --mutate --all             with the fixture that would catch each survivor

Counts rules, verdicts, compensations, guards (passed and stopped), outcomes, stop reasons, queues, tool facts, and cells
(a verdict on a read or write, with or without key and token, on the first or a later attempt). What no fixture can
exercise does not count.

A fixture counts for the playbooks that it names: `playbooks: [NAME]`. One that names none counts for the project's.

With --mutate, a mutant is the playbook with one row changed: a rule removed, moved or widened, a compensation replaced,
a limit changed by one, a guard switched off, another queue, wait or effect claim. A fixture catches a mutant if its
golden would change in more than the names of rules. A mutant that no fixture catches is a survivor. List survivors that
are right in mutants.yaml, with the reason:

  format: mutants/1
  standard:
    rule timeout/drop: another rule says the same

Exit codes: 0 measured or written, 1 below --fail-under, 2 no fixture, unusable input, or a file that is there already.
With --mutate: 0 every survivor is accepted, 1 a survivor or a stale entry, 3 not every mutant was judged (--max-calls).")]
pub struct Options {
    /// The playbook: a name (of `playbooks/`, else embedded) or a path; with --mutate several [default: the project's, or
    /// standard]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// The folder of the fixtures [default: the project's, or fixtures]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<String>,

    /// Change the playbook one row at a time, and list the changes that no fixture notices
    #[arg(long, conflicts_with_all = ["write", "fail_under", "report"])]
    pub mutate: bool,

    /// The list of accepted survivors of --mutate [default: the project's mutants.yaml, if there is one]
    #[arg(long, value_name = "FILE", requires = "mutate")]
    pub accepted: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Show the text of every missing fixture; with --mutate also accepted mutants
    #[arg(long)]
    pub all: bool,

    /// Write every missing fixture into this folder of the project, over no file: each `expect` is what the playbook does
    /// now, for you to review
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "all", "fail_under", "report"])]
    pub write: Option<String>,

    /// Exit with 1 if the fixtures exercise less than this
    #[arg(long, value_name = "PERCENT", value_parser = permille)]
    pub fail_under: Option<Permille>,

    /// Simulate at most about this many calls for each playbook; exit with 3 if that is not enough
    #[arg(long, value_name = "N", default_value_t = MAX_CALLS, requires = "mutate",
        value_parser = whole::<u64>(1..=u64::MAX))]
    pub max_calls: u64,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,
}
