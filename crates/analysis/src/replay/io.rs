//! What a replay is given and what it leaves behind: options, inputs, who watches, accounts and errors. Replays nothing.

use std::io;

use playproof_engine::upstream::BeyondTape;
use playproof_formats::diagnostic::Report;
use playproof_trace::assemble::{AssembleOptions, InputLedger};
use playproof_trace::read::Firsts;
use playproof_trace::reader::Input;
use playproof_trace::redact::RedactionRules;

use super::call_result::CallResult;
use super::recorded::PossibleDuplicates;
use super::summary::{FindingCounts, Summary};

/// How to replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Threads, the calling one included; 0 counts as 1.
    pub jobs: usize,
    /// How calls are put together.
    pub assemble: AssembleOptions,
    /// What answers where a recording ends.
    pub beyond: BeyondTape,
    /// What must not be shown.
    pub redaction: RedactionRules,
}

/// Traces in their order, of which lines and name are used; each is opened when it is its turn.
pub type Inputs<'a> = Box<dyn Iterator<Item = Result<Input<'a>, Report>> + Send + 'a>;

/// Looks at every call, on any thread; what it makes of a batch of calls comes back in order.
pub trait Observer: Sync {
    /// What it makes of a batch of calls.
    type Part: Send;

    /// An empty part.
    fn part(&self) -> Self::Part;

    /// Adds a call to a part.
    fn on_call(&self, result: &CallResult<'_>, part: &mut Self::Part);
}

/// Watches nothing.
impl Observer for () {
    type Part = ();

    fn part(&self) {}

    fn on_call(&self, _: &CallResult<'_>, (): &mut ()) {}
}

/// What became of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputAccount {
    /// What people call it.
    pub name: String,
    /// Its account, which balances.
    pub ledger: InputLedger,
    /// The first things in it that nobody knows.
    pub firsts: Firsts,
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
    /// An input could not be opened, or a line of it not be used.
    Input(Box<Report>),
    /// The input of this name could not be read to its end.
    Unreadable(String, io::Error),
    /// The sink failed.
    Output(io::Error),
}
