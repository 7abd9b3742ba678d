//! Usual calls share nothing with others, and their simulation reads times only to compare them with limits. One call of each
//! kind is simulated; later ones take its record with their own times. Decides nothing and simulates nothing.

#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use crate::classify::keyed_for;
use crate::event::{Decision, DecisionEvent, KeyHistory, OutcomeKind, Provenance, RequestKind, StopReason};
use crate::ids::AttemptNo;
use crate::plan::Plan;
use crate::playbook::{ElapsedRule, ToolFacts};
use crate::time::{Duration, Instant};
use crate::upstream::Tape;

use super::record::SimulationRecord;

/// The most kinds that are known.
const MAX_KINDS: usize = 512;

/// The records of usual calls under one plan. All of them have the same answers beyond their recordings.
#[derive(Debug, Default)]
pub struct UsualCalls {
    places: HashMap<Kind, usize, FixedState>,
    known: Vec<Known>,
    /// The kind of the last call, if it was a usual one.
    last: Option<Kind>,
    /// The place of its record, if it was not simulated.
    taken: Option<usize>,
}

/// What the simulation of a usual call reads, but for its times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    /// The hash of the tool's name, if a rule tests it.
    tool: Option<u128>,
    facts: ToolFacts,
    timeout: Option<Duration>,
    is_keyed: bool,
    key_is_reused: bool,
    key_is_reversed: bool,
    key_history: KeyHistory,
    is_repeat_unwise: bool,
    answers: Vec<AnswerKind>,
}

/// The same of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AnswerKind {
    attempt: AttemptNo,
    reply: Reply,
    /// Whether the key of the call is the one that the failure is about.
    keyed: Option<bool>,
    inferred: bool,
    has_latency: bool,
}

/// The record of a kind: that of its last call.
#[derive(Debug)]
struct Known {
    record: SimulationRecord,
    /// By recorded answer that was used: the longest times that are known to hit no limit.
    longest: Vec<AnswerTimes>,
}

/// How long it took until an attempt was answered.
#[derive(Clone, Copy, Debug, Default)]
struct AnswerTimes {
    latency: Duration,
    /// With those of the answers before it. The waits between them are those of the kind.
    all: Duration,
}

impl UsualCalls {
    /// Gives the record of its kind to a call whose tool has the hash `tool`. None: the call has to be simulated.
    pub fn take(
        &mut self,
        plan: &Plan,
        (call, tool): (&RecordedCall, u128),
        facts: ToolFacts,
    ) -> Option<&mut SimulationRecord> {
        let answers = self.last.take().map_or_else(Vec::new, |last| last.answers); // for its allocation
        self.last = Kind::of(plan, (call, tool), facts, answers);
        let place = self.last.as_ref().and_then(|kind| self.places.get(kind)).copied();
        self.taken = place.filter(|place| self.known.get_mut(*place).is_some_and(|known| known.shift(call)));
        Some(&mut self.known.get_mut(self.taken?)?.record)
    }

    /// The record that the last call has got from its kind.
    pub fn taken(&self) -> Option<&SimulationRecord> {
        Some(&self.known.get(self.taken?)?.record)
    }

    /// Forgets that the last call has got a record.
    pub fn leave(&mut self) {
        self.taken = None;
    }

    /// Learns from the last call, which was simulated.
    pub fn learn(&mut self, record: &SimulationRecord) {
        let Some(kind) = self.last.as_ref().filter(|_| may_be_shifted(record)) else { return };
        let latencies = record.events.iter().filter_map(|event| recorded_answer(&event.what));
        let times = answer_times(latencies.map(|(_, latency)| latency));
        if let Some(known) = self.places.get(kind).and_then(|place| self.known.get_mut(*place)) {
            return known.longest.iter_mut().zip(times).for_each(|(longest, own)| longest.widen(own));
        }
        let longest = times.collect();
        if self.known.len() >= MAX_KINDS {
            self.known.clear();
            self.places.clear();
        }
        self.places.insert(kind.clone(), self.known.len());
        self.known.push(Known { record: record.clone(), longest });
    }
}

impl Kind {
    /// The kind of a call; none: it is not a usual one.
    fn of(
        plan: &Plan,
        (call, tool): (&RecordedCall, u128),
        facts: ToolFacts,
        mut answers: Vec<AnswerKind>,
    ) -> Option<Kind> {
        let limits = &plan.playbook.limits;
        let is_shared = plan.shares_state || plan.checks_requests || !plan.playbook.actions.is_empty();
        // A wait or a timeout that is cut to what is left depends on each time.
        let is_cut = limits.call_timeout.is_some() || limits.elapsed == ElapsedRule::Truncate;
        let has_more = call.dispatch.is_some() || call.parent.is_some() || call.transaction.is_some();
        let may_redeem = plan.shares_tokens && call.has_token();
        if is_shared || is_cut || has_more || may_redeem || call.answer_within.is_some() {
            return None;
        }
        // The wait after a failure may depend on a draw, and a header may name a date.
        let succeeds =
            |(attempt, answer): (AttemptNo, &RecordedAnswer)| attempt == AttemptNo::FIRST && answer.reply == Reply::Ok;
        let is_drawn = plan.draws && !call.attempts().next().is_some_and(succeeds);
        let is_odd = |answer: &RecordedAnswer| {
            answer.to != AnswerTo::Attempt || answer.reply.error().is_some_and(|error| !error.headers.is_empty())
        };
        if is_drawn || call.answers.iter().any(is_odd) {
            return None;
        }
        answers.clear();
        answers.extend(call.attempts().map(|(attempt, answer)| AnswerKind {
            attempt,
            reply: answer.reply.clone(),
            keyed: answer.reply.error().and_then(|error| keyed_for(Some(error), call.key())),
            inferred: answer.inferred,
            has_latency: Tape::latency(call, RequestKind::Attempt(attempt), answer).is_some(),
        }));
        Some(Kind {
            tool: plan.classifier.asks().tools.then_some(tool),
            facts,
            timeout: call.timeout,
            is_keyed: call.is_keyed(),
            key_is_reused: call.key_is_reused,
            key_is_reversed: call.key_is_reversed,
            key_history: call.key_history,
            is_repeat_unwise: call.is_repeat_unwise,
            answers,
        })
    }
}

impl Known {
    /// Makes the record that of another call of the kind. False: that one took longer than those that were simulated.
    fn shift(&mut self, call: &RecordedCall) -> bool {
        let Known { record, longest } = self;
        let latency = |of: AttemptNo| {
            let answer = call.attempts().find(|(attempt, _)| *attempt == of);
            let latency = answer.and_then(|(_, answer)| Tape::latency(call, RequestKind::Attempt(of), answer));
            latency.unwrap_or_default() // there is one, as in all calls of the kind
        };
        let used = record.events.iter().filter_map(|event| recorded_answer(&event.what));
        let times = answer_times(used.map(|(attempt, _)| latency(attempt)));
        if !times.zip(longest).all(|(own, longest)| own.latency <= longest.latency && own.all <= longest.all) {
            return false;
        }
        let mut sent = call.at.unwrap_or_default();
        // The last moment that a call decides for itself, before and now: its begin, then its answers. What follows is as
        // long after it as before.
        let (mut before, mut now) = (record.events.first().map_or(sent, |first| first.at), sent);
        for event in &mut record.events {
            if let Some((attempt, _)) = recorded_answer(&event.what)
                && let Decision::AttemptFinished { latency: known, .. } = &mut event.what
            {
                let own = latency(attempt);
                *known = Some(own);
                (before, now) = (event.at, sent.plus(own));
            }
            event.at = now.plus(event.at.since(before));
            match &mut event.what {
                Decision::AttemptStarted { .. } => sent = event.at,
                Decision::AttemptFinished { attempt, .. } => record.ledger.set_time(*attempt, event.at),
                Decision::RetryScheduled { due, .. } => *due = now.plus(due.since(before)),
                _ => {}
            }
        }
        true
    }
}

impl AnswerTimes {
    fn widen(&mut self, other: AnswerTimes) {
        self.latency = self.latency.max(other.latency);
        self.all = self.all.max(other.all);
    }
}

/// Whether the record is that of each call of its kind that takes no longer, but for the times: no limit was hit, no time is
/// the end of time, and only attempts acted.
fn may_be_shifted(record: &SimulationRecord) -> bool {
    let is_short = |event: &DecisionEvent| match event.what {
        Decision::AttemptFinished { over_timeout, .. } => !over_timeout,
        Decision::Outcome(outcome) => outcome.kind != OutcomeKind::Exhausted(StopReason::Deadline),
        _ => true,
    };
    record.events.iter().all(|event| is_short(event) && event.at < Instant::from_micros(u64::MAX))
        && record.ledger.entries().iter().all(|entry| entry.attempt.is_some())
}

/// The attempt and the latency, if the event is a recorded answer that has one.
const fn recorded_answer(what: &Decision) -> Option<(AttemptNo, Duration)> {
    match *what {
        Decision::AttemptFinished {
            attempt,
            latency: Some(latency),
            provenance: Provenance::Recorded | Provenance::Inferred,
            ..
        } => Some((attempt, latency)),
        _ => None,
    }
}

/// How long it took until each answer.
fn answer_times(latencies: impl Iterator<Item = Duration>) -> impl Iterator<Item = AnswerTimes> {
    latencies.scan(Duration::ZERO, |all, latency| {
        *all = all.plus(latency);
        Some(AnswerTimes { latency, all: *all })
    })
}
