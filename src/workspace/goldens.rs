//! The goldens of a project, and the lock beside them.

use std::path::PathBuf;
use std::sync::Arc;

use super::root::{Workspace, names};
use crate::exit::Failure;
use crate::folders;
use playproof_analysis::check::CaseId;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Lock;

/// The files of a golden.
#[derive(Clone, Debug)]
pub struct GoldenPaths {
    /// The accepted golden.
    pub accepted: PathBuf,
    /// The run that waits for review.
    pub pending: PathBuf,
}

impl Workspace {
    /// The files of a golden.
    pub fn golden(&self, id: &CaseId) -> GoldenPaths {
        let file = |ending: &str| self.goldens.join(&id.playbook).join(format!("{}.{ending}", id.fixture));
        GoldenPaths { accepted: file("snap"), pending: file("snap.new") }
    }

    /// Reads the golden of `id`, if it exists.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_golden(&self, id: &CaseId) -> Result<Option<Arc<Source>>, Failure> {
        let path = self.golden(id).accepted;
        if folders::is_there(&path) { self.read(&path).map(Some) } else { Ok(None) }
    }

    /// The goldens under the goldens' folder whose names end in `ending`, by playbook and fixture, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn goldens_that_end_in(&self, ending: &str, playbooks: &[&str]) -> Result<Vec<CaseId>, Failure> {
        let found = names(folders::files_under(&self.goldens, ending)?, ending);
        let mut ids: Vec<CaseId> = found.iter().map(|name| id_of(name, playbooks)).collect();
        ids.sort();
        Ok(ids)
    }

    /// The lock's file.
    pub fn lock_path(&self) -> PathBuf {
        self.goldens.join("playbook.lock")
    }

    /// Reads the lock, if it exists.
    ///
    /// # Errors
    /// A lock that cannot be used.
    pub fn read_lock(&self) -> Result<Option<Lock>, Failure> {
        Ok(self.read_lock_with_source()?.map(|(lock, _)| lock))
    }

    /// Reads the lock, if it exists, with the text for its places.
    ///
    /// # Errors
    /// A lock that cannot be used.
    pub fn read_lock_with_source(&self) -> Result<Option<(Lock, Arc<Source>)>, Failure> {
        let path = self.lock_path();
        if !folders::is_there(&path) {
            return Ok(None);
        }
        let source = self.read(&path)?;
        Ok(Some((Lock::parse(Arc::clone(&source))?, source)))
    }
}

/// `study/old/refund` is the fixture `refund` under `study/old`, unless a known playbook says where its name ends.
fn id_of(name: &str, playbooks: &[&str]) -> CaseId {
    let known = playbooks.iter().filter_map(|playbook| {
        let fixture = name.strip_prefix(*playbook)?.strip_prefix('/')?;
        Some((*playbook, fixture))
    });
    let longest = known.max_by_key(|(playbook, _)| playbook.len());
    let (playbook, fixture) = longest.or_else(|| name.rsplit_once('/')).unwrap_or(("", name));
    CaseId { playbook: playbook.to_owned(), fixture: fixture.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_golden_s_path_is_split_where_a_known_playbook_ends() {
        let id = |name, playbooks: &[&str]| id_of(name, playbooks).to_string();
        assert_eq!(id_of("study/old/refund", &[]).fixture, "refund");
        assert_eq!(id_of("study/old/deep/refund", &["study", "study/old"]).fixture, "deep/refund");
        assert_eq!(id("standard/refund", &["standard"]), "standard/refund");
    }
}
