//! What was accepted is recorded beside the lock, shown, and held against it.

use crate::check::project::{Project, Ran};

const PLAYBOOK: &str = "playbooks/standard.yaml";
const DELAYS: (&str, &str) = ("[200, 600, 1800]", "[300, 600, 1800]");

/// The files of the history, oldest first.
fn records(project: &Project) -> Vec<String> {
    project.files().into_keys().filter(|name| name.starts_with("proposals/history/")).collect()
}

/// A project in which a delay changed and was approved.
fn slower() -> Project {
    let project = Project::few();
    project.edit(PLAYBOOK, DELAYS.0, DELAYS.1);
    assert_eq!(project.run(&["accept", "--reason", "the gateway is slower"]).code, 0);
    project
}

fn verify(project: &Project) -> Ran {
    project.run(&["history", "verify"])
}

#[track_caller]
fn objects(ran: &Ran, said: &[&str]) {
    assert_eq!(ran.code, 1, "{ran:?}");
    for said in said {
        assert!(ran.out.contains(said), "{said}\n{}", ran.out);
    }
    assert!(ran.out.contains("next: "), "{}", ran.out);
}

#[test]
fn an_approval_is_recorded_with_its_rows_before_and_after_and_its_reason() {
    let project = slower();
    let record = records(&project).pop().unwrap();
    assert!(record.contains("-standard-the-gateway-is-slower-"), "{record}");
    let text = project.read(&record);
    for said in ["kind: 'approval'", "changed: 'verdict transient_timeout'", "before: '{", "[200,600,1800]"] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    let page = project.run(&["history", "--playbook", "standard"]);
    assert_eq!(page.code, 0);
    assert!(page.out.contains("why  the gateway is slower"), "{}", page.out);
    assert!(page.out.contains("then.retry_with_backoff.backoff_ms: [200,600,1800] becomes"), "{}", page.out);
    assert!(page.out.lines().all(|line| line.chars().count() <= 100), "{}", page.out);
    let verified = verify(&project);
    assert_eq!((verified.code, verified.out.contains("everything is explained")), (0, true), "{verified:?}");
    let json = project.run(&["history", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let last = document["records"].as_array().unwrap().last().unwrap();
    assert_eq!(last["rows"][0]["row"], "verdict transient_timeout");
    assert!(project.run(&["history", "--format", "markdown"]).out.contains("the gateway is slower"));
}

#[test]
fn nothing_is_recorded_where_nothing_is_approved() {
    let project = slower();
    let before = project.files();
    assert!(project.run(&["accept", "--reason", "again"]).exits(2).err.contains("nothing waits for review"));
    assert_eq!(project.run(&["accept", "--reason", " "]).code, 2);
    assert_eq!(project.files(), before);
}

#[test]
fn nothing_at_all_is_not_a_pass() {
    let project = Project::empty();
    for args in [&["history"][..], &["history", "verify"], &["accept", "--reason", "x"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("there are no fixtures") && ran.err.contains("next: playproof init"), "{}", ran.err);
    }
    assert!(project.files().is_empty());
}

#[test]
fn a_lock_without_a_history_does_not_pass_until_somebody_approves() {
    let project = slower();
    for record in records(&project) {
        std::fs::remove_file(project.path(&record)).unwrap();
    }
    objects(&verify(&project), &["no record has the playbook `standard`", "next: playproof accept"]);
    let approved = project.run(&["accept", "--reason", "approved before there was a history"]);
    assert!(approved.out.contains("recorded in proposals/history/0001-"), "{approved:?}");
    assert_eq!(verify(&project).code, 0);
}

#[test]
fn approving_says_what_it_wrote_and_does_not_ask_for_what_is_being_done() {
    let project = Project::few();
    let lock = project.read("goldens/playbook.lock");
    std::fs::remove_dir_all(project.path("proposals/history")).expect("it is there");
    let only_recorded = project.run(&["accept", "--reason", "recorded anew"]);
    assert!(!only_recorded.out.contains("accepted in"), "{}", only_recorded.out);
    assert!(only_recorded.out.contains("goldens/playbook.lock has every row already"), "{}", only_recorded.out);
    assert!(only_recorded.out.contains("recorded in proposals/history/"), "{}", only_recorded.out);
    let explained = lock.replace("why: 'as it came'", "why: 'recorded anew'");
    assert_eq!(project.read("goldens/playbook.lock"), explained, "the same rows, and the reason that is recorded");
    assert_eq!(verify(&project).code, 0);
    project.edit("playbooks/standard.yaml", "max_attempts: 6", "max_attempts: 7");
    let both = project.run(&["accept", "--reason", "one more"]);
    assert!(both.out.contains("accepted in goldens/playbook.lock"), "{}", both.out);
    assert!(both.out.contains("limit max_attempts") && !both.out.contains("if they are meant"), "{}", both.out);
}

#[test]
fn a_lock_that_was_edited_with_its_playbook_is_seen_at_the_record() {
    let project = slower();
    project.edit(PLAYBOOK, DELAYS.1, "[1, 600, 1800]");
    project.edit("goldens/playbook.lock", "\"backoff_ms\":[300,600,1800]", "\"backoff_ms\":[1,600,1800]");
    objects(
        &verify(&project),
        &[
            "the row `verdict transient_timeout` of `standard` is not what this record made it",
            "the lock has then.retry_with_backoff.backoff_ms: [1,600,1800]",
            "next: playproof accept",
        ],
    );
    assert_eq!(project.run(&["accept", "--reason", "it was meant"]).code, 0);
    assert_eq!(verify(&project).code, 0);
}

#[test]
fn a_lock_that_was_lost_gets_its_reasons_back_from_the_history() {
    let project = slower();
    let lock = project.read("goldens/playbook.lock");
    std::fs::remove_file(project.path("goldens/playbook.lock")).expect("it is there");
    assert_eq!(project.run(&["accept", "--reason", "made anew"]).code, 0);
    assert_eq!(project.read("goldens/playbook.lock"), lock);
    assert_eq!(verify(&project).code, 0);
}

#[test]
fn a_reason_that_was_edited_in_the_lock_or_in_the_record_is_seen() {
    let project = slower();
    let record = records(&project).pop().unwrap();
    let file = record.rsplit('/').next().unwrap();
    for (edited, from, to, said) in [
        ("goldens/playbook.lock", "why: 'the gateway is slower'", "why: 'it felt right'", "the gateway is slower"),
        (&record, "reason: 'the gateway is slower'", "reason: 'it felt right'", "it felt right"),
    ] {
        project.edit(edited, from, to);
        let parts = [
            "the row `verdict transient_timeout` was approved for another reason",
            &format!("{file} says: {said}"),
            "goldens/playbook.lock:",
            "next: git log -p -- goldens/playbook.lock",
        ];
        objects(&verify(&project), &parts);
        project.edit(edited, to, from);
    }
    assert_eq!(verify(&project).code, 0);
}

#[test]
fn a_reason_that_was_edited_everywhere_is_seen_against_what_it_was() {
    let project = slower();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    let record = records(&project).pop().unwrap();
    project.edit("goldens/playbook.lock", "why: 'the gateway is slower'", "why: 'it felt right'");
    project.edit(&record, "reason: 'the gateway is slower'", "reason: 'it felt right'");
    let alone = verify(&project);
    assert!(
        alone.code == 0 && alone.out.contains("to check that no reason was removed or changed, use `--since REV`"),
        "files alone cannot tell: {alone:?}"
    );
    let since = || project.run(&["history", "verify", "--since", "main"]);
    let next = format!("next: git log -p -- {record}");
    objects(
        &since(),
        &["this record was changed after it was accepted", "the reason was: the gateway is slower", &next],
    );
    // Gone altogether, with a playbook, a lock and a chain that fit again.
    std::fs::remove_file(project.path(&record)).unwrap();
    assert_eq!(project.run(&["accept", "--reason", "it felt right"]).code, 0);
    assert_eq!(verify(&project).code, 0);
    objects(&since(), &["a record was removed", &next]);
}

#[test]
fn a_record_that_is_gone_or_edited_breaks_the_chain() {
    let project = slower();
    project.edit(PLAYBOOK, DELAYS.1, "[400, 600, 1800]");
    assert_eq!(project.run(&["accept", "--reason", "slower still"]).code, 0);
    let all = records(&project);
    let middle = &all[all.len() - 2];
    std::fs::remove_file(project.path(middle)).unwrap();
    objects(&verify(&project), &["differs", "next: git log --oneline -- proposals/history/"]);
}

#[test]
fn a_damaged_record_is_shown_with_its_place() {
    let project = slower();
    let record = records(&project).pop().unwrap();
    project.edit(&record, "reason:", "raeson:");
    for args in [&["history"][..], &["history", "verify"], &["accept", "--reason", "x"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.err.contains(&format!("{record}:5:1")) && ran.err.contains("did you mean `reason`?"),
            "{}",
            ran.err
        );
    }
    project.write("proposals/history/notes.yaml", "a: 1\n");
    let ran = verify(&project);
    assert!(ran.code == 2 && ran.err.contains("not the name of a record"), "{ran:?}");
}

#[test]
fn an_unknown_playbook_is_refused_with_the_one_that_was_meant() {
    let ran = slower().run(&["history", "--playbook", "standrad"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `standard`?"), "{}", ran.err);
}

#[test]
fn what_cannot_be_written_leaves_lock_and_history_as_they_were() {
    let project = slower();
    project.edit(PLAYBOOK, DELAYS.1, "[400, 600, 1800]");
    // A folder where the lock should be: the same for every user, also for one who may write anywhere.
    let (lock, moved) = (project.path("goldens/playbook.lock"), project.path("moved"));
    std::fs::rename(&lock, moved).expect("it is there");
    std::fs::create_dir(&lock).expect("a folder");
    let before = project.files();
    let ran = project.run(&["accept", "--reason", "slower still"]);
    let said = "playbook.lock` cannot be written: it is a directory";
    assert!(ran.code == 2 && ran.err.contains(said) && ran.err.contains("nothing was changed"), "{ran:?}");
    assert_eq!(project.files(), before);
}

fn git(project: &Project, args: &[&str]) {
    assert_eq!(project.git(args), Some(true), "git {args:?}");
}

fn commit(project: &Project) {
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", "m"]);
}

#[test]
fn two_branches_that_approve_in_the_same_words_merge_cleanly_and_verify() {
    let project = Project::few();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["checkout", "-q", "-b", "other"]);
    project.edit(PLAYBOOK, DELAYS.0, DELAYS.1);
    assert_eq!(project.run(&["accept", "--reason", "reviewed"]).code, 0);
    commit(&project);
    git(&project, &["checkout", "-q", "main"]);
    project.edit(PLAYBOOK, "deadline_ms: 60000", "deadline_ms: 50000");
    assert_eq!(project.run(&["accept", "--reason", "reviewed"]).code, 0);
    commit(&project);
    git(&project, &["merge", "-q", "--no-edit", "other"]);
    let numbers: Vec<String> = records(&project).iter().map(|name| name[18..22].to_owned()).collect();
    let last = numbers.last().unwrap();
    assert_eq!(numbers.iter().filter(|number| *number == last).count(), 2, "{numbers:?}");
    let ran = verify(&project);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(project.run(&["accept", "--reason", "x"]).exits(2).err.contains("nothing waits for review"));
}

#[test]
fn a_golden_that_was_changed_dangerously_by_hand_is_seen_against_what_it_was() {
    let project = Project::few();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    let golden = "goldens/standard/the-worked-refund.snap";
    project.edit(golden, "existing x1", "existing x2");
    assert_eq!(verify(&project).code, 0, "files alone cannot tell");
    let ran = project.run(&["history", "verify", "--since", "main"]);
    objects(&ran, &["effect changed, but there is no reason for it", &format!("next: git log -p -- {golden}")]);
    let json = project.run(&["history", "verify", "--since", "main", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((json.code, &document["objections"][0]["id"]), (1, &"no_reason".into()));
    project.edit(
        golden,
        "  playbook: standard\n",
        "  playbook: standard\n  reasons:\n    - class: effect changed\n      why: twice is right\n",
    );
    assert_eq!(project.run(&["history", "verify", "--since", "main"]).code, 0);
    let ran = project.run(&["history", "verify", "--since", "nowhere"]);
    assert!(ran.code == 2 && ran.err.contains("nowhere"), "{ran:?}");
}

#[test]
fn objections_with_one_cause_are_drawn_once_and_counted() {
    let project = Project::few();
    let first = records(&project).remove(0);
    let text = project.read(&first);
    let reason = text.lines().find(|line| line.starts_with("reason: ")).expect("a reason");
    project.edit(&first, reason, "reason: 'other'");
    let ran = verify(&project);
    objects(&ran, &["was approved for another reason", " more of the same\n", " objections: "]);
    assert_eq!(ran.out.matches(" was approved for another reason").count(), 1, "{}", ran.out);
}
