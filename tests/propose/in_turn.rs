//! Proposals for failures that look alike, one after the other.

use crate::propose::drafts::trace;
use crate::propose::project::{PLAYBOOK, Project, record};

#[test]
fn the_failures_that_look_alike_are_proposed_one_after_the_other() {
    let project = Project::new();
    trace(&project);
    let propose = |verdict: &str, form: &str| {
        let new = ["propose", "new", verdict, "--means", "No.", "--from-cluster", form, "--trace", "trace.jsonl"];
        let ran = project.run(&new);
        assert_eq!(ran.code, 0, "{ran:?}");
        project.write(&format!("proposals/{}/adr.md", verdict.replace('_', "-")), &record("Nobody waits for it."));
        ran.out
    };
    propose("said_no", "1");
    let spared = "fixtures/not-said-no.yaml";
    project.names_golden("said-no", "ours/declined", "effect_changed");
    assert_eq!(project.run(&["accept", "said-no", "--reason", "read"]).code, 0);
    let accepted = project.read(spared);
    // The look-alike of the first is what the second is for.
    let said = propose("not_answered", "1");
    assert!(
        said.contains("ours/not-said-no, an earlier look-alike, now gets the verdict: the decision record names"),
        "{said}"
    );
    project.names_golden("not-answered", "ours/not-said-no", "effect_changed");
    let check = project.run(&["propose", "check", "not-answered"]);
    assert_eq!(check.code, 0, "{check:?}");
    assert!(check.out.contains("ours/not-said-no  effect changed"), "the change is shown: {}", check.out);
    assert_eq!(project.run(&["accept", "not-answered", "--reason", "read"]).code, 0);
    assert_eq!((project.run(&["check"]).code, project.read(spared)), (0, accepted));
    // It still fails where the first verdict catches it.
    project.edit(PLAYBOOK, r"matches: '^card \S+ was declined$'", "contains: card");
    let (code, said) = project.refused(&["check"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("call.not_verdicts: expected any but said_no, got said_no"), "{said}");
}
