//! The run of a fixture as recorded calls, which replay to the same events: what a dispatcher would have recorded of it.
//! Knows no format of traces.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record::SimulationRecord;
use super::scenario::Scenario;
use super::simulator::Simulator;
use crate::call::{
    AnswerTo, CallTexts, Place, RecordedAct, RecordedAnswer, RecordedCall, RecordedStep, RecordedTransaction, Reply,
};
use crate::event::{Act, Decision, DecisionEvent, ErrorFacts, OutcomeKind, Provenance, RequestKind, StatusFrom};
use crate::fixture::{Fixture, FixtureCall};
use crate::ids::{AttemptNo, CallId, StepId};
use crate::plan::{DrivenCall, Plan, steps_of};
use crate::time::Instant;
use crate::upstream::{Answer, Request, UpstreamReply};

/// The name of the dispatcher where the calls of a fixture belong to several runs.
const DISPATCHER: &str = "fixture";

/// The run of a fixture, recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// By `CallId`; the events of each call are on the lines that [`Recording::line`] gives. Those that do something with a
    /// transaction are among the `acts`.
    pub calls: Vec<RecordedCall>,
    /// What was done with transactions. A commit that was refused is the rollback that it came to.
    pub acts: Vec<RecordedAct>,
    /// What the dispatcher decided. Each answer is a recorded one.
    pub record: SimulationRecord,
}

impl Recording {
    /// Runs a fixture and records it.
    pub fn of_fixture(plan: &Plan, fixture: &Fixture, scenario: &Scenario<'_>) -> Recording {
        let mut simulator = Simulator::new();
        let mut requests = Vec::new();
        let mut record =
            simulator.run_fixture_observed(plan, scenario, |request, answer| requests.push((*request, answer.clone())));
        let by_name: BTreeMap<&str, &FixtureCall> = fixture.calls.iter().map(|call| (&*call.name, call)).collect();
        let mut runs: Vec<Option<&str>> = fixture.calls.iter().map(|call| call.run.as_deref()).collect();
        runs.sort_unstable();
        runs.dedup();
        let dispatcher = (runs.len() > 1).then_some(DISPATCHER);
        let action_of = |call: &DrivenCall<'_>| scenario.calls.get(call.step?.action?.index());
        let all = scenario.calls.iter().map(|call| {
            let action = action_of(call);
            let written = by_name.get(action.unwrap_or(call).name).copied();
            let recorded = recorded_call(call, written, dispatcher);
            match action {
                Some(action) => recorded_step(plan, recorded, call, action, written),
                None => recorded,
            }
        });
        let mut calls: Vec<RecordedCall> = all.collect();
        for ((action, at, before), place) in simulator.actions().iter().zip(1..) {
            if let Some(call) = calls.get_mut(action.index()) {
                (call.at, call.place.line) = (Some(*at), *before as u64 * LINES + place); // behind the event before it
            }
        }
        for (n, event) in record.events.iter().enumerate() {
            let is_skipped = |of: StepId| match event.what {
                Decision::StepSkipped { step, .. } => step == of,
                Decision::Outcome(_) => true, // those that have not been made
                _ => false,
            };
            for (_, skipped) in steps_of(&scenario.calls, event.call).filter(|(of, _)| is_skipped(*of)) {
                if let Some(call) = calls.get_mut(skipped.index()) {
                    note_made(call, event.at, Recording::line(n)); // before its action ends
                }
            }
            if let Some(call) = calls.get_mut(event.call.index()) {
                note(call, event, Recording::line(n));
            }
        }
        for (request, answer) in requests {
            let Some((call, of)) = calls.get_mut(request.call.index()).zip(scenario.calls.get(request.call.index()))
            else {
                continue;
            };
            for answer in recorded_answers(plan, of, call, &request, answer) {
                call.answers.push(answer);
            }
        }
        number_in_runs(&mut calls, scenario);
        let acts = acts_of(scenario, &calls, &record);
        place_answers(&mut calls, &record);
        for event in &mut record.events {
            event.what = recorded(event.what);
        }
        Recording { calls, acts, record }
    }

    /// The line of an event by its place among all events. A call and its answers come before their events.
    pub const fn line(event: usize) -> u64 {
        (event as u64 + 1) * LINES
    }
}

/// Lines between two events: for actions, the call, its answer and its cancellation. A fixture has fewer actions than half.
const LINES: u64 = 1 << 20;

fn recorded_call(call: &DrivenCall<'_>, written: Option<&FixtureCall>, dispatcher: Option<&str>) -> RecordedCall {
    let texts = CallTexts {
        run: written.and_then(|written| written.run.as_deref()),
        id: Some(call.name),
        tool: call.tool_name,
        args: Some(call.written_args),
        key: written.and_then(|written| written.key.as_deref()),
        evidence: None,
        token: written.and_then(|written| written.token.as_deref()),
        dispatcher,
    };
    let mut recorded = RecordedCall::new(texts, Place::default());
    recorded.timeout = written.and_then(|written| written.timeout);
    recorded.transaction = transaction_of(written);
    recorded.dispatch = Some(Box::default());
    recorded
}

/// The transaction that a call names.
fn transaction_of(written: Option<&FixtureCall>) -> Option<Box<RecordedTransaction>> {
    let label = written?.transaction.as_deref()?.into();
    Some(Box::new(RecordedTransaction { label, ..RecordedTransaction::default() }))
}

/// What the calls of a scenario do with transactions.
fn acts_of(scenario: &Scenario<'_>, calls: &[RecordedCall], record: &SimulationRecord) -> Vec<RecordedAct> {
    let acts = calls.iter().zip(&scenario.calls).zip(&record.outcomes);
    let acts = acts.filter_map(|((call, of), outcome)| {
        let act = of.act?;
        let is_refused = matches!(outcome.kind, OutcomeKind::Refused(_));
        Some(RecordedAct {
            line: call.place.line,
            at: call.at,
            run: call.run().map(Into::into),
            label: call.transaction.as_deref().map(|of| of.label.clone()).unwrap_or_default(),
            act: if is_refused { Act::Rollback } else { act },
            state: (act == Act::State).then(|| (of.tool_name.into(), of.written_args.into())),
        })
    });
    acts.collect()
}

/// The same as a step of its action. With a key, it has one of its own.
fn recorded_step(
    plan: &Plan,
    recorded: RecordedCall,
    call: &DrivenCall<'_>,
    action: &DrivenCall<'_>,
    written: Option<&FixtureCall>,
) -> RecordedCall {
    let place = call.step.map_or(0, |of| of.step.index());
    let step = plan.steps_of(action.tool_name).get(place).map_or("", |step| &step.name);
    let key = written.and_then(|written| written.key.as_deref()).map(|key| format!("{key}/{step}"));
    let texts = CallTexts {
        run: recorded.run(),
        id: Some(call.name),
        tool: call.tool_name,
        args: Some(call.written_args),
        key: key.as_deref(),
        evidence: None,
        token: None,
        dispatcher: recorded.dispatcher(),
    };
    let mut of_step = RecordedCall::new(texts, Place::default());
    of_step.timeout = recorded.timeout;
    of_step.transaction = recorded.transaction;
    of_step.dispatch = Some(Box::default());
    of_step.parent = Some(Box::new(RecordedStep { call: action.name.into(), step: step.into() }));
    of_step
}

/// Notes when a call was made, if that is not noted yet: right before the event on `line`.
fn note_made(call: &mut RecordedCall, at: Instant, line: u64) {
    if call.at.is_none() {
        call.at = Some(at);
        call.place.line = line - LINES / 2;
    }
}

/// Notes when a call was made, when its caller went away, and when it ended.
fn note(call: &mut RecordedCall, event: &DecisionEvent, line: u64) {
    note_made(call, event.at, line);
    let dispatch = call.dispatch.get_or_insert_default();
    match event.what {
        Decision::Cancelled => dispatch.cancelled = Some((event.at, line - 1)),
        Decision::Outcome(_) => dispatch.ended = Some((event.at, line)),
        _ => {}
    }
}

/// What is recorded of the answer to a request: the answer, or a timeout and what came after it.
fn recorded_answers(
    plan: &Plan,
    of: &DrivenCall<'_>,
    call: &RecordedCall,
    request: &Request,
    answer: Option<Answer>,
) -> Vec<RecordedAnswer> {
    let Some(answer) = answer else { return Vec::new() };
    let latency = answer.latency.unwrap_or_default();
    let is_lost = answer.reply == UpstreamReply::Lost;
    let (to, attempt) = match request.asked {
        RequestKind::Attempt(attempt) => (AnswerTo::Attempt, Some(attempt)),
        RequestKind::Refresh(_) => (AnswerTo::Refresh, None),
        RequestKind::Reversal => (AnswerTo::Reversal, None),
    };
    let recorded = |to, at, reply: Reply| {
        let draw = attempt.filter(|_| plan.draws && to == AnswerTo::Attempt && reply.is_failure());
        RecordedAnswer {
            to,
            attempt: attempt.map(AttemptNo::get),
            started: Some(request.at),
            at: Some(at),
            draw: draw.map(|attempt| of.draw(attempt, plan.seed)),
            reply,
            inferred: false,
            status_from: StatusFrom::Flag,
            line_hash: 0,
            place: Place::default(),
        }
    };
    let reply = match answer.reply.clone() {
        UpstreamReply::Ok | UpstreamReply::Lost => Reply::Ok,
        UpstreamReply::Failed(error) => Reply::Failed(error),
        UpstreamReply::Suspected(error) => Reply::Suspected(error),
        UpstreamReply::Unfinished(error) => Reply::Unfinished(error),
    };
    if !is_lost && !answer.is_late(request.within) {
        return vec![recorded(to, request.at.plus(latency), reply)];
    }
    let due = request.at.plus(request.within);
    let mut answers = Vec::new();
    let is_heard = call.cancelled_at().is_none_or(|cancelled| cancelled > due);
    if is_heard {
        let has_error = !matches!(request.asked, RequestKind::Refresh(_));
        let error = has_error.then(|| Arc::new(ErrorFacts::timeout(request.within)));
        answers.push(recorded(to, due, Reply::Failed(error)));
    }
    if !is_lost && attempt.is_some() {
        let to = if is_heard { AnswerTo::Late } else { AnswerTo::Attempt };
        answers.push(recorded(to, request.at.plus(latency), reply));
    }
    answers
}

/// Numbers the calls of each run in the order in which they were made.
fn number_in_runs(calls: &mut [RecordedCall], scenario: &Scenario<'_>) {
    let is_act = |n: &usize| scenario.calls.get(*n).is_some_and(|call| call.act.is_some());
    let mut order: Vec<usize> = (0..calls.len()).filter(|n| !is_act(n)).collect();
    order.sort_by_key(|&n| calls[n].place.line); // places in `calls`
    let mut made: BTreeMap<Option<String>, u32> = BTreeMap::new();
    for n in order {
        let count = made.entry(calls[n].run().map(str::to_owned)).or_default();
        *count += 1;
        calls[n].number_in_run = *count;
    }
}

/// Puts each answer on the line before the event that hears it: what happens before that is before it.
fn place_answers(calls: &mut [RecordedCall], record: &SimulationRecord) {
    let last = Recording::line(record.events.len());
    for (n, call) in calls.iter_mut().enumerate() {
        let events = record.events.iter().enumerate().filter(|(_, event)| event.call == CallId::at(n));
        let events: Vec<(&DecisionEvent, u64)> = events.map(|(n, event)| (event, Recording::line(n))).collect();
        for answer in &mut call.answers {
            let is_due = |event: &DecisionEvent| answer.at.is_some_and(|answered| event.at >= answered);
            let heard = events.iter().find(|(event, _)| is_due(event) && hears(event.what, answer));
            answer.place.line = heard.map_or(last, |(_, line)| line - 1).max(call.place.line + 1);
        }
    }
}

/// Whether an event of a call may be the one that hears an answer to it.
fn hears(what: Decision, answer: &RecordedAnswer) -> bool {
    match what {
        Decision::AttemptFinished { attempt, .. } | Decision::LateAnswer { attempt, .. } => {
            answer.attempt == Some(attempt.get())
        }
        _ => answer.attempt.is_none(),
    }
}

/// A decision about a scripted or modelled answer, as about a recorded one.
const fn recorded(what: Decision) -> Decision {
    const fn of(provenance: Provenance) -> Provenance {
        match provenance {
            Provenance::Unanswered => Provenance::Unanswered,
            _ => Provenance::Recorded,
        }
    }
    match what {
        Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
            Decision::AttemptFinished { attempt, status, latency, provenance: of(provenance), over_timeout }
        }
        Decision::EvidenceRefreshed { evidence, status, provenance } => {
            Decision::EvidenceRefreshed { evidence, status, provenance: of(provenance) }
        }
        Decision::ReversalRedeemed { reason, provenance } => {
            Decision::ReversalRedeemed { reason, provenance: of(provenance) }
        }
        what => what,
    }
}
