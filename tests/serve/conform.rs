//! `playproof conform`: a right dispatcher is the same as its playbook, each seeded bug is found by a fixture and a decision,
//! and a command that does not speak the protocol is refused. Where Node or Python is missing, the test says so.

use crate::place::Ran;

/// What a command prints, from the repository's root.
fn conform(exec: &str, playbook: &str, more: &[&str]) -> Ran {
    let mut command = assert_cmd::Command::new(crate::place::program());
    let root = env!("CARGO_MANIFEST_DIR");
    command.env("PYTHONPATH", format!("{root}/tools/release/python")).env("PYTHONDONTWRITEBYTECODE", "1");
    command.current_dir(root).args(["conform", "--exec", exec, "--playbook", playbook]);
    crate::place::ran(command.args(more))
}

fn has(program: &str) -> bool {
    let is_there = std::process::Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !is_there {
        println!("{program} is not installed: its dispatcher is not tried");
    }
    is_there
}

/// Each bug, the fixture that finds it first, and what the line says there.
type Bugs<'a> = [(&'a str, &'a str, &'a str)];

/// A right dispatcher is the same on every fixture that is run, and each bug is found by fixture and decision.
fn compared(exec: &str, playbook: &str, bugs: &Bugs<'_>) {
    let right = conform(exec, playbook, &[]).exits(0);
    let said = right.out.lines().find(|line| line.contains(" the same, 0 differ")).expect("a sum");
    let run: u32 = said.split_once(' ').and_then(|(count, _)| count.parse().ok()).expect("a count");
    assert!(run > 200, "{said}");
    for (bug, fixture, decision) in bugs {
        let ran = conform(&format!("{exec} {bug}"), playbook, &[]).exits(1);
        let is_named = ran.out.lines().any(|line| line.starts_with(fixture) && line.contains(decision));
        assert!(is_named, "{bug}: {}", ran.out);
    }
}

#[test]
fn each_seeded_bug_of_the_dispatcher_for_node_is_found_by_fixture_and_decision() {
    if has("node") {
        compared(
            "node examples/conform/verdicts.mjs",
            "study/typed-verdicts-literal",
            &[
                ("conflict-retried", "a-conflict-that-says-both:", "playbook: done deprecated"),
                (
                    "one-attempt-more",
                    "a-breaker-opens-refuses-and-closes-after-a-probe:",
                    "playbook: done exhausted at 3500 ms; dispatcher: send 4",
                ),
                ("refresh-failure-ends", "a-refresh-whose-failure-is-ignored:", "dispatcher: done exhausted"),
            ],
        );
    }
}

#[test]
fn each_seeded_bug_of_the_dispatcher_for_asyncio_is_found_by_fixture_and_decision() {
    if has("python3") {
        compared(
            "python3 examples/conform/registry.py",
            "study/course-dispatcher-literal",
            &[
                (
                    "conflict-retried",
                    "who-refused-is-told-where-only-a-kind-names-it:",
                    "dispatcher: send 2 at 700140 ms; effects: 1 and 2",
                ),
                (
                    "one-attempt-more",
                    "each-kind-of-failure-that-a-dispatcher-knows:",
                    "playbook: done exhausted at 500 ms; dispatcher: send 4",
                ),
                (
                    "timeouts-of-writes-retried",
                    "waits-grow-with-the-retries-of-a-call-whatever-failed:",
                    "dispatcher: send 3 at 5520 ms; effects: 1 and 2",
                ),
            ],
        );
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

#[test]
fn our_own_dispatcher_is_the_same_on_fixture_after_fixture() {
    let program = crate::place::program();
    let serve = format!("{} serve --playbook standard --unlocked", program.to_string_lossy());
    let fixtures =
        ["fixtures/unkeyed-refund-times-out-after-landing.yaml", "fixtures/a-server-error-that-hid-a-success.yaml"];
    let ran = conform(&serve, "standard", &[fixtures[0], fixtures[1], fixtures[0]]).exits(0);
    assert!(ran.out.contains("3 the same, 0 differ") && !ran.out.contains("not compared"), "{ran:?}");
}

/// What `conform` prints with these arguments, when these answers are given.
fn plain(args: &[&str], answers: &str) -> Ran {
    let mut command = assert_cmd::Command::new(crate::place::program());
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["conform", "--playbook", "standard"]).args(args);
    crate::place::ran(command.write_stdin(answers))
}

#[test]
fn plain_code_that_sends_an_unkeyed_refund_twice_is_found_by_its_result() {
    let refund = "fixtures/unkeyed-refund-times-out-after-landing.yaml";
    let (nothing, sends) = ("{\"do\":[]}", |n: u32| format!("{{\"do\":[{{\"send\":\"refund\",\"attempt\":{n}}}]}}"));
    let ends = "{\"do\":[{\"done\":\"refund\",\"outcome\":\"raised\"}]}";
    let once = plain(&["--stdio", refund], &[nothing, &sends(1), ends, nothing].join("\n")).exits(0);
    let twice =
        plain(&["--stdio", refund], &[nothing, &sends(1), &sends(2), nothing, ends, nothing].join("\n")).exits(1);
    let result = |ran: &Ran| ran.out.lines().last().map(str::to_owned).expect("a result");
    assert!(result(&once).contains("\"harm\":[]") && result(&once).contains("\"differs\":null"), "{}", once.out);
    assert!(result(&twice).contains("\"finding\":\"duplicate_effect\""), "{}", twice.out);
}

#[test]
fn the_list_says_which_fixtures_plain_code_can_be_asked_and_why_not_the_others() {
    let listed = plain(&["--list", "fixtures"], "").exits(0);
    let rows: Vec<serde_json::Value> = listed.out.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let skipped: Vec<_> = rows.iter().filter_map(|row| row["skip"].as_str().map(|why| (row, why))).collect();
    assert!(rows.len() > 120 && skipped.len() < 30, "{} and {}", rows.len(), skipped.len());
    let (row, why) = skipped[0];
    let refused = plain(&["--stdio", row["fixture"].as_str().unwrap()], "").exits(2);
    assert!(refused.err.contains(why), "{}", refused.err);
    plain(&["--stdio"], "").exits(2);
}
