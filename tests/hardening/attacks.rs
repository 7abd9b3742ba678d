//! Each script of `tests/attacks/` is an attack that must not succeed. Those of `cpu/` look at a clock, and `.ci/run` runs
//! them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a script says, and whether that is good: it says `right:` once, and no `FAULT:`.
fn ran(script: &Path) -> (bool, String) {
    let mut bash = Command::new("bash");
    bash.arg(script).env("PP", crate::place::program()).env("SRC", env!("CARGO_MANIFEST_DIR"));
    let output = bash.output().expect("bash");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && said.contains("right: ") && !said.contains("FAULT: "), said)
}

#[cfg(unix)]
#[test]
fn no_attack_succeeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let found = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_attack =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sh") && !path.ends_with("common.sh");
    let mut scripts: Vec<PathBuf> = found.filter(is_attack).collect();
    scripts.sort();
    assert!(scripts.len() > 5);
    let wrong: Vec<String> = scripts
        .iter()
        .map(|script| (script, ran(script)))
        .filter(|(_, (is_right, _))| !is_right)
        .map(|(script, (_, said))| format!("{}: {said}", script.display()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_script_with_a_command_that_the_program_does_not_know_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/common.sh");
    let script = folder.path().join("usage.sh");
    for (command, is_right) in [("lint --no-such-flag", false), ("nothing", false), ("formats", true)] {
        let text = format!(". {}\nplayproof {command} >/dev/null 2>&1\nright \"it went on\"\n", common.display());
        std::fs::write(&script, text).expect("a script");
        let (found, said) = ran(&script);
        assert_eq!(found, is_right, "{command}: {said}");
    }
}
