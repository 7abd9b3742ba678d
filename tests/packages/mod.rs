//! What people install and what CI runs: the files around the program. Builds no package; `tools/release.sh` does, and
//! tries what it has built.

mod ci;
mod comment;
mod node;
mod python;
mod release;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::place::program;

/// Whether a program is there, and as new as an expression of its own asks.
fn is_there(command: &str, modern: [&str; 2]) -> bool {
    Command::new(command).args(modern).status().is_ok_and(|status| status.success())
}

/// The tests of a folder, each file in its own process, all at once: they mostly wait. Each says its result in this text.
fn all_pass(folder: &str, result: &str, command: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let names = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut children = Vec::new();
    for name in names.map(|name| name.into_string().expect("UTF-8")).filter(|name| is_test(name)) {
        let mut test = Command::new(command[0]);
        test.args(&command[1..]).arg(&name).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        test.env("PLAYPROOF_BIN", program()).env("PYTHONDONTWRITEBYTECODE", "1");
        children.push((name, test.spawn().expect("a process")));
    }
    assert!(children.len() > 4, "{folder:?}");
    for (name, child) in children {
        let ran = child.wait_with_output().expect("output");
        let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(ran.status.success() && said.contains(result), "{name}: {said}");
    }
}

fn is_test(name: &str) -> bool {
    name.starts_with("test_") || name.ends_with(".test.mjs")
}
