//! Several files written and removed as one: all, or none. What an interruption leaves behind is found by the next run
//! and taken back. Decides nothing about what is written.
//!
//! Everything is laid out in a folder of its own first: each new text, and a copy of each file that it replaces; then a
//! journal, from which alone the way back is known; only then does the first file change. The journal goes when the
//! last file is in its place: from there on the change has happened. One program at a time: the others are refused.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this file owns disk access")]

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::exit::Failure;
use super::files::{from_here, reason};

const JOURNAL: &str = "journal.json";

/// How often the lock is asked for where others end at the same time.
const TRIES: usize = 10;

/// One file of a changeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is there with this text afterwards.
    Write(PathBuf, Vec<u8>),
    /// It is gone afterwards.
    Remove(PathBuf),
}

impl Change {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Change::Write(path, _) | Change::Remove(path) => path,
        }
    }
}

/// The right to change the project, held from before it is read until it is written: what was read meanwhile is still
/// so. A lock beside the staging folder.
pub struct Alone {
    /// Its file; the lock goes when this is closed.
    _file: File,
    path: PathBuf,
    staging: PathBuf,
}

impl Alone {
    /// Takes the right. `staging` is a folder of its own in the same file system.
    ///
    /// # Errors
    /// Another program has it; an earlier one was interrupted.
    pub fn at(staging: &Path) -> Result<Alone, Failure> {
        let alone = Alone::even_after_an_interruption(staging)?;
        refuse_interrupted(staging)?;
        Ok(alone)
    }

    /// Makes all changes, or none.
    ///
    /// # Errors
    /// A file that cannot be written or removed; everything is then as it was.
    pub fn commit(&self, changes: &[Change]) -> Result<(), Failure> {
        commit_watched(&self.staging, changes, &mut |_| Ok(()))
    }

    fn even_after_an_interruption(staging: &Path) -> Result<Alone, Failure> {
        let path = staging.with_extension("lock");
        let refused = |error: &io::Error| {
            Failure::said(format!("`{}` cannot be written: {}", path.display(), reason(error)))
                .help("nothing was changed")
        };
        for _ in 0..TRIES {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| refused(&error))?;
            }
            let file = match File::create(&path) {
                // Another one has just ended, and has taken its folder along.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                made => made.map_err(|error| refused(&error))?,
            };
            match file.try_lock() {
                Ok(()) if is_still_there(&file, &path) => {
                    return Ok(Alone { _file: file, path, staging: staging.to_path_buf() });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(refused(&error)),
            }
        }
        Err(Failure::said("another playproof is writing this project right now")
            .help("nothing was changed; wait for it to end, then try again"))
    }
}

/// Whether `path` still names the file: one that ended between opening and locking has removed it, and a third would
/// make and lock another.
#[cfg(unix)]
fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|one| fs::metadata(path).is_ok_and(|other| same(&one, &other)))
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn is_still_there(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        remove_empty(self.path.parent());
    }
}

/// Refuses to go on where a changeset was interrupted.
///
/// # Errors
/// One was.
pub fn refuse_interrupted(staging: &Path) -> Result<(), Failure> {
    if !is_interrupted(staging) {
        return Ok(());
    }
    Err(Failure::said("an earlier command was interrupted: some of its files are written and others are not")
        .help("take it back first, then try again")
        .next("playproof propose recover"))
}

/// As [`Alone::commit`]; `before` is told of each change right before it is made, and of the end, and can
/// make it fail.
fn commit_watched(
    staging: &Path,
    changes: &[Change],
    before: &mut dyn FnMut(usize) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |what: &Path, error: &io::Error| {
        Failure::said(format!("`{}` cannot be written: {}", what.display(), reason(error))).help("nothing was changed")
    };
    if let Err((path, error)) = stage(staging, changes) {
        let _ = fs::remove_dir_all(staging); // no file has changed yet
        return Err(failed(&path, &error));
    }
    let mut made = changes.iter().enumerate().map(|(n, change)| {
        let done = before(n).and_then(|()| make(staging, n, change));
        done.map_err(|error| failed(change.path(), &error))
    });
    let made = made.try_for_each(|made| made);
    let sealed = made.and_then(|()| {
        let done = before(changes.len()).and_then(|()| seal(staging));
        done.map_err(|error| failed(staging, &error))
    });
    if let Err(failure) = sealed {
        take_back(staging)?;
        return Err(failure);
    }
    for change in changes {
        if let Change::Remove(path) = change {
            remove_empty(path.parent());
        }
    }
    Ok(())
}

type AtPath<T> = Result<T, (PathBuf, io::Error)>;

/// Lays everything out, and writes the journal last.
fn stage(staging: &Path, changes: &[Change]) -> AtPath<()> {
    let at = |path: &Path| {
        let path = path.to_path_buf();
        move |error| (path, error)
    };
    let _ = fs::remove_dir_all(staging); // what a run left that never came to its journal
    // The way back may be asked for from another folder.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut made = missing_folders(staging);
    fs::create_dir_all(staging).map_err(at(staging))?;
    let mut entries = Vec::new();
    for (n, change) in changes.iter().enumerate() {
        let path = change.path();
        let is_there = fs::symlink_metadata(path).is_ok();
        if is_there {
            // Written as the new texts are: on disk before the journal speaks of it.
            let old = fs::read(path).map_err(at(path))?;
            write_new(&staged(staging, n, "old"), &old, path).map_err(at(path))?;
        }
        if let Change::Write(path, bytes) = change {
            write_new(&staged(staging, n, "new"), bytes, path).map_err(at(path))?;
            made.extend(missing_folders(path));
        }
        entries.push(json!({ "path": whole(path).to_string_lossy(), "was_there": is_there }));
    }
    let made: Vec<_> = made.iter().map(|folder| whole(folder).to_string_lossy().into_owned()).collect();
    let journal = json!({ "format": "changeset/1", "files": entries, "made": made }).to_string();
    let (draft, there) = (staging.join("journal.tmp"), staging.join(JOURNAL));
    write_new(&draft, journal.as_bytes(), &there).and_then(|()| fs::rename(&draft, &there)).map_err(at(&there))
}

fn staged(staging: &Path, n: usize, what: &str) -> PathBuf {
    staging.join(format!("{n}.{what}"))
}

/// A file with the permissions of the one that it will replace.
fn write_new(path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    match fs::metadata(like) {
        Ok(facts) => fs::set_permissions(path, facts.permissions()),
        Err(_) => Ok(()),
    }
}

/// The folders above a file that are not there yet, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = above.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

fn make(staging: &Path, n: usize, change: &Change) -> io::Result<()> {
    match change {
        Change::Write(path, _) => {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                fs::create_dir_all(folder)?;
            }
            fs::rename(staged(staging, n, "new"), path)
        }
        Change::Remove(path) => match fs::remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        },
    }
}

/// From here on the change has happened.
fn seal(staging: &Path) -> io::Result<()> {
    fs::remove_file(staging.join(JOURNAL))?;
    let _ = fs::remove_dir_all(staging); // without a journal it means nothing
    remove_empty(staging.parent());
    Ok(())
}

/// Whether a changeset was interrupted, and is half there.
pub fn is_interrupted(staging: &Path) -> bool {
    staging.join(JOURNAL).is_file()
}

/// Takes back what an interrupted changeset has done. Gives the files that were put back.
///
/// # Errors
/// Another program that is at it; a journal that cannot be read, a file that cannot be put back: asking again goes on
/// from there.
pub fn recover(staging: &Path) -> Result<Vec<String>, Failure> {
    let _alone = Alone::even_after_an_interruption(staging)?;
    take_back(staging)
}

fn take_back(staging: &Path) -> Result<Vec<String>, Failure> {
    let broken = |what: &Path, why: &str| {
        Failure::said(format!("`{}` cannot be put back: {why}", what.display()))
            .help(format!("the files as they were lie in `{}`; journal.json names their places", staging.display()))
            .next("playproof propose recover")
    };
    let journal = staging.join(JOURNAL);
    let text = fs::read_to_string(&journal).map_err(|error| broken(&journal, &reason(&error)))?;
    let read: Value = serde_json::from_str(&text).map_err(|_| broken(&journal, "it is no journal"))?;
    let texts = |key: &str| read.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut back = Vec::new();
    for (n, file) in texts("files").iter().enumerate().rev() {
        let Some(path) = file.get("path").and_then(Value::as_str) else { continue };
        let was_there = file.get("was_there").and_then(Value::as_bool).unwrap_or(true);
        match put_back(Path::new(path), &staged(staging, n, "old"), was_there) {
            Ok(true) => back.push(from_here(Path::new(path))),
            Ok(false) => {}
            Err(error) => return Err(broken(Path::new(path), &reason(&error))),
        }
    }
    for folder in texts("made").iter().rev().filter_map(Value::as_str) {
        if !Path::new(folder).ends_with(staging) {
            let _ = fs::remove_dir(folder); // one that holds other files by now stays
        }
    }
    seal(staging).map_err(|error| broken(&journal, &reason(&error)))?;
    for folder in texts("made").iter().rev().filter_map(Value::as_str) {
        let _ = fs::remove_dir(folder);
    }
    back.reverse();
    Ok(back)
}

/// Whether the file had changed at all.
fn put_back(path: &Path, old: &Path, was_there: bool) -> io::Result<bool> {
    match was_there {
        false if fs::symlink_metadata(path).is_err() => Ok(false),
        false => fs::remove_file(path).map(|()| true),
        // Put back already, by a way back that was itself interrupted.
        true if !old.exists() => Ok(false),
        true if fs::read(path).is_ok_and(|now| fs::read(old).is_ok_and(|then| then == now)) => Ok(false),
        true => {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                fs::create_dir_all(folder)?;
            }
            fs::rename(old, path).map(|()| true)
        }
    }
}

/// Removes a folder that has become empty, and those above it that have.
fn remove_empty(folder: Option<&Path>) {
    let mut folder = folder;
    while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
        if fs::remove_dir(path).is_err() {
            break;
        }
        folder = path.parent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn commit(staging: &Path, changes: &[Change]) -> Result<(), Failure> {
        Alone::at(staging)?.commit(changes)
    }

    fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut left = vec![folder.to_path_buf()];
        while let Some(next) = left.pop() {
            for entry in fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => {
                        found.insert(path.clone(), None);
                        left.push(path);
                    }
                    false => drop(found.insert(path.clone(), Some(fs::read(&path).unwrap()))),
                }
            }
        }
        found
    }

    fn project() -> (tempfile::TempDir, Vec<Change>) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("proposals/x")).unwrap();
        for (name, text) in [("book.yaml", "old"), ("lock", "old lock"), ("proposals/x/p.yaml", "p"), ("keep", "k")] {
            fs::write(path(name), text).unwrap();
        }
        let changes = vec![
            Change::Write(path("book.yaml"), b"new".to_vec()),
            Change::Write(path("docs/adr/0001-x.md"), b"why".to_vec()),
            Change::Write(path("goldens/a/b.snap"), b"g".to_vec()),
            Change::Write(path("lock"), b"new lock".to_vec()),
            Change::Remove(path("proposals/x/p.yaml")),
            Change::Remove(path("none")),
        ];
        (folder, changes)
    }

    #[test]
    fn all_changes_are_made_and_nothing_else_is_left() {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        commit(&staging, &changes).unwrap();
        let names: Vec<_> = tree(folder.path())
            .into_keys()
            .map(|path| path.strip_prefix(folder.path()).unwrap().to_path_buf())
            .collect();
        let wanted = [
            "book.yaml",
            "docs",
            "docs/adr",
            "docs/adr/0001-x.md",
            "goldens",
            "goldens/a",
            "goldens/a/b.snap",
            "keep",
            "lock",
        ];
        assert_eq!(names, wanted.map(PathBuf::from));
        assert_eq!(fs::read_to_string(folder.path().join("lock")).unwrap(), "new lock");
    }

    #[test]
    fn a_failure_at_any_change_leaves_everything_as_it_was() {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        let before = tree(folder.path());
        // The last is the end: the journal cannot be removed.
        for at in 0..=changes.len() {
            let mut fails = |n| if n == at { Err(io::Error::from(ErrorKind::PermissionDenied)) } else { Ok(()) };
            let failure = commit_watched(&staging, &changes, &mut fails).unwrap_err();
            assert!(format!("{failure:?}").contains("permission denied"), "{failure:?}");
            assert_eq!(tree(folder.path()), before, "at {at}");
        }
    }

    #[test]
    fn a_target_that_is_a_folder_is_found_before_anything_changes() {
        let (folder, mut changes) = project();
        fs::create_dir_all(folder.path().join("in-the-way")).unwrap();
        changes.push(Change::Write(folder.path().join("in-the-way"), Vec::new()));
        let before = tree(folder.path());
        commit(&folder.path().join("staging"), &changes).unwrap_err();
        assert_eq!(tree(folder.path()), before);
    }

    #[test]
    fn an_interruption_at_any_change_is_found_and_taken_back() {
        for done in 0..=6 {
            let (folder, changes) = project();
            let staging = folder.path().join("proposals/.accepting");
            let before = tree(folder.path());
            stage(&staging, &changes).unwrap();
            for (n, change) in changes.iter().enumerate().take(done) {
                make(&staging, n, change).unwrap();
            }
            assert!(is_interrupted(&staging));
            recover(&staging).unwrap();
            assert!(!is_interrupted(&staging));
            assert_eq!(tree(folder.path()), before, "after {done}");
        }
    }

    #[test]
    fn a_way_back_that_was_interrupted_goes_on() {
        let (folder, changes) = project();
        let staging = folder.path().join("staging");
        let before = tree(folder.path());
        stage(&staging, &changes).unwrap();
        for (n, change) in changes.iter().enumerate() {
            make(&staging, n, change).unwrap();
        }
        put_back(changes[3].path(), &staged(&staging, 3, "old"), true).unwrap();
        put_back(changes[4].path(), &staged(&staging, 4, "old"), true).unwrap();
        recover(&staging).unwrap();
        assert_eq!(tree(folder.path()), before);
    }

    #[test]
    fn two_at_once_are_told_apart_and_an_interruption_is_not_written_over() {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        let before = tree(folder.path());
        let other = Alone::at(&staging).unwrap();
        assert!(format!("{:?}", commit(&staging, &changes).unwrap_err()).contains("right now"));
        assert!(format!("{:?}", recover(&staging).unwrap_err()).contains("right now"));
        drop(other);
        assert_eq!(tree(folder.path()), before);
        stage(&staging, &changes).unwrap();
        assert!(format!("{:?}", commit(&staging, &changes).unwrap_err()).contains("interrupted"));
        recover(&staging).unwrap();
        assert_eq!(tree(folder.path()), before);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_on_a_file_that_has_lost_its_name_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let file = File::create(&path).unwrap();
        assert!(is_still_there(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_still_there(&file, &path));
        let other = File::create(&path).unwrap();
        assert!(!is_still_there(&file, &path) && is_still_there(&other, &path));
    }

    #[test]
    fn what_never_came_to_its_journal_is_no_interruption() {
        let (folder, changes) = project();
        let staging = folder.path().join("staging");
        fs::create_dir_all(&staging).unwrap();
        fs::write(staging.join("0.new"), "half").unwrap();
        assert!(!is_interrupted(&staging));
        commit(&staging, &changes).unwrap();
        assert!(!staging.exists());
    }
}
