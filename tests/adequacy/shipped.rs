//! The shipped playbooks and their fixtures.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::adequacy::project::Project;

pub fn json(project: &Project, args: &[&str]) -> Value {
    let run = project.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.out, run.err))
}

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
        let report = json(&project, &["coverage", playbook]);
        let missing: Vec<String> =
            goals(&report, "reachable").into_iter().filter(|id| !id.starts_with("cell ")).collect();
        assert!(missing.is_empty(), "{playbook}: {missing:#?}");
        assert!(goals(&report, "undecided").is_empty());
    }
}

#[test]
fn every_survivor_is_explained_and_every_explanation_is_needed() {
    let run = Project::copy().run(&["mutate", "reversing", "coffee", "steps"]);
    assert_eq!(run.code, 0, "{}\n{}", run.out, run.err);
}

#[test]
fn a_fixture_that_is_taken_away_is_missed_and_what_is_suggested_for_a_survivor_catches_it() {
    let project = Project::copy();
    let before = json(&project, &["coverage", "standard"]);
    project.remove("fixtures/six-attempts-and-no-seventh.yaml");
    let after = json(&project, &["coverage", "standard"]);
    assert!(goals(&before, "covered").contains("stop max_attempts"));
    assert!(goals(&after, "reachable").contains("stop max_attempts"));

    let run = project.run(&["mutate", "standard", "--format", "json"]).exits(1);
    assert!(run.err.contains("next: write a fixture"), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).expect("JSON");
    let mutants = report["playbooks"][0]["mutants"].as_array().expect("mutants");
    let survivors: Vec<&Value> = mutants.iter().filter(|mutant| mutant["judgement"] == "survived").collect();
    assert!(survivors.iter().any(|each| each["id"] == "limit max_attempts/more"), "{survivors:#?}");
    for survivor in survivors {
        let shown_by = &survivor["shown_by"];
        let name = format!("fixtures/{}.yaml", shown_by["name"].as_str().expect("a name"));
        project.write(&name, shown_by["text"].as_str().expect("a text"));
    }
    let run = project.run(&["mutate", "standard"]);
    assert_eq!(run.code, 0, "{}\n{}", run.out, run.err);
}
