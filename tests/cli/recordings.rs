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
fn the_tool_facts_of_a_fixture_are_recorded_beside_its_run() {
    let place = place();
    let facts = "tools: { pay: { access: write, idempotent: true, timeout_ms: 700, server: 'its own' } }";
    place.write("fixture.yaml", format!("{FIXTURE}{facts}\n"));
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(0);
    let written =
        "format: tools/1\ntools:\n  pay: { access: write, idempotent: true, timeout_ms: 700, server: its own }\n";
    assert_eq!(place.read("run.tools.yaml"), written);
    place
        .run(&["replay", "run.jsonl", "--same-decisions", "--playbook", "sharing.yaml", "--tools", "run.tools.yaml"])
        .exits(0);
    place.write("run.tools.yaml", "mine");
    let run = place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(2);
    assert!(run.err.contains("run.tools.yaml"), "{}", run.err);
}

/// A call after another one: it gets the kept result, unless the first is still out.
const FOLLOWING: &str = "\
format: fixture/1
title: A call after another one with its key
seed: 7
calls:
  first: { tool: pay, args: { order: o_1 }, idempotency_key: k }
  second: { tool: pay, args: { order: o_1 }, idempotency_key: k, after: [first], after_ms: 10 }
upstream:
  first: [{ error: { kind: 5xx, status: 503 }, latency_ms: 20 }, { ok: {}, latency_ms: 20 }]
expect:
  sharing: { second: { outcome: cached, leader: first } }
";

#[test]
fn only_the_playbook_that_decided_a_trace_has_its_recorded_pace() {
    let place = place();
    place.write("fixture.yaml", FOLLOWING);
    place.write("slow.yaml", PLAYBOOK.replace("base_ms: 100, jitter: full", "base_ms: 500"));
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(0);
    let first = place.read("run.jsonl").lines().next().expect("a line").to_owned();
    let begins = r#"{"type":"recording","playbook":"sharing","fingerprint":""#;
    assert!(first.starts_with(begins) && first.ends_with(r#"","seed":7,"keys":"none"}"#), "{first}");

    let outcome = |said: &[&str]| place.run(&[said, &["run.jsonl"]].concat()).out;
    let (replay, explain) = (["replay", "--all", "--playbook"], ["explain", "--playbook"]);
    let says = |playbook: &str, pace: &[&str], word: &str| {
        let page = outcome(&[&replay[..], &[playbook], pace].concat());
        assert!(page.contains(word), "{playbook} {pace:?}: {page}");
        let page = place.run(&[&explain[..], &[playbook], pace, &["run.jsonl", "second"]].concat()).exits(0).out;
        assert!(page.contains(word), "{playbook} {pace:?}: {page}");
    };
    let (kept, joined) = ("outcome  cached", "outcome  joined");
    for pace in [&[][..], &["--pace", "causal"], &["--pace", "recorded"]] {
        says("sharing.yaml", pace, kept);
    }
    says("slow.yaml", &[], kept);
    says("slow.yaml", &["--pace", "causal"], kept);
    says("slow.yaml", &["--pace", "recorded"], joined);
    // Whoever compares decisions compares them at the times that the trace has.
    let same = place.run(&["replay", "--same-decisions", "--playbook", "slow.yaml", "run.jsonl"]).exits(1).out;
    assert!(same.contains(r#""event":"joined""#), "{same}");
}

#[test]
fn the_suggested_explain_repeats_seed_and_pace() {
    let place = place();
    let suggests = |said: &[&str], flags: &str| {
        let page = place.run(&[&["replay"], said].concat()).out;
        let next =
            page.lines().rfind(|line| line.starts_with("next: playproof explain")).unwrap_or_default().to_owned();
        assert!(next.ends_with(flags), "{said:?}: {next}");
        let words: Vec<&str> = next.split_whitespace().skip(2).map(|word| word.trim_matches('\'')).collect();
        place.run(&words).exits(0);
    };
    let playbook = ["--playbook", "sharing.yaml"];
    suggests(&[&["fixture.yaml"], &playbook[..]].concat(), "--playbook sharing.yaml");
    suggests(&[&["fixture.yaml", "--seed", "9"], &playbook[..]].concat(), "--playbook sharing.yaml --seed 9");
    place.run(&[&["replay", "fixture.yaml", "--record", "run.jsonl"], &playbook[..]].concat()).exits(0);
    let of_trace = ["run.jsonl", "--all", "--seed", "9", "--pace", "causal"];
    suggests(&[&of_trace[..], &playbook].concat(), "--playbook sharing.yaml --seed 9 --pace causal");
}

#[test]
fn impact_has_the_pace_of_replay() {
    let place = place();
    place.write("fixture.yaml", FOLLOWING);
    place.write("slow.yaml", PLAYBOOK.replace("base_ms: 100, jitter: full", "base_ms: 500"));
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(0);
    let impact = |pace: &[&str]| {
        let said = ["impact", "--base", "sharing.yaml", "--candidate", "slow.yaml", "--format", "json", "run.jsonl"];
        place.run(&[&said[..], pace].concat()).exits(0).out
    };
    assert_eq!(impact(&[]), impact(&["--pace", "causal"]));
    assert_ne!(impact(&[]), impact(&["--pace", "recorded"]));
}

#[test]
fn another_playbook_or_seed_than_that_of_the_recording_is_named() {
    let place = place();
    place
        .run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--seed", "7", "--record", "run.jsonl"])
        .exits(0);
    let same = ["replay", "run.jsonl", "--same-decisions", "--playbook"];
    let page = |more: &[&str]| place.run(&[&same[..], more].concat()).out;
    assert!(!page(&["sharing.yaml"]).contains("was recorded"));
    assert!(!page(&["sharing.yaml", "--seed", "7"]).contains("was recorded"));
    let other = page(&["alone.yaml"]);
    assert!(other.contains("was recorded under another playbook: `sharing`, fingerprint "), "{other}");
    let other = page(&["sharing.yaml", "--seed", "8"]);
    assert!(other.contains("was recorded with seed 7: seed 8 gives only draws that it lacks"), "{other}");
    assert!(
        page(&["sharing.yaml", "--format", "json"]).contains(r#""recorder":{"playbook":"sharing","fingerprint":""#)
    );
    // A trace without the line is as readable as before.
    let lines = place.read("run.jsonl");
    let (first, rest) = lines.split_once('\n').expect("lines");
    place.write("run.jsonl", rest);
    place.run(&[&same[..], &["sharing.yaml"]].concat()).exits(0);
    assert!(page(&["sharing.yaml", "--format", "json"]).contains(r#""recorder":null"#));
    place.write("run.jsonl", format!("{}\n{rest}", first.replace("\"seed\":7", "\"seed\":-7")));
    let run = place.run(&[&same[..], &["sharing.yaml"]].concat()).exits(2);
    assert!(run.err.contains("`seed` must be a whole number") && run.err.contains("run.jsonl:1:"), "{}", run.err);
}

/// A follower takes over a leader that is out for too long, and the next follower gets its result.
const SILENT: &str = "\
format: fixture/1
title: A leader that is silent for too long is taken over
calls:
  slow: { tool: pay, args: { order: o_1 }, idempotency_key: k }
  first: { tool: pay, args: { order: o_1 }, idempotency_key: k, at_ms: 10 }
  second: { tool: pay, args: { order: o_1 }, idempotency_key: k, at_ms: 20 }
upstream:
  slow: [{ ok: {}, latency_ms: 900 }]
  first: [{ ok: {}, latency_ms: 100, applied: false }]
  second: [{ ok: {}, latency_ms: 100, applied: false }]
expect:
  sharing:
    slow: { outcome: succeeded, attempts: 1 }
    first: { outcome: OUTCOME, attempts: ATTEMPTS }
    second: { outcome: joined, leader: LEADER }
    effects: 1
    findings: []
";

#[test]
fn a_silent_leader_is_taken_over_and_the_recording_says_so_too() {
    let place = place();
    place.write("sharing.yaml", PLAYBOOK.replace("window_ms: 1000", "window_ms: 1000, takeover_ms: 500"));
    let expecting = |outcome: &str, attempts: &str, leader: &str| {
        SILENT.replace("OUTCOME", outcome).replace("ATTEMPTS", attempts).replace("LEADER", leader)
    };
    place.write("fixture.yaml", expecting("succeeded", "1", "first"));
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"]).exits(0);
    let same = ["replay", "run.jsonl", "--same-decisions", "--playbook"];
    place.run(&[&same[..], &["sharing.yaml"]].concat()).exits(0);
    let out = place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml"]).exits(0).out;
    assert!(out.contains("slow was lost: is sent itself"), "{out}");
    // Without the time, both wait for it.
    place.write("sharing.yaml", PLAYBOOK);
    place.run(&[&same[..], &["sharing.yaml"]].concat()).exits(1);
    place.write("fixture.yaml", expecting("joined", "0", "slow"));
    place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml"]).exits(0);
}

#[test]
fn the_command_for_one_of_several_playbooks_records_once() {
    let place = place();
    let several = ["--playbook", "sharing.yaml", "--playbook", "standard"];
    let run = place.run(&[&["replay", "fixture.yaml", "--record", "x"], &several[..]].concat()).exits(2);
    assert!(
        run.err.contains("next: playproof replay fixture.yaml --playbook sharing.yaml --record x\n"),
        "{}",
        run.err
    );
}

#[test]
fn a_trace_without_decisions_has_none_to_compare() {
    let place = place();
    place.write("trace.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    let run = place.run(&["replay", "trace.jsonl", "--same-decisions", "--playbook", "sharing.yaml"]).exits(2);
    assert!(run.err.contains("--record"), "{}", run.err);
}

#[test]
fn decisions_and_cancellations_that_cannot_have_happened_are_refused_where_they_stand() {
    let place = place();
    let call = r#"{"type":"tool_call","run_id":"r","call_id":"c","tool":"pay","at_ms":1000}"#;
    let ok = r#"{"type":"tool_result","run_id":"r","call_id":"c","attempt":1,"at_ms":1100,"status":"ok"}"#;
    let cancel = r#"{"type":"cancel","run_id":"r","call_id":"c","at_ms":9000}"#;
    let late =
        r#"{"type":"tool_result","run_id":"r","call_id":"c","attempt":9,"at_ms":1200,"status":"ok","answers":"late"}"#;
    let decided =
        r#"{"type":"decision","run_id":"r","call_id":"c","at_ms":1000,"event":"attempt_started","attempt":1}"#;
    let replay = ["replay", "run.jsonl", "--playbook", "sharing.yaml"];
    for (line, said) in [
        (cancel.to_owned(), "the call was cancelled after its end"),
        (cancel.replace("9000", "20"), "its time is before that of its call"),
        (cancel.replace("\"c\"", "\"zz\""), "no call with this `call_id` is open in its run"),
        (decided.replace("\"c\"", "\"zz\""), "no call with this `call_id` is open in its run"),
        (decided.replace("1000", "3"), "its time is before that of its call"),
    ] {
        place.write("run.jsonl", format!("{call}\n{ok}\n{line}\n"));
        let run = place.run(&replay).exits(2);
        assert!(run.err.contains(said) && run.err.contains("run.jsonl:3:"), "{}", run.err);
        place.run(&[&replay[..], &["--skip-invalid"]].concat()).exits(0);
        let run = place.run(&[&replay[..], &["--skip-invalid", "--same-decisions"]].concat()).exits(2);
        assert!(run.err.contains("no `decision` lines beside those that were skipped"), "{}", run.err);
    }
    place.write("run.jsonl", format!("{call}\n{ok}\n{late}\n"));
    let run = place.run(&replay);
    assert!(run.out.contains("not sent as far as is recorded, first in line 3"), "{}", run.out);
    let run = place.run(&[&replay[..], &["--format", "json"]].concat());
    assert!(run.out.contains("\"unsent\":1,\"first_unsent\":3"), "{}", run.out);
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
    let page = place.run(&["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--seeds", "3-12"]).exits(1).out;
    assert!(page.contains("10 seeds contradict") && page.contains(" 3-12: second.outcome: "), "{page}");
}

#[test]
fn a_call_that_rests_because_its_retry_budget_is_empty_says_so() {
    let place = Place::new();
    let playbook = |on_empty: &str| {
        let budget = format!("{{ kind: token_bucket, capacity: 1, cost: 1, on_empty: {on_empty} }}");
        let text =
            PLAYBOOK.replace("max_retries: 2", "max_retries: 2, retry_budget: all").replace(", jitter: full", "");
        text.replace("dedupe: { window_ms: 1000 }", &format!("retry_budgets: {{ all: {budget} }}"))
    };
    let answers = "  first: [{ error: { kind: 5xx } }, { error: { kind: 5xx } }]";
    place.write(
        "fixture.yaml",
        format!(
            "format: fixture/1\ntitle: t\ncalls:\n  first: {{ tool: pay, args: {{}}, idempotency_key: k }}\nupstream:\n{answers}\n\
             expect:\n  sharing: {{ first: {{ outcome: exhausted, stop: retry_budget, attempts: 2 }} }}\n"
        ),
    );
    let run = ["replay", "fixture.yaml", "--playbook", "sharing.yaml", "--record", "run.jsonl"];
    let shown = ["replay", "fixture.yaml", "--playbook", "sharing.yaml"];
    let line = "retry budget: empty, waits 100 ms and ends";
    place.write("sharing.yaml", playbook("wait_and_stop"));
    assert!(place.run(&shown).exits(0).out.contains(line));
    place.run(&run).exits(0);
    assert!(place.read("run.jsonl").contains(r#""event":"retry_unpaid","attempt":3,"delay_ms":100"#));
    place.run(&["replay", "run.jsonl", "--same-decisions", "--playbook", "sharing.yaml"]).exits(0);
    place.write("sharing.yaml", playbook("stop"));
    assert!(!place.run(&shown).exits(0).out.contains(line));
}
