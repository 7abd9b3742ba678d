//! Rules and verdicts that a proposal takes away, and those that it leaves no say.

use crate::propose::project::{PLAYBOOK, Project, TEXT, record};

/// The proposal in `proposals/ID`, with its record and titles written.
fn written(project: &Project, id: &str) -> String {
    project.write(&format!("proposals/{id}/adr.md"), &record("Nobody waits any more."));
    let name = format!("proposals/{id}/fixtures/not-{id}.yaml");
    if project.path(&name).exists() {
        project.edit(&name, "write this - ", "");
    }
    format!("proposals/{id}/playbook.yaml")
}

/// A proposal that says `to` instead of `from`, for the playbook as it is.
fn proposed(project: &Project, changes: &[(&str, &str)]) {
    let mut text = project.read(PLAYBOOK);
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replace(from, to);
    }
    project.write("proposals/less/playbook.yaml", &text);
    written(project, "less");
    assert_eq!(project.run(&["propose", "rebase", "less"]).code, 0);
}

const GATEWAY: &str = "  - { rule: gateway,   when: { status: 504 }, verdict: slow }\n";
const TIMEOUT: &str = "  - { rule: timeout, when: { kind: timeout }, verdict: slow }\n";

#[test]
fn a_rule_that_takes_everything_from_another_is_accepted_with_the_other_taken_away() {
    let project = Project::new();
    let people = "{ escalate_to_human: { queue: people } }";
    let new = ["propose", "new", "stalled", "--when", "{ kind: timeout }", "--then", people, "--means", "It stalled."];
    let ran = project.run(&new);
    assert!(ran.code == 0 && ran.out.contains("the rule goes before `timeout`"), "{ran:?}");
    let file = written(&project, "stalled");
    project.names_golden("stalled", "ours/slow", "outcome_changed");
    let (code, said) = project.refused(&["propose", "check", "stalled"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("new lint: `timeout` never decides"), "{said}");
    let way_out = format!("help: take the rule `timeout` out of {file}, if it is not needed any more");
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&way_out), "{said}");

    project.edit(&file, TIMEOUT, "");
    let ran = project.run(&["propose", "check", "stalled"]);
    assert!(ran.out.contains("removed  rule timeout"), "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.run(&["accept", "stalled", "--reason", "people look first"]).code, 0);
    let text = project.read(PLAYBOOK);
    assert!(!text.contains("rule: timeout") && text.contains("# Ours: comments and layout are kept."), "{text}");
    for args in [&["check"][..], &["lint"], &["history", "verify"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    }
}

#[test]
fn a_rule_that_can_speak_goes_only_where_a_fixture_shows_what_becomes_of_its_failures() {
    let project = Project::new();
    proposed(&project, &[(GATEWAY, "")]);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert_eq!(code, 1, "{said}");
    let wanted = "no fixture shows how the failures of the rule `gateway` end without it";
    assert!(said.replace("\n      ", " ").contains(wanted), "{said}");
    let fixture =
        project.read("fixtures/slow.yaml").replace("{ timeout: {}, applied: true }", "{ error: { status: 504 } }");
    let fixture =
        fixture.replace("outcome: escalated, queue: people }, effects: 1", "verdicts: [unclassified] }, effects: 0");
    project.write("proposals/less/fixtures/gateway.yaml", &fixture);
    let ran = project.run(&["propose", "check", "less"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_rule_becomes_narrower_if_fixtures_show_what_it_leaves_and_what_it_keeps() {
    let project = Project::new();
    proposed(&project, &[("when: { status: 504 }", "when: { status: 504, keyed: true }")]);
    let [left, kept] = ["left", "kept"].map(|name| format!("proposals/less/fixtures/{name}.yaml"));
    let fixture = project.read("fixtures/slow.yaml").replace("timeout: {}, applied: true", "error: { status: 504 }");
    let fixture = fixture.replace("outcome: escalated, queue: people }, effects: 1", "attempts: 1 }, effects: 0");
    let with_key = fixture
        .replace("{ amount: 5 }", "{ amount: 5 }, idempotency_key: k")
        .replace("attempts: 1 }, effects: 0", "verdicts: [slow] }");
    project.write(&left, &fixture);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert!(code == 1 && said.contains("no fixture of the proposal gets the verdict `slow`"), "{said}");
    project.write(&kept, &with_key);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert_eq!(code, 0, "{said}");
    project.remove(&left);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert!(code == 1 && said.contains("already gets it today"), "{said}");
}

#[test]
fn what_has_no_say_goes_without_a_fixture() {
    let project = Project::new();
    let late = "  - { rule: late, when: { kind: timeout, status: 504 }, verdict: slower }\n";
    project.edit(PLAYBOOK, "\notherwise", &format!("{late}\notherwise"));
    let slower =
        "  slower:\n    means: Later.\n    effect: unknown\n    then: { escalate_to_human: { queue: people } }\n\n";
    project.edit(PLAYBOOK, "  # Nobody knows.", &format!("{slower}  # Nobody knows."));
    assert_eq!(project.run(&["accept", "--reason", "as it grew"]).code, 0);
    proposed(&project, &[(late, "")]);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert_eq!(code, 0, "the verdict was never given: {said}");
    proposed(&project, &[(late, ""), (slower, "")]);
    let ran = project.run(&["propose", "check", "less"]);
    assert!(ran.code == 0 && ran.out.contains("removed  verdict slower"), "{ran:?}");
}

#[test]
fn a_rule_of_which_lint_cannot_tell_is_shown_to_speak_by_a_fixture() {
    let project = Project::new();
    let asks =
        "  - { rule: gone, when: { kind: lost, message: { matches: 'gone \\d+' } }, verdict: slow }\n\notherwise";
    project.edit(PLAYBOOK, "\notherwise", asks);
    assert_eq!(project.run(&["accept", "--reason", "as it grew"]).code, 0);
    let when = "{ kind: lost, message: { matches: '^gone [0-9]$' } }";
    assert_eq!(project.run(&["propose", "new", "vanished", "--when", when, "--means", "Gone."]).code, 0);
    let file = written(&project, "vanished");
    let rule = format!("  - rule: vanished\n    when: {when}\n    verdict: vanished\n");
    project.edit(&file, &rule, "");
    project.edit(&file, "  - { rule: gone", &format!("{rule}  - {{ rule: gone"));
    let (code, said) = project.refused(&["propose", "check", "vanished"]);
    assert_eq!(code, 1, "{said}");
    let way_out = "help: write a fixture in which the rule `gone` matches into proposals/vanished/fixtures/";
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(way_out), "{said}");
    let fixture = project.read("fixtures/declined.yaml");
    let fixture = fixture.replace("kind: tool_error, message: card 4 was declined", "kind: lost, message: gone 55");
    project.write("proposals/vanished/fixtures/gone-for-long.yaml", &fixture);
    let (_, said) = project.refused(&["propose", "check", "vanished"]);
    assert!(!said.contains("new lint:") && said.contains("ours/gone-for-long  new fixture"), "{said}");
}

#[test]
fn a_fixture_that_pins_the_old_verdict_is_named_with_what_to_change_in_it() {
    let project = Project::with_proposal();
    project.edit("fixtures/declined.yaml", "effect: not_applied", "verdicts: [unclassified], effect: unknown");
    let (code, said) = project.refused(&["propose", "check", "said-no"]);
    assert_eq!(code, 1, "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("charge.verdicts: expected unclassified, got said_no"), "{said}");
    let next = "help: change `expect` in fixtures/declined.yaml if this is intended, otherwise \
                proposals/said-no/playbook.yaml next: playproof propose check said-no";
    assert!(said.contains(next), "{said}");
}

#[test]
fn a_fixture_that_excludes_a_verdict_is_held_against_the_playbook_as_proposed() {
    let project = Project::new();
    let excluded = |name: &str| format!("{{ not_verdicts: [{name}], effect: unknown }}");
    project.edit("fixtures/declined.yaml", "{ effect: unknown }", &excluded("slow"));
    assert_eq!(project.run(&["check"]).code, 0);
    let (start, end) = (TEXT.find("  slow:").expect("slow"), TEXT.find("  # Nobody").expect("the next"));
    proposed(&project, &[(TIMEOUT, ""), (GATEWAY, ""), ("classify:\n", "classify: []\n"), (&TEXT[start..end], "")]);
    let (code, said) = project.refused(&["propose", "check", "less"]);
    assert!(code == 2 && said.contains("[fixtures/declined.yaml:"), "{said}");
    assert!(said.contains("no verdict of `ours` is called `slow`"), "{said}");
    assert!(said.contains("next: playproof propose check less"), "{said}");

    let project = Project::with_proposal();
    let look_alike = "proposals/said-no/fixtures/not-said-no.yaml";
    project.edit(look_alike, "not_verdicts: [said_no]", "not_verdicts: [sad_no]");
    let (code, said) = project.refused(&["propose", "check"]);
    assert!(code == 2 && said.contains("did you mean `said_no`?"), "{said}");
}
