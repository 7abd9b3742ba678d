//! Wrong use: a clear word on what is wrong and where, and nothing changed.

use std::fs;

use crate::propose::project::{COPY, PLAYBOOK, Project, RECORD, record};

const ACCEPT: [&str; 4] = ["accept", "said-no", "--reason", "because"];

/// Both checking and accepting refuse, and say all of `parts`.
fn both_refuse(project: &Project, code: i32, parts: &[&str]) {
    for args in [&["propose", "check", "said-no"][..], &ACCEPT] {
        let (found, said) = project.refused(args);
        assert_eq!(found, code, "{args:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{args:?}: `{part}` in {said}");
        }
    }
}

#[test]
fn a_rule_for_a_missing_verdict_is_refused_at_its_place() {
    let project = Project::with_proposal();
    project.edit(COPY, "verdict: said_no", "verdict: said_on");
    let parts = [
        "no verdict is called `said_on`",
        "did you mean `said_no`?",
        "proposals/said-no/playbook.yaml:",
        "next: playproof propose check said-no",
    ];
    both_refuse(&project, 2, &parts);
}

#[test]
fn merge_conflicts_in_the_playbook_are_told_as_that() {
    let project = Project::with_proposal();
    project.edit(PLAYBOOK, "classify:\n", "<<<<<<< HEAD\nclassify:\n=======\n>>>>>>> other\n");
    both_refuse(&project, 2, &["git could not merge this file", "playbooks/ours.yaml:17:1"]);
}

#[test]
fn merge_conflicts_in_any_file_of_the_proposal_are_told_with_file_and_line() {
    for (file, line, old) in [
        ("adr.md", "11:1", "## Why"),
        ("playbook.yaml", "2:1", "# Ours:"),
        ("fixtures/said-no.yaml", "2:1", "title:"),
        ("notes.txt", "1:1", "mine"),
    ] {
        let project = Project::with_proposal();
        project.write("proposals/said-no/notes.txt", "mine\n");
        let name = format!("proposals/said-no/{file}");
        project.edit(&name, old, &format!("<<<<<<< HEAD\n=======\n>>>>>>> other\n{old}"));
        both_refuse(
            &project,
            2,
            &["git could not merge this file", &format!("{name}:{line}"), "next: playproof propose"],
        );
        let ran = project.run(&["propose", "list"]);
        assert!(ran.code == 0 && ran.out.contains("cannot be read"), "{ran:?}");
    }
}

#[test]
fn rows_that_nobody_approved_and_an_edited_lock_are_refused() {
    let project = Project::with_proposal();
    project.edit("goldens/playbook.lock", r#""backoff_ms":[200]"#, r#""backoff_ms":[900]"#);
    both_refuse(&project, 1, &["rows not approved:", "`verdict slow`", "next: playproof check"]);
    project.write("goldens/playbook.lock", "format: lock/1\n<<<<<<< HEAD\n");
    both_refuse(&project, 2, &["goldens/playbook.lock:2:1"]);
}

#[test]
fn a_moved_base_is_not_accepted() {
    let project = Project::with_proposal();
    project.edit(PLAYBOOK, "[200]", "[300]");
    assert_eq!(project.run(&["accept", "--reason", "slower"]).code, 0);
    both_refuse(&project, 1, &["base moved:", "playproof propose rebase said-no"]);
}

#[test]
fn a_rule_that_others_changed_beside_a_new_one_wants_a_rebase() {
    let project = Project::with_proposal();
    project.edit(PLAYBOOK, "rule: gateway", "rule: said-no");
    assert_eq!(project.run(&["accept", "--reason", "a better name"]).code, 0);
    both_refuse(&project, 2, &["the playbook has changed in the same lines", "next: playproof propose rebase said-no"]);
}

#[test]
fn two_proposals_on_the_same_row_are_told_of_each_other() {
    let project = Project::with_proposal();
    for (from, to) in [("playbook.yaml", "playbook.yaml"), ("adr.md", "adr.md")] {
        let text = project.read(&format!("proposals/said-no/{from}"));
        project.write(&format!("proposals/other/{to}"), &text);
    }
    let parts = ["same row: the proposal `other` changes `verdict said_no` too", "playproof reject other"];
    both_refuse(&project, 1, &parts);
}

#[test]
fn a_proposal_that_changes_no_row_is_not_recorded() {
    let project = Project::new();
    project.edit(PLAYBOOK, "queues: [people]", "queues: [people]\nlimits: { max_attempts: 4 }");
    assert_eq!(project.run(&["accept", "--reason", "fewer"]).code, 0);
    let json = project.run(&["lint", PLAYBOOK, "--format", "json"]);
    assert_eq!(json.code, 0, "{json:?}");
    assert_eq!(project.run(&["propose", "new", "said_no", "--when", "{ message: { clause: declined } }"]).code, 0);
    project.write(COPY, &project.read(PLAYBOOK).replace("# Ours:", "# Mine:"));
    project.remove("proposals/said-no/base.yaml");
    project.run(&["propose", "rebase", "said-no"]).exits(0);
    project.write("proposals/said-no/adr.md", &record("Nothing follows."));
    for name in ["said-no", "said-no-acted", "not-said-no"] {
        fs::remove_file(project.path(&format!("proposals/said-no/fixtures/{name}.yaml"))).unwrap();
    }
    both_refuse(&project, 1, &["catches nothing: no fixture shows the change"]);
}

#[test]
fn what_the_proposal_does_not_name_and_what_it_names_in_vain_are_told() {
    let project = Project::with_proposal();
    project.edit(RECORD, "`ours/declined`: effect_changed", "`ours/slow`: outcome_changed");
    let parts = [
        "unnamed change: `ours/declined` changes (effect changed)",
        "named in vain:",
        "the decision record names `ours/slow`,",
    ];
    both_refuse(&project, 1, &parts);
}

#[test]
fn a_record_that_is_not_complete_fails_after_the_fixtures_are_shown() {
    let project = Project::with_proposal();
    project.write("proposals/said-no/adr.md", &record("<!-- write this: what follows -->"));
    both_refuse(&project, 1, &["ours/declined  effect changed", "adr incomplete:", "adr.md:17:1"]);
    fs::remove_file(project.path("proposals/said-no/adr.md")).unwrap();
    both_refuse(&project, 1, &["`proposals/said-no/adr.md` is missing"]);
}

#[test]
fn a_verdict_that_catches_nothing_or_its_look_alike_is_refused() {
    let project = Project::with_proposal();
    project.edit(COPY, "clause: declined", "clause: nobody says this");
    both_refuse(&project, 1, &["catches nothing:", "named in vain:"]);
    let project = Project::with_proposal();
    project.edit("proposals/said-no/fixtures/not-said-no.yaml", "nobody has seen this before", "it was declined");
    both_refuse(&project, 1, &["look alike caught: the look-alike `not-said-no` gets the verdict `said_no`"]);
}

#[test]
fn a_weaker_guard_wants_a_reason_and_a_new_lint_is_told() {
    let project = Project::with_proposal();
    project.edit(COPY, "    effect: unknown\n    then: { retry", "    effect: not_applied\n    then: { retry");
    project.edit(COPY, "queues: [people]", "queues: [people, nobody]");
    project.names_golden("said-no", "ours/slow", "effect_changed");
    let parts = ["guard weakened:", "gives no reason", "new lint:", "nothing escalates to the queue `nobody`"];
    both_refuse(&project, 1, &parts);
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(said.contains("ours/slow  effect changed"), "{said}");
    let reason = "\n## Weaker guards\n\nThe upstream cancels what it does not answer.\n";
    project.write(RECORD, &(project.read(RECORD) + reason));
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(!said.contains("guard weakened:"), "{said}");
}

#[test]
fn a_golden_that_is_out_of_date_stands_in_the_way() {
    let project = Project::with_proposal();
    project.edit_first("goldens/ours/slow.snap", "outcome: escalated", "outcome: exhausted");
    both_refuse(&project, 1, &["golden stale:", "next: playproof check ours/slow"]);
}

#[test]
fn a_fixture_whose_name_is_taken_is_not_written_over() {
    let project = Project::with_proposal();
    let text = project.read("proposals/said-no/fixtures/said-no.yaml");
    project.write("proposals/said-no/fixtures/slow.yaml", &text);
    both_refuse(&project, 1, &["fixture taken: the fixture `slow` exists already"]);
}

#[test]
fn uncommitted_changes_stand_in_the_way_only_of_what_is_written() {
    let project = Project::with_proposal();
    if project.commit().is_none() {
        return;
    }
    project.edit(PLAYBOOK, "# Ours:", "# Mine:");
    let (code, said) = project.refused(&ACCEPT);
    assert_eq!(code, 2);
    assert!(said.contains("`playbooks/ours.yaml` has changes that are not committed"), "{said}");
    assert!(said.contains("next: git diff HEAD -- playbooks/ours.yaml"), "{said}");
    let ran = project.run(&["propose", "check"]);
    let objection = "not acceptable: `playbooks/ours.yaml` has changes that are not committed";
    assert!(ran.code == 1 && ran.out.contains(objection) && !ran.out.contains("next: playproof accept"), "{ran:?}");
    project.edit(PLAYBOOK, "# Mine:", "# Ours:");
    project.write("notes.txt", "mine");
    project.edit("fixtures/slow.yaml", "without a key", "with no key");
    assert_eq!(project.run(&["propose", "check"]).code, 0);
    let ran = project.run(&ACCEPT);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn an_accept_that_cannot_write_changes_nothing() {
    let project = Project::with_proposal();
    project.write("docs/adr", "not a folder");
    let (code, said) = project.refused(&ACCEPT);
    assert_eq!(code, 2, "{said}");
    fs::remove_file(project.path("docs/adr")).unwrap();
    // A file where a folder must be: it is found when the playbook and the record are written already.
    let fixture = project.read("proposals/said-no/fixtures/said-no.yaml");
    project.write("proposals/said-no/fixtures/deep/said-no.yaml", &fixture);
    project.write("fixtures/deep", "not a folder");
    assert_eq!(project.run(&["propose", "check"]).code, 0);
    let (code, said) = project.refused(&ACCEPT);
    assert!(code == 2 && said.contains("cannot be written: ") && said.contains("nothing was changed"), "{said}");
    assert!(!project.path("proposals/.accepting").exists());
    fs::remove_file(project.path("fixtures/deep")).unwrap();
    assert_eq!(project.run(&ACCEPT).code, 0);
}

#[test]
fn a_verdict_without_a_look_alike_and_a_fixture_that_shows_something_else_are_told() {
    let project = Project::with_proposal();
    fs::remove_file(project.path("proposals/said-no/fixtures/not-said-no.yaml")).unwrap();
    both_refuse(&project, 1, &["no look alike: no fixture of the proposal is a look-alike"]);
    let project = Project::with_proposal();
    project.edit("fixtures/declined.yaml", "effect: not_applied", "effect: unknown");
    both_refuse(&project, 1, &["contradiction: `ours/declined` would contradict its `expect`"]);
}

#[test]
fn names_that_nothing_answers_to_are_told_with_the_nearest() {
    let project = Project::with_proposal();
    let (code, said) = project.refused(&["propose", "check", "said-on"]);
    assert_eq!(code, 2);
    assert!(said.contains("did you mean `said-no`?"), "{said}");
    for args in [&["accept", "nope"][..], &["reject", "nope"], &["propose", "check", "nope"]] {
        let (code, said) = project.refused(args);
        assert!(code == 2 && said.contains("`nope`") && !said.contains("without a reason"), "{said}");
    }
    // No reason is asked for where nothing waits.
    let (code, said) = project.refused(&["accept", "said-no"]);
    assert_eq!(code, 2);
    assert!(said.contains("not accepted without a reason"), "{said}");
    project.edit(COPY, "classify:", "clasify:");
    both_refuse(&project, 2, &["did you mean `classify`?", "said-no/playbook.yaml:"]);
}

#[test]
fn a_folder_that_holds_something_else_is_never_a_proposal() {
    let project = Project::with_proposal();
    for verdict in ["history", "Rejected"] {
        let (code, said) = project.refused(&["propose", "new", verdict]);
        assert!(code == 2 && said.contains("the folder is there for something else"), "{said}");
    }
    let proposal = project.read(COPY);
    for (id, file) in [("history", "proposals/history/playbook.yaml"), ("..", "playbook.yaml")] {
        project.write(file, &proposal);
        for args in [&["propose", "check", id][..], &["reject", id, "--reason", "no"]] {
            let (code, said) = project.refused(args);
            assert!(code == 2 && said.contains("proposal") && said.contains(&format!("is called `{id}`")), "{said}");
        }
    }
    project.write("proposals/other/adr.md", "mine");
    let (code, said) = project.refused(&["propose", "new", "other"]);
    assert!(code == 2 && said.contains("`proposals/other/adr.md` is there already"), "{said}");
}

#[test]
fn a_playbook_that_fixtures_do_not_know_by_its_name_is_not_changed() {
    let project = Project::with_proposal();
    for apart in ["apart.yaml", "books/ours.yaml", "../apart-from-all.yaml"] {
        project.write(apart, &project.read(PLAYBOOK));
        let (code, said) = project.refused(&["propose", "new", "other", "--playbook", apart]);
        assert!(code == 2 && said.contains("is not what this project's fixtures call"), "{said}");
    }
    project.edit(COPY, "for playbooks/ours.yaml at", "for ../apart-from-all.yaml at");
    both_refuse(&project, 2, &["`../apart-from-all.yaml` leads out of the project"]);
    project.edit(COPY, "for ../apart-from-all.yaml at", "for ours at");
    let ran = project.run_below("fixtures", &["propose", "check", "said-no"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn rows_that_the_history_does_not_explain_are_no_proposal_s_own() {
    let project = Project::with_proposal();
    fs::remove_dir_all(project.path("proposals/history")).unwrap();
    let (code, said) = project.refused(&ACCEPT);
    assert!(code == 2 && said.contains("the history does not explain"), "{said}");
    assert!(said.contains("next: playproof accept ours --reason '...'"), "{said}");
    assert_eq!(project.run(&["accept", "ours", "--reason", "as it was"]).code, 0);
    assert_eq!(project.run(&ACCEPT).code, 0);
    assert_eq!(project.run(&["history", "verify"]).code, 0);
}

#[test]
fn a_fixture_that_brings_a_playbook_that_nobody_approved_is_not_accepted() {
    let project = Project::with_proposal();
    project.write("playbooks/mine.yaml", &project.read(PLAYBOOK).replace("name: ours", "name: mine"));
    project.edit("proposals/said-no/fixtures/said-no.yaml", "playbooks: [ours]", "playbooks: [ours, mine]");
    let (code, said) = project.refused(&ACCEPT);
    assert!(code == 2 && said.contains("brings the playbook `mine`, whose rows are not accepted"), "{said}");
}

#[test]
fn what_is_empty_or_no_name_is_said_to_be_that() {
    let project = Project::new();
    for (args, part) in [
        (&["propose", "new", ""][..], "invalid value '' for '<VERDICT>': it is empty"),
        (&["propose", "new", "ünï"], "`ünï` cannot be the name of a verdict"),
        (&["propose", "new", "x", "--means", " "], "`--means` is empty"),
    ] {
        let (code, said) = project.refused(args);
        assert!(code == 2 && said.contains(part) && !said.contains("request_rejected"), "{said}");
    }
}

#[test]
fn a_fixture_of_a_proposal_that_ends_in_yml_is_never_passed_over() {
    let project = Project::with_proposal();
    let fixture = |ending: &str| project.path(&format!("proposals/said-no/fixtures/said-no.{ending}"));
    fs::rename(fixture("yaml"), fixture("yml")).unwrap();
    both_refuse(&project, 2, &["`proposals/said-no/fixtures/said-no.yml` would not be read"]);
}

#[test]
fn a_gate_in_a_folder_below_names_its_file_from_there() {
    let project = Project::with_proposal();
    project.write("proposals/said-no/adr.md", "# nothing\n");
    let ran = project.run_below("fixtures", &["propose", "check", "said-no"]).exits(1);
    let named = ran.out.matches("proposals/said-no/adr.md").count();
    assert_eq!((ran.out.matches("../proposals/said-no/adr.md").count(), named > 1), (named, true), "{}", ran.out);
}
