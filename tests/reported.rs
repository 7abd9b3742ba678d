//! Incidents that people reported, rebuilt as small inputs: each says what is right.

use crate::place::{Place, Ran};

/// A command in a folder with one file.
fn ran(file: &str, text: &str, args: &[&str]) -> Ran {
    let place = Place::new();
    place.write(file, text);
    place.run(args)
}

/// A step that cannot end in time is killed and sent again, and mails each time.
#[test]
fn temporal_sends_a_step_again_that_has_acted_until_its_deadline() {
    let killed = "{ timeout: {}, applied: true }";
    let fixture = format!(
        "format: fixture/1\ntitle: A step is killed, sent again, and mails each time\nplaybooks: [preset/temporal]\n\
         calls: {{ step: {{ tool: run_agent_step, args: {{ task: weekly report }}, timeout_ms: 200000 }} }}\n\
         upstream: {{ step: [{}] }}\nexpect: {{ preset/temporal: {{ effects: 3 }} }}\n",
        [killed; 8].join(", ")
    );
    let run = ran("f.yaml", &fixture, &["replay", "f.yaml"]);
    assert!(run.out.contains("possible_duplicate_effect"), "{}{}", run.out, run.err);
    assert!(!run.out.contains("contradicts"), "{}", run.out);
}

/// What is for study is no playbook for production, whatever its name: a project that uses one does not pass.
#[test]
fn a_project_that_uses_a_preset_does_not_pass_lint() {
    let project = "format: project/1\nplaybook: preset/llm-client\n";
    assert_eq!(ran("playproof.yaml", project, &["lint"]).code, 1);
    assert_eq!(ran("playproof.yaml", project, &["lint", "preset/llm-client"]).code, 0, "it may be looked at");
}
