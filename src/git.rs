//! What git knows of the working tree. The only place that starts another program, and only where it is asked to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::exit::Failure;

/// The files under `root`, as paths below it, that differ from revision `rev`, with those that git does not know yet.
///
/// # Errors
/// No git, no repository, no such revision.
pub fn changed_since(root: &Path, rev: &str) -> Result<BTreeSet<PathBuf>, Failure> {
    refuse_flag(rev)?;
    let mut changed = BTreeSet::new();
    for args in [
        &["diff", "--name-only", "--relative", "-z", rev, "--", "."][..],
        &["ls-files", "--others", "--exclude-standard", "-z", "--", "."][..],
    ] {
        let output = run(root, args, rev)?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        changed.extend(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())));
    }
    Ok(changed)
}

/// Those of `files` (paths as seen from the working directory) that git tracks and that differ from the last commit;
/// none where there is no git, no repository or no commit.
pub fn uncommitted(root: &Path, files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut changed = BTreeSet::new();
    for file in files {
        let below = file.strip_prefix(root).unwrap_or(file);
        let Some(name) = below.to_str() else { continue };
        let differs = run(root, &["diff", "--name-only", "-z", "HEAD", "--", name], "HEAD");
        if differs.is_ok_and(|output| !output.stdout.is_empty()) {
            changed.insert(file.clone());
        }
    }
    changed
}

/// Where this branch left the one that `rev` names: what came to that one later is not this branch's doing.
///
/// # Errors
/// No git, no repository, no such revision.
pub fn merge_base(root: &Path, rev: &str) -> Result<String, Failure> {
    refuse_flag(rev)?;
    let output = run(root, &["merge-base", rev, "HEAD"], rev)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The text of a file below `root` as revision `rev` has it; none where it had no such file.
///
/// # Errors
/// No git, no repository, no such revision.
pub fn text_at(root: &Path, rev: &str, path: &Path) -> Result<Option<String>, Failure> {
    let path = path.to_string_lossy();
    let known = run(root, &["ls-tree", "-z", "--name-only", rev, "--", &path], rev)?;
    if known.stdout.is_empty() {
        return Ok(None);
    }
    let output = run(root, &["show", &format!("{rev}:./{path}")], rev)?;
    Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Refuses what git would take for a flag.
fn refuse_flag(rev: &str) -> Result<(), Failure> {
    match rev.starts_with('-') {
        true => Err(Failure::said(format!("`{rev}` is no revision")).next("git log --oneline")),
        false => Ok(()),
    }
}

#[expect(clippy::disallowed_methods, reason = "what changed since a revision is a question that only git can answer")]
fn run(root: &Path, args: &[&str], rev: &str) -> Result<Output, Failure> {
    let folder = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let failed =
        |why: &str| Failure::said(format!("git cannot say what changed since `{rev}`: {why}")).next("playproof check");
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .output()
        .map_err(|error| failed(&super::files::reason(&error)))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Err(failed(line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
}
