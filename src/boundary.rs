//! The paths that commands may read and write for a project: those below its root, through no link, and those outside
//! that `playproof.yaml` names under `--allow-outside`. Changes nothing.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this file owns disk access: it looks for links")]

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::exit::Failure;
use super::files::{self, from_here};

/// The folder of git: its hooks and configuration are commands, so nothing is written there.
const GIT: &str = ".git";

/// The paths that belong to a project.
#[derive(Clone, Debug)]
pub struct Boundary {
    root: PathBuf,
    /// Paths outside of the root that the project names.
    outside: Vec<PathBuf>,
}

impl Boundary {
    /// The boundary of the project in `root` whose `playproof.yaml` names these paths.
    pub fn new<'a>(root: &Path, named: impl IntoIterator<Item = &'a Path>) -> Boundary {
        let root = whole(root);
        let named = named.into_iter().map(whole);
        let outside = named.filter(|path| is_outside(&root, path)).collect();
        Boundary { root, outside }
    }

    /// The absolute path of the project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path for a journal: relative to the root if it lies below it.
    pub fn name(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
    }

    /// The absolute path of a file that may be written or removed.
    ///
    /// # Errors
    /// The file lies outside the project, or behind a link.
    pub fn writable(&self, path: &Path) -> Result<PathBuf, Failure> {
        let path = whole(path);
        // The nearest one: a named folder may itself be a link.
        let bases = std::iter::once(&self.root).chain(&self.outside).filter(|base| is_below(base, &path));
        let base = bases.max_by_key(|base| base.components().count()).ok_or_else(|| outside(&self.root, &path))?;
        if path.strip_prefix(base).is_ok_and(|below| below.iter().any(|step| step == GIT)) {
            let said = format!("`{}` is in a `.git` folder: nothing is written or removed there", from_here(&path));
            return Err(Failure::new(said).help("name another place"));
        }
        let Some(link) = link_below(base, &path) else { return Ok(path) };
        let said = format!(
            "`{}` is a symbolic link: nothing in a project is written or removed through one",
            from_here(&link)
        );
        Err(Failure::new(said).help("replace the link by the file or folder itself"))
    }

    /// Refuses to read a file if a link leads out of the project.
    ///
    /// # Errors
    /// It leads out.
    pub fn readable(&self, path: &Path) -> Result<(), Failure> {
        let whole = whole(path);
        let mut bases = std::iter::once(&self.root).chain(&self.outside);
        if bases.clone().any(|base| is_below(base, &whole) && link_below(base, &whole).is_none()) {
            return Ok(());
        }
        let Some(real) = files::real(&whole) else { return Ok(()) };
        match bases.any(|base| files::real(base).is_some_and(|base| real.starts_with(base))) {
            true => Ok(()),
            false => Err(outside(&self.root, path)),
        }
    }
}

/// The first link on the path from `base` down to `path`, `path` included.
fn link_below(base: &Path, path: &Path) -> Option<PathBuf> {
    let steps: Vec<&Path> = path.ancestors().take_while(|above| *above != base).collect();
    let is_link = |step: &&&Path| fs::symlink_metadata(step).is_ok_and(|facts| facts.is_symlink());
    steps.iter().rev().find(is_link).map(|link| link.to_path_buf())
}

/// Whether a path leads out of `root`, by its text or by a link.
pub fn is_outside(root: &Path, path: &Path) -> bool {
    let (root, path) = (whole(root), whole(path));
    let leads_out = || {
        let there = path.ancestors().find_map(files::real);
        there.zip(files::real(&root)).is_some_and(|(there, root)| !there.starts_with(root))
    };
    !is_below(&root, &path) || leads_out()
}

/// Whether a path goes down from `base` step by step.
fn is_below(base: &Path, path: &Path) -> bool {
    path.strip_prefix(base).is_ok_and(is_plain)
}

/// Whether a path consists of names only, without `..` or a root.
pub fn is_plain(path: &Path) -> bool {
    path.components().all(|step| matches!(step, Component::Normal(_)))
}

/// The absolute path; an empty path is the working directory.
fn whole(path: &Path) -> PathBuf {
    files::absolute(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

fn outside(root: &Path, path: &Path) -> Failure {
    // Then a link leads out.
    let is_inside = is_below(&whole(root), &whole(path));
    Failure::new(leads_out(root, path)).help(match is_inside {
        true => {
            "put the file itself there; `--allow-outside` covers files and folders that playproof.yaml names, not links in a folder"
        }
        false => "name a path in the project",
    })
}

/// The message that a path leads out of the project in `root`, with the link that does so.
pub fn leads_out(root: &Path, path: &Path) -> String {
    let here = from_here(path);
    let (root, whole) = (whole(root), whole(path));
    let link = if is_below(&root, &whole) { link_below(&root, &whole) } else { None };
    let link = link.and_then(|link| Some((fs::read_link(&link).ok()?, link)));
    let Some((target, link)) = link else { return format!("`{here}` leads out of the project") };
    let link = from_here(&link);
    let link = if link == here { "it".to_owned() } else { format!("`{link}`") };
    format!("`{here}` leads out of the project: {link} is a symbolic link to `{}`", target.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_below_the_root_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let boundary = Boundary::new(folder.path(), []);
        let inside = folder.path().join("a/b");
        assert!(boundary.writable(&inside).is_ok_and(|path| path == inside));
        for path in ["../a", "a/../../b", "/etc/passwd", "..", "a/../b"] {
            assert!(boundary.writable(&folder.path().join(path)).is_err(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_anywhere_on_the_way_is_named() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let boundary = Boundary::new(folder.path(), []);
        fs::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("a/link")).unwrap();
        for path in ["a/link", "a/link/x", "a/link/x/y"] {
            let said = format!("{:?}", boundary.writable(&folder.path().join(path)).unwrap_err());
            assert!(said.contains("a/link` is a symbolic link"), "{said}");
        }
        fs::write(other.path().join("x"), "").unwrap();
        assert!(boundary.readable(&folder.path().join("a/link/x")).is_err());
        assert!(boundary.readable(&folder.path().join("a")).is_ok());
        assert!(is_outside(folder.path(), &folder.path().join("a/link")));
        assert!(is_outside(folder.path(), &folder.path().join("a/link/none")));
        assert!(!is_outside(folder.path(), &folder.path().join("a/none")));
    }
}
