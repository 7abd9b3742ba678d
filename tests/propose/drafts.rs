//! What `propose new` writes.

use crate::project::Project;

fn failed(n: u32, tool: &str, message: &str) -> String {
    format!(
        r#"{{"run_id":"r1","tool":"{tool}","args":{{"card":{n},"token":"s3cret"}},"status":"error","error":{{"kind":"tool_error","message":"{message}"}}}}"#
    ) + "\n"
}

fn trace(project: &Project) {
    let lines: Vec<String> = (1..4)
        .map(|n| failed(n, "payments.charge", &format!("card {n} was declined")))
        .chain([failed(9, "payments.charge", "card 9 was not answered"), failed(7, "search", "no flags")])
        .collect();
    project.write("trace.jsonl", &lines.concat());
    project.write("playproof.yaml", "format: project/1\nplaybook: playbooks/ours.yaml\nredaction: { keys: [token] }\n");
}

#[test]
fn a_draft_from_a_form_has_its_rule_both_fixtures_and_the_evidence() {
    let project = Project::new();
    trace(&project);
    let new = ["propose", "new", "said_no", "--from-cluster", "1", "--trace", "trace.jsonl", "--effect", "not_applied"];
    let ran = project.run(&new);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("without --then and --like the verdict escalates to `people`"), "{}", ran.out);
    let proposal = project.read("proposals/said-no/proposal.yaml");
    assert!(proposal.contains("was declined") && proposal.contains("verdict: said_no"), "{proposal}");
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("card 1 was declined") && caught.contains("verdicts: [said_no]"), "{caught}");
    assert!(!caught.contains("s3cret"), "{caught}");
    let spared = project.read("proposals/said-no/fixtures/not-said-no.yaml");
    assert!(spared.contains("card 9 was not answered") && spared.contains("verdicts: [unclassified]"), "{spared}");
    let adr = project.read("proposals/said-no/adr.md");
    assert!(adr.contains("3 of 5 failed attempts recorded in `trace.jsonl`"), "{adr}");
    assert_eq!(adr.matches("<!-- write this:").count(), 2, "{adr}");
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 1);
    assert!(said.contains("adr incomplete:") && said.contains("unwritten:"), "{said}");
    assert!(!said.contains("catches nothing") && !said.contains("look alike"), "{said}");
}

#[test]
fn a_draft_takes_over_the_compensation_of_another_verdict() {
    let project = Project::new();
    let ran = project.run(&["propose", "new", "slower", "--when", "kind: [late, later]", "--like", "slow"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let proposal = project.read("proposals/slower/proposal.yaml");
    assert!(proposal.contains("then: { retry_with_backoff: { backoff_ms: [200] } }"), "{proposal}");
    assert!(proposal.contains("effect: unknown") && proposal.contains("when: { kind: [late, later] }"), "{proposal}");
}

#[test]
fn a_draft_without_a_rule_is_refused_by_check_until_it_is_written() {
    let project = Project::new();
    assert_eq!(project.run(&["propose", "new", "odd"]).code, 0);
    let (code, said) = project.refused(&["propose", "check", "odd"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("unwritten: `proposals/odd/proposal.yaml` has a place that says `write this`"), "{said}");
}

#[test]
fn a_draft_of_what_is_there_already_or_cannot_be_is_refused() {
    let project = Project::with_proposal();
    let refused = |args: &[&str], part: &str| {
        let (code, said) = project.refused(args);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "`{part}` in {said}");
    };
    refused(&["propose", "new", "slow"], "has a verdict `slow` already");
    refused(&["propose", "new", "said_no"], "there is a proposal `said-no` already");
    refused(&["propose", "new", "../x"], "cannot be the name of a verdict");
    refused(&["propose", "new", "x", "--like", "slwo"], "did you mean `slow`?");
    refused(&["propose", "new", "x", "--when", "{ kind: "], "--when");
    refused(&["propose", "new", "x", "--when", "{ knd: a }"], "did you mean `kind`?");
    refused(&["propose", "new", "x", "--then", "{ escalate_to_human: { queue: peple } }"], "did you mean `people`?");
    refused(&["propose", "new", "x", "--playbook", "reversing"], "is carried by playproof");
    trace(&project);
    let from = ["propose", "new", "x", "--from-cluster", "40", "--trace", "trace.jsonl"];
    refused(&from, "there is no form 40: 3 forms were mined");
}

#[test]
fn a_draft_from_feedback_has_its_rule_and_its_call() {
    let project = Project::new();
    trace(&project);
    let add =
        ["feedback", "add", "trace.jsonl", "--call", "r1#2", "--note", "Nobody can help a card that was declined."];
    let added = project.run(&add);
    assert_eq!(added.code, 0, "{added:?}");
    let list = project.run(&["feedback", "list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).expect("JSON");
    let id = list["feedback"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
    let new = project.run(&["propose", "new", "said_no", "--from-feedback", &id, "--effect", "not_applied"]);
    assert_eq!(new.code, 0, "{new:?}");
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("card 2 was declined") && caught.contains("verdicts: [said_no]"), "{caught}");
    let adr = project.read("proposals/said-no/adr.md");
    assert!(adr.contains("Nobody can help a card that was declined") && adr.contains("r1#2"), "{adr}");
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = project.refused(&["propose", "new", "x", "--from-feedback", "none"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_draft_from_the_second_of_two_failures_that_say_the_same_has_its_rule_and_its_kept_facts() {
    let project = Project::new();
    trace(&project);
    let again = failed(2, "payments.charge", "card 2 was declined");
    project.write("trace.jsonl", &(project.read("trace.jsonl") + &again));
    project.write("facts.yaml", "format: tools/1\ntools:\n  payments.charge: { access: read }\n");
    let add = ["feedback", "add", "trace.jsonl", "--call", "r1#6", "--note", "No.", "--tools", "facts.yaml"];
    let added = project.run(&add);
    assert_eq!(added.code, 0, "{added:?}");
    let id = added.out.lines().find_map(|line| line.strip_prefix("kept as ")).expect("an id").to_owned();
    let new = project.run(&["propose", "new", "said_no", "--from-feedback", &id, "--effect", "not_applied"]);
    assert_eq!(new.code, 0, "{new:?}");
    assert!(project.read("proposals/said-no/proposal.yaml").contains("was declined"));
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("access: read"), "{caught}");
}

#[test]
fn what_is_suggested_after_a_line_that_cannot_be_read_can_be_run() {
    let project = Project::new();
    trace(&project);
    project.write("trace.jsonl", &(project.read("trace.jsonl") + "{\"tool\": \n"));
    let new = ["propose", "new", "said_no", "--effect", "not_applied", "--from-cluster", "1", "--trace", "trace.jsonl"];
    let (code, said) = project.refused(&new);
    let next =
        "next: playproof propose new said_no --effect not_applied --from-cluster 1 --trace trace.jsonl --skip-invalid";
    assert!(code == 2 && said.contains(next), "{said}");
    let project = Project::with_proposal();
    project.write("trace.jsonl", "{\"tool\": \n");
    let ran = project.run(&["propose", "check", "said-no", "--corpus", "trace.jsonl"]);
    let next = "next: playproof propose check said-no --corpus trace.jsonl --skip-invalid";
    assert!(ran.code == 2 && ran.err.contains(next), "{ran:?}");
}
