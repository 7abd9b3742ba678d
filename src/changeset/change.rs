//! One file of a changeset, and what becomes of it. Touches no disk.

use std::path::{Path, PathBuf};

/// One file of a changeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is there with this text afterwards.
    Write(PathBuf, Vec<u8>),
    /// It is there with this text afterwards, and was not there before: what is there is never overwritten.
    Create(PathBuf, Vec<u8>),
    /// It is gone afterwards.
    Remove(PathBuf),
}

impl Change {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Change::Write(path, _) | Change::Create(path, _) | Change::Remove(path) => path,
        }
    }

    /// What is done with it, in a word.
    pub const fn word(&self) -> &'static str {
        match self {
            Change::Write(..) | Change::Create(..) => "wrote",
            Change::Remove(_) => "removed",
        }
    }

    /// Its text afterwards; none where it is gone.
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            Change::Write(_, text) | Change::Create(_, text) => Some(text),
            Change::Remove(_) => None,
        }
    }
}
