//! One file of a changeset, and its change. Touches no disk.

use std::path::{Path, PathBuf};

/// One file of a changeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes the file with this text.
    Write(PathBuf, Vec<u8>),
    /// Makes the file with this text; an existing file is never overwritten.
    Create(PathBuf, Vec<u8>),
    /// Removes the file.
    Remove(PathBuf),
}

impl Change {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Change::Write(path, _) | Change::Create(path, _) | Change::Remove(path) => path,
        }
    }

    /// The change in one word.
    pub const fn word(&self) -> &'static str {
        match self {
            Change::Write(..) | Change::Create(..) => "wrote",
            Change::Remove(_) => "removed",
        }
    }

    /// The new text; none for a removal.
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            Change::Write(_, text) | Change::Create(_, text) => Some(text),
            Change::Remove(_) => None,
        }
    }
}
