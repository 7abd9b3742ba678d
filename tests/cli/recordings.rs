//! A fixture's run as a trace, the decisions that a trace holds, and what a seed changes.

use super::Place;

const FIXTURE: &str = "\
format: fixture/1
title: A call joins another one with its key
calls:
  first: { tool: pay, args: { order: o_1 }, idempotency_key: k }
  second: { tool: pay, args: { order: o_1 }, idempotency_key: k, at_ms: 10 }
upstream:
  first: [{ error: { kind: 5xx, status: 503 }, latency_ms: 20 }, { ok: {}, latency_ms: 20 }]
expect:
  sharing: { second: { outcome: joined, leader: first } }
";

const PLAYBOOK: &str = "\
format: playbook/1
name: sharing
queues: [people]
default_queue: people
verdicts:
  down:
    means: It did not work now.
    effect: unknown
    then: { retry_with_backoff: { backoff: { kind: constant, base_ms: 100, jitter: full }, max_retries: 2 } }
classify: [{ rule: down, when: { kind: 5xx }, verdict: down }]
dedupe: { window_ms: 1000 }
tools: { pay: { access: write } }
";

fn place() -> Place {
    let place = Place::new();
    place.write("fixture.yaml", FIXTURE);
    place.write("sharing.yaml", PLAYBOOK);
    place.write("alone.yaml", PLAYBOOK.replace("dedupe: { window_ms: 1000 }\n", ""));
    place
}

#[test]
fn a_recorded_run_is_decided_in_the_same_way_until_the_playbook_changes() {
    let place = place();
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(0);
    let same = ["replay", "run.jsonl", "--same-decisions", "--playbook"];
    let run = place.run(&[&same[..], &["sharing.yaml"]].concat()).exits(0);
    assert!(run.out.contains("all are the same"), "{}", run.out);
    let run = place.run(&[&same[..], &["alone.yaml"]].concat()).exits(1);
    assert!(run.out.contains("\"event\":\"joined\""), "{}", run.out);
}

#[test]
fn a_trace_without_decisions_has_none_to_compare() {
    let place = place();
    place.write("trace.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    let run = place.run(&["replay", "trace.jsonl", "--same-decisions", "--playbook", "sharing.yaml"]).exits(2);
    assert!(run.err.contains("--record"), "{}", run.err);
}

#[test]
fn a_seed_moves_the_waits_and_those_that_contradict_the_fixture_are_named() {
    let place = place();
    let seeds = |seeds: &str| {
        place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--seeds", seeds, "--format", "json"])
    };
    let (all, again) = (seeds("1-50").exits(0), seeds("1-50").exits(0));
    assert_eq!(all.out, again.out);
    assert_ne!(all.out, seeds("51-100").exits(0).out);
    place.write("fixture.yaml", FIXTURE.replace("outcome: joined, leader: first", "outcome: refused"));
    seeds("1-2").exits(1);
    seeds("2-1").exits(2);
}
