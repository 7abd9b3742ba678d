//! Wrong use and broken files: nothing passes by having done nothing, and each says what to run next.

use crate::check::project::Project;

#[test]
fn an_empty_folder_is_nothing_to_check() {
    let project = Project::empty();
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("there are no fixtures in `fixtures`") && ran.err.contains("next: playproof"),
        "{}",
        ran.err
    );
    assert_eq!(project.run(&["check", "--allow-empty"]).code, 0);
    assert!(project.files().is_empty());
}

#[test]
fn a_typo_in_a_name_is_refused_with_what_was_meant() {
    let project = Project::new();
    for (asked, near) in [
        ("the-worked-refnd", "the-worked-refund"),
        ("fixtures/the-worked-refnd.yaml", "the-worked-refund"),
        ("standrd/the-worked-refund", "standard/the-worked-refund"),
    ] {
        let ran = project.run(&["check", asked]);
        assert_eq!(ran.code, 2, "{asked}: {ran:?}");
        assert!(ran.err.contains("did you mean"), "{asked}: {}", ran.err);
        for again in [&["check", "--format", "json", "--allow-empty"][..], &["accept", "--reason", "because"]] {
            let ran = project.run(&[again, &["keys-say-processed", asked]].concat()).exits(2);
            let next = format!("next: playproof {} keys-say-processed {near}\n", again.join(" "));
            assert!(ran.err.ends_with(&next), "{again:?}: {}", ran.err);
        }
    }
}

#[test]
fn expectations_for_a_playbook_that_does_not_run_the_fixture_are_refused() {
    let project = Project::new();
    let fixture = |expect: &str| {
        let call = "calls: { refund: { tool: payments.refund } }\nupstream: { refund: [{ ok: {} }] }";
        project.write("fixtures/new.yaml", &format!("format: fixture/1\ntitle: New\n{call}\nexpect: {{ {expect} }}\n"));
        project.run(&["check", "new"])
    };
    for (expect, meant) in [
        ("standrd: { refund: { outcome: escalated } }", "did you mean `standard`?"),
        ("standard: { effects: 1 }, zzz: { effects: 1 }", "`standard`"),
        ("zzz: { effects: 1 }", "`standard`"),
    ] {
        let ran = fixture(expect).exits(2);
        assert!(ran.err.contains(meant), "{expect}: {}", ran.err);
    }
    assert!(fixture("standard: { effects: 1 }").exits(1).out.contains("no golden  standard/new"));
}

#[test]
fn a_selection_that_matches_nothing_is_refused() {
    let project = Project::new();
    let ran = project.run(&["check", "--run", "no-such-thing"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no run matches `no-such-thing`"), "{}", ran.err);
    assert_eq!(project.run(&["check", "--run", "("]).code, 2);
}

#[test]
fn names_paths_ids_and_expressions_select() {
    let project = Project::new();
    let runs = |args: &[&str]| {
        let args: Vec<&str> = ["check", "--format", "json"].iter().chain(args).copied().collect();
        let report: serde_json::Value = serde_json::from_str(&project.run(&args).out).expect("JSON");
        report["counts"]["runs"].as_u64().expect("a count")
    };
    assert_eq!(runs(&["the-worked-refund"]), 2);
    assert_eq!(runs(&["fixtures/the-worked-refund.yaml"]), 2);
    assert_eq!(runs(&["./fixtures/the-worked-refund.yaml"]), 2);
    assert_eq!(runs(&["standard/the-worked-refund"]), 1);
    assert_eq!(runs(&["goldens/standard/the-worked-refund.snap"]), 1);
    assert_eq!(runs(&["--run", "^study/.*worked"]), 1);
}

#[test]
fn a_fixture_without_a_golden_fails_and_is_left_for_review() {
    let project = Project::new();
    std::fs::remove_file(project.path("goldens/standard/the-worked-refund.snap")).expect("it is there");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("no golden  standard/the-worked-refund"), "{}", ran.out);
    assert_eq!(project.pending(), ["goldens/standard/the-worked-refund.snap.new"]);
    assert_eq!(project.run(&["accept"]).code, 0);
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn a_golden_without_a_fixture_fails() {
    let project = Project::new();
    project.write("goldens/standard/of-old.snap", "---\ninfo: {}\n---\n");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("next: rm goldens/standard/of-old.snap\n"), "{}", ran.out);
}

#[test]
fn every_golden_without_a_fixture_is_in_the_command_that_removes_them_as_a_shell_wants_it() {
    let project = Project::new();
    for name in ["of-old", "so old"] {
        project.write(&format!("goldens/standard/{name}.snap"), "---\ninfo: {}\n---\n");
    }
    let ran = project.run(&["check"]);
    assert!(ran.out.ends_with("next: rm goldens/standard/of-old.snap 'goldens/standard/so old.snap'\n"), "{}", ran.out);
}

#[test]
fn a_playbook_left_over_in_the_lock_is_no_row() {
    let project = Project::few();
    let lock = project.read("goldens/playbook.lock");
    project.write("goldens/playbook.lock", &format!("{lock}zz-gone:\n  limit max_attempts: {{ is: '3', why: x }}\n"));
    project.edit("playbooks/standard.yaml", "max_attempts: 6", "max_attempts: 7");
    let ran = project.run(&["check"]);
    assert!(ran.out.contains(", 1 row not approved, 1 unused playbook in the lock\n"), "{}", ran.out);
}

#[test]
fn a_golden_that_is_no_text_is_shown_beside_the_good_runs() {
    let project = Project::few();
    let golden = "goldens/standard/the-worked-refund.snap";
    std::fs::write(project.path(golden), b"\x00\xff\xfe").expect("it is written");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("unreadable golden  standard/the-worked-refund"), "{ran:?}");
    assert!(ran.out.contains("this is not UTF-8 text") && ran.out.contains("1 unreadable"), "{}", ran.out);
    assert!(ran.out.contains(&format!("next: rm {golden}")), "{}", ran.out);
    assert!(!ran.out.contains("0 as accepted"), "{}", ran.out);
}

#[test]
fn a_corrupted_golden_cannot_be_checked() {
    let project = Project::new();
    let golden = "goldens/standard/the-worked-refund.snap";
    let good = project.read(golden);
    let cut = &good[..good.len() / 2];
    for bad in ["", "hello\n", cut, &format!("{good}<<<<<<< HEAD\n=======\n>>>>>>> other\n")] {
        project.write(golden, bad);
        let ran = project.run(&["check"]);
        assert_eq!(ran.code, 2, "{bad}: {ran:?}");
        assert!(ran.out.contains(golden), "{}", ran.out);
        assert_eq!(project.read(golden), bad);
    }
}

#[test]
fn a_fixture_or_a_playbook_that_does_not_parse_cannot_be_checked() {
    for file in ["fixtures/the-worked-refund.yaml", "playbooks/standard.yaml", "goldens/playbook.lock"] {
        let project = Project::new();
        let text = format!("<<<<<<< HEAD\n{}", project.read(file));
        project.write(file, &text);
        let ran = project.run(&["check"]);
        assert_eq!(ran.code, 2, "{file}: {ran:?}");
        assert!(ran.err.contains(file), "{file}: {}", ran.err);
    }
}

#[test]
fn a_stale_lock_fails_and_says_how_to_approve() {
    let project = Project::few();
    project.edit("playbooks/standard.yaml", "max_attempts: 6", "max_attempts: 7");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("limit max_attempts") && ran.out.contains("playproof accept"), "{}", ran.out);
    assert_eq!(project.run(&["accept"]).code, 2, "without a reason");
    assert_eq!(project.run(&["accept", "--reason", "one more"]).code, 0);
    assert_eq!(project.run(&["check"]).code, 0);
    assert!(project.read("goldens/playbook.lock").contains("limit max_attempts: { is: '7', why: 'one more' }"));
    let again = project.run(&["accept", "--reason", "x"]).exits(2);
    assert!(again.err.contains("nothing waits for review"), "{}", again.err);
}

#[test]
fn a_missing_lock_fails() {
    let project = Project::new();
    std::fs::remove_file(project.path("goldens/playbook.lock")).expect("it is there");
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("this playbook is not approved yet"), "{}", ran.out);
}

#[test]
fn a_section_of_the_lock_that_no_fixture_uses_fails() {
    let project = Project::new();
    let lock = project.read("goldens/playbook.lock");
    project.write("goldens/playbook.lock", &format!("{lock}zzz:\n  limit max_attempts: {{ is: '1', why: 'x' }}\n"));
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("zzz: no fixture uses this playbook"), "{}", ran.out);
    assert_eq!(project.run(&["accept", "--reason", "gone"]).code, 0);
    assert_eq!(project.read("goldens/playbook.lock"), lock);
}

#[test]
fn a_playbook_on_the_command_line_is_refused_with_the_command_that_answers() {
    let ran = Project::new().run(&["check", "--playbook", "standard"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("playproof replay"), "{}", ran.err);
}

#[test]
fn an_unknown_playbook_of_a_fixture_is_refused() {
    let project = Project::new();
    let fixture = "fixtures/the-worked-refund.yaml";
    project.write(fixture, &project.read(fixture).replace("standard", "standrad"));
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `standard`"), "{}", ran.err);
}

#[test]
fn the_first_that_fails_ends_a_fast_check_the_same_for_any_number_of_threads() {
    let project = Project::new();
    project.edit("playbooks/standard.yaml", "[200, 600, 1800]", "[300, 600, 1800]");
    let run = |jobs: &str| project.run_in_ci(&["check", "--fail-fast", "--jobs", jobs, "--format", "json"]).out;
    let one = run("1");
    let report: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(report["ended_early"], true);
    assert_eq!(report["counts"]["timing_only"], 1);
    assert_eq!(run("4"), one);
}

#[test]
fn the_same_bytes_come_from_one_thread_from_several_and_from_a_folder_below() {
    let project = Project::new();
    project.write("playproof.yaml", "format: project/1\nplaybook: standard\n");
    project.edit("playbooks/standard.yaml", "effect: applied\n", "effect: unknown\n");
    let run = |jobs: &str| project.run_in_ci(&["check", "--jobs", jobs]).out;
    assert_eq!(run("1"), run("5"));
    let below = |args: &[&str]| {
        let ran = project.command().current_dir(project.path("fixtures")).env("CI", "1").args(args).output();
        String::from_utf8(ran.expect("it runs").stdout).expect("text")
    };
    let page = below(&["check"]);
    assert!(page.contains("../playbooks/standard.yaml:"), "files are named from where people stand: {page}");
    assert_eq!(page.replace("../", ""), run("1"));
    let json = ["check", "--format", "json"];
    assert_eq!(below(&json), project.run_in_ci(&json).out);
}

#[test]
fn a_blank_reason_is_wrong_usage() {
    let project = Project::few();
    for args in
        [&["check", "--accept", "--reason", ""][..], &["accept", "--reason", "  "], &["accept", "--reason", "\t"]]
    {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("it is empty"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_file_that_ends_in_yml_is_never_passed_over() {
    let project = Project::few();
    let refused = |from: &str, to: &str, args: &[&str]| {
        std::fs::rename(project.path(to), project.path(from)).expect("it is there");
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(&format!("`{from}` would not be read")), "{}", ran.err);
        assert!(ran.err.ends_with(&format!("next: mv {from} {to}\n")), "{}", ran.err);
        std::fs::rename(project.path(from), project.path(to)).expect("it is there");
    };
    refused("fixtures/the-worked-refund.yml", "fixtures/the-worked-refund.yaml", &["check"]);
    for name in ["standard", "study"] {
        let (from, to) = (format!("playbooks/{name}.yml"), format!("playbooks/{name}.yaml"));
        if project.path(&to).exists() {
            refused(&from, &to, &["check"]);
            refused(&from, &to, &["lint", name]);
        }
    }
    project.copy("fixtures/the-worked-refund.yaml", "fixtures/the-worked-refund.yml");
    let both = project.run(&["check"]);
    assert!(both.err.contains("is there too: remove one of them"), "{}", both.err);
}

#[test]
fn a_verdict_that_the_playbook_does_not_have_is_excluded_in_vain() {
    let project = Project::few();
    let fixture = "fixtures/the-worked-refund.yaml";
    let excluded = |name: &str| {
        project.read(fixture).replace("outcome: deprecated", &format!("outcome: deprecated, not_verdicts: [{name}]"))
    };
    let original = project.read(fixture);
    for known in ["policy_denied", "unclassified"] {
        project.write(fixture, &excluded(known));
        project.run(&["check"]).exits(0);
        project.write(fixture, &original);
    }
    let text = excluded("policy_denid");
    project.write(fixture, &text);
    let ran = project.run(&["check"]).exits(2);
    let (before, _) = text.split_once("policy_denid").expect("it is there");
    let (line, column) = (before.matches('\n').count() + 1, before.lines().last().expect("a line").chars().count() + 1);
    assert!(ran.err.contains(&format!("{fixture}:{line}:{column}]")), "{}", ran.err);
    assert!(ran.err.contains("no verdict of `standard` is called `policy_denid`"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `policy_denied`?"), "{}", ran.err);
}

#[test]
fn actions_that_the_playbook_does_not_have_are_expected_in_vain() {
    let project = Project::few();
    let fixture = "fixtures/an-order.yaml";
    let write = |next: &str| {
        let expect = format!("expect: {{ coffee: {{ order: {{ next: [{next}], withheld: [] }} }} }}");
        let call = "calls: { order: { tool: take_order, args: { item: latte } } }\nupstream: { order: [{ ok: {} }] }";
        project.write(fixture, &format!("format: fixture/1\ntitle: t\nplaybooks: [coffee]\n{call}\n{expect}\n"));
    };
    write("add_modifier, pay, cancel");
    let known = project.run(&["check", "an-order"]);
    assert!(known.code == 1 && !known.err.contains("no action"), "only its golden is missing: {known:?}");
    write("add_modifer, pay, cancl");
    let ran = project.run(&["check", "an-order"]).exits(2);
    for (name, near, column) in [("add_modifer", "add_modifier", 37), ("cancl", "cancel", 55)] {
        assert!(ran.err.contains(&format!("no action of `coffee` is called `{name}`")), "{}", ran.err);
        assert!(ran.err.contains(&format!("did you mean `{near}`?")), "{}", ran.err);
        assert!(ran.err.contains(&format!("{fixture}:6:{column}]")), "{}", ran.err);
    }
}

#[test]
fn replay_refuses_the_names_that_check_refuses_and_all_at_once() {
    let project = Project::few();
    let fixture = "fixtures/an-order.yaml";
    project.write(
        fixture,
        "format: fixture/1
title: t
playbooks: [coffee]
calls: { order: { action: take_ordr, args: { item: latte } }, pay: { tool: pay, args: {} } }
upstream: { order: [{ ok: {} }], pay: [{ ok: {} }] }
expect: { coffee: { pay: { next: [cancl], withheld: [pya], verdicts: [alredy_paid], queue: nobdy } } }
",
    );
    let unknown = |err: &str| err.matches(" is called `").count();
    let [check, replay] = [["check", "an-order"], ["replay", fixture]].map(|args| project.run(&args).exits(2));
    let explain = project.run(&["explain", fixture, "pay"]).exits(2);
    for ran in [check, replay, explain] {
        assert_eq!(unknown(&ran.err), 5, "{}", ran.err);
        for near in ["take_order", "cancel", "pay", "already_paid"] {
            assert!(ran.err.contains(&format!("did you mean `{near}`?")), "{near}: {}", ran.err);
        }
        assert!(ran.err.contains("no queue of `coffee` is called `nobdy`"), "{}", ran.err);
    }
}
