//! The way forth: everything is laid out, then each file is put in its place.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::alone::{clear, missing_folders};
use super::back::take_back;
use super::change::Change;
use super::journal::{self, Journal, Step, staged};
use crate::cli::exit::Failure;
use crate::cli::files::{self, reason};

/// What went wrong, and with which file.
pub(super) type AtPath<T> = Result<T, (PathBuf, io::Error)>;

/// Makes all changes, or none. `before` is told of each change right before it is made, and of the end, and can make it
/// fail. `made` are folders that were made for it already.
pub(super) fn commit(
    staging: &Path,
    made: &[PathBuf],
    changes: &[Change],
    before: &mut dyn FnMut(usize) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |what: &Path, error: &io::Error| {
        Failure::said(format!("`{}` cannot be written: {}", what.display(), reason(error))).help("nothing was changed")
    };
    let journal = match stage(staging, made, changes) {
        Ok(journal) => journal,
        Err((path, error)) => {
            clear(staging); // no file has changed yet
            return Err(failed(&path, &error));
        }
    };
    let mut steps = journal.steps.iter().zip(changes).enumerate();
    let made = steps.try_for_each(|(n, (step, change))| {
        let done = before(n).and_then(|()| make(staging, n, step, change));
        done.map_err(|error| failed(change.path(), &error))
    });
    let sealed = made.and_then(|()| {
        remove_emptied(&journal);
        let done = before(changes.len()).and_then(|()| seal(staging));
        done.map_err(|error| failed(staging, &error))
    });
    sealed.map_err(|failure| match take_back(staging) {
        Ok(_) => failure,
        Err(second) => both(failure, second),
    })
}

/// What stopped a changeset, and what stopped its way back: whoever helps themselves needs to know both.
fn both(first: Failure, second: Failure) -> Failure {
    match (first, second) {
        (Failure::Said { message: first, .. }, Failure::Said { message: second, help, next }) => {
            let message = format!("{first}; and what had changed by then was not taken back: {second}");
            Failure::Said { message, help, next }
        }
        (_, second) => second,
    }
}

/// Lays everything out, and writes the journal last.
pub(super) fn stage(staging: &Path, made: &[PathBuf], changes: &[Change]) -> AtPath<Journal> {
    let at = |path: &Path| {
        let path = path.to_path_buf();
        move |error| (path, error)
    };
    fs::create_dir_all(staging).map_err(at(staging))?;
    clear(staging); // what a run left that never came to its journal
    let mut journal = Journal { steps: Vec::new(), made: made.to_vec() };
    for (n, change) in changes.iter().enumerate() {
        let path = change.path();
        let was_there = fs::symlink_metadata(path).is_ok();
        let mut real = path.to_owned();
        if was_there {
            real = replaceable(change).map_err(at(path))?;
            // Written as the new texts are: on disk before the journal speaks of it.
            let old = fs::read(&real).map_err(at(path))?;
            write_new(&staged(staging, n, "old"), &old, &real).map_err(at(path))?;
        }
        if let Some(text) = change.text() {
            write_new(&staged(staging, n, "new"), text, &real).map_err(at(path))?;
            journal.made.extend(missing_folders(path));
        }
        // A link goes as such, and is put back as what it led to.
        let path = if change.text().is_none() { path.to_owned() } else { real };
        journal.steps.push(Step::of(change, path, was_there));
    }
    journal.write(staging).map_err(at(&journal::path(staging)))?;
    Ok(journal)
}

/// The file that a change replaces, behind every link; an error where it must not be written over: it is new, or
/// somebody has said so.
fn replaceable(change: &Change) -> io::Result<PathBuf> {
    if matches!(change, Change::Create(..)) {
        return Err(appeared());
    }
    let said = |kind: ErrorKind, said: &str| io::Error::new(kind, said.to_owned());
    let mut real = change.path().to_owned();
    if fs::symlink_metadata(&real)?.is_symlink() {
        let nowhere = || said(ErrorKind::InvalidInput, "it is a link that leads nowhere");
        real = files::real(&real).ok_or_else(nowhere)?;
    }
    if matches!(change, Change::Write(..)) && fs::metadata(&real)?.permissions().readonly() {
        return Err(said(ErrorKind::ReadOnlyFilesystem, "it is read-only"));
    }
    Ok(real)
}

fn appeared() -> io::Error {
    io::Error::new(ErrorKind::AlreadyExists, "there is a file of this name now")
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

/// Makes one step.
pub(super) fn make(staging: &Path, n: usize, step: &Step, change: &Change) -> io::Result<()> {
    let new = staged(staging, n, "new");
    if let Some(folder) = step.path.parent().filter(|folder| !step.removes && !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    match change {
        Change::Remove(_) => match fs::remove_file(&step.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        },
        Change::Write(_, text) if !step.was_there => place_new(&new, &step.path, text),
        Change::Create(_, text) => place_new(&new, &step.path, text),
        Change::Write(_, text) => replace(&new, &step.path, text),
    }
}

/// Puts a file in its place where none is; one that has appeared since stays.
fn place_new(new: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let placed = TempPath::try_from_path(new)?.persist_noclobber(path).map_err(|refused| {
        let _ = refused.path.keep(); // it tells that the step was not made
        refused.error
    });
    match placed {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let beside = beside(path, text, new)?;
            fs::remove_file(new)?; // first: from here on the step counts as made
            beside.persist_noclobber(path).map(drop).map_err(|refused| refused.error)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(appeared()),
        other => other,
    }
}

/// Puts a file in the place of another.
fn replace(new: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    match fs::rename(new, path) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let beside = beside(path, text, new)?;
            fs::remove_file(new)?; // first: from here on the step counts as made
            beside.persist(path).map(drop).map_err(|refused| refused.error)
        }
        other => other,
    }
}

/// A text beside the file that it will be, in whatever file system that lies.
pub(super) fn beside(path: &Path, text: &[u8], like: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().prefix(".playproof-").tempfile_in(folder)?;
    beside.write_all(text)?;
    beside.as_file().set_permissions(fs::metadata(like)?.permissions())?;
    beside.as_file().sync_all()?;
    Ok(beside)
}

/// Removes folders that have become empty with the files that are gone, and those above them that have.
fn remove_emptied(journal: &Journal) {
    for step in journal.steps.iter().filter(|step| step.removes) {
        let mut folder = step.path.parent();
        while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
            if fs::remove_dir(path).is_err() {
                break;
            }
            folder = path.parent();
        }
    }
}

/// From here on the change has happened.
pub(super) fn seal(staging: &Path) -> io::Result<()> {
    fs::remove_file(journal::path(staging))?;
    clear(staging);
    Ok(())
}
