//! Resolves the arguments that name a fixture, a run, a proposal or a kept call. A path must exist in this project; no
//! name is matched by its end.

use std::path::{Component, Path};

use super::root::Workspace;
use crate::{files, playbooks};
use playproof_analysis::check::CaseId;

impl Workspace {
    /// Whether `asked` is the run, its golden, its fixture, or one of their files.
    pub fn names_run(&self, asked: &str, id: &CaseId) -> bool {
        self.names_fixture(asked, &id.fixture) || self.run_named(asked) == Some(id.to_string())
    }

    /// The run that `asked` is, as `PLAYBOOK/FIXTURE`, or the golden of; whether there is such a run is not asked.
    pub fn run_named(&self, asked: &str) -> Option<String> {
        self.named_below(&self.goldens, asked, &[".snap.new", ".snap"])
    }

    /// Whether `asked` is the fixture or its file.
    pub fn names_fixture(&self, asked: &str, fixture: &str) -> bool {
        self.named_below(&self.fixtures, asked, &[".yaml"]).as_deref() == Some(fixture)
    }

    /// The id of the proposal that `asked` names by id, folder or file.
    pub fn proposal_named(&self, asked: &str) -> Option<String> {
        self.named_below(self.proposals(), asked.trim_end_matches('/'), &["/playbook.yaml"])
    }

    /// The id of the kept call that `asked` names by id or file.
    pub fn kept_named(&self, asked: &str) -> Option<String> {
        self.named_below(&self.kept(), asked, &[".yaml", ".jsonl"])
    }

    /// The name of `asked` below `folder`, without the ending of a file. A name or a path relative to the root is taken as
    /// given; any other path must exist there.
    fn named_below(&self, folder: &Path, asked: &str, endings: &[&str]) -> Option<String> {
        let bare = |text: &str| endings.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).to_owned();
        if !leads_somewhere(asked, endings) {
            let folder = format!("{}/", self.name(folder));
            return Some(bare(asked.strip_prefix(&folder).unwrap_or(asked)));
        }
        let typed = [asked.to_owned()].into_iter().chain(endings.iter().map(|end| format!("{asked}{end}")));
        let there = typed.into_iter().find(|path| files::exists(path))?;
        Some(bare(&playbooks::below(Path::new(&there), folder)?.to_string_lossy().replace('\\', "/")))
    }
}

/// Whether `asked` is a path and not a name.
fn leads_somewhere(asked: &str, endings: &[&str]) -> bool {
    let first = Path::new(asked).components().next();
    matches!(first, Some(Component::RootDir | Component::Prefix(_) | Component::CurDir | Component::ParentDir))
        || (asked.contains('/') || endings.iter().any(|end| asked.ends_with(end))) && files::exists(asked)
}
