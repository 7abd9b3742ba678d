//! The right to change a project: one program at a time, and none where an earlier one was interrupted.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access; it waits for others")]

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::back::take_back;
use super::change::Change;
use super::forth::commit;
use super::journal::{self, Journal};
use crate::cli::exit::Failure;
use crate::cli::files::{self, reason};

const LOCK: &str = "lock";

/// What is laid out is nobody's to commit.
const IGNORED: &str = ".gitignore";

/// How often the lock is asked for, and how long is waited in between: a quarter of a second in all. Whoever reads the
/// project holds it for a moment too; and so does, where a program was killed, the git that it was about to start,
/// until that runs and the lock is closed.
const TRIES: usize = 25;
const PAUSE: Duration = Duration::from_millis(10);

/// The right to change the project, held from before it is read until it is written: what was read meanwhile is still
/// so. A lock in the staging folder.
#[derive(Debug)]
pub struct Alone {
    /// Its file; the lock goes when this is closed.
    _file: File,
    staging: PathBuf,
    /// Folders that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

/// Why the right cannot be had.
enum Refused {
    Busy,
    Unwritable(PathBuf, io::Error),
}

impl Alone {
    /// Takes the right. `staging` is a folder of its own in the same file system.
    ///
    /// # Errors
    /// Another program has it; an earlier one was interrupted.
    pub fn at(staging: &Path) -> Result<Alone, Failure> {
        let alone = Alone::even_after_an_interruption(staging)?;
        alone.settle()?;
        Ok(alone)
    }

    /// Makes all changes, or none.
    ///
    /// # Errors
    /// A file that cannot be written or removed; everything is then as it was.
    pub fn commit(&self, changes: &[Change]) -> Result<(), Failure> {
        commit(&self.staging, &self.made, changes, &mut |_| Ok(()))
    }

    /// Folders that go with it in the end, if they are empty.
    pub(super) fn also_made(&mut self, folders: Vec<PathBuf>) {
        self.made = folders;
    }

    /// Takes the right where files may be half written.
    pub(super) fn even_after_an_interruption(staging: &Path) -> Result<Alone, Failure> {
        Alone::take(staging).map_err(|refused| match refused {
            Refused::Busy => busy(),
            Refused::Unwritable(path, error) => {
                let said = format!("`{}` cannot be written: {}", path.display(), reason(&error));
                Failure::said(said).help("nothing was changed")
            }
        })
    }

    fn take(staging: &Path) -> Result<Alone, Refused> {
        let path = staging.join(LOCK);
        let made = missing_folders(&path);
        for _ in 0..TRIES {
            let opened = fs::create_dir_all(staging).and_then(|()| File::create(&path));
            let file = match opened {
                // Another one has just ended, and has taken its folder along.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    remove_all(&made);
                    return Err(Refused::Unwritable(path, error));
                }
                Ok(file) => file,
            };
            match file.try_lock() {
                Ok(()) if is_still_there(&file, &path) => {
                    let _ = fs::write(staging.join(IGNORED), "*\n"); // for tidiness alone
                    return Ok(Alone { _file: file, staging: staging.to_path_buf(), made });
                }
                Ok(()) => {} // removed since by one that has just ended
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => {
                    if !made.is_empty() {
                        let _ = fs::remove_file(&path); // nobody else has locked it, where nobody can
                        remove_all(&made);
                    }
                    return Err(Refused::Unwritable(path, error));
                }
            }
        }
        Err(Refused::Busy)
    }

    /// Clears what a command has left that came to change nothing.
    fn settle(&self) -> Result<(), Failure> {
        match Journal::read(&self.staging) {
            None => {
                clear(&self.staging);
                Ok(())
            }
            Some(Ok(journal)) if !journal.is_begun(&self.staging) => take_back(&self.staging).map(drop),
            Some(_) => Err(interrupted()),
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !is_interrupted(&self.staging) {
            clear(&self.staging);
            let _ = fs::remove_file(self.staging.join(IGNORED));
        }
        let _ = fs::remove_file(self.staging.join(LOCK));
        let _ = fs::remove_dir(&self.staging);
        // One that an interrupted command has made, or this one.
        let _ = self.staging.parent().map(fs::remove_dir);
        remove_all(&self.made);
    }
}

/// Refuses to go on where a changeset was interrupted, and clears what one has left that changed nothing.
///
/// # Errors
/// One was interrupted, or is being made right now.
pub fn refuse_interrupted(staging: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(staging).is_err() {
        return Ok(());
    }
    match Alone::take(staging) {
        Ok(alone) => alone.settle(),
        // Before the journal is written nothing changes: what is read meanwhile is whole.
        Err(_) if !is_interrupted(staging) => Ok(()),
        Err(Refused::Busy) => Err(busy()),
        Err(Refused::Unwritable(..)) => Err(interrupted()),
    }
}

fn interrupted() -> Failure {
    Failure::said("an earlier command was interrupted: some of its files are written and others are not")
        .help("take it back first, then try again")
        .next("playproof propose recover")
}

fn busy() -> Failure {
    Failure::said("another playproof is writing this project right now")
        .help("nothing was changed; wait for it to end, then try again")
}

/// Whether a changeset is being made, or was interrupted.
pub(super) fn is_interrupted(staging: &Path) -> bool {
    fs::symlink_metadata(journal::path(staging)).is_ok()
}

/// Removes what is laid out: without a journal it means nothing.
pub(super) fn clear(staging: &Path) {
    let Ok(entries) = fs::read_dir(staging) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name() != LOCK && entry.file_name() != IGNORED) {
        let _ = fs::remove_file(entry.path());
    }
}

/// The folders above a file that are not there yet, the outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = above.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Removes folders, the innermost first; one that holds other files by now stays, and the one that people are in.
pub(super) fn remove_all(folders: &[PathBuf]) {
    let here = files::real(Path::new("."));
    for folder in folders.iter().rev().filter(|folder| files::real(folder) != here) {
        let _ = fs::remove_dir(folder);
    }
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
