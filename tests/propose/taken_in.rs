//! Accepting into playbooks of every shape, one proposal after another, and where a file must not be written.

use std::fs;

use crate::propose::project::{PLAYBOOK, Project, TEXT, record};

const ACCEPT: [&str; 4] = ["accept", "said-no", "--reason", "because"];

/// Accepts, and holds that every line of the playbook before is still there, in its order and to the byte.
fn keeps_every_line(project: &Project) -> String {
    let before = project.read(PLAYBOOK);
    let ran = project.run(&ACCEPT);
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = project.read(PLAYBOOK);
    let mut rest = after.split_inclusive('\n');
    for line in before.split_inclusive('\n') {
        assert!(rest.any(|one| one == line), "`{line}` in its place: {after}");
    }
    assert_eq!(project.run(&["check"]).code, 0);
    assert_eq!(project.run(&["history", "verify"]).code, 0);
    after
}

#[test]
fn comments_blank_lines_and_tabs_between_the_rows_stay() {
    let text = TEXT
        .replace("[200] } }\n", "[200] } }\t# short\n\n\n  # -- people --\t\n  # two lines\n")
        .replace("classify:\n", "classify:\t# the first match wins\n\n  # answers that never came\n")
        .replace("  - { rule: gateway", "\t\n  # and those that came too late\n  - { rule: gateway")
        .replace("\notherwise:", "  # the end of the rules\n\t# (a tab)\n\notherwise:")
        .replace("queues: [people]\n", "queues: [people]\t\t# all of them\n# the end\n\n\n");
    let after = keeps_every_line(&Project::with_proposal_on(&text));
    assert!(after.contains("said_no:") && after.contains("rule: said-no"), "{after}");
}

#[test]
fn line_ends_of_windows_stay_with_comments_and_without_a_last_newline() {
    let text = TEXT.replace("classify:\n", "classify:\n  # answers that never came\n\n").replace('\n', "\r\n");
    for text in [text.as_str(), text.trim_end()] {
        let project = Project::with_proposal_on(text);
        assert_eq!(project.run(&ACCEPT).code, 0);
        let after = project.read(PLAYBOOK);
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        assert_eq!(after.ends_with("\r\n"), text.ends_with("\r\n"));
        assert_eq!(project.run(&["history", "verify"]).code, 0);
    }
}

#[test]
fn a_playbook_without_a_last_newline_gets_none() {
    // The rules come last: the new one is written behind the end.
    let (rules, rest) = TEXT.split_at(TEXT.find("classify:").expect("rules"));
    let (list, end) = rest.split_at(rest.find("otherwise:").expect("otherwise"));
    let before = format!("{rules}{}\n{}", end, list.trim_end());
    let project = Project::with_proposal_on(&before);
    assert_eq!(project.run(&ACCEPT).code, 0);
    let after = project.read(PLAYBOOK);
    let last = before.lines().last().expect("a line");
    assert!(after.contains(last) && !after.ends_with('\n'), "{after}");
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn what_others_changed_elsewhere_in_the_text_stays() {
    let project = Project::with_proposal();
    project.edit(PLAYBOOK, "# Ours: comments", "# Ours: all comments");
    let after = keeps_every_line(&project);
    assert!(after.contains("said_no:") && after.contains("all comments"), "{after}");
}

#[test]
fn of_two_proposals_the_second_is_rebased_and_accepted_too() {
    let project = Project::with_proposal();
    let new = [
        "propose",
        "new",
        "is_gone",
        "--when",
        "{ message: { clause: has gone } }",
        "--like",
        "slow",
        "--means",
        "Gone.",
    ];
    assert_eq!(project.run(&new).code, 0);
    let look_alike = "proposals/is-gone/fixtures/not-is-gone.yaml";
    project.edit(look_alike, "write this - ", "");
    project.write("proposals/is-gone/adr.md", &record("It is tried again.").replace("said_no", "is_gone"));
    assert_eq!(project.run(&ACCEPT).code, 0);

    let accept = ["accept", "is-gone", "--reason", "it comes back"];
    let (code, said) = project.refused(&accept);
    assert!(code == 1 && said.contains("base moved:"), "{said}");
    assert!(said.contains("next: playproof propose rebase is-gone"), "{said}");
    assert_eq!(project.run(&["propose", "rebase", "is-gone"]).code, 0);
    let ran = project.run(&accept);
    assert_eq!(ran.code, 0, "{ran:?}");
    let playbook = project.read(PLAYBOOK);
    assert!(playbook.contains("said_no:") && playbook.contains("is_gone:"), "{playbook}");
    assert!(project.path("docs/adr/0001-said-no.md").exists() && project.path("docs/adr/0002-is-gone.md").exists());
    assert!(project.path("proposals/history/0003-is-gone.yaml").exists());
    for args in [&["check"][..], &["history", "verify"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn a_playbook_that_is_marked_read_only_is_not_written_over() {
    let project = Project::with_proposal();
    let mark = |is_read_only: bool| {
        let mut rights = fs::metadata(project.path(PLAYBOOK)).expect("it is there").permissions();
        rights.set_readonly(is_read_only);
        fs::set_permissions(project.path(PLAYBOOK), rights).expect("permissions");
    };
    mark(true);
    let (code, said) = project.refused(&ACCEPT);
    assert!(code == 2 && said.contains("`playbooks/ours.yaml` cannot be written: it is read-only"), "{said}");
    mark(false);
    assert_eq!(project.run(&ACCEPT).code, 0);
}
