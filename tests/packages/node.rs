//! The client and the tests of the npm package run against the program.

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
fn the_package_passes_its_tests_against_the_program() {
    let Some(mut command) = node(&["--test", "tests/"]) else { return };
    let output = command.output().expect("Node");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("\n# fail 0\n"), "{said}");
}
