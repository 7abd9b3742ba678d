//! Calls that are simulated together: what they share, that the way of feeding and driving does not matter, and that the
//! cost grows linearly.

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    DrivenCall, FinishedCall, Pace, Plan, Scenario, Session, SessionCall, SharedHashes, SimulationRecord, Simulator,
};
use crate::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, RecordedDispatch, Reply};
use crate::classify::Memo;
use crate::event::{Decision, DecisionEvent, ErrorFacts, OutcomeKind, Provenance, ReversalRefusal, StatusFrom};
use crate::ids::{ArgsId, CallId, Interner, KeyId, RunId, ServerId, TokenId, ToolId, comparisons};
use crate::playbook::sample::playbook;
use crate::playbook::{Access, ToolFacts, Tools};
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, AnswerSource, KeyDialect, MissingAnswerPolicy, Script, ScriptedAnswer, UpstreamReply};

const FACTS: ToolFacts = ToolFacts { declared: true, ..ToolFacts::ASSUMED };

fn plan() -> Plan {
    Plan::new(playbook(), &Tools::default())
}

/// A call at `at` that failed once with an error of this kind; its token can be redeemed.
fn failed(at: Option<u64>, token: &str, kind: &str) -> Arc<RecordedCall> {
    let texts = CallTexts { tool: "pay", token: Some(token), ..CallTexts::default() };
    let mut call = RecordedCall::new(texts, Place::default());
    call.at = at.map(Instant::from_millis);
    let error = ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() };
    call.answers.push(RecordedAnswer {
        to: AnswerTo::Attempt,
        attempt: None,
        started: None,
        at: at.map(|at| Instant::from_millis(at + 40)),
        reply: Reply::Failed(Some(Arc::new(error))),
        inferred: false,
        status_from: StatusFrom::Flag,
        draw: None,
        line_hash: 0,
        place: Place::default(),
    });
    Arc::new(call)
}

/// The finished calls in the order in which they were fed; `step` runs after each call is fed.
fn together(calls: &[Arc<RecordedCall>], mut step: impl FnMut(&mut Session, &Plan, &mut Memo)) -> Vec<FinishedCall> {
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    for (n, call) in (0..).zip(calls) {
        session.feed(SessionCall::alone(n, Arc::clone(call), FACTS));
        step(&mut session, &plan, &mut memo);
    }
    session.finish(&plan, &mut memo);
    assert!(!session.is_busy());
    let mut ended: Vec<FinishedCall> = session.take_ended().collect();
    ended.sort_by_key(|ended| ended.number);
    ended
}

fn ends(ended: &[FinishedCall]) -> Vec<&str> {
    ended.iter().map(|ended| ended.record.outcomes[0].kind.as_str()).collect()
}

fn alone(call: &RecordedCall) -> SimulationRecord {
    Simulator::new().replay(&plan(), call, FACTS, &MissingAnswerPolicy::Ok).clone()
}

#[test]
fn a_token_that_calls_of_one_run_share_is_redeemed_once() {
    let calls = [("a", 0), ("a", 60_000), ("b", 120_000)];
    let calls = calls.map(|(token, at)| failed(Some(at), token, "take_back"));
    let ended = together(&calls, |_, _, _| {});
    assert_eq!(ends(&ended), ["reversed", "escalated", "reversed"]);
    assert_eq!(ended.iter().map(|ended| ended.token_spent).collect::<Vec<_>>(), [false, true, false]);
    let refused = Decision::ReversalRefused { why: ReversalRefusal::TokenRedeemed };
    assert!(ended[1].record.events.iter().any(|event| event.what == refused && event.call == CallId(0)));
    assert_eq!(*ended[0].record, alone(&calls[0]), "nothing was shared before it");
}

#[test]
fn of_two_overlapping_calls_the_first_to_reach_its_token_redeems_it() {
    // The first is refused at 6000 ms, the second at 1040 ms.
    let mut slow = RecordedCall::clone(&failed(Some(0), "a", "take_back"));
    slow.answers[0].at = Some(Instant::from_millis(6_000));
    let calls = [Arc::new(slow), failed(Some(1_000), "a", "take_back")];
    let ended = together(&calls, |session, plan, memo| session.advance(plan, memo));
    assert_eq!(ends(&ended), ["escalated", "reversed"]);
}

#[test]
fn calls_without_times_follow_one_another() {
    let calls = [failed(None, "a", "take_back"), failed(None, "a", "take_back")];
    let ended = together(&calls, |_, _, _| {});
    assert_eq!(*ended[0].record, alone(&calls[0]));
    assert_eq!(ends(&ended), ["reversed", "escalated"]);
}

#[test]
fn a_call_fed_late_starts_later_and_its_record_has_the_recorded_times() {
    let calls = [failed(Some(90_000), "a", "timeout"), failed(Some(10), "b", "timeout")];
    let ended = together(&calls, |session, plan, memo| session.advance(plan, memo));
    assert_eq!(*ended[1].record, alone(&calls[1]));
}

#[test]
fn events_at_the_watermark_wait_for_calls_that_may_still_start_then() {
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    session.feed(SessionCall::alone(0, failed(Some(0), "a", "denied"), FACTS));
    let mut ended_by = |at| {
        session.advance_to(Instant::from_millis(at));
        session.advance(&plan, &mut memo);
        session.take_ended().count()
    };
    assert_eq!((ended_by(40), ended_by(41)), (0, 1), "its answer comes at 40 ms");
}

#[test]
fn a_call_without_a_time_overlaps_with_no_other() {
    let read = ToolFacts { access: Access::Read, ..FACTS }; // asked again after a timeout, and so not over at once
    for (times, at_once) in [([None, Some(0)], 1), ([Some(0), None], 1), ([None, None], 1), ([Some(0), Some(0)], 2)] {
        let (plan, mut memo, mut session) =
            (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
        for (number, at) in (0..).zip(times) {
            session.feed(SessionCall::alone(number, failed(at, "a", "timeout"), read));
        }
        session.finish(&plan, &mut memo);
        assert_eq!((session.take_ended().count(), session.slots()), (2, at_once), "{times:?}");
    }
}

#[test]
fn a_retry_of_a_call_fed_late_is_due_in_the_recorded_times() {
    let read = ToolFacts { access: Access::Read, ..FACTS };
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    let late = failed(Some(10), "b", "timeout");
    session.feed(SessionCall::alone(0, failed(Some(90_000), "a", "timeout"), read));
    session.advance(&plan, &mut memo);
    session.feed(SessionCall::alone(1, Arc::clone(&late), read));
    session.finish(&plan, &mut memo);
    let ended = session.take_ended().find(|ended| ended.number == 1).unwrap();
    assert!(ended.record.events.iter().any(|event| matches!(event.what, Decision::RetryScheduled { .. })));
    assert_eq!(&*ended.record, Simulator::new().replay(&plan, &late, read, &MissingAnswerPolicy::Ok));
}

#[test]
fn a_call_whose_token_was_sent_before_reverses_nothing() {
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    session.feed(SessionCall { token_spent: true, ..SessionCall::alone(0, failed(Some(0), "a", "take_back"), FACTS) });
    session.finish(&plan, &mut memo);
    assert_eq!(ends(&session.take_ended().collect::<Vec<_>>()), ["escalated"]);
}

#[test]
fn a_call_stays_active_until_its_late_answer_has_come() {
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    session.feed(SessionCall::alone(0, failed(Some(0), "a", "timeout"), FACTS));
    let mut latencies = [90_000, 0].into_iter(); // the attempt times out, and is not made again
    session.advance_to(Instant::from_millis(60_000));
    while let Some(request) = session.next(&plan, &mut memo, false) {
        let latency = latencies.next().map(Duration::from_millis);
        session.answer(&request, Some(Answer { reply: UpstreamReply::Ok, latency, provenance: Provenance::Modelled }));
    }
    assert_eq!(session.take_ended().count(), 0);
    session.finish(&plan, &mut memo);
    let ended: Vec<FinishedCall> = session.take_ended().collect();
    assert_eq!(ends(&ended), ["escalated"]);
    let last = ended[0].record.events.last().unwrap();
    assert!(matches!(last.what, Decision::LateAnswer { .. }), "{last:?}");
}

#[test]
fn a_call_is_removed_when_it_has_ended() {
    let (plan, mut memo, mut session) =
        (plan(), Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded));
    for n in 0..1_000 {
        session.feed(SessionCall::alone(n, failed(Some(n * 60_000), "a", "take_back"), FACTS));
        session.advance(&plan, &mut memo);
        assert!(session.take_ended().count() == usize::from(n > 0), "the call before has ended");
    }
    assert!(session.slots() <= 2, "{} slots for one call at a time", session.slots());
}

proptest! {

    #[test]
    fn a_session_that_is_fed_call_by_call_equals_one_that_is_fed_at_once(
        calls in prop::collection::vec((prop::option::weighted(0.8, 0..9_000_u64), 0..3_u8, 0..3_u8), 0..20),
    ) {
        let calls: Vec<Arc<RecordedCall>> = calls.into_iter().map(|(at, token, kind)| {
            failed(at, ["a", "b", "c"][usize::from(token)], ["timeout", "take_back", "stale"][usize::from(kind)])
        }).collect();
        let at_once = together(&calls, |_, _, _| {});
        let one_by_one = together(&calls, |session, plan, memo| session.advance(plan, memo));
        prop_assert_eq!(&at_once, &one_by_one);
        let by_steps = together(&calls, |session, plan, memo| {
            while let Some(request) = session.next(plan, memo, false) {
                let answer = session.recorded_answer(plan, &request);
                session.answer(&request, answer);
            }
        });
        prop_assert_eq!(&at_once, &by_steps);
        let unshared = at_once.iter().zip(&calls).filter(|(ended, _)| !ended.token_spent);
        for (ended, call) in unshared {
            prop_assert_eq!(&*ended.record, &alone(call));
        }
    }
}

/// A scenario of simultaneous calls that fail, wait, refresh, reverse and succeed.
fn crowd(scripts: &[Script]) -> Scenario<'_> {
    let number = |n: usize| u32::try_from(n).unwrap();
    let calls = scripts.iter().enumerate().map(|(n, script)| DrivenCall {
        transaction: None,
        once: None,
        act: None,
        name: "",
        group: None,
        tool_name: "pay",
        facts: FACTS,
        tool: ToolId(0),
        server: ServerId(0),
        run: RunId(0),
        key: n.is_multiple_of(3).then(|| KeyId(number(n / 6))),
        token: Some(TokenId(number(n / 2))),
        args: ArgsId(number(n / 2)),
        at: Instant::ZERO,
        timeout: Duration::from_millis(5_000),
        answer_within: None,
        source: AnswerSource::Script(script, &[]),
        written_args: "{}",
        written_key: "k1",
        draws: &[],
        seed: None,
        step: None,
    });
    Scenario {
        runs: Interner::new(),
        calls: calls.collect(),
        later: Vec::new(),
        cancelled: Vec::new(),
        crash: None,
        keys: KeyDialect::Replay,
        before: Vec::new(),
        tools: Interner::new(),
        servers: Interner::new(),
        key_names: Interner::new(),
        args: Interner::new(),
    }
}

fn scripts(count: usize) -> Vec<Script> {
    let script = |n: usize| {
        let kind = ["timeout", "take_back", "stale", "denied"][n % 4];
        let error = ErrorFacts {
            kind: Some(kind.into()),
            message: Some(format!("message {n}").into()),
            ..ErrorFacts::default()
        };
        let latency = Duration::from_millis((count - n) as u64 % 977); // the last often answers first
        let answer = |reply| ScriptedAnswer { reply, latency, applied: Some(true) };
        Script {
            attempts: vec![answer(UpstreamReply::failed(error)), answer(UpstreamReply::Ok), answer(UpstreamReply::Ok)],
            refresh: vec![answer(UpstreamReply::Ok)],
            reversal: vec![answer(UpstreamReply::Ok)],
        }
    };
    (0..count).map(script).collect()
}

#[test]
fn ten_times_as_many_calls_at_once_take_ten_times_the_work() {
    let plan = plan();
    let work = |count: usize| {
        let scripts = scripts(count);
        let scenario = crowd(&scripts);
        comparisons::of(|| {
            let mut simulator = Simulator::new();
            let record = simulator.run_fixture(&plan, &scenario);
            let events = (0..count).flat_map(|n| record.events_of(CallId::at(n))).count();
            assert_eq!(events, record.events.len());
            assert!(record.outcomes.iter().any(|outcome| outcome.kind != OutcomeKind::Succeeded));
        })
    };
    let (few, many) = (work(1_000), work(10_000));
    assert!(few > 1_000 && many < few * 12, "{few} comparisons of 1,000 calls, {many} of 10,000");
}

#[test]
fn ten_times_as_many_calls_of_one_session_take_ten_times_the_work() {
    let work = |count: u64| {
        let kinds = ["timeout", "take_back", "stale", "denied"];
        let call = |n: u64| failed(Some(n % 30), &format!("t{}", n / 2), kinds[usize::try_from(n % 4).unwrap()]);
        let calls: Vec<Arc<RecordedCall>> = (0..count).map(call).collect();
        comparisons::of(|| {
            let ended = together(&calls, |session, plan, memo| session.advance(plan, memo));
            assert_eq!(ended.len(), calls.len());
        })
    };
    let (few, many) = (work(1_000), work(10_000));
    assert!(few > 1_000 && many < few * 12, "{few} comparisons of 1,000 calls, {many} of 10,000");
}

#[test]
fn the_end_of_a_call_asks_only_runs_whose_calls_wait_for_it() {
    let work = |count: u64| {
        let (plan, mut memo) = (plan(), Memo::default());
        let mut session = Session::new(&MissingAnswerPolicy::Ok, Pace::Recorded).of_several_runs();
        // Each run makes a call at the very moment at which the call of another one ends.
        for n in 0..count {
            let (server, name) = (String::new(), String::new());
            let shared = Some(SharedHashes {
                transaction: None,
                run: n.into(),
                tool: 0,
                server,
                key: None,
                args: 0,
                compares_args: false,
                name,
            });
            let mut call = (*failed(Some(n / 2 * 40), "a", "denied")).clone();
            (call.place.line, call.answers[0].place.line) = (n * 2 + 1, n * 2 + 2);
            session.feed(SessionCall { shared, ..SessionCall::alone(n, Arc::new(call), FACTS) });
        }
        session.finish(&plan, &mut memo);
        assert_eq!(session.take_ended().count() as u64, count);
        session.releases
    };
    let (few, many) = (work(100), work(1_000));
    assert!(few > 100 && many < few * 12, "{few} questions for 100 calls, {many} for 1,000");
}

#[test]
fn a_held_call_of_one_run_does_not_hold_back_calls_of_another() {
    let read = ToolFacts { access: Access::Read, ..FACTS };
    let fed = |number, run, at| {
        let (server, name) = (String::new(), String::new());
        let shared = Some(SharedHashes {
            transaction: None,
            run,
            tool: 0,
            server,
            key: None,
            args: 0,
            compares_args: false,
            name,
        });
        SessionCall { shared, ..SessionCall::alone(number, failed(Some(at), "a", "timeout"), read) }
    };
    for joins_runs in [true, false] {
        let (plan, mut memo) = (plan(), Memo::default());
        let session = Session::new(&MissingAnswerPolicy::Ok, Pace::Causal);
        let mut session = if joins_runs { session.of_several_runs() } else { session };
        let mut ends = Vec::new();
        // The second call follows the first, which is retried; the third is of another run.
        for (number, run, at) in [(0, 1, 0), (1, 1, 50), (2, 2, 60), (3, 2, 61)] {
            session.feed(fed(number, run, at));
            session.advance_to(Instant::from_millis(at));
            session.advance(&plan, &mut memo);
            ends.extend(session.take_ended().map(|ended| ended.number));
        }
        session.finish(&plan, &mut memo);
        ends.extend(session.take_ended().map(|ended| ended.number));
        assert_eq!(ends.len(), 4);
        let place = |number| ends.iter().position(|ended| *ended == number);
        assert_eq!(place(2) < place(1), joins_runs, "{ends:?}");
    }
}

#[test]
fn a_recorded_caller_that_goes_away_ends_its_call() {
    let mut call = (*failed(Some(10), "a", "timeout")).clone();
    call.answers.clear();
    let cancelled = Some((Instant::from_millis(30), 2));
    call.dispatch = Some(Box::new(RecordedDispatch { cancelled, ..RecordedDispatch::default() }));
    let record = alone(&call);
    let ended = record.events.last().unwrap();
    assert_eq!((record.outcomes[0].kind, ended.at), (OutcomeKind::Cancelled, Instant::from_millis(30)));
    assert_eq!(*together(&[Arc::new(call)], |_, _, _| ())[0].record, record);
}

#[test]
fn a_wait_that_a_caller_cuts_off_is_added_delay_only_until_then() {
    let added = |cancelled: Option<u64>| {
        let mut call = (*failed(Some(10), "a", "stale")).clone();
        let error = ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() };
        call.answers[0].reply = Reply::Failed(Some(Arc::new(error)));
        let texts = CallTexts { tool: "pay", key: Some("k"), ..CallTexts::default() };
        let (at, answers) = (call.at, call.answers);
        call = RecordedCall::new(texts, Place::default());
        (call.at, call.answers) = (at, answers);
        let cancelled = cancelled.map(|at| (Instant::from_millis(at), 2));
        call.dispatch = Some(Box::new(RecordedDispatch { cancelled, ..RecordedDispatch::default() }));
        alone(&call).tallies[0].added_delay.as_millis()
    };
    assert_eq!(added(None), 200, "the wait of the timeout");
    assert_eq!(added(Some(90)), 40, "from its answer at 50 ms");
    assert_eq!(added(Some(251)), 200, "after the wait");
}

#[test]
fn a_recorded_late_answer_changes_no_decision() {
    let mut call = (*failed(Some(10), "a", "timeout")).clone();
    let late = RecordedAnswer { to: AnswerTo::Late, attempt: Some(1), reply: Reply::Ok, ..call.answers[0].clone() };
    call.answers.push(RecordedAnswer { at: Some(Instant::from_millis(90_000)), ..late });
    let record = alone(&call);
    let late = |event: &&DecisionEvent| matches!(event.what, Decision::LateAnswer { .. });
    assert_eq!(record.events.iter().find(late).map(|event| event.at), Some(Instant::from_millis(90_000)));
    assert_eq!(record.outcomes, alone(&failed(Some(10), "a", "timeout")).outcomes);
    assert_eq!(*together(&[Arc::new(call)], |_, _, _| ())[0].record, record);
}
