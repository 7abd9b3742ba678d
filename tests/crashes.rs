//! Dispatchers that die at every moment between two inputs, on every shipped fixture: what comes back from the inputs does no
//! harm that the run without a crash does not do.

use std::collections::BTreeSet;

use playproof_engine::event::{Decision, FindingBy, FindingId, FindingSeverity, KeyDialect};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Crash, Scenario, SimulationRecord, Simulator};
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

/// How often each call has sent its reversal token.
fn reversals(record: &SimulationRecord) -> usize {
    let is_sent = |what: &Decision| matches!(what, Decision::ReversalRedeemed { .. });
    record.events.iter().filter(|event| is_sent(&event.what)).count()
}

/// What dying adds to the harm of each fixture under a playbook: `fixture: finding`.
fn added(name: &str, fixtures: Vec<(String, Fixture)>) -> (usize, Vec<String>) {
    let (mut points, mut wrong) = (0, Vec::new());
    let plan = plan(name);
    for (fixture_name, fixture) in fixtures {
        let scenario = Scenario::of_fixture(&fixture, &plan);
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(&plan, &scenario);
        let (before, most_reversals) = (harm(record), reversals(record).max(1) * fixture.calls.len());
        let most = plan.playbook.limits.max_attempts;
        for after in 1..=simulator.inputs() {
            for has_left in [false, true] {
                points += 1;
                let crash = Crash { after, has_left, restart: Duration::from_millis(1_000) };
                let record = simulator.run_crashing(&plan, &scenario, crash);
                let again = record.outcomes.iter().any(|outcome| outcome.attempts > most);
                let said = format!("{fixture_name} after {after} ({has_left})");
                if again || reversals(record) > most_reversals {
                    wrong.push(format!("{said}: over a limit"));
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
    let fixtures = fixtures().into_iter().filter(|(_, fixture)| of_standard(fixture)).collect();
    let (points, wrong) = added("standard", fixtures);
    assert!(points > 1_000, "{points}");
    assert!(wrong.is_empty(), "{} of {points}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_playbook_that_sends_everything_again_is_found_when_it_dies() {
    let refund = || vec![("refund".to_owned(), fixture::parse(Source::whole("refund", REFUND)).unwrap())];
    let (_, wrong) = added("study/retry-everything", refund());
    assert_eq!(wrong, ["refund after 1 (true): duplicate_effect", "refund after 1 (true): unsafe_retry"]);
    assert_eq!(added("standard", refund()), (4, Vec::new()));
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
fn a_recording_has_one_run() {
    let place = Place::new();
    place.write("t.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    let ran = place.run(&["replay", "t.jsonl", "--crash-everywhere"]).exits(2);
    assert!(ran.err.contains("runs a fixture") && ran.err.contains("next: playproof init --from t.jsonl"), "{ran:?}");
}
