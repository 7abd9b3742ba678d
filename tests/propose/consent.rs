//! One verb of consent: `accept` and `reject` take goldens, edited rows and proposals by name, all or nothing.

use crate::propose::project::{PLAYBOOK, Project};

const OTHER: &str = "fixtures/another.yaml";

/// A proposal, an edited row, and a golden that waits.
fn all_three() -> Project {
    let project = Project::with_proposal();
    let text = project.read("fixtures/slow.yaml");
    project.write(OTHER, &text);
    project.edit("fixtures/declined.yaml", "effect: not_applied", "effect: unknown");
    project.edit(PLAYBOOK, "backoff_ms: [200]", "backoff_ms: [250]");
    assert_eq!(project.run(&["check"]).code, 1);
    assert!(project.path("goldens/ours/another.snap.new").exists());
    project
}

#[track_caller]
fn refuses(project: &Project, args: &[&str], parts: &[&str]) {
    let (code, said) = project.refused(args);
    assert_eq!(code, 2, "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{args:?}: `{part}` in {said}");
    }
}

#[test]
fn without_names_goldens_are_accepted_and_rows_wait_for_a_reason() {
    let project = all_three();
    let lock = project.read("goldens/playbook.lock");
    let ran = project.run(&["accept"]).exits(0);
    insta::assert_snapshot!(ran.out, @r"
    accepted ours/another

    the edited rows of playbooks still wait: they need a reason
    next: playproof accept --reason '...'
    ");
    assert_eq!(project.read("goldens/playbook.lock"), lock);
    refuses(
        &project,
        &["accept"],
        &["rows are not accepted without a reason", "next: playproof accept --reason '...'"],
    );
    let ran = project.run(&["accept", "--reason", "slower"]).exits(0);
    assert!(ran.out.contains("accepted in goldens/playbook.lock"), "{}", ran.out);
    refuses(&project, &["accept", "--reason", "again"], &["nothing waits for review"]);
    assert!(project.path("proposals/said-no/playbook.yaml").exists(), "a proposal is accepted by its name alone");
}

#[test]
fn a_proposal_that_was_decided_is_told_as_such() {
    let project = all_three();
    project.run(&["reject", "said-no", "--reason", "too wide"]).exits(0);
    for verb in ["accept", "reject"] {
        let said = "the proposal `said-no` was rejected: see `proposals/rejected/said-no/reason.md`";
        refuses(&project, &[verb, "said-no", "--reason", "x"], &[said, "next: playproof propose list"]);
    }
    refuses(&project, &["propose", "check", "said-no"], &["the proposal `said-no` was rejected"]);
    refuses(&project, &["accept", "sad-no", "--reason", "x"], &["no fixture, run, playbook or proposal is called"]);

    let project = Project::with_proposal();
    project.run(&["accept", "said-no", "--reason", "reviewed"]).exits(0);
    assert!(project.path("fixtures/said-no.yaml").exists(), "its fixture has its name now");
    for args in [&["accept", "said-no"][..], &["reject", "said-no"], &["propose", "check", "said-no"]] {
        refuses(&project, args, &["the proposal `said-no` is already accepted: see `proposals/history/000"]);
    }
    refuses(&project, &["accept", "declined"], &["no run of `declined` waits for review"]);
}

#[test]
fn without_names_a_reason_accepts_goldens_and_rows_together() {
    let project = all_three();
    let ran = project.run(&["accept", "--reason", "slower"]).exits(0);
    assert!(ran.out.starts_with("accepted ours/another\n\nours: 1 edited row waits to be accepted\n"), "{}", ran.out);
    project.run(&["history", "verify"]).exits(0);
}

#[test]
fn goldens_and_rows_that_are_named_are_accepted_together() {
    let project = all_three();
    project.run(&["accept", "another", "ours", "--reason", "slower"]).exits(0);
    assert!(!project.path("goldens/ours/another.snap.new").exists());
    refuses(&project, &["accept", "ours", "--reason", "again"], &["no row of `ours` waits", "next: playproof check"]);
}

#[test]
fn where_one_of_the_names_cannot_be_accepted_nothing_is() {
    let project = all_three();
    let alone = "is accepted alone, and other names are given";
    refuses(
        &project,
        &["accept", "another", "ours"],
        &["rows are not accepted without a reason", "accept another ours"],
    );
    refuses(&project, &["accept", "another", "nope", "--reason", "r"], &["is called `nope`"]);
    refuses(&project, &["accept", "another", "slow/x", "--reason", "r"], &["is called `slow/x`"]);
    refuses(
        &project,
        &["accept", "another", "said-no", "--reason", "r"],
        &[alone, "next: playproof propose check said-no"],
    );
    refuses(&project, &["reject", "another", "nope"], &["is called `nope`"]);
    refuses(&project, &["reject", "another", "slow"], &["nothing waits for review as `slow`"]);
    refuses(&project, &["reject", "another", "said-no"], &["a proposal is not rejected without a reason"]);
}

#[test]
fn a_name_that_was_misspelt_is_told_with_the_one_that_was_meant() {
    let project = all_three();
    for (asked, near) in
        [("anothr", "another"), ("ors", "ours"), ("ours/anothr", "ours/another"), ("proposals/said-on", "said-no")]
    {
        for verb in ["accept", "reject"] {
            let near = if verb == "reject" || near != "ours/another" { near } else { "another" };
            let (code, said) = project.refused(&[verb, asked]);
            assert_eq!(code, 2, "{said}");
            assert!(said.contains("did you mean `"), "{verb} {asked}: {said}");
            assert!(said.contains(near), "{verb} {asked}: {said}");
        }
    }
}

#[test]
fn a_name_with_two_meanings_is_refused_with_the_spellings_that_have_one() {
    let project = all_three();
    let text = project.read("fixtures/slow.yaml");
    for name in ["said-no", "ours"] {
        project.write(&format!("fixtures/{name}.yaml"), &text);
    }
    assert_eq!(project.run(&["check"]).code, 1);
    for verb in ["accept", "reject"] {
        let both =
            ["`said-no` is the name of a fixture and of a proposal", "`fixtures/said-no.yaml` or `proposals/said-no`"];
        refuses(&project, &[verb, "said-no", "--reason", "r"], &both);
        let both =
            ["`ours` is the name of a fixture and of a playbook", "`fixtures/ours.yaml` or `playbooks/ours.yaml`"];
        refuses(&project, &[verb, "ours"], &both);
    }
    project.run(&["accept", "playbooks/ours.yaml", "fixtures/said-no.yaml", "--reason", "r"]).exits(0);
    assert!(
        !project.path("goldens/ours/said-no.snap.new").exists() && project.path("goldens/ours/ours.snap.new").exists()
    );
    project.run(&["reject", "proposals/said-no", "fixtures/ours.yaml", "--reason", "r"]).exits(0);
    assert!(project.path("proposals/rejected/said-no/reason.md").exists());
}

#[test]
fn a_proposal_that_is_not_ready_is_not_accepted() {
    let project = Project::with_proposal();
    project.remove("proposals/said-no/adr.md");
    let (code, said) = project.refused(&["accept", "said-no", "--reason", "r"]);
    assert!(code == 1 && said.contains("not accepted; nothing was changed"), "{said}");
    refuses(&project, &["accept", "said-no"], &["without a reason", "next: playproof accept said-no --reason '...'"]);
}

#[test]
fn rows_are_not_rejected_but_edited_back() {
    let project = all_three();
    let parts = ["edited rows cannot be rejected", "undo the edit in `playbooks/ours.yaml`", "next: playproof check\n"];
    refuses(&project, &["reject", "ours"], &parts);
    project.run(&["check"]).exits(1);
}

#[test]
fn goldens_and_proposals_are_rejected_together_and_the_reason_is_the_proposal_s() {
    let project = all_three();
    refuses(&project, &["reject", "another", "--reason", "r"], &["none is named", "next: playproof reject another"]);
    let named = ["another", "said-no", "ours/another", "proposals/said-no"];
    let ran = project.run(&[&["reject"][..], &named, &["--reason", "too wide"]].concat()).exits(0);
    assert_eq!(ran.out, "rejected ours/another\nrejected said-no: moved to proposals/rejected/said-no\n");
    assert_eq!(project.read("proposals/rejected/said-no/reason.md"), "too wide\n");
}
