//! Random storms of live calls on a real clock: whatever callers and upstreams do, a session makes the same decisions again from
//! the journal. `PLAYPROOF_STORMS` says how many.
#![expect(
    clippy::disallowed_methods,
    clippy::unreachable,
    reason = "a test reads the playbook, and how many storms are wished; a panic fails it"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use playproof_engine::plan::Plan;
use playproof_live::{Attempt, Dispatcher, ErrorFacts, Failure, NewCall, Recorder, Span, plan_of};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::conform::live_tests::{Memory, decisions, read_again};

/// Calls of a storm.
const CALLS: u64 = 40;

/// Luck, by a seed (splitmix64).
struct Luck(AtomicU64);

impl Luck {
    /// A number below `most`.
    fn below(&self, most: u64) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % most
    }
}

/// The playbook `dispatcher` with shorter waits.
fn plan() -> Plan {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../playbooks/dispatcher.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let faster = text.replace("base_ms: 100", "base_ms: 4").replace("open_ms: 30000", "open_ms: 30");
    assert_ne!(faster, text);
    plan_of("dispatcher", &faster, None).unwrap()
}

/// What an upstream does with a request.
async fn answer(luck: &Luck, attempt: Attempt) -> Result<u64, Failure> {
    let kind = |kind: &str| Err(Failure::from(ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() }));
    if luck.below(3) > 0 {
        sleep(Duration::from_micros(luck.below(9_000))).await;
    }
    match luck.below(20) {
        0..12 => Ok(u64::from(attempt.evidence)),
        12 => kind("5xx"),
        13 => kind("transient"),
        14 => kind("429_rate_limited"),
        15 => kind("internal"),
        16 => Err(Failure::Failed(None)),
        17 => Err(Failure::Lost),
        18 => {
            std::thread::sleep(Duration::from_millis(luck.below(12)));
            Ok(1)
        }
        _ => std::future::pending().await,
    }
}

/// A storm, and its journal.
async fn storm(seed: u64) -> Vec<u8> {
    let memory = Memory::default();
    let dispatcher: Dispatcher<u64> = Dispatcher::new(plan(), Some(Recorder::new(memory.clone())));
    let mut calls = JoinSet::new();
    for n in 0..CALLS {
        let dispatcher = dispatcher.clone();
        calls.spawn(async move {
            let luck = Luck(AtomicU64::new(seed << 32 | n << 16));
            sleep(Duration::from_micros(luck.below(30_000))).await;
            let new = NewCall {
                name: format!("c{n}"),
                run: format!("r{}", luck.below(3)),
                tool: "db.write".to_owned(),
                args: format!("{{\"row\":{}}}", luck.below(3)),
                key: (luck.below(2) > 0).then(|| format!("ik_{:08}", luck.below(12))),
                timeout: Some(Span::from_millis(6)),
                ..NewCall::default()
            };
            let call = dispatcher.call(new, |attempt| answer(&luck, attempt));
            match luck.below(5) {
                0 => drop(timeout(Duration::from_micros(luck.below(20_000)), call).await),
                _ => drop(call.await),
            }
        });
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    assert_eq!(dispatcher.open_calls(), 0, "storm {seed}");
    memory.bytes()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_opened_a_circuit_is_named_when_its_id_belongs_to_another_call() {
    let memory = Memory::default();
    let dispatcher: Dispatcher<u64> = Dispatcher::new(plan(), Some(Recorder::new(memory.clone())));
    let new = |name: String| NewCall { run: name.clone(), name, tool: "db.write".to_owned(), ..NewCall::default() };
    let busy = || Err(Failure::from(ErrorFacts { kind: Some("5xx".into()), ..ErrorFacts::default() }));
    for n in 0..5 {
        dispatcher.call(new(format!("fails{n}")), |_| async { busy() }).await;
    }
    for n in 0..1_100 {
        let refused =
            dispatcher.call(new(format!("refused{n}")), |_| async { unreachable!("the circuit is open") }).await;
        assert_eq!(refused.outcome.kind.as_str(), "refused");
    }
    let journal = memory.bytes();
    let refusals = decisions(&journal).into_iter().filter(|(call, _)| call.starts_with("refused"));
    for (call, events) in refusals {
        assert!(events[0].contains("\"cause\":\"fails4\""), "{call}: {events:?}");
    }
    read_again(plan(), &journal).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_makes_the_decisions_of_storms_again_from_their_journals() {
    let storms = std::env::var("PLAYPROOF_STORMS").map_or(50, |storms| storms.parse().unwrap());
    let (mut running, mut next, mut bytes) = (JoinSet::new(), 0..storms, Vec::new());
    loop {
        while running.len() < 10
            && let Some(seed) = next.next()
        {
            running.spawn(storm(seed));
        }
        let Some(journal) = running.join_next().await else { break };
        let journal = journal.unwrap();
        let session = read_again(plan(), &journal);
        let why = || format!("{:?}\n{}", session.as_ref().err(), String::from_utf8_lossy(&journal));
        assert!(session.as_ref().is_ok_and(|session| session.records().count() == 0), "{}", why());
        bytes.extend(journal);
    }
    let text = String::from_utf8(bytes).unwrap();
    for seen in ["cancelled", "joined", "cached", "queued", "circuit_opened", "\"late\":true", "\"timeout\":true"] {
        assert!(text.contains(seen), "storms show no `{seen}`");
    }
}
