//! `playproof conform`: a right dispatcher is the same as its playbook, each seeded bug is found by a fixture and a decision,
//! and a command that does not speak the protocol is refused. Where Node or Python is missing, the test says so.

use std::collections::BTreeSet;

use crate::place::Ran;

/// What a command prints, from the repository's root.
fn conform(exec: &str, playbook: &str, more: &[&str]) -> Ran {
    let mut command = assert_cmd::Command::new(crate::place::program());
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["conform", "--exec", exec, "--playbook", playbook]);
    crate::place::ran(command.args(more))
}

/// The fixtures that differ.
fn differing(ran: &Ran) -> BTreeSet<String> {
    let names = ran.out.lines().filter(|line| line.contains(": playbook: "));
    names.filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect()
}

fn has(program: &str) -> bool {
    let is_there = std::process::Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !is_there {
        println!("{program} is not installed: its dispatcher is not tried");
    }
    is_there
}

#[test]
fn each_seeded_bug_of_the_dispatcher_for_node_is_found_by_fixture_and_decision() {
    if !has("node") {
        return;
    }
    let run =
        |bug: &str| conform(&format!("node examples/conform/verdicts.mjs {bug}"), "study/typed-verdicts-literal", &[]);
    let right = differing(&run(""));
    let is_of_never = |name: &String| {
        let file = format!("{}/fixtures/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(file).expect("a fixture").contains("retry: never")
    };
    assert!(
        right.len() <= 5 && right.iter().all(is_of_never),
        "tools that are never sent again are unknown to it: {right:?}"
    );
    for (bug, fixture, decision) in [
        ("conflict-retried", "a-conflict-that-says-both:", "playbook: done deprecated"),
        ("one-attempt-more", "", "playbook: done exhausted"),
        ("refresh-failure-ends", "refresh", "dispatcher: done exhausted"),
    ] {
        let ran = run(bug).exits(1);
        let found: Vec<&str> =
            ran.out.lines().filter(|line| !right.iter().any(|known| line.starts_with(known.as_str()))).collect();
        let is_named = found.iter().any(|line| line.contains(fixture) && line.contains(decision));
        assert!(differing(&ran).len() > right.len() && is_named, "{bug}: {found:#?}");
    }
}

#[test]
fn each_seeded_bug_of_the_dispatcher_for_asyncio_is_found_by_its_effects_or_decisions() {
    if !has("python3") {
        return;
    }
    let run = |bug: &str| {
        conform(
            &format!("python3 examples/conform/registry.py {bug}"),
            "study/course-dispatcher-literal",
            &["--ignore", "waits"],
        )
    };
    let right = differing(&run(""));
    for bug in ["conflict-retried", "one-attempt-more", "timeouts-of-writes-retried"] {
        let found = differing(&run(bug).exits(1));
        assert!(found.difference(&right).next().is_some(), "{bug} is not found");
    }
}

#[test]
fn a_command_that_does_not_speak_the_protocol_is_refused() {
    for (exec, why) in [
        ("exit 3", "it has ended"),
        ("while read line; do echo hello; done", "prints no line of the protocol"),
        ("exec sleep 60", "silent for 5 s"),
    ] {
        let ran = conform(exec, "standard", &["fixtures/unkeyed-refund-times-out-after-landing.yaml"]);
        assert_eq!((ran.code, ran.err.contains(why)), (2, true), "{exec}: {ran:?}");
        assert!(
            ran.err.contains("unkeyed-refund-times-out-after-landing") && ran.err.contains("hello"),
            "{exec}: {ran:?}"
        );
    }
}
