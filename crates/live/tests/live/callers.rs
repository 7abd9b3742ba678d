//! What callers do: they drop futures, choose among them, panic and block their threads. Nothing of a call is left behind, and
//! what is claimed of it is true.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use playproof_live::{Dispatcher, EffectClaim, Failure, NewCall, OpenCalls, Recorder, RequestKind, plan_of};
use tokio::time::{sleep, timeout};

use crate::place::{Memory, after, dispatcher, failed, keyed, recorded, silent, write};

const MS: Duration = Duration::from_millis(1);

/// Whether eight calls can be out at once and succeed: every permit is free.
async fn all_permits_are_free(dispatcher: &Dispatcher<u32>, name: &str) {
    let names: Vec<String> = (0..8).map(|n| format!("{name}-{n}")).collect();
    let made = Cell::new(0);
    let mut calls: Vec<_> = names
        .iter()
        .map(|name| {
            Box::pin(dispatcher.call(write(name), |_| {
                made.set(made.get() + 1);
                after(1)
            }))
        })
        .collect();
    for call in &mut calls {
        assert!(timeout(Duration::ZERO, call).await.is_err());
    }
    assert_eq!(made.get(), 8, "each is out at once");
    for call in calls {
        assert!(call.await.value.is_some());
    }
    assert_eq!(dispatcher.open_calls(), 0);
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_retried_as_the_playbook_says_and_the_value_comes_back() {
    let dispatcher = dispatcher();
    let attempts = Cell::new(0);
    let began = tokio::time::Instant::now();
    let ended = dispatcher
        .call(keyed("a", "ik_00000001"), |attempt| {
            attempts.set(attempts.get() + 1);
            assert_eq!(attempt.key.as_deref(), Some("ik_00000001"));
            let answer = if attempts.get() < 3 { failed("5xx") } else { Ok(attempts.get()) };
            async move { answer }
        })
        .await;
    assert_eq!((ended.value, ended.outcome.kind.as_str()), (Some(3), "succeeded_after_compensation"));
    assert_eq!((ended.outcome.claim, ended.outcome.attempts), (EffectClaim::Applied, 3));
    assert!((500 * MS..=750 * MS).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_playbook_does_not_know_goes_to_people_and_is_told() {
    let ended = dispatcher().call(write("a"), |_| async { failed("internal") }).await;
    assert_eq!((ended.outcome.kind.as_str(), ended.queue.as_deref()), ("escalated", Some("ambiguous_effects")));
    assert_eq!(ended.outcome.claim, EffectClaim::Unknown);
    assert!(ended.told.is_some_and(|told| !told.retriable));
    assert_eq!(ended.error.and_then(|error| error.kind).as_deref(), Some("internal"));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_future_gives_its_permit_back_and_is_cancelled_with_a_true_claim() {
    let (dispatcher, memory) = recorded();
    {
        let names: Vec<String> = (0..9).map(|n| format!("w{n}")).collect();
        let mut calls: Vec<_> = names.iter().map(|name| Box::pin(dispatcher.call(write(name), silent))).collect();
        for call in &mut calls {
            assert!(timeout(MS, call).await.is_err());
        }
        assert_eq!(dispatcher.open_calls(), 9, "eight are out, one waits");
        drop(calls.pop());
    }
    all_permits_are_free(&dispatcher, "after").await;
    let outcome = |name: &str| memory.lines_with(&format!("{{\"type\":\"decision\",\"id\":\"{name}\"")).pop().unwrap();
    assert!(outcome("w0").contains("\"outcome\":\"cancelled\",\"effect\":\"unknown\""), "{}", outcome("w0"));
    assert!(outcome("w8").contains("\"outcome\":\"cancelled\",\"effect\":\"not_applied\""), "{}", outcome("w8"));
}

#[tokio::test(start_paused = true)]
async fn select_and_timeout_around_a_call_leave_nothing_behind() {
    let dispatcher = dispatcher();
    tokio::select! {
        _ = dispatcher.call(write("a"), silent) => unreachable!("it never answers"),
        () = sleep(10 * MS) => {}
    }
    let waits = timeout(50 * MS, dispatcher.call(keyed("b", "ik_00000001"), |_| async { failed("5xx") })).await;
    assert!(waits.is_err(), "it was waiting to send again");
    all_permits_are_free(&dispatcher, "after").await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_not_made_before_its_future_was_dropped_did_nothing() {
    let memory = Memory::of_size(usize::MAX);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../playbooks/standard.yaml");
    let plan = plan_of("standard", &std::fs::read_to_string(path).unwrap(), None).unwrap();
    let dispatcher = Dispatcher::new(plan, Some(Recorder::new(memory.clone())));
    let mut call = Box::pin(dispatcher.call(write("a"), |_| async { failed("429_rate_limited") }));
    assert!(timeout(MS, &mut call).await.is_err(), "it waits to send again");
    sleep(60_000 * MS).await;
    dispatcher.call(write("b"), |_| async { Ok(1) }).await; // time passes: the second request is asked for
    drop(call);
    let last = memory.lines_with("{\"type\":\"decision\",\"id\":\"a\"").pop().unwrap();
    assert!(last.contains("\"event\":\"outcome\"") && last.contains("\"effect\":\"not_applied\""), "{last}");
    let unmade = memory.lines_with("{\"type\":\"answer\",\"id\":\"a\"").pop().unwrap();
    assert!(unmade.contains("\"attempt\":2,\"error\":{\"kind\":\"not_sent\""), "{unmade}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_an_attempt_reaches_its_caller_and_leaves_nothing_behind() {
    let (dispatcher, memory) = recorded();
    let of_the_task = dispatcher.clone();
    let call = is_send(async move { of_the_task.call(write("a"), |_| async { panic!("a handler") }).await });
    assert!(tokio::spawn(call).await.unwrap_err().is_panic());
    all_permits_are_free(&dispatcher, "after").await;
    let last = memory.lines_with("{\"type\":\"decision\",\"id\":\"a\"").pop().unwrap();
    assert!(last.contains("\"outcome\":\"cancelled\",\"effect\":\"unknown\""), "{last}");
}

#[tokio::test(start_paused = true)]
async fn who_follows_a_call_that_was_dropped_takes_over_and_who_follows_a_success_gets_its_value() {
    let dispatcher = dispatcher();
    let leader = dispatcher.call(keyed("a", "ik_00000001"), silent);
    let follower = dispatcher.call(keyed("b", "ik_00000001"), |_| after(1));
    let joined = dispatcher.call(keyed("c", "ik_00000001"), |_| async { unreachable!("it follows") });
    {
        let mut leader = Box::pin(leader);
        assert!(timeout(MS, &mut leader).await.is_err());
    }
    let (follower, joined) = tokio::join!(follower, joined);
    assert_eq!((follower.value, joined.value), (Some(7), Some(7)));
    assert_eq!(joined.outcome.kind.as_str(), "joined");
    let kept = dispatcher.call(keyed("d", "ik_00000001"), |_| async { unreachable!("it is kept") }).await;
    assert_eq!((kept.value, kept.outcome.kind.as_str()), (Some(7), "cached"));
    sleep(61_000 * MS).await;
    let anew = dispatcher.call(keyed("e", "ik_00000001"), |_| async { Ok(8) }).await;
    assert_eq!((anew.value, anew.outcome.kind.as_str()), (Some(8), "succeeded"));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_dropped_does_not_keep_the_breaker_half_open() {
    let dispatcher = dispatcher();
    for name in ["a", "b"] {
        dispatcher.call(keyed(name, name), |_| async { failed("5xx") }).await;
    }
    let refused = dispatcher.call(write("c"), |_| async { unreachable!("the circuit is open") }).await;
    assert_eq!(refused.outcome.kind.as_str(), "refused");
    assert_eq!(refused.told.and_then(|told| told.retry_after).map(playproof_live::Span::as_millis), Some(30_000));
    sleep(31_000 * MS).await;
    assert!(timeout(MS, dispatcher.call(write("probe"), silent)).await.is_err());
    let next = dispatcher.call(write("d"), |_| after(1)).await;
    assert_eq!(next.value, Some(7), "{:?}", next.outcome);
    all_permits_are_free(&dispatcher, "after").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_success_after_the_timeout_is_late_and_the_call_goes_on_as_if_it_had_not_come() {
    let (dispatcher, memory) = recorded();
    let new = NewCall { timeout: Some(playproof_live::Span::from_millis(20)), ..keyed("slow", "ik_00000001") };
    let attempts = Cell::new(0);
    let ended = dispatcher
        .call(new, |_| {
            attempts.set(attempts.get() + 1);
            let attempt = attempts.get();
            async move {
                if attempt == 1 {
                    std::thread::sleep(60 * MS);
                }
                Ok(attempt)
            }
        })
        .await;
    assert_eq!((ended.value, ended.outcome.attempts), (Some(2), 2));
    let late = memory.lines_with("\"late\":true");
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(memory.text().contains("\"event\":\"late_answer\""));
}

#[tokio::test]
async fn a_request_whose_thread_was_blocked_until_its_time_was_over_is_made_and_has_its_time() {
    let (dispatcher, memory) = recorded();
    let new = NewCall { timeout: Some(playproof_live::Span::from_millis(30)), ..keyed("a", "ik_00000001") };
    let attempts = Cell::new(0);
    let retried = dispatcher.call(new, |_| {
        attempts.set(attempts.get() + 1);
        let first = attempts.get() == 1;
        async move { if first { failed("5xx") } else { after(5).await } }
    });
    let blocks = async {
        sleep(20 * MS).await; // the other waits for 100 ms or more
        dispatcher
            .call(write("b"), |_| async {
                std::thread::sleep(300 * MS);
                Ok(1)
            })
            .await
    };
    let (retried, _) = tokio::join!(retried, blocks);
    assert_eq!((retried.value, retried.outcome.attempts, attempts.get()), (Some(7), 2, 2));
    assert_eq!(memory.lines_with("\"held_ms\"").len(), 1, "{}", memory.text());
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_elsewhere_is_late_once() {
    let (dispatcher, memory) = recorded();
    let first = Cell::new(None);
    let new = write("a");
    let ended = dispatcher
        .call(new, |attempt| {
            let RequestKind::Attempt(number) = attempt.asked else { unreachable!() };
            first.set(Some(number));
            silent(attempt)
        })
        .await;
    let attempt = first.get().unwrap();
    assert_eq!(ended.outcome.claim, EffectClaim::Unknown);
    assert!(!dispatcher.late("other", attempt, Ok(())));
    assert!(dispatcher.late("a", attempt, Ok(())));
    assert!(!dispatcher.late("a", attempt, Err(Failure::Failed(None))), "it was answered");
    assert_eq!(memory.lines_with("\"late\":true").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_taken_gets_a_number_and_arguments_are_compared_by_meaning() {
    let dispatcher = dispatcher();
    let with = |args: &str| NewCall { args: args.to_owned(), ..keyed("a", "ik_00000001") };
    let first = dispatcher.call(with(r#"{"row":{"b":1.0,"a":2}}"#), |_| after(1)).await;
    let same = dispatcher.call(with(r#"{ "row": { "a": 2, "b": 1 } }"#), |_| after(1)).await;
    let other = dispatcher.call(with(r#"{"row":{"a":2,"b":3}}"#), |_| after(1)).await;
    assert_eq!((first.name.as_str(), same.name.as_str()), ("a", "a~1"));
    assert_eq!((same.outcome.kind.as_str(), other.outcome.kind.as_str()), ("cached", "refused"));
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_when_none_of_its_calls_is_open() {
    let dispatcher = dispatcher();
    let new = |name: &str| NewCall { run: "r".to_owned(), ..write(name) };
    let mut open = pin!(dispatcher.call(new("a"), |_| after(50)));
    assert!(timeout(MS, &mut open).await.is_err());
    assert_eq!(dispatcher.end_run("r"), Err(OpenCalls));
    open.await;
    assert_eq!(dispatcher.end_run("r"), Ok(()));
    for n in 0..50 {
        assert!(dispatcher.call(new(&format!("n{n}")), |_| async { Ok(1) }).await.value.is_some(), "{n}");
    }
    let spent = dispatcher.call(new("last"), |_| async { Ok(1) }).await;
    assert_eq!(spent.outcome.kind.as_str(), "refused", "the run has 50 tool calls");
}
