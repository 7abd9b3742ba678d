//! The history of a project, beside its proposals, and its kept calls.

use std::path::PathBuf;
use std::sync::Arc;

use super::root::{KEPT, Workspace, gather, names};
use crate::exit::Failure;
use crate::folders;
use playproof_formats::history;
use playproof_formats::history::{History, HistoryEntry};
use playproof_formats::shell::Command;

impl Workspace {
    /// The path of a record of the history.
    pub fn record_path(&self, name: &str) -> PathBuf {
        self.proposals().join("history").join(name)
    }

    /// Reads the history, which may be empty.
    ///
    /// # Errors
    /// Everything that is wrong in any record; a file with another name than a record's.
    pub fn read_history(&self) -> Result<History, Failure> {
        let found = names(folders::files_under(&self.record_path(""), ".yaml")?, "");
        let read = |name: &String| -> Result<HistoryEntry, Failure> {
            let path = self.record_path(name);
            let number = history::number_of(name).ok_or_else(|| misnamed(&self.name(&path)))?;
            let source = self.read(&path)?;
            let (record, places) = history::parse(Arc::clone(&source))?;
            Ok(HistoryEntry { number, name: name.clone(), record, places, source })
        };
        let folder = self.here(&self.record_path(""));
        let next = |failure: Failure| failure.next(Command::new("git log --oneline --").path(&folder));
        Ok(History::new(gather(found.iter().map(read).collect()).map_err(next)?))
    }

    /// The folder of kept calls.
    pub fn kept(&self) -> PathBuf {
        self.root().join(KEPT)
    }

    /// The file of a kept call (`yaml`), or its slice (`jsonl`).
    pub fn kept_path(&self, id: &str, ending: &str) -> PathBuf {
        self.kept().join(format!("{id}.{ending}"))
    }

    /// The ids of all kept calls, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn kept_ids(&self) -> Result<Vec<String>, Failure> {
        let found = names(folders::files_under(&self.kept(), ".yaml")?, ".yaml");
        Ok(found.into_iter().filter(|name| !name.contains('/')).collect())
    }
}

fn misnamed(path: &str) -> Failure {
    Failure::source(path, "bad_name", "this is not the name of a record")
        .help("a record is called `NNNN-words.yaml`: four digits, which say its place in the order, and a few words")
}
