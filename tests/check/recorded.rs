//! Recordings that the project names: their runs are checked like fixtures.

use crate::place::Place;

const TRACE: &str = r#"{"run_id":"night","tool":"pay","idempotency_key":"s3cret","args":{"card":"4111"},"status":"error","error":{"kind":"timeout","message":"no answer for 4111"}}
{"run_id":"night","tool":"crm.update","args":{},"status":"error","error":{"kind":"403_forbidden","message":"no"}}
{"run_id":"day shift","tool":"search","args":{},"status":"ok"}
"#;

const NIGHT: &str = "goldens/ours/traces/incident/night.snap";

fn begun() -> Place {
    let place = Place::begun();
    place.write("incidents/incident.jsonl", TRACE);
    let project = place.read("playproof.yaml");
    let redaction = "redaction: { patterns: ['411[0-9]'] }\n";
    place.write("playproof.yaml", &format!("{project}traces: [incidents/*.jsonl]\n{redaction}"));
    place
}

#[test]
fn each_run_of_a_recording_that_the_project_names_gets_a_golden() {
    let place = begun();
    let ran = place.run(&["check"]).exits(1);
    for run in ["ours/traces/incident/night", "ours/traces/incident/day-shift"] {
        assert!(ran.out.contains(run), "{run}: {}", ran.out);
    }
    let ran = place.run(&["accept", "ours/traces/incident/night"]).exits(0);
    assert_eq!(ran.out, "accepted ours/traces/incident/night\n");
    place.run(&["accept"]).exits(0);
    place.run(&["check"]).exits(0);
    let golden = place.read(NIGHT);
    assert!(
        golden.contains("c1: { ") && golden.contains("told: ") && golden.contains("c2, failure_classified"),
        "{golden}"
    );
    assert!(!golden.contains("4111") && !golden.contains("s3cret"), "{golden}");
}

#[test]
fn a_playbook_that_decides_otherwise_in_a_recorded_run_differs_from_its_golden() {
    let place = begun();
    place.run(&["check"]).exits(1);
    place.run(&["accept"]).exits(0);
    place.edit_first("playbooks/ours.yaml", "queue: policy_review", "queue: unclassified");
    let ran = place.run(&["check", "traces/incident/night"]).exits(1);
    assert!(ran.out.contains("ours/traces/incident/night") && ran.out.contains("1 run: 0 as accepted"), "{}", ran.out);
    assert!(ran.out.contains("policy_review"), "{}", ran.out);
}

#[test]
fn a_recording_that_is_gone_leaves_goldens_without_a_fixture_and_one_that_is_not_there_is_refused() {
    let place = begun();
    place.run(&["check"]).exits(1);
    place.run(&["accept"]).exits(0);
    place.write("incidents/incident.jsonl", TRACE.lines().next().expect("a line"));
    let ran = place.run(&["check"]).exits(1);
    assert!(ran.out.contains("goldens/ours/traces/incident/day-shift.snap"), "{}", ran.out);
    place.remove("incidents/incident.jsonl");
    place.run(&["check"]).exits(2);
}

#[test]
fn a_recording_outside_the_project_is_not_read() {
    let place = begun();
    place.write("../outside.jsonl", TRACE);
    place.edit_first("playproof.yaml", "incidents/*.jsonl", "../outside.jsonl");
    let ran = place.run(&["check"]).exits(2);
    assert!(ran.err.contains("leads out of the project"), "{}", ran.err);
}
