//! The Python client of the wheel: its own tests run against the program, and its documents run as they are written.

use std::path::Path;
use std::process::Command;

use crate::place::program;

/// Python in the folder of the client's tests; none where there is none, or an old one.
fn python(arguments: &[&str]) -> Option<Command> {
    let modern = ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"];
    if !Command::new("python3").args(modern).status().is_ok_and(|status| status.success()) {
        println!("skipped: there is no Python 3.9 or later");
        return None;
    }
    let mut command = Command::new("python3");
    command.args(arguments).env("PLAYPROOF_BIN", program()).env("PYTHONDONTWRITEBYTECODE", "1");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/release/python/tests"));
    Some(command)
}

#[test]
fn the_client_passes_its_tests_against_the_program() {
    let Some(mut command) = python(&["-W", "error", "-m", "unittest", "discover"]) else { return };
    let output = command.output().expect("Python");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let last = said.trim_end().lines().last().unwrap_or_default();
    println!("{said}");
    assert!(last.starts_with("OK"), "{said}");
}
