//! Dispatchers that die at every moment between two inputs, on every shipped fixture: what comes back from the inputs does no
//! harm that the run without a crash does not do.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::{Decision, FindingBy, FindingId, FindingSeverity, KeyDialect};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Crash, CrashAt, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::Duration;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;

use crate::goldens::{fixtures, plan, playbooks};
use crate::place::Place;

/// The unsafe findings by the playbook, each with its call.
fn harm(record: &SimulationRecord) -> BTreeSet<(u32, &'static str)> {
    let unsafe_ones =
        record.findings.iter().filter(|it| (it.by, it.severity) == (FindingBy::Playbook, FindingSeverity::Unsafe));
    unsafe_ones.map(|finding| (finding.call.0, finding.id.as_str())).collect()
}

/// How often a call with a reversal token has sent another request than an attempt at most.
fn reversals(scenario: &Scenario<'_>, record: &SimulationRecord) -> usize {
    let attempts = |call: usize| {
        let of_it = record.events.iter().filter(|event| event.call.index() == call);
        of_it.filter(|event| matches!(event.what, Decision::AttemptStarted { .. })).count()
    };
    let with_token = scenario.calls.iter().enumerate().filter(|(_, call)| call.token.is_some());
    with_token.map(|(n, _)| (record.tallies[n].sends as usize).saturating_sub(attempts(n))).max().unwrap_or_default()
}

/// The most attempts of a call.
fn attempts(record: &SimulationRecord) -> u32 {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for event in record.events.iter().filter(|event| matches!(event.what, Decision::AttemptStarted { .. })) {
        *counts.entry(event.call.0).or_default() += 1;
    }
    counts.into_values().max().unwrap_or_default()
}

/// What dying, with a journal or without, adds to the harm of each fixture under a playbook: `fixture: finding`.
fn added(name: &str, fixtures: Vec<(String, Fixture)>, forgets: bool) -> (usize, Vec<String>) {
    let (mut points, mut wrong) = (0, Vec::new());
    let plan = plan(name);
    for (fixture_name, fixture) in fixtures {
        let mut scenario = Scenario { crash: None, ..Scenario::of_fixture(&fixture, &plan) };
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(&plan, &scenario);
        let (before, most_reversals) = (harm(record), reversals(&scenario, record).max(1));
        let most = plan.playbook.limits.max_attempts;
        for after in 1..=simulator.inputs() {
            for has_left in [false, true] {
                points += 1;
                let (when, restart) = (CrashAt::Input { after, has_left }, Duration::from_millis(1_000));
                scenario.crash = Some(Crash { when, restart, forgets });
                let record = simulator.run_fixture(&plan, &scenario);
                let again = attempts(record) > most;
                let said = format!("{fixture_name} after {after} ({has_left})");
                if again {
                    wrong.push(format!("{said}: over a limit"));
                }
                if reversals(&scenario, record) > most_reversals {
                    wrong.push(format!("{said}: token sent twice"));
                }
                let honours = !matches!(fixture.keys, KeyDialect::None | KeyDialect::Lossy);
                let is_excused = |(call, id): &&(u32, &str)| {
                    let has_key = scenario.calls.get(*call as usize).is_some_and(|call| call.key.is_some());
                    *id == FindingId::DuplicateEffect.as_str() && has_key && !honours
                };
                wrong.extend(
                    harm(record)
                        .difference(&before)
                        .filter(|found| !is_excused(found))
                        .map(|(_, id)| format!("{said}: {id}")),
                );
            }
        }
    }
    (points, wrong)
}

#[test]
fn dying_anywhere_adds_no_harm_under_the_standard_playbook() {
    let of_standard = |fixture: &Fixture| playbooks(fixture).iter().any(|known| known == "standard");
    let fixtures: Vec<(String, Fixture)> = fixtures().into_iter().filter(|(_, fixture)| of_standard(fixture)).collect();
    let (points, wrong) = added("standard", fixtures.clone(), false);
    assert!(points > 1_000, "{points}");
    assert!(wrong.is_empty(), "{} of {points}\n{}", wrong.len(), wrong.join("\n"));
    let (_, wrong) = added("standard", fixtures, true);
    let kinds: BTreeSet<&str> = wrong.iter().filter_map(|said| said.rsplit(": ").next()).collect();
    for harm in ["duplicate_effect", "untruthful_outcome", "over a limit"] {
        assert!(kinds.contains(harm), "without a journal, {harm} is missing: {kinds:?}");
    }
}

#[test]
fn without_a_journal_a_token_is_sent_twice() {
    let text = "format: fixture/1
title: A charge that is taken back while its dispatcher dies
playbooks: [reversing]
calls:
  charge: { tool: payments.charge, reversal_token: rt_1 }
upstream:
  charge:
    attempts: [ { error: { kind: schema_validation } }, { error: { kind: schema_validation } } ]
    reversal: [ { ok: {}, latency_ms: 50 }, { ok: {} } ]
expect: { reversing: { charge: { outcome: reversed } } }
";
    let fixture = || vec![("f".to_owned(), fixture::parse(Source::whole("f", text)).unwrap())];
    let is_sent_twice = |said: &String| said.ends_with("token sent twice");
    assert!(!added("reversing", fixture(), false).1.iter().any(is_sent_twice));
    let without = added("reversing", fixture(), true).1;
    assert!(without.iter().any(is_sent_twice), "{without:?}");
}

#[test]
fn a_playbook_that_sends_everything_again_is_found_when_it_dies() {
    let refund = || vec![("refund".to_owned(), fixture::parse(Source::whole("refund", REFUND)).unwrap())];
    let (_, wrong) = added("study/retry-everything", refund(), false);
    assert_eq!(wrong, ["refund after 1 (true): duplicate_effect", "refund after 1 (true): unsafe_retry"]);
    assert_eq!(added("standard", refund(), false), (4, Vec::new()));
    let (_, forgotten) = added("study/retry-everything", refund(), true);
    assert!(forgotten.iter().any(|said| said.contains("after 1 (true)")), "{forgotten:?}");
    assert!(!forgotten.iter().any(|said| said.contains("after 1 (false)")), "nothing had left: {forgotten:?}");
}

const REFUND: &str = "format: fixture/1
title: A refund that may be interrupted
calls:
  refund: { tool: payments.issue_refund, args: { order: o_91 } }
upstream:
  refund: [ { ok: {}, latency_ms: 100 }, { ok: {}, latency_ms: 100 } ]
expect: { standard: { refund: { outcome: succeeded } } }
";

#[test]
fn a_request_that_was_out_is_interrupted_and_one_that_never_left_is_sent_after_the_restart() {
    let place = Place::new();
    place.write("f.yaml", REFUND);
    let args = ["replay", "f.yaml", "--crash-everywhere", "--format", "json", "--playbook", "standard"];
    let page: serde_json::Value = serde_json::from_str(&place.run(&args).exits(0).out).unwrap();
    let one = &page["fixtures"][0]["playbooks"][0];
    let groups = one["with_crash"].as_array().unwrap();
    let group = |left: bool, after: u64| {
        groups.iter().find(|group| group["first"]["has_left"] == left && group["first"]["after_input"] == after)
    };
    let out = group(true, 1).expect("the request had left");
    assert_eq!(out["calls"]["refund"], "escalated, effect unknown", "{page:#}");
    assert_eq!((&out["upstream_calls"], &out["effects"]), (&1.into(), &1.into()));
    let unsent = group(false, 1).expect("the request had not left");
    assert_eq!(unsent["calls"]["refund"], "succeeded, effect applied", "{page:#}");
    assert_eq!(one["without_crash"]["calls"]["refund"], "succeeded, effect applied");
    let said = place.run(&["replay", "f.yaml", "--crash-everywhere", "--playbook", "study/retry-everything"]).exits(1);
    assert!(said.out.contains("unsafe:") && said.out.contains("2 effects"), "{said:?}");
}

#[test]
fn a_fixture_can_say_when_its_dispatcher_dies() {
    let place = Place::new();
    let is_nothing = "crash: expected something that it interrupts at";
    for (crash, effects, outcome, said) in [
        ("{ at_ms: 50 }", 1, "outcome: escalated, effect: unknown, attempts: 1, queue: ambiguous_effects", None),
        ("{ at_ms: 5000, restart_ms: 9 }", 1, "outcome: succeeded", Some("5000 ms, got nothing: all was over")),
        ("{ after: refund }", 1, "outcome: succeeded", Some("100 ms, got nothing: all was over")),
    ] {
        let text = REFUND.replace("{ outcome: succeeded }", &format!("{{ {outcome} }}"));
        place.write(
            "f.yaml",
            &format!("{}, effects: {effects} }} }}\ncrash: {crash}\n", text.trim_end().trim_end_matches(" } }")),
        );
        let ran = place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(i32::from(said.is_some()));
        assert_eq!(ran.out.contains(is_nothing), said.is_some_and(|said| ran.out.contains(said)), "{ran:?}");
    }
    place.run(&["replay", "f.yaml", "--playbook", "standard", "--record", "t.jsonl"]).exits(2);
    place.write("f.yaml", &format!("{REFUND}crash: {{ after: other }}\n"));
    assert!(place.run(&["replay", "f.yaml"]).exits(2).err.contains("`other`"));
}

#[test]
fn without_a_journal_the_upstream_goes_on_where_it_was() {
    let text = "format: fixture/1
title: A read that fails twice while its dispatcher dies
calls:
  read: { tool: orders.get }
tools: { orders.get: { access: read } }
upstream:
  read: [ { error: { kind: 5xx, status: 503 } }, { error: { kind: 5xx, status: 503 } }, { ok: {} } ]
crash: { at_ms: 100 }
expect: { standard: { read: { attempts: 3 } } }
";
    let (fixture, plan) = (fixture::parse(Source::whole("f", text)).unwrap(), plan("standard"));
    let attempts = |forgets| {
        let mut scenario = Scenario::of_fixture(&fixture, &plan);
        scenario.crash.iter_mut().for_each(|crash| crash.forgets = forgets);
        let record = Simulator::new().run_fixture(&plan, &scenario).clone();
        (record.tallies[0].sends, record.outcomes[0].attempts, record.outcomes[0].kind.is_success())
    };
    assert_eq!(attempts(false), (3, 3, true));
    assert_eq!(attempts(true), (3, 2, true), "it counts anew, and the upstream has answered once");
}

#[test]
fn a_wait_goes_on_after_the_restart_and_a_crash_changes_no_limit() {
    let text = "format: fixture/1
title: A dispatcher that dies while its call waits
calls:
  read: { tool: orders.get, at_ms: 0 }
tools: { orders.get: { access: read } }
upstream:
  read: [ { error: { kind: 5xx, status: 503 } }, { error: { kind: 5xx, status: 503 } }, { ok: {} } ]
crash: { at_ms: 100, restart_ms: 900 }
expect: { standard: { read: { outcome: succeeded_after_compensation, attempts: 3 } } }
";
    let place = Place::new();
    place.write("f.yaml", text);
    let shown = place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(0).out;
    assert!(shown.contains("1,000  attempt 2") && shown.contains("3,000  attempt 3"), "{shown}");
    let (before, after) = shown.split_once("100  crash; restarted at 1,000 ms").expect("the crash has a row");
    assert!(
        before.contains("attempt 1") && !before.contains("attempt 2") && after.contains("1,000  attempt 2"),
        "{shown}"
    );
    let markdown = place.run(&["replay", "f.yaml", "--playbook", "standard", "--format", "markdown"]).exits(0).out;
    place.run(&["replay", "f.yaml", "--playbook", "standard", "--report", "html=f.html"]).exits(0);
    for page in [markdown, place.read("f.html")] {
        assert_eq!(page.matches("crash; restarted at 1,000 ms").count(), 1, "{page}");
    }
    place.write("f.yaml", &text.replace("at_ms: 100,", "at_ms: 9000,"));
    let ended = place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(1).out;
    assert!(!ended.contains("crash;"), "the call had ended: {ended}");
}

#[test]
fn a_crash_in_a_trace_interrupts_what_was_out() {
    let place = Place::new();
    let lines = [
        r#"{"run_id":"r","call_id":"a","tool":"pay","at_ms":0,"status":"ok"}"#,
        r#"{"run_id":"r","call_id":"b","tool":"pay","at_ms":5,"args":{"o":1}}"#,
        r#"{"run_id":"q","call_id":"c","tool":"pay","at_ms":6,"args":{"o":2}}"#,
        r#"{"type":"crash","run_id":"r","at_ms":10}"#,
        r#"{"run_id":"r","call_id":"b","type":"tool_result","at_ms":20,"status":"ok"}"#,
    ];
    place.write("t.jsonl", &lines.join("\n"));
    let shown = place.run(&["replay", "t.jsonl", "--all", "--format", "jsonl"]).exits(0).out;
    let calls: Vec<&str> = shown.lines().filter(|line| line.contains("\"type\":\"call\"")).collect();
    let of = |reference: &str| calls.iter().find(|line| line.contains(reference)).expect(reference);
    assert!(of("r#2").contains("write_interrupted") && of("r#2").contains("escalated"), "{shown}");
    assert!(!of("q#1").contains("write_interrupted") && of("r#1").contains("succeeded"), "{shown}");
}

#[test]
fn a_recording_has_one_run() {
    let place = Place::new();
    place.write("t.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    let ran = place.run(&["replay", "t.jsonl", "--crash-everywhere"]).exits(2);
    assert!(ran.err.contains("runs a fixture") && ran.err.contains("next: playproof init --from t.jsonl"), "{ran:?}");
}
