//! From a draft to its place among the accepted changes.

use crate::propose::project::{COPY, PLAYBOOK, Project, RECORD, TEXT};

#[test]
fn a_proposal_that_is_ready_is_shown_and_nothing_speaks_against_it() {
    let project = Project::with_proposal();
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 0, "{said}");
    for part in [
        "said-no changes ours: 2 rows",
        "ours/declined  effect changed",
        "escalate_to_human  deprecate_tool_call",
        "ours/not-said-no  new fixture, unchanged by the proposal",
        "1 fixture run of the project ends as before",
        "next: playproof accept said-no --reason '...'",
    ] {
        assert!(said.contains(part), "`{part}` in {said}");
    }
}

#[test]
fn accepting_edits_the_playbook_in_place_and_takes_in_all_that_belongs_to_it() {
    let project = Project::with_proposal();
    project.write("docs/adr/0007-earlier.md", "# 0007: earlier\n");
    let before = project.read(PLAYBOOK);
    let copy = project.read(COPY);
    let (first, as_proposed) = copy.split_once('\n').expect("a first line");
    assert!(first.starts_with("# proposal for playbooks/ours.yaml at sha256:"), "{first}");
    let ran = project.run(&["accept", "said-no", "--reason", "people could do nothing"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = project.read(PLAYBOOK);
    assert_eq!(after, as_proposed);
    let kept: Vec<&str> = before.split_inclusive('\n').collect();
    let mut rest = after.split_inclusive('\n');
    assert!(kept.iter().all(|line| rest.any(|one| one == *line)), "every line is still there, in order: {after}");
    assert!(project.read("docs/adr/0008-said-no.md").starts_with("# 0008: The verdict `said_no`\n"));
    assert!(project.read("goldens/ours/declined.snap").contains("why: people could do nothing"));
    assert!(project.read("goldens/playbook.lock").contains("why: 'people could do nothing'"));
    assert!(!project.path("proposals/said-no").exists(), "nothing waits any more");
    let history = project.run(&["history", "verify"]);
    assert_eq!(history.code, 0, "{history:?}");
    assert!(project.run(&["history"]).out.contains("said-no"), "the change is told");
    let check = project.run(&["check"]);
    assert_eq!(check.code, 0, "{check:?}");
    assert!(check.out.contains("5 runs: 5 as accepted"), "{}", check.out);
}

#[test]
fn a_golden_must_keep_the_reason_for_which_it_was_accepted() {
    let project = Project::with_proposal();
    assert_eq!(project.run(&["accept", "said-no", "--reason", "people could do nothing"]).code, 0);
    let record = "proposals/history/0002-said-no.yaml";
    assert!(project.read(record).contains("explained:\n  - 'ours/declined'\n"), "{}", project.read(record));
    project.edit("goldens/ours/declined.snap", "why: people could do nothing", "why: it felt right");
    let (code, said) = project.refused(&["history", "verify"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("the golden `ours/declined` does not keep this record's reason"), "{said}");
    assert!(said.contains("0002-said-no.yaml:") && said.contains(&format!("next: git log -p -- {record}")), "{said}");
}

#[test]
fn a_playbook_with_line_ends_of_windows_and_no_last_newline_keeps_both() {
    let project = Project::with_proposal_on(&TEXT.trim_end().replace('\n', "\r\n"));
    let ran = project.run(&["accept", "said-no", "--reason", "why not"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = project.read(PLAYBOOK);
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(after.ends_with("queues: [people]") && after.contains("said_no"), "{after}");
}

#[test]
fn markdown_has_a_marker_and_json_says_the_same() {
    let project = Project::with_proposal();
    project.edit(RECORD, "`ours/declined`: effect_changed", "`ours/declined`: timing_only");
    let (code, markdown) = project.refused(&["propose", "check", "--format", "markdown"]);
    assert_eq!(code, 1);
    assert!(markdown.starts_with("<!-- playproof propose check -->\n"), "{markdown}");
    assert!(markdown.contains("#### unnamed change") && markdown.contains("#### `ours/declined` effect changed"));
    let (code, json) = project.refused(&["propose", "check", "--format", "json"]);
    assert_eq!(code, 1);
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read["proposals"][0]["gates"][0]["id"], "unnamed_change");
    assert_eq!(read["proposals"][0]["fixtures"][2]["after"][0]["outcome"], "deprecated");
}

#[test]
fn a_corpus_shows_what_changes_on_recorded_calls() {
    let project = Project::with_proposal();
    let line = r#"{"tool":"payments.charge","args":{"n":1},"status":"error","error":{"kind":"tool_error","message":"card 9 was declined"}}"#;
    project.write("trace.jsonl", &format!("{line}\n"));
    let (code, said) = project.refused(&["propose", "check", "said-no", "--corpus", "trace.jsonl"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("said_no") && said.contains("1 call"), "{said}");
}

#[test]
fn a_moved_base_is_told_and_a_rebase_moves_the_proposal_on() {
    let project = Project::with_proposal();
    project.edit(PLAYBOOK, "[200]", "[300]");
    assert_eq!(project.run(&["accept", "--reason", "slower"]).code, 0);
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("base moved:") && said.contains("next: playproof propose rebase said-no"), "{said}");
    let list = project.run(&["propose", "list"]);
    assert!(list.out.contains("said_no   base moved  moved"), "{}", list.out);
    assert_eq!(project.run(&["propose", "rebase", "said-no"]).code, 0);
    assert_eq!(project.run(&["propose", "check"]).code, 0);
    let again = project.refused(&["propose", "rebase", "said-no"]);
    assert!(again.1.contains("was made for `ours` as it is"), "{again:?}");
}

#[test]
fn lines_that_both_changed_are_written_with_both_sides_and_decided_in_the_copy() {
    let project = Project::with_proposal();
    project.edit(COPY, "No answer in time.", "It took too long.");
    project.edit(PLAYBOOK, "No answer in time.", "Too late.");
    assert_eq!(project.run(&["accept", "--reason", "other words"]).code, 0);
    let (code, said) = project.refused(&["propose", "check"]);
    assert!(code == 2 && said.contains("the playbook has changed in the same lines"), "{said}");
    assert!(said.contains("next: playproof propose rebase said-no"), "{said}");
    let ran = project.run(&["propose", "rebase", "said-no"]).exits(1);
    insta::assert_snapshot!(ran.out, @r"
    1 place was changed in `ours` and in said-no: decide in proposals/said-no/playbook.yaml

    <<<<<<< the playbook as it is
        means: Too late.   # who knows
    =======
        means: It took too long.   # who knows
    >>>>>>> as proposed
    next: playproof propose check said-no
    ");
    let (code, said) = project.refused(&["propose", "check"]);
    assert!(code == 2 && said.contains("git could not merge this file"), "{said}");
    let (above, conflict) = said_twice(&project.read(COPY));
    project.write(COPY, &format!("{above}    means: It took too long.   # who knows\n{conflict}"));
    let ran = project.run(&["propose", "check"]).exits(0);
    assert!(ran.out.contains("means: Too late. becomes It took too long."), "{}", ran.out);
}

/// The text before and after a conflict.
fn said_twice(text: &str) -> (String, String) {
    let (above, rest) = text.split_once("<<<<<<<").expect("a conflict");
    let (_, below) = rest.split_once(">>>>>>> as proposed\n").expect("its end");
    (above.to_owned(), below.to_owned())
}

#[test]
fn a_copy_that_somebody_made_by_hand_gets_its_first_line_from_a_rebase() {
    let project = Project::with_proposal();
    let copy = project.read(COPY);
    let (_, body) = copy.split_once('\n').expect("a first line");
    for first in ["", "# mine\n", "# proposal for ours at sha256:abc\n"] {
        project.write(COPY, &format!("{first}{body}"));
        project.remove("proposals/said-no/base.yaml");
        let (code, page) = project.refused(&["propose", "check"]);
        assert!(code == 2 && page.contains("the first line does not say what this is a copy of"), "{page}");
        assert!(page.contains("next: playproof propose rebase said-no"), "{page}");
        let ran = project.run(&["propose", "rebase", "said-no"]).exits(0);
        assert!(ran.out.contains("said-no is made for `ours` as it is now"), "{}", ran.out);
        assert!(project.read(COPY).ends_with(body) && project.read("proposals/said-no/base.yaml") == TEXT);
        project.run(&["propose", "check"]).exits(0);
    }
}

#[test]
fn a_base_that_was_edited_or_is_gone_is_told_where_it_is_needed() {
    let project = Project::with_proposal();
    project.edit("proposals/said-no/base.yaml", "[200]", "[250]");
    let (code, said) = project.refused(&["propose", "check"]);
    assert!(code == 2 && said.contains("the base beside this copy is not the text that was copied"), "{said}");
    project.remove("proposals/said-no/base.yaml");
    project.run(&["propose", "check"]).exits(0);
    project.edit(PLAYBOOK, "[200]", "[300]");
    assert_eq!(project.run(&["accept", "--reason", "slower"]).code, 0);
    for args in [["propose", "check", "said-no"], ["propose", "rebase", "said-no"]] {
        let (code, said) = project.refused(&args);
        assert!(code == 2 && said.contains("the text that was copied is not kept"), "{said}");
    }
}

#[test]
fn a_rejected_proposal_lies_aside_with_the_reason() {
    let project = Project::with_proposal();
    let (code, said) = project.refused(&["reject", "said-no"]);
    assert_eq!(code, 2);
    assert!(said.contains("not rejected without a reason"), "{said}");
    assert_eq!(project.run(&["reject", "said-no", "--reason", "too wide"]).code, 0);
    assert_eq!(project.read("proposals/rejected/said-no/reason.md"), "too wide\n");
    assert!(project.path("proposals/rejected/said-no/playbook.yaml").exists());
    assert!(!project.path("proposals/said-no").exists());
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 2);
    assert!(said.contains("nothing to check: there are no proposals in `proposals`"), "{said}");
    assert_eq!(project.run(&["propose", "check", "--allow-empty"]).code, 0);
}

#[test]
fn a_corpus_that_is_not_there_is_told_before_anything_is_said_of_the_proposal() {
    let project = Project::with_proposal();
    let ran = project.run(&["propose", "check", "--corpus", "missing.jsonl"]);
    assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("missing.jsonl"), "{ran:?}");
}
