//! What a replay is given and what it leaves behind: options, inputs, who watches, accounts and errors. Replays nothing.

use std::io;

use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Report;
use playproof_trace::assemble::{AssembleOptions, InputLedger};
use playproof_trace::digest::FirstUnknown;
use playproof_trace::input::{ReadError, TraceInput};
use playproof_trace::redact::RedactionRules;

use super::recorded::PossibleDuplicates;
use super::seen::Seen;
use super::summary::{FindingCounts, Summary};

/// How to replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Threads, the calling one included; 0 counts as 1.
    pub jobs: usize,
    /// How calls are put together.
    pub assemble: AssembleOptions,
    /// What answers where a recording ends.
    pub beyond: MissingAnswerPolicy,
    /// What must not be shown.
    pub redaction: RedactionRules,
}

/// Traces in their order, of which lines and name are used; each is opened when it is its turn.
pub type Inputs<'a> = Box<dyn Iterator<Item = Result<TraceInput<'a>, Report>> + Send + 'a>;

/// Looks at every call, on any thread; what it makes of a batch of calls comes back in order.
pub trait Watch: Sync {
    /// What it makes of a batch of calls.
    type Part: Send;

    /// An empty part.
    fn part(&self) -> Self::Part;

    /// Adds a call to a part.
    fn see(&self, seen: &Seen<'_>, part: &mut Self::Part);
}

/// Watches nothing.
impl Watch for () {
    type Part = ();

    fn part(&self) {}

    fn see(&self, _: &Seen<'_>, (): &mut ()) {}
}

/// What became of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputAccount {
    /// What people call it.
    pub name: String,
    /// Its account, which balances.
    pub ledger: InputLedger,
    /// Its first unknown names.
    pub first_unknown: FirstUnknown,
    /// The first lines that were skipped.
    pub skipped: Vec<Report>,
}

/// What a replay leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// One a playbook.
    pub summaries: Vec<Summary>,
    /// One an input.
    pub inputs: Vec<InputAccount>,
    /// Findings of the recordings themselves.
    pub recorded: FindingCounts,
    /// Calls that may have made an effect again, by tool.
    pub possible_duplicates: PossibleDuplicates,
}

impl Replayed {
    /// The account of all inputs together.
    pub fn ledger(&self) -> InputLedger {
        self.inputs.iter().fold(InputLedger::default(), |all, input| all.and(&input.ledger))
    }
}

/// Why a replay ended early.
#[derive(Debug)]
pub enum ReplayError {
    /// An input could not be read.
    Read(ReadError),
    /// The sink failed.
    Output(io::Error),
}
