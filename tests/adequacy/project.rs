//! A copy of this project's playbooks and fixtures, and a playbook of five rows with every fixture that it needs: a test
//! may do in them what it likes.

use std::ops::Deref;

use serde_json::Value;

use crate::place::Place;

/// Two rules, three verdicts.
const FIVE: &str = "\
format: playbook/1
name: five

verdicts:
  slow: { means: No answer in time., effect: unknown, then: { retry_with_backoff: { backoff_ms: [200, 400, 800] } } }
  no: { means: The tool said no., effect: not_applied, then: { deprecate_tool_call: { reason: it said no } } }
  unclassified: { means: No rule knows this failure., effect: unknown, then: { escalate_to_human: { queue: people } } }

classify:
  - { rule: timeout, when: { kind: timeout }, verdict: slow }
  - { rule: refused, when: { status: 403 }, verdict: no }

otherwise: unclassified
default_queue: people
queues: [people]
limits: { max_attempts: 3, deadline_ms: 60000 }
";

/// Its first fixture.
const SLOW: &str = "\
format: fixture/1
title: A read that times out is sent again
calls:
  look: { tool: search.web, args: { q: x } }
tools: { search.web: { access: read } }
upstream:
  look: [{ timeout: {} }, { ok: {} }]
expect:
  five: { look: { outcome: succeeded_after_compensation, attempts: 2 }, effects: 0 }
";

/// The fixture of `five` that alone reaches the limit of attempts.
pub const LIMIT: &str = "fixtures/slow-until-its-retries-are-used-up.yaml";

/// A copy that is gone with its test.
pub struct Project(Place);

impl Deref for Project {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Project {
    /// A copy as it is in the repository.
    pub fn copy() -> Project {
        let project = Project(Place::new());
        for folder in ["fixtures", "playbooks"] {
            project.copy_folder(folder, |name| !name.contains('/'));
        }
        project.0.copy("mutants.yaml", "mutants.yaml");
        project
    }

    /// The playbook of five rows: its fixtures are those that `coverage` and `coverage --mutate` suggest, so they
    /// exercise everything and notice every change.
    pub fn five() -> Project {
        let project = Project(Place::new());
        project.write("playproof.yaml", "format: project/1\nplaybook: playbooks/five.yaml\n");
        project.write("playbooks/five.yaml", FIVE);
        project.write("fixtures/slow.yaml", SLOW);
        project.run(&["coverage", "five", "--write", "fixtures"]).exits(0);
        assert!(!project.write_fixtures_of_survivors().is_empty());
        project
    }

    /// Writes the fixture that `coverage --mutate` prints for each survivor, and gives their ids.
    pub fn write_fixtures_of_survivors(&self) -> Vec<String> {
        let report = self.json(&["coverage", "--mutate", "five"]);
        let mutants = report["playbooks"][0]["mutants"].as_array().expect("mutants");
        let survivors: Vec<&Value> = mutants.iter().filter(|mutant| mutant["judgement"] == "survived").collect();
        for survivor in &survivors {
            let shown_by = &survivor["shown_by"];
            let name = format!("fixtures/{}.yaml", shown_by["name"].as_str().expect("a name"));
            self.write(&name, shown_by["text"].as_str().expect("a text"));
        }
        survivors.iter().map(|each| each["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// What a command writes as JSON.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--format", "json"]].concat());
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.out, run.err))
    }
}
