//! The script of the GitHub Action on a repository of its own: the comment, the findings for code scanning, the exit code.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::place::{Place, Ran, program};

const TRACE: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"payments.issue_refund","at_ms":0,"args":{"order":"o_91"}}
{"type":"tool_result","run_id":"r1","call_id":"c1","at_ms":5000,"status":"error","error":{"kind":"timeout","message":"no answer"}}
"#;

/// A repository with a committed project and a recording; none where there is no git or bash.
fn repository() -> Option<Place> {
    let place = Place::begun();
    place.write("traces/one.jsonl", TRACE);
    let has_bash = Command::new("bash").arg("--version").output().is_ok();
    (has_bash && place.commit()?).then_some(place)
}

/// In which the refund tool is believed to be idempotent.
fn changed() -> Option<Place> {
    let place = repository()?;
    place.edit(
        "playbooks/ours.yaml",
        "issue_refund: { access: write, idempotent: false",
        "issue_refund: { access: write, idempotent: true",
    );
    Some(place)
}

fn check(place: &Place, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut bash = Command::new("bash");
    bash.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/ci/check.sh"));
    bash.args(["--comment", "../comment.md", "--sarif", "../findings.sarif"]).args(arguments);
    bash.current_dir(place.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    bash.env("PLAYPROOF", program()).env("CI", "true").envs(variables.iter().copied());
    let output = bash.output().expect("bash");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn findings(place: &Place) -> Vec<Value> {
    let sarif: Value = serde_json::from_str(&place.read("../findings.sarif")).expect("SARIF");
    assert_eq!(sarif["version"], "2.1.0");
    sarif["runs"][0]["results"].as_array().expect("results").clone()
}

#[test]
fn a_project_without_changes_passes_and_the_comment_says_so() {
    let Some(place) = repository() else { return };
    check(&place, &[], &["--since", "HEAD", "--", "traces/*.jsonl"]).exits(0);
    let comment = place.read("../comment.md");
    assert!(comment.starts_with("<!-- playproof: . -->\n## Playproof: passed\n"), "{comment}");
    assert!(comment.contains("| impact | skipped: the playbook has not changed |"), "{comment}");
    assert!(findings(&place).is_empty());
}

#[test]
fn a_changed_playbook_fails_and_a_second_run_writes_the_same_comment_again() {
    let Some(place) = changed() else { return };
    let arguments = ["--since", "HEAD", "--", "traces/*.jsonl"];
    let said = check(&place, &[], &arguments).exits(1).out;
    assert!(said.contains("guard weakened"), "the log has it too: {said}");
    let comment = place.read("../comment.md");
    assert!(comment.starts_with("<!-- playproof: . -->\n## Playproof: failed\n"), "{comment}");
    for part in
        ["| check | failed |", "| history | passed |", "| impact | failed |", "| effect changed |", "1 widening"]
    {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    assert!(comment.contains("`before.yaml` is the playbook before: `git cat-file blob "), "{comment}");
    let results = findings(&place);
    let file = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert!(results.iter().any(|result| file(result) == "playbooks/ours.yaml"), "{results:?}");
    check(&place, &[], &arguments).exits(1);
    assert_eq!(place.read("../comment.md"), comment);
    assert_eq!(comment.matches("<!--").count(), 1, "one marker");
    // The next push repairs it, and the comment says that.
    place.git(&["checkout", "-q", "playbooks"]).expect("git");
    check(&place, &[], &arguments).exits(0);
    assert!(place.read("../comment.md").contains("## Playproof: passed") && findings(&place).is_empty());
}

#[test]
fn impact_is_compared_with_where_the_branch_began_and_skipped_without_recordings() {
    let Some(place) = changed() else { return };
    place.git(&["checkout", "-q", "-b", "mine"]).expect("git");
    place.git(&["commit", "-qam", "idempotent"]).expect("git");
    check(&place, &[], &["--since", "main", "--", "traces"]).exits(1);
    assert!(place.read("../comment.md").contains("| impact | failed |"));
    check(&place, &[], &["--since", "main", "--fail-on", "effects", "--", "traces"]).exits(1);
    assert!(place.read("../comment.md").contains("| impact | inconclusive |"), "a worse code of `check` wins");
    check(&place, &[], &["--since", "main"]).exits(1);
    assert!(place.read("../comment.md").contains("| impact | skipped: no recordings are configured |"));
    check(&place, &[], &["--", "traces"]).exits(1);
    assert!(place.read("../comment.md").contains("| impact | skipped: no commit to compare with is given"));
}

#[test]
fn what_cannot_be_compared_is_an_error_and_not_a_pass() {
    let Some(place) = repository() else { return };
    check(&place, &[], &["--since", "nowhere", "--", "traces"]).exits(2);
    let comment = place.read("../comment.md");
    assert!(comment.contains("| history | could not run |") && comment.contains("`fetch-depth: 0`"), "{comment}");
    place.write("playbooks/ours.yaml", "format: playbook/9\n");
    check(&place, &[], &[]).exits(2);
    assert!(place.read("../comment.md").contains("## Playproof: could not run"));
    assert_eq!(findings(&place).len(), 1, "and no finding of an earlier run is left");
    assert!(check(&place, &[], &["--fial-on", "x"]).exits(2).err.contains("unknown option --fial-on"));
    let missing = check(&place, &[("PLAYPROOF", "no-such-program")], &[]).exits(2);
    assert!(missing.err.contains("there is no program no-such-program"), "{}", missing.err);
}

#[test]
fn a_comment_that_is_too_long_is_cut_at_a_line_and_closes_what_is_open() {
    let Some(place) = changed() else { return };
    check(&place, &[("PLAYPROOF_COMMENT_BYTES", "2000")], &[]).exits(1);
    let comment = place.read("../comment.md");
    assert!(comment.len() < 2300 && comment.ends_with("The log of the job has all of it.\n"), "{comment}");
    assert_eq!(comment.matches("```").count() % 2, 0, "{comment}");
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count(), "{comment}");
}

#[test]
fn each_project_of_a_repository_has_a_comment_of_its_own() {
    let Some(place) = repository() else { return };
    place.run(&["init", "agents/refunds"]).exits(0);
    check(&place, &[], &["--project", "agents/refunds"]).exits(0);
    assert!(place.read("../comment.md").starts_with("<!-- playproof: agents/refunds -->\n"));
}
