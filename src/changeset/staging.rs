//! The staging folder: the names of its files, which of them a program may remove, and why one is refused.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::fs;
use std::path::{Path, PathBuf};

use super::disk::is_file;
use crate::exit::Failure;
use crate::files::from_here;
use playproof_formats::shell::Command;

/// The lock file. It holds the identity of its folder. Another identity shows that the folder was copied from elsewhere.
pub(super) const LOCK: &str = "lock";

/// The journal. It commits the change: once it exists, the change is always finished.
pub const JOURNAL: &str = "journal.json";

/// The journal while it is written.
pub const JOURNAL_DRAFT: &str = "journal.tmp";

/// The path of a step's staged text.
pub(super) fn staged(staging: &Path, n: usize) -> PathBuf {
    staging.join(format!("{n}.new"))
}

/// Whether a committed change is unfinished.
pub fn has_journal(staging: &Path) -> bool {
    fs::symlink_metadata(staging.join(JOURNAL)).is_ok()
}

/// The refusal of a file that was not staged here.
pub(super) fn foreign(path: &Path, why: &str) -> Failure {
    unused(path, path.parent().unwrap_or(path), why, "look at the folder, then remove it")
}

/// The refusal of a staging folder, or a file in it, that another user made.
pub(super) fn of_another_user(path: &Path, staging: &Path) -> Failure {
    let help = "that user can finish the change with any command, or remove the folder";
    unused(path, staging, "another user made it", help)
}

fn unused(path: &Path, staging: &Path, why: &str, help: &str) -> Failure {
    Failure::new(format!("`{}` is not used: {why}", from_here(path)))
        .help(format!("nothing was applied or removed; {help}"))
        .next(Command::new("rm -r").path(&from_here(staging)))
}

/// Removes staged files; without a journal they have no use.
pub(super) fn clear(staging: &Path) {
    for name in entries(staging).iter().filter(|name| is_staged(name)) {
        let path = staging.join(name);
        if is_file(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

pub(super) fn entries(staging: &Path) -> Vec<String> {
    let entries = fs::read_dir(staging).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Whether staged files have this name.
pub(super) fn is_staged(name: &str) -> bool {
    let number = name.strip_suffix(".new").unwrap_or_default();
    name == JOURNAL_DRAFT || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
