//! Random fixtures, recorded and replayed: the events are the same, whatever happens at one moment.

use std::fmt::Write as _;

use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};

use crate::recordings::compared;
use crate::seeds::{seeds, share};
use crate::storms::Numbers;

/// Under this playbook, everything that calls can do to each other happens, but for what `VARIANTS` add.
const PLAYBOOK: &str = "format: playbook/1
name: random
verdicts:
  transient:
    means: It could not do it now.
    effect: not_applied
    breaker: failure
    then: { retry_with_backoff: { backoff: { kind: exponential, base_ms: 10, max_ms: 40, jitter: full }, max_retries: 2 } }
  timed_out:
    means: It may have acted.
    effect: unknown
    breaker: failure
    then: { retry_with_backoff: { backoff_ms: [10], max_retries: 1 } }
  processed:
    means: The key was processed.
    effect: applied
    then: { deprecate_tool_call: { reason: done } }
  stale:
    means: The evidence is old.
    effect: not_applied
    then: { refresh_evidence: {} }
  taken_back:
    means: It must be undone.
    effect: unknown
    then: { issue_reversal: { reason: undone } }
  unclassified:
    means: No rule matches.
    effect: unknown
    then: { escalate_to_human: { queue: people } }
classify:
  - { rule: transient, when: { status: 503 }, verdict: transient }
  - { rule: timeout, when: { kind: timeout }, verdict: timed_out }
  - { rule: processed, when: { kind: 409_conflict, keyed: true }, verdict: processed }
  - { rule: stale, when: { status: 412 }, verdict: stale }
  - { rule: taken-back, when: { status: 500 }, verdict: taken_back }
default_queue: people
queues: [people]
tools:
  find: { access: read, timeout_ms: 20 }
  post: { access: write, timeout_ms: 20, server: shared }
  pay: { access: write, timeout_ms: 20, server: shared }
  note: { access: write, idempotent: true, timeout_ms: 30 }
  old: { access: write, keys: ignored, timeout_ms: 20 }
actions:
  ship: { steps: [{ id: find, tool: find }, { id: post, tool: post }, { id: note, tool: note }] }
  pay: {}
  close: { tool: note }
limits: { max_attempts: 3 }
";

const GRAPH: &str = "graph: { entry: [ship, pay, close], next: { ship: [pay, close], pay: [ship, pay], close: [] } }\n";
const DEDUPE: &str = "dedupe: { window_ms: 30 }\n";
const LIMITS: &str = "budget: { tool_calls: 9 }\npermits: { max_in_flight: 2, queue: 3 }\n\
    breakers: { default: { window: { calls: 4 }, min_calls: 2, failure_rate: 0.5, open_ms: 30 } }\n";
const VARIANTS: [&[&str]; 6] =
    [&[], &[GRAPH], &[LIMITS], &[GRAPH, LIMITS], &[DEDUPE, LIMITS], &[GRAPH, DEDUPE, LIMITS]];

/// More were tried while this was written: 30,000 recordings in all.
const SEEDS: u64 = 120;

/// Some answers, as a list; times are few, so that much happens at one moment.
fn answers(numbers: &mut Numbers, most: u64) -> String {
    let latency = |numbers: &mut Numbers| numbers.below(4) * 10;
    let many = numbers.below(most + 1);
    let one = |numbers: &mut Numbers| match numbers.below(10) {
        0 => "{ timeout: {} }".to_owned(),
        1 => "{ timeout: {}, applied: true }".to_owned(),
        2 | 3 => format!("{{ error: {{ status: 503 }}, latency_ms: {} }}", latency(numbers)),
        4 => format!(
            "{{ error: {{ kind: 409_conflict, status: 409, message: idempotency_key already processed }}, latency_ms: {} }}",
            latency(numbers)
        ),
        5 => {
            let status = [403, 412, 500, 422][numbers.place(4)];
            format!("{{ error: {{ status: {status} }}, latency_ms: {} }}", latency(numbers))
        }
        _ => format!("{{ ok: {{}}, latency_ms: {} }}", latency(numbers)),
    };
    let all: Vec<String> = (0..many).map(|_| one(numbers)).collect();
    format!("[{}]", all.join(", "))
}

/// A fixture for the playbook `name`, whose actions are `ship` (with steps), `pay` and `close`.
fn random_fixture(seed: u64, name: &str) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut calls = String::new();
    let mut upstream = String::new();
    let count = 2 + numbers.below(7);
    let runs = 1 + numbers.below(3);
    for n in 0..count {
        let ships = numbers.one_in(4);
        let what = match ships {
            true => "action: ship",
            false => ["tool: pay", "tool: post", "tool: find", "action: close", "tool: old"][numbers.place(5)],
        };
        let _ = write!(calls, "  c{n}: {{ {what}, args: {{ x: {} }}", numbers.below(2));
        if runs > 1 {
            let _ = write!(calls, ", run: r{}", numbers.below(runs));
        }
        if !numbers.one_in(3) {
            let _ = write!(calls, ", idempotency_key: k{}", numbers.below(2));
        }
        if !ships && numbers.one_in(4) {
            let _ = write!(calls, ", reversal_token: t{}", numbers.below(2));
        }
        if n > 0 && numbers.one_in(4) {
            let _ = write!(calls, ", after: [c{}]", numbers.below(n));
            if numbers.one_in(2) {
                calls += ", after_ms: 10";
            }
        } else {
            let at = numbers.below(4) * 10;
            let _ = write!(calls, ", at_ms: {at}");
            if numbers.one_in(4) {
                let _ = write!(calls, ", cancel_at_ms: {}", at + numbers.below(5) * 10);
            }
        }
        calls += " }\n";
        let _ = match ships {
            true => {
                let steps = ["find", "post", "note"].map(|step| format!("{step}: {}", answers(&mut numbers, 3)));
                writeln!(upstream, "  c{n}: {{ steps: {{ {} }} }}", steps.join(", "))
            }
            false => writeln!(upstream, "  c{n}: {}", answers(&mut numbers, 3)),
        };
    }
    let keys = ["replay", "ietf", "conflict", "lossy", "none"][numbers.place(5)];
    let outages = match calls.contains("tool: pay") && numbers.one_in(3) {
        true => "outages: { pay: [{ from_ms: 10, to_ms: 40, answer: { error: { status: 503 }, latency_ms: 10 } }] }\n",
        false => "",
    };
    format!(
        "format: fixture/1\ntitle: random {seed}\nkeys: {keys}\nseed: {seed}\ncalls:\n{calls}upstream:\n{upstream}{outages}expect: {{ {name}: {{ sends: 0 }} }}\n"
    )
}

/// What differs in the recording of a fixture, with the fixture.
fn difference(plan: &Plan, text: &str) -> Result<u64, String> {
    let fixture = fixture::parse(Source::whole("random", text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
    let (trace, compared) = compared(plan, &fixture, 1);
    match compared.differences.first() {
        None => Ok(compared.decisions),
        Some(first) => Err(format!("{first:#?}\n{text}\n{trace}")),
    }
}

#[test]
fn random_fixtures_replay_from_their_recordings_to_the_same_events() {
    let (mut wrong, mut decisions) = (Vec::new(), 0);
    for variant in VARIANTS {
        let text = format!("{PLAYBOOK}{}", variant.concat());
        let loaded = playbook::parse(Source::whole("random", text)).unwrap_or_else(|report| panic!("{report}"));
        let plan = Plan::new(loaded.playbook, &Tools::default());
        for seed in seeds(SEEDS) {
            match difference(&plan, &random_fixture(seed, "random")) {
                Ok(some) => decisions += some,
                Err(said) => wrong.push(format!("{variant:?}, seed {seed}: {said}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ; the first:\n{}", wrong.len(), wrong[0]);
    assert!(decisions > share(SEEDS) * 60, "{decisions} decisions");
}
