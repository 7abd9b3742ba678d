//! The lock and the goldens in git: independent changes merge, and what changed is found.

use crate::check::project::Project;

const PLAYBOOK: &str = "playbooks/standard.yaml";

/// A repository of a project, or none where there is no git.
fn repository() -> Option<Project> {
    let project = Project::few();
    let attributes = include_str!("../../.gitattributes");
    project.write(".gitattributes", attributes);
    project.git(&["init", "-q", "-b", "main"])?;
    commit(&project, "first");
    Some(project)
}

fn commit(project: &Project, what: &str) {
    assert_eq!(project.git(&["add", "-A"]), Some(true));
    assert_eq!(project.git(&["commit", "-q", "-m", what]), Some(true));
}

/// A branch from main on which `edit` was made, checked and approved.
fn branch(project: &Project, name: &str, edits: &[(&str, &str)]) {
    assert_eq!(project.git(&["checkout", "-q", "-b", name, "main"]), Some(true));
    for (old, new) in edits {
        project.edit(PLAYBOOK, old, new);
    }
    assert_eq!(project.run(&["accept", "--reason", name]).code, 0);
    let checked = project.run(&["check"]);
    assert_eq!(checked.code, 0, "{name}: {}", checked.out);
    commit(project, name);
}

/// A verdict of its own, with the rule that gives it, at two places of the file.
fn verdict(name: &str, before: &'static str, rule_before: &'static str) -> [(&'static str, String); 2] {
    let verdict = format!(
        "  {name}:\n    means: Something new.\n    effect: not_applied\n    \
         then: {{ escalate_to_human: {{ queue: policy_review }} }}\n\n{before}"
    );
    let rule = format!("  - {{ rule: {name}, when: {{ kind: {name} }}, verdict: {name} }}\n{rule_before}");
    [(before, verdict), (rule_before, rule)]
}

#[test]
fn two_branches_that_each_add_a_verdict_merge_and_no_golden_changes() {
    let Some(project) = repository() else { return };
    let goldens = |project: &Project| {
        let mut files = project.files();
        files.retain(|name, _| name.ends_with(".snap"));
        files
    };
    let before = goldens(&project);
    // Their rows are neighbours in the lock: `quota_renewed` and `quota_spent`.
    for (name, place, rule_place) in [
        ("quota_renewed", "  evidence_stale:\n", "  - { rule: server-error, when"),
        ("quota_spent", "  schema_mismatch:\n", "  - { rule: malformed-answer, when"),
    ] {
        let edits = verdict(name, place, rule_place);
        branch(&project, name, &[(edits[0].0, &edits[0].1), (edits[1].0, &edits[1].1)]);
    }
    assert_eq!(project.git(&["checkout", "-q", "main"]), Some(true));
    for name in ["quota_renewed", "quota_spent"] {
        assert_eq!(project.git(&["merge", "-q", "--no-edit", name]), Some(true), "{name} merges");
    }
    let checked = project.run(&["check"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
    assert_eq!(goldens(&project), before);
    let lock = project.read("goldens/playbook.lock");
    project.run(&["accept", "--reason", "nothing to approve"]);
    assert_eq!(project.read("goldens/playbook.lock"), lock);
}

#[test]
fn a_row_that_both_branches_changed_does_not_pass() {
    let Some(project) = repository() else { return };
    // What a verdict means is for people: no run shows it.
    branch(&project, "gateway", &[("A gateway or policy refused", "A gateway refused")]);
    branch(&project, "policy", &[("A gateway or policy refused", "A policy refused")]);
    assert_eq!(project.git(&["merge", "-q", "--no-edit", "gateway"]), Some(false), "the playbook itself conflicts");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    // The playbook resolved by hand, the lock is still there with both.
    assert_eq!(project.git(&["checkout", "--ours", PLAYBOOK]), Some(true));
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("verdict policy_denied"), "{}", ran.err);
}

#[test]
fn only_what_changed_since_a_revision_is_checked() {
    let Some(project) = repository() else { return };
    let count = |rev: &str| {
        let ran = project.run(&["check", "--format", "json", "--changed-since", rev]);
        serde_json::from_str::<serde_json::Value>(&ran.out).map(|report| report["counts"]["runs"].clone())
    };
    let nothing = project.run(&["check", "--changed-since", "main"]).exits(2);
    assert!(nothing.err.contains("has changed since `main`"), "{}", nothing.err);
    assert!(nothing.err.ends_with("next: playproof check --changed-since main --allow-empty\n"), "{}", nothing.err);
    project.run(&["check", "--changed-since", "main", "--allow-empty"]).exits(0);
    let fixture = "fixtures/the-worked-refund.yaml";
    project.write(fixture, &format!("# looked at\n{}", project.read(fixture)));
    assert_eq!(count("main").expect("JSON"), 2);
    project.write("fixtures/new.yaml", &project.read("fixtures/a-denial-escalates-and-is-never-retried.yaml"));
    assert!(count("main").expect("JSON").as_u64() > Some(2), "files that git does not know yet count too");
    let few = count("main").expect("JSON").as_u64();
    let all = serde_json::from_str::<serde_json::Value>(&project.run(&["check", "--format", "json"]).out);
    let all = all.expect("JSON")["counts"]["runs"].as_u64();
    assert!(few < all, "{few:?} {all:?}");
    let lock = "goldens/playbook.lock";
    project.write(lock, &format!("{}\n", project.read(lock).trim_end()).replacen("format", "# read\nformat", 1));
    assert_eq!(count("main").expect("JSON").as_u64(), all, "every run depends on the lock");
    let refused = project.run(&["check", "--changed-since", "no-such-revision"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("no-such-revision"), "{}", refused.err);
}

#[test]
fn outside_a_repository_what_changed_cannot_be_known() {
    let ran = Project::new().run(&["check", "--changed-since", "main"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("git cannot say"), "{}", ran.err);
}

#[test]
fn no_configuration_of_a_repository_makes_git_start_a_program() {
    let Some(project) = repository() else { return };
    project.write(PLAYBOOK, &(project.read(PLAYBOOK) + "# changed\n"));
    let started = project.path("started");
    let start = format!("touch {}; false", started.display());
    project.write(".gitattributes", "* filter=theirs diff=theirs\n");
    for key in
        ["core.fsmonitor", "filter.theirs.clean", "filter.theirs.process", "diff.external", "diff.theirs.textconv"]
    {
        assert_eq!(project.git(&["config", key, &start]), Some(true));
    }
    assert_eq!(project.git(&["config", "filter.theirs.required", "true"]), Some(true));
    let checked = project.run(&["check", "--changed-since", "HEAD"]);
    assert!(checked.code != 2, "{}", checked.err);
    project.run(&["history", "verify", "--since", "HEAD"]);
    project.run(&["accept", "--reason", "why"]);
    assert!(!started.exists(), "git has started what the repository's configuration names");
    assert_eq!(project.git(&["config", "filter.a=b.clean", &start]), Some(true));
    let (code, said) = project.refused(&["check", "--changed-since", "HEAD"]);
    assert!(code == 2 && said.contains("cannot be switched off"), "{said}");
    assert!(!started.exists());
}

#[test]
fn a_repository_among_the_files_of_a_project_is_not_asked() {
    let Some(project) = repository() else { return };
    let started = project.path("started");
    assert_eq!(project.git(&["clone", "-q", "--bare", ".", "bare"]), Some(true));
    for (name, bytes) in project.files() {
        if let Some(name) = name.strip_prefix("bare/") {
            project.write_bytes(&format!("deep/{name}"), &bytes);
        }
    }
    project.write("deep/refs/keep", "");
    project.write("deep/playproof.yaml", "format: project/1\n");
    let config = format!("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch {}; false\n", started.display());
    project.write("deep/config", &config);
    let ran = project.run_below("deep", &["check", "--changed-since", "HEAD"]);
    assert!(!started.exists(), "{}", ran.err);
}
