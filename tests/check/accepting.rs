//! Accepting, rejecting and showing what waits for review, and what may not be accepted.

use crate::check::project::Project;

const PLAYBOOK: &str = "playbooks/standard.yaml";
const GATEWAY: &str = "standard/a-gateway-timeout-means-a-timeout";

/// A project in which one delay changed.
fn delayed() -> Project {
    let project = Project::few();
    project.edit(PLAYBOOK, "[200, 600, 1800]", "[300, 600, 1800]");
    project
}

/// A project of the standard playbook and one fixture, of which people say only `expect`; it was accepted.
fn small(call: &str, script: &str, expect: &str) -> Project {
    let (project, whole) = (Project::empty(), Project::new());
    project.write(PLAYBOOK, &whole.read(PLAYBOOK));
    let fixture = format!(
        "format: fixture/1\ntitle: A refund\ncalls:\n  refund: {{ tool: payments.issue_refund, {call} }}\n\
         upstream:\n  refund: [{script}]\nexpect:\n  standard: {{ {expect} }}\n"
    );
    project.write("fixtures/refund.yaml", &fixture);
    assert_eq!(project.run(&["accept", "--reason", "first"]).code, 0);
    assert_eq!(project.run(&["check", "--accept"]).code, 0);
    project
}

#[test]
fn what_a_check_leaves_is_shown_accepted_and_then_as_accepted() {
    let project = delayed();
    assert_eq!(project.run(&["check"]).code, 1);
    assert_eq!(project.pending().len(), 2);
    let shown = project.run(&["check", GATEWAY]);
    assert_eq!(shown.code, 1);
    assert!(shown.out.contains("retry_scheduled: 2, delay_ms: 300"), "{}", shown.out);
    assert!(shown.out.contains(&format!("playproof accept {GATEWAY}")), "{}", shown.out);
    assert_eq!(project.run(&["accept", GATEWAY]).code, 0);
    assert_eq!(project.run(&["accept"]).code, 0);
    assert_eq!(project.pending(), Vec::<String>::new());
    assert_eq!(project.run(&["accept", "--reason", "slower"]).code, 0);
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn a_first_check_names_what_is_new_in_a_line_each_and_one_command_that_accepts_it() {
    let project = Project::new();
    for golden in project.files().keys().filter(|name| name.ends_with(".snap")) {
        std::fs::remove_file(project.path(golden)).expect("a golden");
    }
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.lines().count() < 35, "{}", ran.out);
    assert!(ran.out.contains("runs not accepted yet") && ran.out.contains("\nand "), "{}", ran.out);
    assert!(ran.out.contains("next: playproof accept\n"), "{}", ran.out);
    assert_eq!(project.run(&["accept"]).code, 0);
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn what_is_rejected_is_forgotten_and_the_goldens_stay() {
    let project = delayed();
    let before = project.files();
    project.run(&["check"]);
    assert_eq!(project.run(&["reject", GATEWAY]).code, 0);
    assert!(!project.pending().iter().any(|name| name.contains(GATEWAY)));
    assert_eq!(project.run(&["reject"]).code, 0);
    assert_eq!(project.files(), before);
    assert_eq!(project.run(&["reject"]).code, 2);
    assert_eq!(project.run(&["accept"]).code, 2);
    let rows = project.run(&["check"]).exits(1);
    assert!(rows.out.contains("playproof accept standard --reason '...'\n"), "{}", rows.out);
}

/// Where denied calls wait, and another queue.
const DENIED_QUEUE: &str = "{ queue: policy_review } }\n    tell: { class: external_api_error }";
const OTHER_QUEUE: &str = "{ queue: unclassified } }\n    tell: { class: external_api_error }";

#[test]
fn rows_under_which_a_run_contradicts_its_fixture_are_refused() {
    let project = Project::few();
    project.edit(PLAYBOOK, DENIED_QUEUE, OTHER_QUEUE);
    let ran = project.run(&["accept"]).exits(2);
    assert!(ran.err.contains("rows are not accepted without a reason"), "{}", ran.err);
    assert!(ran.err.contains("it contradicts its fixture"), "{}", ran.err);
    let before = project.files();
    for args in [&["accept", "standard", "--reason", "why"][..], &["accept", "--reason", "why"]] {
        let ran = project.run(args).exits(2);
        assert!(ran.err.contains("under these rows 1 run contradicts its fixture"), "{}", ran.err);
        assert!(ran.err.contains("refund.queue"), "{}", ran.err);
        assert_eq!(project.files(), before, "nothing is accepted in part");
    }
}

#[test]
fn a_changed_effect_is_not_accepted_without_a_reason_and_the_reason_is_kept() {
    let conflict = "{ error: { kind: 409_conflict, message: idempotency_key already processed }, applied: true }";
    let project = small("idempotency_key: ik", conflict, "sends: 1");
    project.edit(PLAYBOOK, "    effect: applied\n", "    effect: unknown\n");
    assert_eq!(project.run(&["check"]).code, 1);
    let before = project.files();
    let refused = project.run(&["accept"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--reason"), "{}", refused.err);
    assert_eq!(project.run(&["accept", "--reason", "  "]).code, 2);
    assert_eq!(project.files(), before, "nothing is accepted in part");
    let why = "the upstream's answer is not to be trusted: see incident 12";
    assert_eq!(project.run(&["accept", "--reason", why]).code, 0);
    let golden = project.read("goldens/standard/refund.snap");
    assert!(golden.contains("class: effect changed") && golden.contains("see incident 12"), "{golden}");
    project.run(&["accept", "--reason", why]);
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn a_weakened_guard_wants_a_reason() {
    let project = small("args: { order: o_91 }", "{ timeout: {}, applied: true }, { ok: {} }", "findings: []");
    project.edit(PLAYBOOK, "idempotent: false, timeout_ms", "idempotent: true, timeout_ms");
    assert_eq!(project.run(&["check"]).code, 1);
    assert_eq!(project.run(&["accept"]).code, 2);
    assert_eq!(project.run(&["accept", "--reason", "it is idempotent now"]).code, 0);
    assert!(project.read("goldens/standard/refund.snap").contains("why: it is idempotent now"));
}

/// A study playbook sends the refund again, and the fixture does not say that it is to show that.
#[test]
fn harm_that_a_fixture_does_not_expect_cannot_be_accepted() {
    let project = small("args: { order: o_91 }", "{ timeout: {}, applied: true }, { ok: {} }", "effects: 1");
    project.edit("fixtures/refund.yaml", "effects: 1", "effects: 2");
    project.edit(PLAYBOOK, "limits:", "study: { why: to see it, retry_guard: off }\nlimits:");
    project.edit(
        PLAYBOOK,
        "    when: { kind: timeout, access: write, idempotent: false, keyed: false }",
        "    when: { kind: nothing }",
    );
    project.run(&["check"]).exits(1);
    let refused = project.run(&["accept", "--reason", "why"]).exits(2);
    assert!(refused.err.contains("does not expect: duplicate_effect, unsafe_retry"), "{}", refused.err);
    assert!(refused.err.contains("`findings: [duplicate_effect, unsafe_retry]`"), "{}", refused.err);
    project.edit("fixtures/refund.yaml", "effects: 2", "effects: 2, findings: [duplicate_effect, unsafe_retry]");
    project.run(&["check"]).exits(1);
    project.run(&["accept", "--reason", "why"]).exits(0);
}

#[test]
fn what_contradicts_its_fixture_cannot_be_accepted() {
    let project = Project::few();
    project.edit(PLAYBOOK, DENIED_QUEUE, OTHER_QUEUE);
    let before = project.files();
    let id = "standard/a-denial-escalates-and-is-never-retried";
    let checked = project.run(&["check"]);
    assert!(checked.out.contains("contradicts the fixture: refund.queue"), "{}", checked.out);
    for args in [&["accept", id][..], &["check", "--accept", "--reason", "because"], &["accept"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("cannot be accepted"), "{args:?}: {}", ran.err);
    }
    assert_eq!(project.files(), before);
}

#[test]
fn in_ci_nothing_is_written_unless_it_is_asked_for_and_then_loudly() {
    let project = delayed();
    let before = project.files();
    let ran = project.run_in_ci(&["check"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_eq!(project.files(), before);
    let loud = project.run_in_ci(&["check", "--accept"]);
    assert_eq!(loud.code, 1, "the row is not approved");
    assert!(loud.err.contains("--accept in CI"), "{}", loud.err);
    assert!(loud.out.contains("row not approved") && !loud.out.contains("timing only"), "{}", loud.out);
}

#[test]
fn what_waits_is_not_accepted_once_the_run_shows_something_else() {
    let project = delayed();
    project.run(&["check"]);
    project.edit(PLAYBOOK, "[300, 600, 1800]", "[400, 600, 1800]");
    let ran = project.run(&["accept"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no longer what the run shows"), "{}", ran.err);
}

#[test]
fn a_golden_that_cannot_be_written_is_an_error_of_accepting_and_a_word_of_checking() {
    let project = delayed();
    // Where a folder should be there is a file: the same for every user, also for one who may write anywhere.
    std::fs::rename(project.path("goldens/reversing"), project.path("moved")).expect("it is there");
    project.write("goldens/reversing", "in the way");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nothing was left for review") || ran.err.contains("goldens/reversing"), "{}", ran.err);
    assert_eq!(project.run(&["check", "--accept"]).code, 2);
}

#[test]
fn of_several_goldens_all_are_accepted_or_none() {
    let project = delayed();
    assert_eq!(project.run(&["check"]).code, 1);
    let before = project.files();
    let last = project.pending().pop().expect("two wait").replace(".snap.new", ".snap");
    let mark = |is_read_only: bool| {
        let mut rights = std::fs::metadata(project.path(&last)).expect("it is there").permissions();
        rights.set_readonly(is_read_only);
        std::fs::set_permissions(project.path(&last), rights).expect("permissions");
    };
    mark(true);
    for args in [&["accept"][..], &["check", "--accept"]] {
        let ran = project.run(args);
        assert!(ran.code == 2 && ran.err.contains("it is read-only"), "{args:?}: {ran:?}");
        assert_eq!(project.files(), before, "{args:?}");
    }
    mark(false);
    assert_eq!(project.run(&["accept"]).code, 0);
    assert!(project.pending().is_empty() && !project.path("proposals/.accepting").exists());
}

#[test]
fn two_checks_at_once_leave_whole_files() {
    let project = delayed();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| project.run(&["check"]).code)).collect();
        assert!(runs.into_iter().all(|run| run.join().expect("it ends") == 1));
    });
    let files = project.files();
    assert!(!files.keys().any(|name| name.contains(".playproof-")), "{:?}", files.keys());
    for name in project.pending() {
        assert!(project.read(&name).ends_with("}\n"), "{name}");
    }
    assert_eq!(project.run(&["accept"]).code, 0);
}

#[test]
fn a_suggested_approval_names_the_playbooks_that_are_meant() {
    let project = Project::few();
    project.edit("playbooks/standard.yaml", "limits: {", "study: { why: to see, retry_guard: off }\nlimits: {");
    let ran = project.run(&["accept", "standard"]);
    assert!(ran.code == 2 && ran.err.contains("next: playproof accept standard --reason '...'\n"), "{}", ran.err);
    let project = Project::few();
    project.remove("goldens/playbook.lock");
    let ran = project.run(&["check", "keys-say-processed"]);
    let next = ran.out.lines().find(|line| line.starts_with("next: playproof accept")).unwrap_or_default();
    assert!(next.ends_with(" --reason '...'") && next != "next: playproof accept --reason '...'", "{}", ran.out);
}

#[test]
fn an_approval_of_rows_that_the_history_explains_says_that_its_reason_is_not_kept() {
    let project = Project::few();
    project.remove("goldens/playbook.lock");
    let ran = project.run(&["accept", "--reason", "quite another"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("keep the reason that the history gives: the one given here is not kept"), "{}", ran.out);
    assert!(!project.read("goldens/playbook.lock").contains("quite another"));
}
