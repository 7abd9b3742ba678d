//! What git knows of the working tree. The only place that starts another program, and only where it is asked to; no
//! configuration of a repository can make git start a third.

use std::collections::BTreeSet;
use std::io;
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
        [&["diff", "--name-only"][..], &NO_DRIVERS, &["--relative", "-z", rev, "--", "."]].concat(),
        ["ls-files", "--others", "--exclude-standard", "-z", "--", "."].to_vec(),
    ] {
        let output = run(root, &args, rev)?;
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
        let differs =
            run(root, &[&["diff", "--name-only"][..], &NO_DRIVERS, &["-z", "HEAD", "--", name]].concat(), "HEAD");
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

/// What a diff is not to be asked of: programs that compare, programs that convert, repositories within.
const NO_DRIVERS: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

/// Settings by which the configuration of a repository, which may come from strangers, starts programs; and what they are
/// set to instead.
const SETTINGS: [(&str, &str); 4] = [
    ("safe.bareRepository", "explicit"), // a repository that lies among the files of another, configuration and all
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("protocol.allow", "never"),
];

/// Keys of programs that convert files on their way into the repository.
const FILTERS: &str = r"^filter\..*\.(clean|smudge|process|required)$";

/// Git in `root`, with `filters`, keys of its configuration, emptied.
#[expect(clippy::disallowed_methods, reason = "what changed since a revision is a question that only git can answer")]
fn git(root: &Path, filters: &[&str]) -> Command {
    let folder = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let mut git = Command::new("git");
    git.env("GIT_NO_LAZY_FETCH", "1").arg("-C").arg(folder);
    for (key, value) in SETTINGS {
        git.arg("-c").arg(format!("{key}={value}"));
    }
    for key in filters {
        let value = if key.ends_with(".required") { "false" } else { "" };
        git.arg("-c").arg(format!("{key}={value}"));
    }
    git
}

/// Refuses what git would take for a flag.
fn refuse_flag(rev: &str) -> Result<(), Failure> {
    match rev.starts_with('-') {
        true => Err(Failure::said(format!("`{rev}` is no revision")).next("git log --oneline")),
        false => Ok(()),
    }
}

fn run(root: &Path, args: &[&str], rev: &str) -> Result<Output, Failure> {
    let failed =
        |why: &str| Failure::said(format!("git cannot say what changed since `{rev}`: {why}")).next("playproof check");
    let unstarted = |error: io::Error| failed(&super::files::reason(&error));
    let filters =
        git(root, &[]).args(["config", "--name-only", "-z", "--get-regexp", FILTERS]).output().map_err(unstarted)?;
    let filters = String::from_utf8_lossy(&filters.stdout).into_owned();
    let filters: Vec<&str> = filters.split('\0').filter(|key| !key.is_empty()).collect();
    if let Some(key) = filters.iter().find(|key| key.contains('=')) {
        return Err(failed(&format!("its configuration has the filter `{key}`, which cannot be switched off")));
    }
    let output = git(root, &filters).args(args).output().map_err(unstarted)?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Err(failed(line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
}
