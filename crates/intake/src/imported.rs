//! The result of an import: lines in our own trace format, and a report of what the source lacks.
//! Plain values; the readers of foreign formats fill them, and the command line prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::histories::History;
use crate::origin::Origins;
use crate::tool_hints::HintsByTool;
use crate::unused::{UnknownKind, UnusedField};
use playproof_engine::call::Reply;
use playproof_formats::diagnostic::counted;

/// A foreign source as lines in our own trace format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// One JSON object a line.
    pub lines: Vec<u8>,
    /// Where each line comes from.
    pub origins: Origins,
    /// What the source lacks, and warnings.
    pub loss: LossReport,
}

/// What a foreign source held, what it lacks, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossReport {
    /// The format that the source was read as.
    pub read_as: String,
    /// Runs in the source.
    pub runs: u64,
    /// Calls written.
    pub calls: u64,
    /// Results written, orphans included.
    pub results: u64,
    /// Results written as failures.
    pub failures: u64,
    /// Results whose text suggests a failure and does not prove one.
    pub suspected: u64,
    /// Calls written without a result.
    pub unanswered: u64,
    /// What the source lacks.
    pub missing: BTreeSet<Missing>,
    /// Warnings with their counts.
    pub warnings: BTreeMap<ImportWarning, WarningCount>,
    /// Rows that `skip: rest` of the user's mapping passes by.
    pub passed: u64,
    /// The mapping says which rows are results, and no row fits.
    pub no_row_is_a_result: bool,
    /// Fields of a mapping that no row has.
    pub unused: Vec<UnusedField>,
    /// Kinds of a mapping that are probably misspelt.
    pub unknown_kinds: Vec<UnknownKind>,
    /// The user's mapping says what is different in a recognised format.
    pub is_overridden: bool,
    /// What that mapping changed.
    pub changed: Changed,
    /// What tool lists in the source say of tools.
    pub hints: HintsByTool,
    /// Other formats that the source has too: nothing of them is read.
    pub others: Vec<String>,
}

/// How much a mapping changed of what a recognised format says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Results that became failures.
    pub failed: u64,
    /// Failures that became successes.
    pub not_failed: u64,
    /// Failures with another kind.
    pub kinds: u64,
    /// Calls and results in another run.
    pub runs: u64,
    /// Calls of another tool.
    pub tools: u64,
}

impl Changed {
    /// Adds what else was changed.
    pub(crate) fn add(&mut self, more: &Changed) {
        let Changed { failed, not_failed, kinds, runs, tools } = self;
        let all = [(failed, more.failed), (not_failed, more.not_failed), (kinds, more.kinds)];
        all.into_iter().chain([(runs, more.runs), (tools, more.tools)]).for_each(|(count, more)| *count += more);
    }

    /// In words; none if nothing was changed.
    pub fn described(&self) -> Option<String> {
        let Changed { failed, not_failed, kinds, runs, tools } = *self;
        let all = [
            (failed, "result to a failure", "results to failures"),
            (not_failed, "failure to a success", "failures to successes"),
            (kinds, "error kind", "error kinds"),
            (runs, "run of a call or result", "runs of calls and results"),
            (tools, "tool", "tools"),
        ];
        let said: Vec<String> = all
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| counted(count, one, many))
            .collect();
        (!said.is_empty()).then(|| format!("the mapping changed {}", said.join(", ")))
    }
}

/// What a source may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The times of calls and answers.
    Times,
    /// The latency of attempts.
    Latencies,
    /// Which results are failures.
    FailureFlags,
    /// Error kinds, where only messages tell them.
    Kinds,
    /// Error kinds, where statuses and codes tell them too.
    KindNames,
    /// Status numbers and upstream codes.
    Status,
    /// Which calls are attempts of one call.
    Attempts,
    /// Idempotency keys.
    Keys,
    /// Evidence references and reversal tokens.
    Tokens,
    /// Whether a failed call acted.
    Effects,
    /// Which call a result answers.
    Ids,
    /// Which calls belong to one run.
    Runs,
}

/// Something in a source that the import had to skip, rename or guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportWarning {
    /// Arguments as text that is not JSON.
    ArgumentsNotJson,
    /// A call without a tool name.
    CallWithoutTool,
    /// A call without an id.
    CallWithoutId,
    /// A call whose id belongs to an unanswered call of its run.
    RepeatedId,
    /// A result without an id.
    ResultWithoutId,
    /// A result that matches no waiting call.
    ResultWithoutCall,
    /// A call of the simulated user, not of the agent.
    UserSideCall,
    /// A message with an unknown role.
    UnknownRole,
    /// A value that should be a message, a call or a run, and is not.
    NotReadable,
    /// A value that should be a time, and is not.
    UnreadableTime,
    /// A number without a unit that is a time in January 1970 as milliseconds.
    TimeIn1970,
    /// A run without messages.
    EmptyRun,
    /// A row that repeats another one.
    Copy,
    /// A row that is neither call nor result.
    UnmatchedRow,
    /// A line that is not JSON.
    NotJson,
    /// A status or a wait that is not a number in range.
    UnreadableNumber,
    /// An answer with an id that both a call and another request have.
    AnswerToEither,
    /// A result that says that its call is not finished.
    Unfinished,
    /// A conversation that repeats all of an earlier one and goes on.
    ContinuedHistory,
    /// A conversation that repeats all of an earlier one, from which another has already gone on.
    BranchedHistory,
    /// A conversation that repeats all of an earlier one, and nothing else.
    RepeatedHistory,
    /// A row whose trace line would be too long or too deep.
    BeyondLimits,
    /// A result that counts as a success by the user's mapping, and whose content or status tells of a failure.
    UnnamedFailure,
    /// A call that another run of the source has too.
    RepeatedCall,
    /// A result whose flag has a value by which its format tells neither failure nor success.
    UnknownFlag,
}

/// How often a warning occurred, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarningCount {
    /// The number of times.
    pub count: u64,
    /// The first place in the source.
    pub first: String,
}

impl LossReport {
    /// Counts a warning at `place`.
    pub(crate) fn warn(&mut self, warning: ImportWarning, place: &str) {
        let counted = self.warnings.entry(warning).or_default();
        if counted.count == 0 {
            counted.first = place.to_owned();
        }
        counted.count += 1;
    }

    /// Counts a result.
    pub(crate) fn count_result(&mut self, said: &Reply) {
        self.results += 1;
        match said {
            Reply::Ok => {}
            Reply::Failed(_) => self.failures += 1,
            Reply::Suspected(_) | Reply::Unfinished(_) => self.suspected += 1,
        }
    }

    /// Counts a conversation that repeats an earlier one.
    pub(crate) fn warn_of_history<C>(&mut self, history: &History<C>, place: &str) {
        match history {
            History::New => {}
            History::GoesOn(..) => self.warn(ImportWarning::ContinuedHistory, place),
            History::Branches => self.warn(ImportWarning::BranchedHistory, place),
            History::Repeats => self.warn(ImportWarning::RepeatedHistory, place),
        }
    }

    /// Counts `count` warnings, of which the first is at `first`.
    pub(crate) fn warn_of(&mut self, warning: ImportWarning, count: u64, first: impl FnOnce() -> String) {
        if count > 0 {
            let counted = self.warnings.entry(warning).or_insert_with(|| WarningCount { count: 0, first: first() });
            counted.count += count;
        }
    }

    /// A warning in words, with its first place; none if it did not occur.
    pub fn describe(&self, warning: ImportWarning) -> Option<String> {
        let WarningCount { count, first } = self.warnings.get(&warning)?;
        let (one, many) = warning.words();
        let text = counted(*count, one, many);
        Some(if first.is_empty() { text } else { format!("{text} (first at {first})") })
    }

    /// All warnings, and the parts of a mapping that fit no row, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let warnings = self.warnings.keys().filter_map(|warning| self.describe(*warning));
        warnings.chain(self.unfitting()).chain(self.described_change()).collect()
    }

    /// What the user's mapping changed in a recognised format.
    fn described_change(&self) -> Option<String> {
        let nothing = || self.is_overridden.then(|| "the mapping changed nothing".to_owned());
        self.changed.described().or_else(nothing)
    }

    /// The other formats of the source, and the parts of a mapping that fit no row.
    fn unfitting(&self) -> Vec<String> {
        let others = self.others.iter().map(|other| format!("a part of it looks like {other}, and is not read"));
        let no_result = "no row fits `result.where`, so no call has a result".to_owned();
        let no_result = self.no_row_is_a_result.then_some(no_result);
        let unused = self.unused.iter().map(UnusedField::to_string);
        others.chain(no_result).chain(unused).chain(self.unknown_kinds.iter().map(UnknownKind::to_string)).collect()
    }

    /// How often a warning occurred.
    pub fn count(&self, warning: ImportWarning) -> u64 {
        self.warnings.get(&warning).map_or(0, |counted| counted.count)
    }

    /// The number of rows that were skipped because they cannot be used, and the number of calls or results of the others.
    pub fn skipped_and_read(&self) -> (u64, u64) {
        (self.count(ImportWarning::NotJson) + self.count(ImportWarning::BeyondLimits), self.calls.max(self.results))
    }
}

impl Missing {
    /// In words, with its consequence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Missing::Times => "when calls were made and answered: the clock is synthetic",
            Missing::Latencies => "how long an attempt took",
            Missing::FailureFlags => {
                "which results are failures, because none has a status: the structure of the answer and the beginning of its text tell"
            }
            Missing::Kinds => "error kinds: a failure is known by its message alone",
            Missing::KindNames => "error kinds: the status, the code and the message of a failure tell its kind",
            Missing::Status => "status numbers and codes of errors",
            Missing::Attempts => "which calls are attempts of one call",
            Missing::Keys => "idempotency keys",
            Missing::Tokens => "evidence references and reversal tokens",
            Missing::Effects => "whether a failed call acted upstream",
            Missing::Runs => "which calls belong to one run: findings about several calls are doubts",
            Missing::Ids => "which call a result answers: the mapping names no `id`",
        }
    }
}

impl ImportWarning {
    /// In words, for one and for several.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            ImportWarning::ArgumentsNotJson => (
                "call with arguments that are not JSON, kept as text",
                "calls with arguments that are not JSON, kept as text",
            ),
            ImportWarning::CallWithoutTool => {
                ("call without a tool name, left out", "calls without a tool name, left out")
            }
            ImportWarning::CallWithoutId => {
                ("call without an id, identified by its place", "calls without an id, identified by their place")
            }
            ImportWarning::RepeatedId => (
                "call with the id of a call that was still unanswered, renamed",
                "calls with the id of a call that was still unanswered, renamed",
            ),
            ImportWarning::ResultWithoutId => {
                ("result without an id, paired by its place", "results without an id, paired by their place")
            }
            ImportWarning::ResultWithoutCall => {
                ("result without a call, kept as an orphan", "results without a call, kept as orphans")
            }
            ImportWarning::UserSideCall => {
                ("call of the simulated user, in a run of its own", "calls of the simulated user, in runs of their own")
            }
            ImportWarning::UnknownRole => {
                ("message with an unknown role, left out", "messages with an unknown role, left out")
            }
            ImportWarning::NotReadable => ("value of an unknown form, left out", "values of an unknown form, left out"),
            ImportWarning::UnreadableTime => {
                ("time that could not be read, left out", "times that could not be read, left out")
            }
            ImportWarning::TimeIn1970 => ("time in January 1970", "times in January 1970"),
            ImportWarning::EmptyRun => ("run without messages", "runs without messages"),
            ImportWarning::NotJson => ("line that is not JSON, left out", "lines that are not JSON, left out"),
            ImportWarning::Copy => ("copy of another row, left out", "copies of other rows, left out"),
            ImportWarning::UnmatchedRow => {
                ("row that is neither call nor result, left out", "rows that are neither call nor result, left out")
            }
            ImportWarning::UnreadableNumber => {
                ("number that could not be read, left out", "numbers that could not be read, left out")
            }
            ImportWarning::AnswerToEither => (
                "answer that may be a call's or another request's, which have one id and no direction, taken as the other's",
                "answers that may be a call's or another request's, which have one id and no direction, taken as the other's",
            ),
            ImportWarning::Unfinished => (
                "result that says that its call is not finished, left out",
                "results that say that their calls are not finished, left out",
            ),
            ImportWarning::ContinuedHistory => (
                "conversation that repeats all of an earlier one and goes on, read from there",
                "conversations that repeat all of an earlier one and go on, read from there",
            ),
            ImportWarning::BranchedHistory => (
                "conversation that repeats all of an earlier one, from which another has gone on: its calls count again",
                "conversations that repeat all of an earlier one, from which another has gone on: their calls count again",
            ),
            ImportWarning::RepeatedHistory => (
                "conversation that repeats an earlier one: its calls count again",
                "conversations that repeat an earlier one: their calls count again",
            ),
            ImportWarning::UnnamedFailure => (
                "result whose content or status tells of a failure, which `failed` does not name: a success (`failed: [..., text]` reads it)",
                "results whose content or status tells of a failure, which `failed` does not name: successes (`failed: [..., text]` reads it)",
            ),
            ImportWarning::RepeatedCall => (
                "call with the id, the tool and the arguments of a call of another run: probably the same one, counted again",
                "calls with the id, the tool and the arguments of calls of another run: probably the same ones, counted again",
            ),
            ImportWarning::UnknownFlag => (
                "result whose flag has a value that its format does not know: its content tells (`--map` can decide)",
                "results whose flags have values that their format does not know: their content tells (`--map` can decide)",
            ),
            ImportWarning::BeyondLimits => {
                ("row too large for a trace, left out", "rows too large for a trace, left out")
            }
        }
    }
}

/// A few lines: what was read, what the source lacks, and the warnings.
impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LossReport { read_as, runs, calls, results, failures, unanswered, .. } = self;
        let (runs, calls) = (counted(*runs, "run", "runs"), counted(*calls, "call", "calls"));
        let results = counted(*results, "result", "results");
        write!(f, "read as {read_as}: {runs}, {calls}, {results}, {failures} of them failed")?;
        if self.suspected > 0 {
            write!(f, ", {} perhaps", self.suspected)?;
        }
        if *unanswered > 0 {
            write!(f, "; {}", counted(*unanswered, "call without a result", "calls without a result"))?;
        }
        if self.passed > 0 {
            write!(f, "; {} passed by `skip: rest`", counted(self.passed, "row", "rows"))?;
        }
        if !self.missing.is_empty() {
            write!(f, "\nthe source cannot tell:")?;
        }
        for missing in &self.missing {
            write!(f, "\n  - {}", missing.as_str())?;
        }
        if !self.warnings.is_empty() {
            write!(f, "\nwarnings:")?;
        }
        for warning in self.warnings.keys().filter_map(|warning| self.describe(*warning)) {
            write!(f, "\n  - {warning}")?;
        }
        self.unfitting().iter().chain(&self.described_change()).try_for_each(|said| write!(f, "\n{said}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_report_gives_the_first_place_of_a_warning() {
        let mut loss = LossReport { read_as: "openai".into(), ..LossReport::default() };
        loss.missing.insert(Missing::Keys);
        loss.warn(ImportWarning::UnknownRole, "[3]");
        loss.warn(ImportWarning::UnknownRole, "[4]");
        let expected = "read as openai: 0 runs, 0 calls, 0 results, 0 of them failed\nthe source cannot tell:\n  \
                        - idempotency keys\nwarnings:\n  - 2 messages with an unknown role, left out (first at [3])";
        assert_eq!(loss.to_string(), expected);
    }
}
