//! What one simulation left behind: facts first; summaries and exit codes are derived from it elsewhere.

use std::sync::Arc;

use crate::event::{DecisionEvent, ErrorFacts, Finding, Intent, Names, Outcome, Transcript};
use crate::ids::{CallId, ErrorId};
use crate::time::Duration;
use crate::upstream::Ledger;

/// The result of one simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Ordered by time, then emission.
    pub events: Vec<DecisionEvent>,
    /// One a call, in the order of the calls.
    pub outcomes: Vec<Outcome>,
    /// One a call, in the order of the calls.
    pub tallies: Vec<Tally>,
    /// The upstream's book.
    pub ledger: Ledger,
    /// The errors behind `ErrorId`, each distinct one once, as recorded.
    pub errors: Vec<Arc<ErrorFacts>>,
    /// The same as they are shown; empty where nothing is redacted.
    pub(super) shown_errors: Vec<Arc<ErrorFacts>>,
    /// Sorted: worst first, then by call.
    pub findings: Vec<Finding>,
}

/// What was counted of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Attempts, refreshes and reversals that the upstream was asked for.
    pub sends: u32,
    /// Waiting that the playbook put between attempts.
    pub added_delay: Duration,
    /// Recorded answers to attempts that were not used.
    pub tape_left: u32,
    /// The first departure from the recording.
    pub off_tape: Option<OffTape>,
}

/// How a call departed from its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffTape {
    /// Another number of attempts.
    Attempts {
        /// As recorded: the number of the last one.
        recorded: u32,
        /// Under the playbook.
        now: u32,
    },
    /// The same number of attempts, but not all of them with their recorded answers: after a refresh that was not
    /// recorded, recorded answers answer nothing.
    Answers {
        /// Recorded answers to attempts.
        recorded: u32,
        /// Those that the playbook's attempts were answered with.
        used: u32,
    },
    /// The same attempts, another final status.
    FinalStatus,
}

impl Record {
    /// The error behind an id of this record, as recorded.
    pub fn error(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.errors.get(id.index()).map(|error| &**error)
    }

    /// The same as it is shown.
    pub fn shown_error(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.errors_to_show().get(id.index()).map(|error| &**error)
    }

    fn errors_to_show(&self) -> &[Arc<ErrorFacts>] {
        if self.shown_errors.is_empty() { &self.errors } else { &self.shown_errors }
    }

    /// All of it with the names behind its numbers, for reporters: `calls` by `CallId`.
    pub fn transcript<'a>(
        &'a self,
        names: &'a Names,
        calls: &'a [String],
        intent_name: &'a dyn Fn(Intent) -> String,
    ) -> Transcript<'a> {
        Transcript {
            names,
            calls,
            intent_name,
            events: &self.events,
            outcomes: &self.outcomes,
            ledger: self.ledger.entries(),
            errors: self.errors_to_show(),
            findings: &self.findings,
        }
    }

    /// The events of one call, in order.
    pub fn events_of(&self, call: CallId) -> impl Iterator<Item = &DecisionEvent> {
        self.events.iter().filter(move |event| event.call == call)
    }

    /// The number of an error, given out now if it is a new one.
    pub(super) fn intern_error(&mut self, error: Arc<ErrorFacts>) -> ErrorId {
        let known = self.errors.iter().position(|seen| *seen == error);
        let number = known.unwrap_or_else(|| {
            self.errors.push(error);
            self.errors.len() - 1
        });
        ErrorId(u32::try_from(number).unwrap_or(u32::MAX))
    }
}
