//! The client and the tests of the npm package run against the program, and its table of failures has the kinds of the Python client.

use std::path::Path;
use std::process::Command;

use crate::place::program;

/// Node in the folder of the package; none where there is none, or an old one.
fn node(arguments: &[&str]) -> Option<Command> {
    let modern = ["-e", "process.exit(+(parseInt(process.versions.node) < 20))"];
    if !Command::new("node").args(modern).status().is_ok_and(|status| status.success()) {
        println!("skipped: there is no Node 20 or later");
        return None;
    }
    let mut command = Command::new("node");
    command.args(arguments).env("PLAYPROOF_BIN", program());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/release/npm"));
    Some(command)
}

#[test]
fn both_clients_know_the_same_statuses_and_codes() {
    let table =
        "const { STATUSES, CODES } = require('./lib/errors.cjs'); console.log(JSON.stringify([STATUSES, CODES]))";
    let Some(mut node) = node(&["-e", table]) else { return };
    let same = "import json, sys; sys.path.insert(0, '../python'); from playproof import _errors as e; \
        said = [{str(k): v for k, v in each.items()} for each in (e.STATUSES, e.CODES)]; \
        sys.exit(said != json.loads(sys.argv[1]))";
    let said = String::from_utf8(node.output().expect("Node").stdout).expect("text");
    let mut python = Command::new("python3");
    python.args(["-c", same, &said]).env("PYTHONDONTWRITEBYTECODE", "1");
    python.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/release/npm"));
    match python.status() {
        Ok(status) => assert!(status.success(), "the tables differ: {said}"),
        Err(_) => println!("skipped: there is no Python"),
    }
}

#[test]
fn the_package_passes_its_tests_against_the_program() {
    let Some(mut command) = node(&["--test", "tests/"]) else { return };
    let output = command.output().expect("Node");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("\n# fail 0\n"), "{said}");
}
