//! Nets under changes that must change nothing for users: readable copies of what the program writes, of the names and
//! fingerprints of rows, and of what is underlined in bad files. `tests/frozen` has hashes of far more outputs.
//!
//! A change that is meant is taken with `INSTA_UPDATE=always cargo test --test all nets`, and read in the diff.

mod help;
mod misuse;
mod pages;
mod rows;
mod underlined;
mod writing;

use std::fmt::Write as _;
use std::path::Path;

use crate::frozen;

/// Compares a text with the one that is kept under this name.
#[track_caller]
fn keep(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Commands as they are typed, one after the other, each with its exit code and everything that it writes in this folder:
/// two at once could be in each other's way.
fn written(folder: &Path, commands: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (args, ran) in commands.iter().map(|args| (args, frozen::run(folder, args))) {
        let (out, err) = (String::from_utf8_lossy(&ran.out), String::from_utf8_lossy(&ran.err));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "$ playproof {}\nexit {}", args.join(" "), ran.code);
        let _ = write!(text, "{out}");
        if !err.is_empty() {
            let _ = write!(text, "--- stderr\n{err}");
        }
        text.push('\n');
    }
    text
}

/// The commands of these lines.
fn typed(lines: &str) -> Vec<Vec<String>> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}
