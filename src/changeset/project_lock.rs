//! The lock that lets one program change a project, after it has finished an earlier change. Owns the staging folder, and
//! removes only staged files from it.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access; it waits for others")]

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::apply;
use super::change::Change;
use super::disk::{identity, is_file, is_of_another_user, missing_folders, remove_all};
use super::staging::{JOURNAL, LOCK, clear, entries, foreign, has_journal, is_staged, of_another_user};
use crate::boundary::Boundary;
use crate::exit::{Failure, describe_io};
use crate::files::from_here;
use crate::output::Output;

/// Staged files are git-ignored.
const IGNORED: &str = ".gitignore";
const IGNORES_ALL: &str = "*\n";

/// How often to try the lock, with a pause between the tries: a quarter of a second in all. Readers of the project hold
/// the lock for a moment too. So does a git process that a killed program was starting, until the lock is closed there.
const TRIES: usize = 25;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock on a project. Held from before the project is read until it is written, so that it cannot change between.
#[derive(Debug)]
pub struct ProjectLock {
    /// The lock file; closing it releases the lock.
    _file: File,
    pub(super) boundary: Boundary,
    pub(super) staging: PathBuf,
    /// Folders that were made for it, outermost first.
    made: Vec<PathBuf>,
}

/// Why the lock cannot be taken.
enum Refused {
    Busy,
    Unwritable(PathBuf, io::Error),
    /// The staging folder came from elsewhere or belongs to another user.
    Foreign(Failure),
    /// A link is in the way.
    Astray(Failure),
}

impl ProjectLock {
    /// Takes the lock, and finishes an earlier change. `staging` is a folder for it alone.
    ///
    /// # Errors
    /// Another program holds it; a folder that cannot be written, lies behind a link, or came from elsewhere.
    pub fn at(boundary: &Boundary, staging: &Path) -> Result<ProjectLock, Failure> {
        let lock = ProjectLock::take(boundary, staging).map_err(|refused| match refused {
            Refused::Busy => busy(),
            Refused::Unwritable(path, error) => {
                let said = format!("`{}` cannot be written: {}", from_here(&path), describe_io(&error));
                Failure::new(said).help("nothing was changed")
            }
            Refused::Foreign(failure) | Refused::Astray(failure) => failure,
        })?;
        lock.settle()?;
        Ok(lock)
    }

    /// Makes all changes, or none; `output` remembers them.
    ///
    /// # Errors
    /// A file that cannot be written or removed. Then nothing changed, unless the failure says otherwise.
    pub fn commit(&self, changes: &[Change], output: &mut Output) -> Result<(), Failure> {
        apply::commit(&self.boundary, &self.staging, changes, &mut |_| Ok(()))?;
        changes.iter().for_each(|change| output.has_done(change.word(), &from_here(change.path())));
        Ok(())
    }

    fn take(boundary: &Boundary, staging: &Path) -> Result<ProjectLock, Refused> {
        let path = boundary.writable(&staging.join(LOCK)).map_err(Refused::Astray)?;
        let staging = path.parent().unwrap_or(staging).to_path_buf();
        let made = missing_folders(&path);
        if is_of_another_user(&staging) {
            return Err(Refused::Foreign(of_another_user(&staging, &staging)));
        }
        for _ in 0..TRIES {
            let opened = fs::create_dir_all(&staging)
                .inspect(|()| ignore_new(&staging))
                .and_then(|()| File::options().read(true).write(true).create(true).truncate(false).open(&path));
            let mut file = match opened {
                // Another program has just ended, and removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    leave(&staging, &made);
                    return Err(Refused::Unwritable(path, error));
                }
                Ok(file) => file,
            };
            match file.try_lock() {
                Ok(()) if is_still_there(&file, &path) => {
                    return match stamp(&mut file, &staging) {
                        Ok(None) => {
                            ignore(&staging);
                            Ok(ProjectLock { _file: file, boundary: boundary.clone(), staging, made })
                        }
                        Ok(Some(theirs)) => Err(Refused::Foreign(foreign(&theirs, COPIED))),
                        Err(error) => {
                            let _ = fs::remove_file(&path);
                            leave(&staging, &made);
                            Err(Refused::Unwritable(path, error))
                        }
                    };
                }
                Ok(()) => {} // a program that has just ended removed it
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(Refused::Unwritable(path, error)),
            }
        }
        Err(Refused::Busy)
    }

    /// Finishes a committed change; clears the files of an uncommitted one.
    fn settle(&self) -> Result<(), Failure> {
        if has_journal(&self.staging) {
            return apply::finish(&self.boundary, &self.staging);
        }
        clear(&self.staging);
        Ok(())
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        if has_journal(&self.staging) {
            return; // the next program finishes the change
        }
        clear(&self.staging);
        let _ = fs::remove_file(self.staging.join(LOCK));
        leave(&self.staging, &self.made);
    }
}

/// Removes an unused staging folder, and `made`, the folders that were made for it.
fn leave(staging: &Path, made: &[PathBuf]) {
    if fs::symlink_metadata(staging.join(LOCK)).is_err() {
        let _ = our_ignored(staging).map(fs::remove_file);
        let _ = fs::remove_dir(staging);
        // Removed only if empty, so it does not matter which program made it.
        let _ = staging.parent().map(fs::remove_dir);
    }
    remove_all(made);
}

/// Finishes a committed change before the project is read, and clears an uncommitted one. Outside of a project (see
/// `is_project`) it touches only a staging folder that this program certainly made.
///
/// # Errors
/// A change that cannot be finished here, or that another program is making; a folder behind a link.
pub fn finish(boundary: &Boundary, staging: &Path, is_project: bool) -> Result<(), Failure> {
    let is_there = fs::symlink_metadata(staging).is_ok();
    let surely_ours = || boundary.writable(staging).is_ok() && is_ours(staging);
    if !is_there || !(is_project || surely_ours()) {
        return Ok(());
    }
    match ProjectLock::take(boundary, staging) {
        Ok(lock) => lock.settle(),
        Err(Refused::Astray(failure)) => Err(failure),
        // Nothing is committed, so the project is consistent.
        Err(_) if !has_journal(staging) => Ok(()),
        Err(Refused::Busy) => Err(busy()),
        Err(Refused::Foreign(failure)) => Err(failure),
        Err(Refused::Unwritable(path, error)) => {
            let why = format!("`{}` cannot be written: {}", from_here(&path), describe_io(&error));
            Err(Failure::new(format!("the change of a killed command cannot be finished here: {why}"))
                .help("any command finishes it, once the project can be written")
                .next("playproof check"))
        }
    }
}

/// Makes git ignore a new folder before any other file is in it.
fn ignore_new(staging: &Path) {
    if entries(staging).is_empty() {
        ignore(staging);
    }
}

/// Makes git ignore staged files, also if a kill left an empty `.gitignore`. A full disk is no error here.
fn ignore(staging: &Path) {
    let is_cut = |path: &PathBuf| fs::metadata(path).is_ok_and(|facts| facts.len() < IGNORES_ALL.len() as u64);
    let _ = our_ignored(staging).filter(is_cut).map(fs::remove_file);
    let written = File::create_new(staging.join(IGNORED));
    let _ = written.and_then(|mut ignored| ignored.write_all(IGNORES_ALL.as_bytes()));
}

/// The `.gitignore`, if this program wrote it; a kill may have left it empty.
fn our_ignored(staging: &Path) -> Option<PathBuf> {
    let ignored = staging.join(IGNORED);
    let is_ours = is_file(&ignored) && fs::read(&ignored).is_ok_and(|text| IGNORES_ALL.as_bytes().starts_with(&text));
    is_ours.then_some(ignored)
}

/// Why a staging folder with another identity is not used.
const COPIED: &str = "it came with a copy, an archive or a repository";

fn busy() -> Failure {
    Failure::new("another playproof is writing this project right now")
        .help("nothing was changed; wait for it to end, then try again")
}

/// Writes the identity into the lock file; returns the file that shows that the folder came from elsewhere.
fn stamp(file: &mut File, staging: &Path) -> io::Result<Option<PathBuf>> {
    let (identity, mut held) = (identity(staging)?, Vec::new());
    if !file.metadata()?.is_file() {
        return Ok(Some(staging.join(LOCK)));
    }
    Read::by_ref(file).take(1_000).read_to_end(&mut held)?;
    if held == identity.as_bytes() {
        return Ok(None);
    }
    let lock = staging.join(LOCK);
    let theirs = match held.is_empty() {
        false => Some(lock),
        true => {
            let theirs = entries(staging).into_iter().find(|name| is_staged(name) || name == JOURNAL);
            if theirs.is_some() {
                fs::remove_file(lock)?; // just made, and empty
            }
            theirs.map(|name| staging.join(name))
        }
    };
    if theirs.is_none() {
        file.write_all(identity.as_bytes())?;
    }
    Ok(theirs)
}

/// Whether this program made the folder on this machine; a program that was killed at once leaves it empty.
fn is_ours(staging: &Path) -> bool {
    let lock = staging.join(LOCK);
    let held = if is_file(&lock) { fs::read(&lock).unwrap_or_default() } else { Vec::new() };
    let is_known =
        |name: &String| (name == LOCK && is_file(&lock)) || (name == IGNORED && our_ignored(staging).is_some());
    let is_bare = held.is_empty() && entries(staging).iter().all(is_known);
    is_bare || identity(staging).is_ok_and(|identity| held == identity.as_bytes())
}

/// Whether `path` still names the file. A program that ended between opening and locking may have removed it, and a
/// third would make and lock another.
#[cfg(unix)]
pub(super) fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|one| fs::metadata(path).is_ok_and(|other| same(&one, &other)))
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
pub(super) fn is_still_there(_: &File, _: &Path) -> bool {
    true
}
