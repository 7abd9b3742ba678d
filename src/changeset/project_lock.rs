//! The right to change a project: one program at a time, and only once what an earlier one left is finished. Owns the
//! staging folder, and removes nothing from it but what a program put there.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access; it waits for others")]

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::apply::{self, JOURNAL, JOURNAL_DRAFT};
use super::change::Change;
use super::disk::{identity, is_file, is_of_another_user, missing_folders, remove_all};
use crate::boundary::Boundary;
use crate::exit::{Failure, describe_io};
use crate::files::from_here;
use crate::output::Output;
use playproof_formats::shell::Command;

/// Locked by whoever has the right. It holds the identity of its folder: where it does not, the folder came from
/// elsewhere, and what lies in it is not ours.
pub(super) const LOCK: &str = "lock";

/// What is staged is nobody's to commit to git.
const IGNORED: &str = ".gitignore";
const IGNORES_ALL: &str = "*\n";

/// How often the lock is asked for, and how long is waited in between: a quarter of a second in all. Whoever reads the
/// project holds it for a moment too; and so does, where a program was killed, the git that it was about to start,
/// until that runs and the lock is closed.
const TRIES: usize = 25;
const PAUSE: Duration = Duration::from_millis(10);

/// The right to change the project, held from before it is read until it is written: what was read meanwhile is still
/// so.
#[derive(Debug)]
pub struct ProjectLock {
    /// Its file; the lock goes when this is closed.
    _file: File,
    pub(super) boundary: Boundary,
    pub(super) staging: PathBuf,
    /// Folders that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

/// Why the right cannot be had.
enum Refused {
    Busy,
    Unwritable(PathBuf, io::Error),
    /// What is staged is not ours.
    Foreign(Failure),
    /// A link in the way.
    Astray(Failure),
}

impl ProjectLock {
    /// Takes the right, and finishes what an earlier program left. `staging` is a folder of its own.
    ///
    /// # Errors
    /// Another program has it; a folder that cannot be written, that a link leads to, that came from elsewhere.
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

    /// Makes all changes, or none; `output` remembers what was done.
    ///
    /// # Errors
    /// A file that cannot be written or removed. Nothing was changed then, unless the failure says otherwise.
    pub fn commit(&self, changes: &[Change], output: &mut Output) -> Result<(), Failure> {
        apply::commit(self, changes, &mut |_| Ok(()))?;
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
                // Another one has just ended, and has taken its folder along.
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
                Ok(()) => {} // removed since by one that has just ended
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(Refused::Unwritable(path, error)),
            }
        }
        Err(Refused::Busy)
    }

    /// Finishes a change that is decided; clears what one has left that was not.
    fn settle(&self) -> Result<(), Failure> {
        if has_journal(&self.staging) {
            return apply::finish(self);
        }
        clear(&self.staging);
        Ok(())
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        if has_journal(&self.staging) {
            return; // the next program goes on from here
        }
        clear(&self.staging);
        let _ = fs::remove_file(self.staging.join(LOCK));
        leave(&self.staging, &self.made);
    }
}

/// Removes the staging folder where nothing is locked or staged in it, and `made`, the folders that were made for it.
fn leave(staging: &Path, made: &[PathBuf]) {
    if fs::symlink_metadata(staging.join(LOCK)).is_err() {
        let _ = our_ignored(staging).map(fs::remove_file);
        let _ = fs::remove_dir(staging);
        // Where it holds nothing else: whether this program made it, or one that was killed, is all the same.
        let _ = staging.parent().map(fs::remove_dir);
    }
    remove_all(made);
}

/// Finishes what was decided in the project before anything else of it is read, and clears what was not. Where no
/// project is (`is_project`), only a folder that is surely ours is touched.
///
/// # Errors
/// A change that cannot be finished here, or is being made right now; a folder that a link leads to.
pub fn finish(boundary: &Boundary, staging: &Path, is_project: bool) -> Result<(), Failure> {
    let is_there = fs::symlink_metadata(staging).is_ok();
    let surely_ours = || boundary.writable(staging).is_ok() && is_ours(staging);
    if !is_there || !(is_project || surely_ours()) {
        return Ok(());
    }
    match ProjectLock::take(boundary, staging) {
        Ok(lock) => lock.settle(),
        Err(Refused::Astray(failure)) => Err(failure),
        // Nothing is decided: what is read is whole.
        Err(_) if !has_journal(staging) => Ok(()),
        Err(Refused::Busy) => Err(busy()),
        Err(Refused::Foreign(failure)) => Err(failure),
        Err(Refused::Unwritable(path, error)) => {
            let why = format!("`{}` cannot be written: {}", from_here(&path), describe_io(&error));
            Err(Failure::new(format!("a command that was interrupted cannot be finished here: {why}"))
                .help("any command finishes it where the project can be written")
                .next("playproof check"))
        }
    }
}

/// Keeps a new folder out of git before anything else is in it, so that a kill leaves nothing for git.
fn ignore_new(staging: &Path) {
    if entries(staging).is_empty() {
        ignore(staging);
    }
}

/// Keeps what is staged out of git, also where a kill has left the file for that empty; a full disk stops nothing.
fn ignore(staging: &Path) {
    let is_cut = |path: &PathBuf| fs::metadata(path).is_ok_and(|facts| facts.len() < IGNORES_ALL.len() as u64);
    let _ = our_ignored(staging).filter(is_cut).map(fs::remove_file);
    let written = File::create_new(staging.join(IGNORED));
    let _ = written.and_then(|mut ignored| ignored.write_all(IGNORES_ALL.as_bytes()));
}

/// The file of that name, if it is the program's own; a kill may have left it empty.
fn our_ignored(staging: &Path) -> Option<PathBuf> {
    let ignored = staging.join(IGNORED);
    let is_ours = is_file(&ignored) && fs::read(&ignored).is_ok_and(|text| IGNORES_ALL.as_bytes().starts_with(&text));
    is_ours.then_some(ignored)
}

/// Whether a change is decided and not finished.
pub fn has_journal(staging: &Path) -> bool {
    fs::symlink_metadata(staging.join(JOURNAL)).is_ok()
}

/// Why a staging folder that holds the identity of another, or none, is not ours.
const COPIED: &str = "it came with a copy, an archive or a repository";

/// The refusal of what was not staged here.
pub(super) fn foreign(path: &Path, why: &str) -> Failure {
    unused(path, path.parent().unwrap_or(path), why, "look at the folder, then remove it")
}

/// The refusal of what another user made, in the staging folder or that folder itself.
pub(super) fn of_another_user(path: &Path, staging: &Path) -> Failure {
    let help = "whoever made it can finish the change with any command, or remove the folder";
    unused(path, staging, "another user made it", help)
}

fn unused(path: &Path, staging: &Path, why: &str, help: &str) -> Failure {
    Failure::new(format!("`{}` is not used: {why}", from_here(path)))
        .help(format!("nothing of it was applied, and nothing removed; {help}"))
        .next(Command::new("rm -r").path(&from_here(staging)))
}

fn busy() -> Failure {
    Failure::new("another playproof is writing this project right now")
        .help("nothing was changed; wait for it to end, then try again")
}

/// Marks the folder as made here; gives what lies in one that was not.
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
                fs::remove_file(lock)?; // ours, and empty
            }
            theirs.map(|name| staging.join(name))
        }
    };
    if theirs.is_none() {
        file.write_all(identity.as_bytes())?;
    }
    Ok(theirs)
}

/// Whether a program of ours made the folder on this machine; one that was killed at once has left nothing in it.
fn is_ours(staging: &Path) -> bool {
    let lock = staging.join(LOCK);
    let held = if is_file(&lock) { fs::read(&lock).unwrap_or_default() } else { Vec::new() };
    let is_known =
        |name: &String| (name == LOCK && is_file(&lock)) || (name == IGNORED && our_ignored(staging).is_some());
    let is_bare = held.is_empty() && entries(staging).iter().all(is_known);
    is_bare || identity(staging).is_ok_and(|identity| held == identity.as_bytes())
}

/// Removes what is staged: without a journal it means nothing.
pub(super) fn clear(staging: &Path) {
    for name in entries(staging).iter().filter(|name| is_staged(name)) {
        let path = staging.join(name);
        if is_file(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

fn entries(staging: &Path) -> Vec<String> {
    let entries = fs::read_dir(staging).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Whether a program stages under this name.
fn is_staged(name: &str) -> bool {
    let number = name.strip_suffix(".new").unwrap_or_default();
    name == JOURNAL_DRAFT || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether `path` still names the file: one that ended between opening and locking has removed it, and a third would
/// make and lock another.
#[cfg(unix)]
pub(super) fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|one| fs::metadata(path).is_ok_and(|other| same(&one, &other)))
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
pub(super) fn is_still_there(_: &File, _: &Path) -> bool {
    true
}
