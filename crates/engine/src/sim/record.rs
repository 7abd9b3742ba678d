//! The result of one simulation: facts only; summaries and exit codes are derived elsewhere.

#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::call::{RecordedCall, Reply};
use crate::dispatch::BreakerState;
use crate::event::{
    AdmissionRefusal, CircuitChange, Death, Decision, DecisionEvent, ErrorFacts, Finding, Intent, LedgerKind, Outcome,
    OutcomeKind, PlaybookNames, Provenance, TokensLeft, Told, Transcript, ValidNext,
};
use crate::evidence::{CallWatch, Moment, RequestBooks};
use crate::ids::{ActionId, AttemptNo, CallId, ErrorId, RetryBudgetId, ServerId};
use crate::plan::{DrivenCall, Plan};
use crate::time::{Duration, Instant};
use crate::upstream::Ledger;

use super::acts::{GateStep, StepAct};

/// The result of one simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SimulationRecord {
    /// Ordered by time, then emission.
    pub events: Vec<DecisionEvent>,
    /// One for each call, in the order of the calls.
    pub outcomes: Vec<Outcome>,
    /// Under a graph: what is valid after each call, in the order of the calls, and none for a step; else empty.
    pub valid_next: Vec<Option<ValidNext>>,
    /// Of a gated recorded call: the actions that only a call with a key may do after it, with the hashes of these keys.
    pub bound: Vec<(ActionId, u128)>,
    /// Of a gated recorded call: what the gate did to it.
    pub gate: Option<GateStep>,
    /// Of actions: steps that have acted, or may have, beside those of the events.
    pub step_acts: Vec<StepAct>,
    /// Of a recorded call that says that it is a step: why it is none.
    pub odd_step: Option<OddStep>,
    /// One for each call, in the order of the calls.
    pub tallies: Vec<CallTally>,
    /// The upstream's ledger.
    pub ledger: Ledger,
    /// The distinct errors by `ErrorId`, as recorded.
    pub errors: Vec<Arc<ErrorFacts>>,
    /// The same errors redacted; empty if nothing is redacted.
    pub(super) shown_errors: Vec<Arc<ErrorFacts>>,
    /// Sorted: worst first, then by call.
    pub findings: Vec<Finding>,
    /// What the agent is told, one for each failed call, in the order of the calls.
    pub told: Vec<Told>,
    /// When the dispatcher of a scenario died.
    pub death: Option<Death>,
    /// The names of calls outside the record that its events mention; their ids follow those of its calls.
    pub others: Vec<String>,
    /// The names of the servers that its events mention, by `ServerId`.
    pub servers: Vec<String>,
    /// What the retry budgets with tokens that were used have left at the end of a scenario, with the servers that share
    /// them.
    pub budgets: Vec<BudgetLeft>,
    by_call: EventsByCall,
}

/// Why a recorded call that says that it is a step is none: it is a call like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OddStep {
    /// No call before it has the id that it names, and is one of an action with steps.
    NoAction,
    /// No action has a step of this name with this tool.
    NoStep,
}

/// What a retry budget has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BudgetLeft {
    /// The budget.
    pub budget: RetryBudgetId,
    /// The server whose calls share it; none: all calls do.
    pub server: Option<ServerId>,
    /// Its tokens.
    pub left: TokensLeft,
}

/// The places of each call's events. Empty for a single call.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct EventsByCall {
    /// By call: the end of its places; they begin at the end of the call before.
    ends: Vec<u32>,
    places: Vec<u32>,
}

/// The distinct errors of one simulation, with an index only if there are many.
#[derive(Clone, Debug, Default)]
pub(super) struct Errors {
    known: Vec<Arc<ErrorFacts>>,
    index: HashMap<Arc<ErrorFacts>, ErrorId, FixedState>,
}

/// Up to this many errors are searched linearly.
const FEW_ERRORS: usize = 8;

/// The counts of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CallTally {
    /// Requests to the upstream: attempts, refreshes and reversals.
    pub sends: u32,
    /// The waits that the playbook added between attempts.
    pub added_delay: Duration,
    /// How long its attempts waited for a permit.
    pub queued: Duration,
    /// Recorded answers to attempts that were not used.
    pub tape_left: u32,
    /// The first departure from the recording, if any.
    pub off_tape: Option<OffTape>,
}

/// How a call departed from its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OffTape {
    /// Another number of attempts.
    Attempts {
        /// The number of the last recorded one.
        recorded: u32,
        /// Under the playbook.
        now: u32,
    },
    /// The same number of attempts, but not all with recorded answers: after a refresh that was not recorded, recorded
    /// answers are not used.
    Answers {
        /// Recorded answers to attempts.
        recorded: u32,
        /// Recorded answers that the playbook's attempts used.
        used: u32,
    },
    /// The same attempts, but a different final status.
    FinalStatus,
}

impl SimulationRecord {
    /// The error behind an id of this record, as recorded.
    pub fn error(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.errors.get(id.index()).map(|error| &**error)
    }

    /// The redacted error behind an id of this record.
    pub fn shown_error(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.errors_to_show().get(id.index()).map(|error| &**error)
    }

    /// Only the redacted errors stay, where there are any.
    #[must_use]
    pub fn without_raw(mut self) -> SimulationRecord {
        if !self.shown_errors.is_empty() {
            self.errors = std::mem::take(&mut self.shown_errors);
        }
        self
    }

    /// Sets the redacted errors, one for each error; none: they are shown as recorded.
    pub fn show(&mut self, shown: Vec<Arc<ErrorFacts>>) {
        self.shown_errors = shown;
    }

    fn errors_to_show(&self) -> &[Arc<ErrorFacts>] {
        if self.shown_errors.is_empty() { &self.errors } else { &self.shown_errors }
    }

    /// What the agent is told of a call; none unless it failed.
    pub fn told_of(&self, call: CallId) -> Option<&Told> {
        Told::find(&self.told, call)
    }

    /// The record with the names behind its ids, for reporters: `calls` by `CallId`.
    pub fn transcript<'a>(
        &'a self,
        names: &'a PlaybookNames,
        calls: &'a [String],
        intent_name: &'a dyn Fn(Intent) -> String,
    ) -> Transcript<'a> {
        Transcript {
            names,
            calls,
            others: &self.others,
            servers: &self.servers,
            intent_name,
            events: &self.events,
            outcomes: &self.outcomes,
            valid_next: &self.valid_next,
            ledger: self.ledger.entries(),
            errors: self.errors_to_show(),
            findings: &self.findings,
            told: &self.told,
            death: self.death,
        }
    }

    /// The events of one call, in order.
    pub fn events_of(&self, call: CallId) -> impl Iterator<Item = &DecisionEvent> {
        self.placed_events_of(call).map(|(_, event)| event)
    }

    /// The events of one call with their places among all, in order.
    pub(super) fn placed_events_of(&self, call: CallId) -> impl Iterator<Item = (usize, &DecisionEvent)> {
        let places = self.by_call.places(call);
        let all: &[DecisionEvent] = if places.is_some() { &[] } else { &self.events };
        let indexed = places.unwrap_or_default().iter().map(|&place| place as usize);
        let indexed = indexed.filter_map(|place| Some((place, self.events.get(place)?)));
        indexed.chain(all.iter().enumerate().filter(move |(_, event)| event.call == call))
    }

    /// The first event of a call, and its place: when it was made.
    pub(super) fn first_event(&self, call: CallId) -> Option<(usize, &DecisionEvent)> {
        self.placed_events_of(call).next()
    }

    /// The event with which a call ended, and its place.
    pub(super) fn end_event(&self, call: CallId) -> Option<(usize, &DecisionEvent)> {
        self.placed_events_of(call).find(|(_, event)| matches!(event.what, Decision::Outcome(_)))
    }

    /// How the record's only call ended, by its events.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.events.iter().rev().find_map(|event| match event.what {
            Decision::Outcome(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// The books of the requests of a scenario.
    pub fn books(&self, plan: &Plan, calls: &[DrivenCall<'_>]) -> RequestBooks {
        RequestBooks::of(plan, calls, self.watched(plan, calls), |_| ())
    }

    /// What each call of a scenario shows. What it has done stands in the ledger.
    pub(super) fn watched(&self, plan: &Plan, calls: &[DrivenCall<'_>]) -> Vec<CallWatch> {
        let mut watched = vec![CallWatch::default(); calls.len()];
        let changes = self.ledger.entries().iter().filter(|entry| entry.kind != LedgerKind::Unobserved);
        let changes: Vec<Instant> = changes.map(|entry| entry.at).collect(); // a ledger is in the order of time
        for (place, event) in (1_u64..).zip(&self.events) {
            let n = event.call.index();
            let (Some(watch), Some(call)) = (watched.get_mut(n), calls.get(n)) else { continue };
            if let Decision::AttemptStarted { attempt: AttemptNo::FIRST, .. } = event.what {
                let before = changes.partition_point(|&at| at < event.at).checked_sub(1);
                watch.shows.last_write = before.map(|last| Moment::new(Some(changes[last]), 0));
            }
            let now = Moment::new(Some(event.at), place);
            watch.take(plan, call, (now, event.what), |error| self.error(error));
        }
        let net = self.ledger.net_by_call();
        for (n, watch) in watched.iter_mut().enumerate() {
            watch.shows.effects = net.get(&CallId::at(n)).map_or(0, |net| net.effects);
        }
        watched
    }

    /// The attempts that were sent.
    pub fn attempts(&self) -> u64 {
        self.events.iter().filter(|event| matches!(event.what, Decision::AttemptStarted { .. })).count() as u64
    }

    /// The most attempts that were out at the same time.
    pub fn peak_in_flight(&self) -> u32 {
        let mut out = BTreeSet::new();
        let mut peak = 0;
        for event in &self.events {
            match event.what {
                Decision::AttemptStarted { .. } => out.insert(event.call),
                Decision::AttemptFinished { .. } | Decision::Cancelled => out.remove(&event.call),
                _ => continue,
            };
            peak = peak.max(out.len());
        }
        u32::try_from(peak).unwrap_or(u32::MAX)
    }

    /// The id of a server that a call uses.
    pub fn server(&self, name: &str) -> Option<ServerId> {
        self.servers.iter().zip(0..).find(|(known, _)| *known == name).map(|(_, id)| ServerId(id))
    }

    /// The state of the breaker of a server after the last event.
    pub fn circuit(&self, server: ServerId) -> BreakerState {
        let mut changes = self.events.iter().rev().filter_map(|event| event.what.circuit());
        match changes.find(|(changed, _)| *changed == server) {
            Some((_, CircuitChange::Opened { .. })) => BreakerState::Open,
            Some((_, CircuitChange::HalfOpen)) => BreakerState::HalfOpen,
            Some((_, CircuitChange::Closed)) | None => BreakerState::Closed,
        }
    }

    /// Derives the values that follow from the events.
    pub(super) fn close(&mut self) {
        for (n, event) in self.events.iter().enumerate() {
            let Some(tally) = self.tallies.get_mut(event.call.index()) else { continue };
            match event.what {
                Decision::RetryScheduled { delay, .. } => tally.added_delay = tally.added_delay.plus(delay),
                Decision::Queued { .. } => {
                    let next = self.events[n + 1..].iter().find(|next| next.call == event.call);
                    tally.queued = tally.queued.plus(next.map_or(Duration::ZERO, |next| next.at.since(event.at)));
                }
                Decision::Cancelled => {
                    let cut = cut_off(&self.events[..n], event);
                    tally.added_delay = tally.added_delay.minus(cut);
                }
                _ => {}
            }
        }
        self.by_call.set(self.outcomes.len(), &self.events);
    }

    /// Why the gate refused the record's only call.
    pub(super) fn gate_refusal(&self) -> Option<AdmissionRefusal> {
        self.events.iter().find_map(|event| match event.what {
            Decision::Refused { why, .. } if why.is_of_gate() => Some(why),
            _ => None,
        })
    }

    /// Compares the run of the record's only call with its recording: unused answers, and the first departure.
    pub(super) fn compare_with_tape(&mut self, call: &RecordedCall) {
        let was_sent = self.outcomes.first().is_none_or(|outcome| outcome.attempts > 0);
        if !was_sent && self.gate_refusal().is_some_and(|why| recorded_refusal(call, Some(why)).is_some()) {
            return; // the recording says the same
        }
        let SimulationRecord { outcomes, tallies, events, .. } = self;
        let (Some(outcome), Some(tally)) = (outcomes.first(), tallies.first_mut()) else { return };
        let (mut recorded, mut last) = (0_u32, None);
        for attempt in call.attempts() {
            recorded += 1; // the assembler keeps at most 1,000 answers of a call
            last = Some(attempt);
        }
        let Some((number, last)) = last else { return };
        let from_tape = |event: &&DecisionEvent| {
            use Provenance::{Inferred, Recorded};
            matches!(event.what, Decision::AttemptFinished { provenance: Recorded | Inferred, .. })
        };
        let used = u32::try_from(events.iter().filter(from_tape).count()).unwrap_or(u32::MAX);
        let succeeded = matches!(outcome.kind, OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation);
        tally.tape_left = recorded.saturating_sub(used);
        tally.off_tape = if number.get() != outcome.attempts {
            Some(OffTape::Attempts { recorded: number.get(), now: outcome.attempts })
        } else if tally.tape_left > 0 {
            Some(OffTape::Answers { recorded, used })
        } else if succeeded != (last.reply == Reply::Ok) {
            Some(OffTape::FinalStatus)
        } else {
            None
        };
    }
}

/// The refusal that a recording has in place of an answer of the upstream. That there is no such tool is one only where the
/// gate knows no such action either: else it may be an answer.
pub(super) fn recorded_refusal(call: &RecordedCall, refused: Option<AdmissionRefusal>) -> Option<AdmissionRefusal> {
    let error = call.only_error()?;
    let unknown = refused.filter(|why| *why == AdmissionRefusal::UnknownAction && error.is_of_unknown_tool());
    error.gate_refusal().or(unknown)
}

/// What a cancelled call did not wait any more of the wait before its next attempt.
fn cut_off(before: &[DecisionEvent], cancelled: &DecisionEvent) -> Duration {
    let own = before.iter().rev().filter(|event| event.call == cancelled.call);
    let last = own.map(|event| event.what).find(|what| {
        matches!(what, Decision::RetryScheduled { .. } | Decision::AttemptStarted { .. } | Decision::Queued { .. })
    });
    match last {
        Some(Decision::RetryScheduled { due, .. }) => due.since(cancelled.at),
        _ => Duration::ZERO,
    }
}

impl EventsByCall {
    /// The places of a call's events; none without an index.
    fn places(&self, call: CallId) -> Option<&[u32]> {
        let end = *self.ends.get(call.index())?;
        let begin = call.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        self.places.get(begin as usize..end as usize)
    }

    /// Indexes the events of `calls` calls.
    fn set(&mut self, calls: usize, events: &[DecisionEvent]) {
        self.ends.clear();
        self.places.clear();
        if calls < 2 {
            return; // all events belong to the only call
        }
        self.ends.resize(calls, 0);
        let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
        for event in events {
            self.ends[event.call.index()] += 1; // each event belongs to one of the calls
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum); // now the begin; the loop below moves it to the end
        }
        self.places.resize(events.len(), 0);
        for (place, event) in (0..count).zip(events) {
            let next = &mut self.ends[event.call.index()];
            self.places[*next as usize] = place;
            *next += 1;
        }
    }
}

impl Errors {
    /// The id of an error, given out now if the error is new.
    pub(super) fn intern(&mut self, error: Arc<ErrorFacts>) -> ErrorId {
        let known = match self.known.len() <= FEW_ERRORS {
            true => self.known.iter().position(|known| *known == error).map(error_id),
            false => self.index.get(&error).copied(),
        };
        known.unwrap_or_else(|| self.add(error))
    }

    /// An error by its id.
    pub(super) fn get(&self, id: ErrorId) -> Option<Arc<ErrorFacts>> {
        self.known.get(id.index()).cloned()
    }

    /// The same, without a share of it.
    pub(super) fn facts(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.known.get(id.index()).map(|error| &**error)
    }

    fn add(&mut self, error: Arc<ErrorFacts>) -> ErrorId {
        let id = error_id(self.known.len());
        self.known.push(error);
        if self.known.len() > FEW_ERRORS {
            let new = self.known.iter().enumerate().skip(self.index.len());
            self.index.extend(new.map(|(place, error)| (Arc::clone(error), error_id(place))));
        }
        id
    }

    /// Removes every error, and reuses the allocation of `table`.
    pub(super) fn restart(&mut self, table: &mut Vec<Arc<ErrorFacts>>) {
        std::mem::swap(&mut self.known, table);
        self.known.clear();
        self.index.clear();
    }

    /// Takes the table out.
    pub(super) fn take(&mut self) -> Vec<Arc<ErrorFacts>> {
        self.index.clear();
        std::mem::take(&mut self.known)
    }
}

fn error_id(place: usize) -> ErrorId {
    ErrorId(u32::try_from(place).unwrap_or(u32::MAX))
}
