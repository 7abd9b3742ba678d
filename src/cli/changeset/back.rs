//! The way back: what the journal tells of is put back, the last step first.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::alone::{Alone, clear, is_interrupted, remove_all};
use super::forth::{beside, seal};
use super::journal::{self, Journal, Step, staged};
use crate::cli::exit::Failure;
use crate::cli::files::{from_here, reason};

/// What was taken back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Whether anything was left of an interrupted command at all.
    pub was_interrupted: bool,
    /// Files that are as they were again.
    pub back: Vec<String>,
    /// Files that somebody has changed since, and where they lie now.
    pub aside: Vec<(String, String)>,
    /// Folders that the command had made.
    pub(super) made: Vec<PathBuf>,
}

/// Takes back what an interrupted changeset has done.
///
/// # Errors
/// Another program that is at it; a journal that cannot be read, a file that cannot be put back: asking again goes on
/// from there.
pub fn recover(staging: &Path) -> Result<Recovered, Failure> {
    if fs::symlink_metadata(staging).is_err() {
        return Ok(Recovered::default());
    }
    let mut alone = Alone::even_after_an_interruption(staging)?;
    let mut recovered = match is_interrupted(staging) {
        true => take_back(staging)?,
        false => {
            clear(staging);
            Recovered::default()
        }
    };
    recovered.was_interrupted = true;
    alone.also_made(std::mem::take(&mut recovered.made));
    Ok(recovered)
}

/// What became of one file.
pub(super) enum Put {
    /// It was as it should be.
    Nothing,
    /// It is as it was.
    Back,
    /// It is as it was, and what somebody else wrote since lies here.
    Aside(PathBuf),
}

/// As [`recover`], by who has the right.
pub(super) fn take_back(staging: &Path) -> Result<Recovered, Failure> {
    let broken = |what: &Path, why: &str| {
        Failure::said(format!("`{}` cannot be put back: {why}", what.display()))
            .help(format!("the files as they were lie in `{}`; journal.json names their places", staging.display()))
            .next("playproof propose recover")
    };
    let path = journal::path(staging);
    let read = Journal::read(staging).unwrap_or_else(|| Ok(Journal::default()));
    let journal = read.map_err(|why| broken(&path, &why))?;
    let mut recovered = Recovered::default();
    for (n, step) in journal.steps.iter().enumerate().rev() {
        let name = || from_here(&step.path);
        match put_back(step, n, staging).map_err(|error| broken(&step.path, &reason(&error)))? {
            Put::Nothing => {}
            Put::Back => recovered.back.push(name()),
            Put::Aside(aside) => {
                recovered.back.push(name());
                recovered.aside.push((name(), from_here(&aside)));
            }
        }
    }
    remove_all(&journal.made); // before the end: who is stopped in between begins anew
    seal(staging).map_err(|error| broken(&path, &reason(&error)))?;
    recovered.back.reverse();
    recovered.aside.reverse();
    recovered.made = journal.made;
    Ok(recovered)
}

/// Undoes one step, if it was made; what is there by now and is none of ours is moved aside.
pub(super) fn put_back(step: &Step, n: usize, staging: &Path) -> io::Result<Put> {
    if !step.is_made(staging, n) {
        return Ok(Put::Nothing);
    }
    let (path, old) = (&step.path, staged(staging, n, "old"));
    let then = match fs::read(&old) {
        // Put back already, by a way back that was itself interrupted.
        Err(error) if error.kind() == ErrorKind::NotFound && step.was_there => return Ok(Put::Nothing),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        read => Some(read?),
    };
    let is_there = fs::symlink_metadata(path).is_ok();
    let now = fs::read(path).ok();
    if is_there && now.is_some() && now == then || !is_there && then.is_none() {
        return Ok(Put::Nothing);
    }
    let mut put = Put::Back;
    if is_there && !now.is_some_and(|now| step.wrote(&now)) {
        let aside = aside(path);
        fs::rename(path, &aside)?;
        put = Put::Aside(aside);
    }
    match then {
        Some(then) => restore(&old, path, &then)?,
        None if matches!(put, Put::Back) => fs::remove_file(path)?,
        None => {}
    }
    Ok(put)
}

fn restore(old: &Path, path: &Path, then: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    match fs::rename(old, path) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            beside(path, then, old)?.persist(path).map_err(|refused| refused.error)?;
            fs::remove_file(old)
        }
        other => other,
    }
}

/// A free name beside a file.
fn aside(path: &Path) -> PathBuf {
    let name = |n: usize| {
        let mut name: OsString = path.file_name().unwrap_or_default().to_owned();
        name.push(if n == 1 { ".aside".to_owned() } else { format!(".aside-{n}") });
        path.with_file_name(name)
    };
    let free = (1..1_000).map(name).find(|path| fs::symlink_metadata(path).is_err());
    free.unwrap_or_else(|| name(1_000))
}
