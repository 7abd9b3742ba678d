//! Inputs and outputs of a replay: options, inputs, observers, accounts, errors. Replays nothing.

use std::io;

use playproof_engine::sim::Pace;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Report;
use playproof_formats::playbook::lint::SeenArguments;
use playproof_intake::assemble::{AssembleOptions, InputLedger};
use playproof_intake::digest::FirstUnknown;
use playproof_intake::input::{ReadError, TraceInput};
use playproof_intake::redact::RedactionRules;

use super::call_result::CallResult;
use super::counts::Counts;
use super::lanes::SessionOptions;
use super::possible_duplicates::PossibleDuplicates;
use super::run_ends::UnsettledRuns;
use super::summary::{FindingCounts, Summary};

/// How to replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Threads, the calling one included; 0 counts as 1.
    pub jobs: usize,
    /// How calls are put together.
    pub assemble: AssembleOptions,
    /// What answers beyond the recording.
    pub beyond: MissingAnswerPolicy,
    /// The redaction rules.
    pub redaction: RedactionRules,
    /// When calls start that are simulated together.
    pub pace: Option<Pace>,
    /// Whether each call is simulated, also where one of its kind has been: for tests that compare both ways.
    pub simulates_each: bool,
}

impl ReplayOptions {
    /// What the sessions are made with.
    pub(super) const fn session(&self) -> SessionOptions<'_> {
        SessionOptions { beyond: &self.beyond, pace: self.pace }
    }
}

/// Traces in order; each is opened in its turn.
pub type Inputs<'a> = Box<dyn Iterator<Item = TraceInput<'a>> + Send + 'a>;

/// Observes every call, on any thread; its partial results come back in order.
pub trait Observer: Sync {
    /// The partial result for a batch of calls.
    type Part: Send;

    /// An empty partial result.
    fn part(&self) -> Self::Part;

    /// Adds a call to a partial result.
    fn on_call(&self, result: &CallResult<'_>, part: &mut Self::Part);
}

/// Observes nothing.
impl Observer for () {
    type Part = ();

    fn part(&self) {}

    fn on_call(&self, _: &CallResult<'_>, (): &mut ()) {}
}

/// The account of one input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InputAccount {
    /// Its name for people.
    pub name: String,
    /// Its account, which balances.
    pub ledger: InputLedger,
    /// Its first unknown names.
    pub first_unknown: FirstUnknown,
    /// The first lines that were skipped; no partial result has them.
    #[serde(skip)]
    pub skipped: Vec<Report>,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Replayed {
    /// One a playbook.
    pub summaries: Vec<Summary>,
    /// One an input.
    pub inputs: Vec<InputAccount>,
    /// Findings of the recordings themselves.
    pub recorded: FindingCounts,
    /// Calls that may have made an effect again, by tool.
    pub possible_duplicates: PossibleDuplicates,
    /// Runs that end on a write whose effect is unknown.
    pub unsettled_runs: UnsettledRuns,
    /// The arguments of tools of which the first playbook names those that make a request.
    pub arguments: SeenArguments,
}

impl Replayed {
    /// Adds the replay of further inputs, which come behind these.
    pub fn merge(&mut self, later: Replayed) {
        let before = u32::try_from(self.inputs.len()).unwrap_or(u32::MAX);
        for (mine, later) in self.summaries.iter_mut().zip(later.summaries) {
            mine.off_tape_runs += later.off_tape_runs; // runs belong to one input
            mine.off_tape_runs_bound |= later.off_tape_runs_bound;
            mine.merge(&later.behind(before));
        }
        self.inputs.extend(later.inputs);
        self.recorded.merge(&later.recorded);
        self.possible_duplicates.merge(&later.possible_duplicates);
        self.unsettled_runs.merge(later.unsettled_runs, before);
        for (tool, arguments) in later.arguments {
            self.arguments.entry(tool).or_default().extend(arguments);
        }
    }

    /// What a count by name may lack at most, because there are too many names.
    pub fn missed_at_most(&self) -> u64 {
        let by_name = self.summaries.iter().map(Summary::missed_at_most);
        by_name.chain(self.possible_duplicates.lists().map(Counts::missed_at_most)).max().unwrap_or(0)
    }

    /// The account of all inputs together.
    pub fn ledger(&self) -> InputLedger {
        self.inputs.iter().fold(InputLedger::default(), |all, input| all.and(&input.ledger))
    }
}

/// Why a replay is not complete.
#[derive(Debug)]
pub enum ReplayError {
    /// Inputs could not be read to their ends, in their order; the result has the lines before.
    Read(Box<Replayed>, Vec<UnreadInput>),
    /// The sink failed.
    Output(io::Error),
}

/// An input that could not be read to its end.
#[derive(Debug)]
pub struct UnreadInput {
    /// Its place among the inputs.
    pub input: usize,
    /// Why.
    pub error: ReadError,
}
