//! Stages, commits and finishes changes. Every step can be repeated, so that the next program can continue after a kill.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::change::Change;
use super::disk::{
    NewFiles, aside, hash, hash_of, identity, is_file, is_of_another_user, missing_folders, move_into, remove_all,
    sync_folder, write_new,
};
use super::journal::{Journal, Step};
use super::staging::{JOURNAL, JOURNAL_DRAFT, LOCK, clear, foreign, of_another_user, staged};
use crate::boundary::Boundary;
use crate::exit::{Failure, describe_io};
use crate::files::from_here;
use crate::folders::{Taken, taken};
use crate::output::say;

/// Makes all changes, or none. `before` runs before each step, and can make it fail.
pub fn commit(
    boundary: &Boundary,
    staging: &Path,
    changes: &[Change],
    before: &mut dyn FnMut(usize) -> io::Result<()>,
) -> Result<(), Failure> {
    let journal = stage(boundary, staging, changes).inspect_err(|_| clear(staging))?;
    let failed = match apply(boundary, staging, &journal, before) {
        Ok(()) => return Ok(()),
        Err(failed) => failed,
    };
    let said = format!("`{}` cannot be written: {}", from_here(&failed.path), describe_io(&failed.error));
    if failed.placed == 0 && fs::remove_file(staging.join(JOURNAL)).is_ok() {
        clear(staging);
        return Err(Failure::new(said).help("nothing was changed"));
    }
    let count = journal.steps.len();
    Err(Failure::new(format!(
        "{said}; the change is committed, and {} of its {count} files are in place",
        failed.placed
    ))
    .help("the next playproof command in this project writes the others, once that file can be written")
    .next("playproof check"))
}

/// Finishes the change of a journal that an earlier program left.
pub fn finish(boundary: &Boundary, staging: &Path) -> Result<(), Failure> {
    let path = staging.join(JOURNAL);
    let journal = vetted(boundary, staging, &path)?;
    let done = apply(boundary, staging, &journal, &mut |_| Ok(()));
    if done.is_ok() {
        let names: Vec<String> = journal.steps.iter().map(|step| format!("`{}`", step.path.display())).collect();
        say(&format!("note: finished the change of a killed command: {}", names.join(", ")));
    }
    done.map_err(|failed| {
        let why = format!("`{}` cannot be written: {}", from_here(&failed.path), describe_io(&failed.error));
        Failure::new(format!("the change of a killed command cannot be finished: {why}"))
            .help("any command finishes it, once that file can be written")
            .next("playproof check")
    })
}

/// The journal, if it was written here for this project, and names no path outside.
fn vetted(boundary: &Boundary, staging: &Path, path: &Path) -> Result<Journal, Failure> {
    let refuse = |why: &str| foreign(path, why);
    for made in [staging, path, &staging.join(LOCK)] {
        if is_of_another_user(made) {
            return Err(of_another_user(made, staging));
        }
    }
    let text = if is_file(path) { fs::read_to_string(path).ok() } else { None };
    let text = text.ok_or_else(|| refuse("it is not a readable file"))?;
    let journal = Journal::parse(&text).map_err(|why| refuse(&why))?;
    let is = |folder: &Path, known: &str| identity(folder).is_ok_and(|identity| identity == known);
    if !is(boundary.root(), &journal.root) || !is(staging, &journal.staging) {
        return Err(refuse("it was written for another folder: it came with a copy, an archive or a repository"));
    }
    for (n, step) in journal.steps.iter().enumerate() {
        boundary.writable(&boundary.root().join(&step.path))?;
        let new = staged(staging, n);
        if is_of_another_user(&new) {
            return Err(of_another_user(&new, staging));
        }
        let held = hash_of(&new).map_err(|error| foreign(&new, &describe_io(&error)))?;
        if held.is_some() && held != step.new {
            return Err(foreign(&new, "it is not what was staged"));
        }
    }
    Ok(journal)
}

/// Stages every new text, then writes the journal, which commits the change.
pub(super) fn stage(boundary: &Boundary, staging: &Path, changes: &[Change]) -> Result<Journal, Failure> {
    clear(staging);
    let unchanged = |failure: Failure| failure.help("nothing was changed");
    let mut steps: Vec<Step> = Vec::new();
    let files = NewFiles::in_folder(staging, changes.len());
    for change in changes {
        let path = boundary.writable(change.path())?;
        let refuse = |error: io::Error| {
            unchanged(Failure::new(format!("`{}` cannot be written: {}", from_here(&path), describe_io(&error))))
        };
        let old = replaceable(change, &path).map_err(refuse)?;
        if let Some(text) = change.text() {
            files.write(&staged(staging, steps.len()), text, &path).map_err(refuse)?;
        } else if old.is_none() {
            continue; // removed already
        }
        steps.push(Step { path: boundary.name(&path), old, new: change.text().map(hash) });
    }
    files.sync().and_then(|()| write_journal(boundary, staging, steps)).map_err(|error| {
        let path = from_here(&staging.join(JOURNAL));
        unchanged(Failure::new(format!("`{path}` cannot be written: {}", describe_io(&error))))
    })
}

/// The hash of the file that is replaced; an error if it must not be replaced.
fn replaceable(change: &Change, path: &Path) -> io::Result<Option<String>> {
    let said = |kind: ErrorKind, said: &str| Err(io::Error::new(kind, said.to_owned()));
    if path.to_str().is_none() {
        return said(ErrorKind::InvalidInput, "its name is not UTF-8");
    }
    let folder = path.ancestors().skip(1).find_map(|above| fs::metadata(above).ok());
    if folder.is_some_and(|folder| folder.permissions().readonly()) {
        return said(ErrorKind::ReadOnlyFilesystem, "its folder is read-only");
    }
    let in_the_way = |_| io::Error::new(ErrorKind::NotADirectory, "a file is in the place of its folder");
    match (change, taken(path).map_err(in_the_way)?) {
        (_, Taken::Free) => Ok(None),
        (Change::Create(..), _) => said(ErrorKind::AlreadyExists, "there is a file of this name now"),
        (_, Taken::Folder) => said(ErrorKind::IsADirectory, "it is a directory"),
        (Change::Write(..), _) if fs::metadata(path)?.permissions().readonly() => {
            said(ErrorKind::ReadOnlyFilesystem, "it is read-only")
        }
        _ => hash_of(path),
    }
}

fn write_journal(boundary: &Boundary, staging: &Path, steps: Vec<Step>) -> io::Result<Journal> {
    let journal = Journal::new(identity(boundary.root())?, identity(staging)?, steps);
    let draft = staging.join(JOURNAL_DRAFT);
    write_new(&draft, journal.render().as_bytes(), &draft)?;
    sync_folder(staging);
    fs::rename(draft, staging.join(JOURNAL))?;
    sync_folder(staging);
    Ok(journal)
}

/// Why a committed change stopped.
struct Failed {
    path: PathBuf,
    error: io::Error,
    /// The number of files in place.
    placed: usize,
}

/// Moves every file to its place, and removes the journal.
fn apply(
    boundary: &Boundary,
    staging: &Path,
    journal: &Journal,
    before: &mut dyn FnMut(usize) -> io::Result<()>,
) -> Result<(), Failed> {
    let mut folders = BTreeSet::new();
    for (n, step) in journal.steps.iter().enumerate() {
        let path = boundary.root().join(&step.path);
        let made = missing_folders(&path);
        let placed = before(n).and_then(|()| place(step, &staged(staging, n), &path));
        placed.map_err(|error| {
            remove_all(&made);
            Failed { path: path.clone(), error, placed: n }
        })?;
        folders.extend(path.parent().map(Path::to_path_buf));
    }
    folders.iter().for_each(|folder| sync_folder(folder));
    let removed = journal.steps.iter().filter(|step| step.new.is_none());
    let left: BTreeSet<PathBuf> =
        removed.filter_map(|step| Some(boundary.root().join(&step.path).parent()?.to_owned())).collect();
    left.iter().rev().for_each(|folder| remove_emptied(boundary, folder)); // what lies deeper first
    let end = staging.join(JOURNAL);
    let finished = before(journal.steps.len()).and_then(|()| fs::remove_file(&end));
    finished.map_err(|error| Failed { path: end, error, placed: journal.steps.len() })?;
    clear(staging);
    Ok(())
}

/// Moves one file to its place. If the file changed meanwhile, that text is kept aside, with a note.
pub(super) fn place(step: &Step, new: &Path, path: &Path) -> io::Result<()> {
    let now = hash_of(path)?;
    if now == step.new {
        return Ok(()); // in its place already; a staged copy is removed with the journal
    }
    if step.new.is_some() && !is_file(new) {
        return Ok(()); // it was in its place, and has changed since
    }
    if now.is_some() && now != step.old {
        let aside = aside(path);
        fs::rename(path, &aside)?;
        let said =
            format!("note: `{}` was changed meanwhile; that text is kept in `{}`", from_here(path), from_here(&aside));
        say(&said);
    } else if now.is_some() && step.new.is_none() {
        fs::remove_file(path)?;
    }
    if step.new.is_some() {
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            fs::create_dir_all(folder)?;
        }
        move_into(new, path)?;
    }
    Ok(())
}

/// Removes a folder below the root that is empty by now, and those above it that are.
fn remove_emptied(boundary: &Boundary, folder: &Path) {
    for folder in folder.ancestors().take_while(|folder| *folder != boundary.root()) {
        if boundary.writable(folder).is_err() || fs::remove_dir(folder).is_err() {
            break;
        }
    }
}
