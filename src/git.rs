//! Asks git about the working tree. This file and `conform` start other programs; this one only for flags that need git; no
//! configuration of a repository can make git start a third program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::exit::{Failure, describe_io};

/// Excluded from a diff: external diff programs, text converters, submodules.
const NO_DRIVERS: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

/// A file that was renamed changed under both names.
const NAMES: [&str; 3] = ["diff", "--name-only", "--no-renames"];

/// Settings that let the configuration of a repository start programs, and the safe values that replace them. A
/// repository may come from strangers.
const SETTINGS: [(&str, &str); 4] = [
    ("safe.bareRepository", "explicit"), // a repository that lies among the files of another, configuration and all
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("protocol.allow", "never"),
];

/// Configuration keys of filters that convert files.
const FILTERS: &str = r"^filter\..*\.(clean|smudge|process|required)$";

/// Git in one folder of a repository.
#[derive(Debug)]
pub struct Git {
    root: PathBuf,
    /// Configuration keys of filters; git runs with these emptied.
    filters: Vec<String>,
}

impl Git {
    /// Git in `root`, for questions about revision `rev`.
    ///
    /// # Errors
    /// A revision that looks like a flag; no git; a filter that cannot be switched off.
    pub fn at(root: &Path, rev: &str) -> Result<Git, Failure> {
        if rev.starts_with('-') {
            return Err(Failure::new(format!("`{rev}` is not a revision")).next("git log --oneline"));
        }
        let mut git = Git { root: root.to_path_buf(), filters: Vec::new() };
        let known = git.ask(&["config", "--name-only", "-z", "--get-regexp", FILTERS], rev)?;
        let known = String::from_utf8_lossy(&known.stdout).into_owned();
        git.filters = known.split('\0').filter(|key| !key.is_empty()).map(str::to_owned).collect();
        match git.filters.iter().find(|key| key.contains('=')) {
            None => Ok(git),
            Some(key) => {
                Err(failed(rev, &format!("its configuration has the filter `{key}`, which cannot be switched off")))
            }
        }
    }

    /// The files under the folder that differ from revision `rev`, and untracked files, as paths below the folder.
    ///
    /// # Errors
    /// No repository, no such revision.
    pub fn changed_since(&self, rev: &str) -> Result<BTreeSet<PathBuf>, Failure> {
        let mut changed = BTreeSet::new();
        for args in [
            [&NAMES[..], &NO_DRIVERS, &["--relative", "-z", rev, "--", "."]].concat(),
            ["ls-files", "--others", "--exclude-standard", "-z", "--", "."].to_vec(),
        ] {
            let output = self.run(&args, rev)?;
            let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            changed.extend(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())));
        }
        Ok(changed)
    }

    /// The merge base with `rev`: later commits of that branch are not changes of this one.
    ///
    /// # Errors
    /// No repository, no such revision.
    pub fn merge_base(&self, rev: &str) -> Result<String, Failure> {
        let output = self.run(&["merge-base", rev, "HEAD"], rev)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The text of a file below the folder in revision `rev`; none if `rev` has no such file.
    ///
    /// # Errors
    /// No repository, no such revision.
    pub fn text_at(&self, rev: &str, path: &Path) -> Result<Option<String>, Failure> {
        let path = path.to_string_lossy();
        let known = self.run(&["ls-tree", "-z", "--name-only", rev, "--", &path], rev)?;
        if known.stdout.is_empty() {
            return Ok(None);
        }
        let output = self.run(&["show", &format!("{rev}:./{path}")], rev)?;
        Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// The output of git; a failure of git is an error.
    fn run(&self, args: &[&str], rev: &str) -> Result<Output, Failure> {
        let output = self.ask(args, rev)?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
        Err(failed(rev, line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
    }

    #[expect(clippy::disallowed_methods, reason = "only git knows what changed since a revision")]
    fn ask(&self, args: &[&str], rev: &str) -> Result<Output, Failure> {
        let folder = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let mut git = Command::new("git");
        git.env("GIT_NO_LAZY_FETCH", "1").arg("-C").arg(folder);
        for (key, value) in SETTINGS {
            git.arg("-c").arg(format!("{key}={value}"));
        }
        for key in &self.filters {
            let value = if key.ends_with(".required") { "false" } else { "" };
            git.arg("-c").arg(format!("{key}={value}"));
        }
        git.args(args).output().map_err(|error| failed(rev, &describe_io(&error)))
    }
}

/// Those of `files` (relative to the working directory) that git tracks and that differ from the last commit; empty
/// without git, repository or commit.
pub fn uncommitted(root: &Path, files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let Ok(git) = Git::at(root, "HEAD") else { return BTreeSet::new() };
    let mut changed = BTreeSet::new();
    for file in files {
        let below = file.strip_prefix(root).unwrap_or(file);
        let Some(name) = below.to_str() else { continue };
        let differs = git.run(&[&NAMES[..], &NO_DRIVERS, &["-z", "HEAD", "--", name]].concat(), "HEAD");
        if differs.is_ok_and(|output| !output.stdout.is_empty()) {
            changed.insert(file.clone());
        }
    }
    changed
}

/// Whether the last commit has a file below `root`; no without git, repository or commit.
pub fn is_committed(root: &Path, name: &str) -> bool {
    let text = Git::at(root, "HEAD").and_then(|git| git.text_at("HEAD", Path::new(name)));
    text.is_ok_and(|text| text.is_some())
}

fn failed(rev: &str, why: &str) -> Failure {
    Failure::new(format!("git cannot say what changed since `{rev}`: {why}")).next("playproof check")
}
