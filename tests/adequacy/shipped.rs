//! What the fixtures of the shipped playbooks exercise, and that taking a fixture away is noticed. `.ci/run` holds the
//! shipped playbooks to their mutants.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::adequacy::project::{LIMIT, Project};

/// The ids of the goals in this state.
fn goals(report: &Value, state: &str) -> BTreeSet<String> {
    let goals = report["goals"].as_array().expect("goals");
    let found = goals.iter().filter(|goal| goal["state"] == state);
    found.map(|goal| goal["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn every_rule_verdict_compensation_guard_outcome_and_limit_is_exercised() {
    let project = Project::copy();
    for playbook in ["standard", "reversing"] {
        let report = project.json(&["coverage", playbook]);
        let missing: Vec<String> =
            goals(&report, "reachable").into_iter().filter(|id| !id.starts_with("cell ")).collect();
        assert!(missing.is_empty(), "{playbook}: {missing:#?}");
        assert!(goals(&report, "undecided").is_empty());
    }
}

#[test]
fn a_fixture_that_is_taken_away_is_missed_and_what_is_suggested_for_a_survivor_catches_it() {
    let project = Project::five();
    project.run(&["coverage", "--mutate", "five"]).exits(0);
    let before = project.json(&["coverage", "five"]);
    project.remove(LIMIT);
    let after = project.json(&["coverage", "five"]);
    assert!(goals(&before, "covered").contains("stop max_attempts"));
    assert!(goals(&after, "reachable").contains("stop max_attempts"));

    let run = project.run(&["coverage", "--mutate", "five", "--format", "json"]).exits(1);
    assert!(run.err.contains("help: write a fixture"), "{}", run.err);
    let survivors = project.write_fixtures_of_survivors();
    assert!(survivors.contains(&"limit max_attempts/to-4".to_owned()), "{survivors:#?}");
    project.run(&["coverage", "--mutate", "five"]).exits(0);
}
