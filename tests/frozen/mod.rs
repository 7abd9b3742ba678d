//! The bytes that every command writes, held to what they were: over the fixtures and examples of this repository, and
//! over real traces where `PLAYPROOF_TRACES` names a folder of them. Of outputs only hashes are kept.
//!
//! A change that is meant is taken with `PLAYPROOF_FREEZE=1 cargo test --test all frozen -- --ignored`. Where a hash differs, the whole
//! output lies in the folder that the failure names: run the test before and after a change and compare the folders.

mod commands;

use crate::place::{copy_tree, program};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

/// What one command wrote.
pub struct Written {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One command, with what it wrote.
pub fn run(folder: &Path, args: &[String]) -> Written {
    let mut command = Command::new(program());
    command.args(args).current_dir(folder).env_clear().env("CI", "true");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()); // for git
    let output = command.output().unwrap_or_else(|error| panic!("{args:?}: {error}"));
    Written { code: output.status.code().unwrap_or(-1), out: output.stdout, err: output.stderr }
}

/// All commands, each with what it wrote, in their order.
pub fn run_all(folder: &Path, commands: &[Vec<String>]) -> Vec<Written> {
    let next = AtomicUsize::new(0);
    let written = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((n, args)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, commands.get(n)?)))
        {
            let one = run(folder, args);
            written.lock().expect("no other thread panics").insert(n, one);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    written.into_inner().expect("no other thread panics").into_values().collect()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

/// Runs the commands in `folder` and compares what they write with the hashes in `kept`.
fn hold(kept: &str, folder: &Path, commands: &[Vec<String>]) {
    assert!(!commands.is_empty(), "no command to run");
    let written = run_all(folder, commands);
    let line = |(args, one): (&Vec<String>, &Written)| {
        format!("{} {} {} {}", one.code, hash(&one.out), hash(&one.err), args.join(" "))
    };
    let now: Vec<String> = commands.iter().zip(&written).map(line).collect();
    let file = root().join("tests/frozen").join(kept);
    if std::env::var_os("PLAYPROOF_FREEZE").is_some() {
        fs::write(&file, now.join("\n") + "\n").expect("the hashes are written");
        return;
    }
    let then = fs::read_to_string(&file).expect("the hashes that were kept");
    let then: Vec<&str> = then.lines().collect();
    if then == now {
        return;
    }
    let outputs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frozen").join(kept);
    let changed: Vec<usize> = (0..now.len()).filter(|n| !then.contains(&now[*n].as_str())).collect();
    for n in &changed {
        keep(&outputs, *n, &commands[*n], &written[*n]);
    }
    let names: Vec<_> = changed.iter().map(|n| format!("  {n}: {}", now[*n])).collect();
    let (names, outputs) = (names.join("\n"), outputs.display());
    panic!("{} of {} outputs are new or changed, see {outputs}:\n{names}", changed.len(), now.len());
}

/// Leaves an output where it can be compared.
fn keep(folder: &Path, n: usize, args: &[String], written: &Written) {
    fs::create_dir_all(folder).expect("a folder for outputs");
    let head = format!("$ playproof {}\nexit {}\n", args.join(" "), written.code);
    let parts = [head.as_bytes(), &written.out, b"\n--- stderr\n", &written.err];
    fs::write(folder.join(format!("{n}.txt")), parts.concat()).expect("an output is kept");
}

#[test]
#[ignore = "the gate runs it: 1,470 commands"]
fn every_command_writes_the_bytes_that_it_wrote_before() {
    hold("outputs.txt", root(), &commands::over_the_repository(root()));
}

#[test]
#[ignore = "the gate runs it where there are real traces"]
fn real_traces_give_the_bytes_that_they_gave_before() {
    let Some(traces) =
        std::env::var_os("PLAYPROOF_TRACES").map(|traces| root().join(traces)).filter(|path| path.is_dir())
    else {
        println!("skipped: PLAYPROOF_TRACES names no recordings");
        return;
    };
    // Outputs name their inputs: the recordings lie under the same name on every machine.
    let folder = tempfile::tempdir().expect("a folder");
    copy_tree(&traces, &folder.path().join("traces"));
    fs::copy(root().join("tools/tau.yaml"), folder.path().join("tau.yaml")).expect("the tool facts are copied");
    hold("traces.txt", folder.path(), &commands::over_traces(folder.path()));
}
