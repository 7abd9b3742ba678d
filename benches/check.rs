//! Times `check` on a thousand fixtures that are as accepted, and on a thousand of which most diverge. Wall time, best
//! of several; `cargo bench --bench check`.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "a bench measures time, reads and writes files, and prints ratios"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs of each measurement; the best counts.
const RUNS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let fixtures = arguments.first().and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let project = project(fixtures);
    let runs = fs::read_dir(project.join("goldens/standard")).map_or(0, Iterator::count);
    println!("{fixtures} fixtures, {runs} of them under `standard`; wall, best of {RUNS}");
    println!("{:<40} {:>7.1} ms", "as accepted", millis(best(&project, 0)));
    let playbook = project.join("playbooks/standard.yaml");
    let text = fs::read_to_string(&playbook).expect("the playbook");
    fs::write(&playbook, text.replace("[200, 600, 1800]", "[300, 600, 1800]")).expect("the playbook is edited");
    println!("{:<40} {:>7.1} ms", "one delay changed", millis(best(&project, 1)));
    fs::write(&playbook, text).expect("the playbook is restored");
}

/// A project of `count` fixtures: this repository's, again and again under other names.
fn project(count: usize) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-check-{count}"));
    let _ = fs::remove_dir_all(&folder);
    for part in ["fixtures", "playbooks/study"] {
        fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let mut fixtures: Vec<PathBuf> =
        fs::read_dir(here.join("fixtures")).expect("fixtures").map(|entry| entry.expect("a fixture").path()).collect();
    fixtures.sort();
    for n in 0..count {
        let from = &fixtures[n % fixtures.len()];
        let stem = from.file_stem().expect("a name").to_string_lossy();
        fs::copy(from, folder.join(format!("fixtures/{stem}-{n}.yaml"))).expect("a copy");
    }
    for name in ["standard", "reversing", "study/retry-everything", "study/typed-verdicts-literal"] {
        let name = format!("playbooks/{name}.yaml");
        fs::copy(here.join(&name), folder.join(&name)).expect("a copy");
    }
    for args in [&["accept", "--reason", "generated"][..], &["check", "--accept"]] {
        let status = command(&folder).args(args).output().expect("it runs").status;
        assert!(status.success(), "{args:?}");
    }
    folder
}

fn best(project: &Path, code: i32) -> Duration {
    let once = || {
        let start = Instant::now();
        let output = command(project).env("CI", "true").arg("check").output().expect("it runs");
        assert_eq!(output.status.code(), Some(code));
        start.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}

fn command(project: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playproof"));
    command.current_dir(project);
    command
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
