//! What becomes of foreign bytes: lines of our own trace format, and an account of what is lost.
//! Plain values; the readers of foreign formats fill them, the command line prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::origin::Origins;
use playproof_formats::diagnostic::counted;

/// A foreign source as lines of our own trace format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// One object a line, as `trace::read` reads them.
    pub lines: Vec<u8>,
    /// Where each of them comes from.
    pub origins: Origins,
    /// What the source cannot tell, and what was odd in it.
    pub loss: LossReport,
}

/// What a foreign source held, what it cannot tell, and what was odd in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossReport {
    /// What the source was read as.
    pub read_as: String,
    /// Runs in the source.
    pub runs: u64,
    /// Calls written.
    pub calls: u64,
    /// Results written, orphans included.
    pub results: u64,
    /// Results written as failures.
    pub failures: u64,
    /// Calls written without a result.
    pub unanswered: u64,
    /// What the source cannot tell.
    pub missing: BTreeSet<Missing>,
    /// What was odd.
    pub oddities: BTreeMap<Oddity, Seen>,
    /// The mapping says which rows are results, and none is.
    pub no_row_is_a_result: bool,
    /// Parts of a mapping that no row had.
    pub unused: Vec<Unused>,
}

/// A part of a mapping that no row had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// As in `call.args`.
    pub field: String,
    /// Where the mapping looks for it.
    pub path: String,
    /// What the rows have that is nearest to it.
    pub near: Option<String>,
    /// Other rows have it, but none of those that are looked at for it.
    pub elsewhere: bool,
}

/// What a source may be unable to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// When calls were made and answered.
    Times,
    /// How long an attempt took.
    Latencies,
    /// Which results are failures.
    FailureFlags,
    /// Error kinds.
    Kinds,
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
}

/// Something in a source that had to be read in one way or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// Arguments as text that is not JSON.
    ArgumentsNotJson,
    /// A call that no tool name goes with.
    CallWithoutTool,
    /// A call without an id.
    CallWithoutId,
    /// A call whose id an unanswered call of its run has.
    RepeatedId,
    /// A result without an id.
    ResultWithoutId,
    /// A result that no waiting call goes with.
    ResultWithoutCall,
    /// A call of the simulated user, not of the agent.
    UserSideCall,
    /// A message whose role says nothing to us.
    UnknownRole,
    /// Something in the place of a message, a call or a run that is none.
    NotReadable,
    /// A time that is none.
    UnreadableTime,
    /// A run without messages.
    EmptyRun,
    /// A row that is neither call nor result.
    UnmatchedRow,
    /// A line that is no JSON.
    NotJson,
    /// A status or wait that is no number in range.
    UnreadableNumber,
    /// A row that is larger or deeper than a line of a trace may be.
    BeyondLimits,
}

/// How often something was seen, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// The place in the source.
    pub first: String,
}

impl LossReport {
    /// Counts an oddity that stands at `place`.
    pub(crate) fn saw(&mut self, oddity: Oddity, place: &str) {
        let seen = self.oddities.entry(oddity).or_default();
        if seen.count == 0 {
            seen.first = place.to_owned();
        }
        seen.count += 1;
    }

    /// An oddity in words, with its first place; none where it was not seen.
    pub fn said(&self, oddity: Oddity) -> Option<String> {
        let seen = self.oddities.get(&oddity)?;
        let (one, many) = oddity.words();
        let said = counted(seen.count, one, many);
        Some(if seen.first.is_empty() { said } else { format!("{said} (first at {})", seen.first) })
    }

    /// What was odd or of no use, a sentence each: what every account of the source says.
    pub fn remarks(&self) -> Vec<String> {
        let oddities = self.oddities.keys().filter_map(|oddity| self.said(*oddity));
        oddities.chain(self.misfits()).collect()
    }

    /// What of a mapping fitted no row.
    fn misfits(&self) -> Vec<String> {
        let no_result = "no row fits `result.where`, so that no call has a result".to_owned();
        let no_result = self.no_row_is_a_result.then_some(no_result);
        no_result.into_iter().chain(self.unused.iter().map(Unused::to_string)).collect()
    }

    /// How often an oddity was seen.
    pub fn count(&self, oddity: Oddity) -> u64 {
        self.oddities.get(&oddity).map_or(0, |seen| seen.count)
    }

    /// Rows that were left out because they cannot be used, and what was made of the others.
    pub fn skipped_and_read(&self) -> (u64, u64) {
        (self.count(Oddity::NotJson) + self.count(Oddity::BeyondLimits), self.calls.max(self.results))
    }
}

impl Missing {
    /// In words, with what follows from it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Missing::Times => "when calls were made and answered: the clock is synthetic",
            Missing::Latencies => "how long an attempt took",
            Missing::FailureFlags => {
                "which results are failures, because none has a status: one that begins with `Error:` is read as a failure, any other as ok"
            }
            Missing::Kinds => "error kinds: a failure is known by its message alone",
            Missing::Status => "status numbers and codes of errors",
            Missing::Attempts => "which calls are attempts of one call",
            Missing::Keys => "idempotency keys",
            Missing::Tokens => "evidence references and reversal tokens",
            Missing::Effects => "whether a failed call acted upstream",
            Missing::Ids => "which call a result answers: the mapping names no `id`",
        }
    }
}

impl Oddity {
    /// In words, for one and for several.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Oddity::ArgumentsNotJson => (
                "call with arguments that are not JSON, kept as text",
                "calls with arguments that are not JSON, kept as text",
            ),
            Oddity::CallWithoutTool => ("call without a tool name, left out", "calls without a tool name, left out"),
            Oddity::CallWithoutId => {
                ("call without an id, known by its place", "calls without an id, told apart by their place")
            }
            Oddity::RepeatedId => (
                "call with the id of a call that still waited, renamed",
                "calls with the id of a call that still waited, renamed",
            ),
            Oddity::ResultWithoutId => {
                ("result without an id, paired by its place", "results without an id, paired by their place")
            }
            Oddity::ResultWithoutCall => {
                ("result without a call, kept as an orphan", "results without a call, kept as orphans")
            }
            Oddity::UserSideCall => {
                ("call of the simulated user, in a run of its own", "calls of the simulated user, in runs of their own")
            }
            Oddity::UnknownRole => {
                ("message with an unknown role, left out", "messages with an unknown role, left out")
            }
            Oddity::NotReadable => {
                ("thing that is no message, call or run, left out", "things that are no message, call or run, left out")
            }
            Oddity::UnreadableTime => {
                ("time that could not be read, left out", "times that could not be read, left out")
            }
            Oddity::EmptyRun => ("run without messages", "runs without messages"),
            Oddity::NotJson => ("line that is no JSON, left out", "lines that are no JSON, left out"),
            Oddity::UnmatchedRow => {
                ("row that is neither call nor result, left out", "rows that are neither call nor result, left out")
            }
            Oddity::UnreadableNumber => {
                ("number that could not be read, left out", "numbers that could not be read, left out")
            }
            Oddity::BeyondLimits => {
                ("row that is too large for a trace, left out", "rows that are too large for a trace, left out")
            }
        }
    }
}

/// A few lines: what was read, what the source cannot tell, what was odd and where first.
impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LossReport { read_as, runs, calls, results, failures, unanswered, .. } = self;
        let (runs, calls) = (counted(*runs, "run", "runs"), counted(*calls, "call", "calls"));
        let results = counted(*results, "result", "results");
        write!(f, "read as {read_as}: {runs}, {calls}, {results}, {failures} of them failed")?;
        if *unanswered > 0 {
            write!(f, "; {}", counted(*unanswered, "call without a result", "calls without a result"))?;
        }
        if !self.missing.is_empty() {
            write!(f, "\nthe source cannot tell:")?;
        }
        for missing in &self.missing {
            write!(f, "\n  - {}", missing.as_str())?;
        }
        if !self.oddities.is_empty() {
            write!(f, "\nodd in the source:")?;
        }
        for said in self.oddities.keys().filter_map(|oddity| self.said(*oddity)) {
            write!(f, "\n  - {said}")?;
        }
        self.misfits().iter().try_for_each(|said| write!(f, "\n{said}"))
    }
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unused { field, path, near, elsewhere } = self;
        let row = match field.split('.').next() {
            Some("result") if *elsewhere => "row that is a result",
            Some("call") if *elsewhere => "row that is a call",
            _ => "row",
        };
        write!(f, "no {row} has `{path}`, which the mapping names as `{field}`")?;
        near.as_ref().map_or(Ok(()), |near| write!(f, " (did you mean `{near}`?)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_report_says_where_an_oddity_was_seen_first() {
        let mut loss = LossReport { read_as: "openai".into(), ..LossReport::default() };
        loss.missing.insert(Missing::Keys);
        loss.saw(Oddity::UnknownRole, "[3]");
        loss.saw(Oddity::UnknownRole, "[4]");
        let expected = "read as openai: 0 runs, 0 calls, 0 results, 0 of them failed\nthe source cannot tell:\n  \
                        - idempotency keys\nodd in the source:\n  - 2 messages with an unknown role, left out (first at [3])";
        assert_eq!(loss.to_string(), expected);
    }
}
