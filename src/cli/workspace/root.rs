//! A project's root and folders: where they lie, what its files are called, who may change them. Knows no file's
//! content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::changeset::{Alone, refuse_interrupted};
use crate::cli::exit::Failure;
use crate::cli::files;
use crate::cli::playbooks::{self, Named};
use crate::cli::project::{self, Project};
use crate::diagnostic::{Report, Source};
use crate::playbook::model::Tools;
use crate::playbook::tools::{self, LoadedTools};
use crate::shell::Command;

/// The folder below the proposals in which changesets are laid out.
pub const STAGING: &str = ".accepting";

/// Where a project's files lie.
#[derive(Debug)]
pub struct Workspace {
    pub(super) root: PathBuf,
    pub(super) fixtures: PathBuf,
    pub(super) goldens: PathBuf,
    proposals: PathBuf,
    /// The playbook of fixtures that name none.
    pub(super) default: Named,
    tools: Tools,
    /// Where they stand.
    tools_path: Option<PathBuf>,
}

fn folder(root: &Path, named: Option<&String>, usual: &str) -> PathBuf {
    named.map_or_else(|| root.join(usual), |named| PathBuf::from(named.trim_end_matches('/')))
}

fn proposals(root: &Path, project: &Project) -> PathBuf {
    folder(root, project.proposals.as_ref(), "proposals")
}

/// Where changes of the project in `root` are laid out before they are made.
pub fn staging(root: &Path, project: &Project) -> PathBuf {
    proposals(root, project).join(STAGING)
}

/// Refuses to go on where a change of the project in `root` was interrupted; looks at nothing else of it.
///
/// # Errors
/// One was interrupted, or is being made right now.
pub fn refuse_half_written(root: &Path, project: &Project) -> Result<(), Failure> {
    refuse_interrupted(&staging(root, project))
}

impl Workspace {
    /// The project of the working directory.
    ///
    /// # Errors
    /// A project file or tool facts that cannot be used; a change of the project that was interrupted.
    pub fn open() -> Result<Workspace, Failure> {
        let workspace = Workspace::even_after_an_interruption()?;
        refuse_interrupted(&workspace.staging())?;
        Ok(workspace)
    }

    /// The same where files may be half written.
    ///
    /// # Errors
    /// A project file or tool facts that cannot be used.
    pub fn even_after_an_interruption() -> Result<Workspace, Failure> {
        let project = Project::find()?;
        Workspace::of(project::root(), &project)
    }

    /// The project whose file lies in `root`.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn at(root: &Path) -> Result<Workspace, Failure> {
        Workspace::of(root.to_path_buf(), &Project::read(&root.join(project::FILE))?)
    }

    fn of(root: PathBuf, project: &Project) -> Result<Workspace, Failure> {
        Ok(Workspace {
            fixtures: folder(&root, project.fixtures.as_ref(), "fixtures"),
            goldens: folder(&root, project.goldens.as_ref(), "goldens"),
            proposals: proposals(&root, project),
            default: playbooks::usual(&root, project),
            tools: playbooks::facts(None, project)?,
            tools_path: project.tools.as_ref().map(PathBuf::from),
            root,
        })
    }

    /// The same, with its fixtures in another folder.
    #[must_use]
    pub fn with_fixtures(self, folder: Option<&str>) -> Workspace {
        let fixtures = folder.map_or(self.fixtures, |folder| PathBuf::from(folder.trim_end_matches('/')));
        Workspace { fixtures, ..self }
    }

    /// Where proposals lie.
    pub fn proposals(&self) -> &Path {
        &self.proposals
    }

    /// The tool facts that win over every playbook's own.
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The file of these tool facts with its places, read anew; none where the project names none.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub fn tools_file(&self) -> Result<Option<LoadedTools>, Failure> {
        let source = self.tools_path.as_ref().map(|path| self.read(path)).transpose()?;
        Ok(source.map(tools::load).transpose()?)
    }

    /// Tells of tool facts that are guesses, and of no other.
    ///
    /// # Errors
    /// Tool facts that cannot be used.
    pub fn say_guesses(&self) -> Result<(), Failure> {
        playbooks::facts_said(None, &Project::find()?).map(drop)
    }

    /// The project's root; empty for the working directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path as the project's files and reports name it: below the root, from wherever that is asked.
    pub fn name(&self, path: &Path) -> String {
        let whole = if self.root.as_os_str().is_empty() { path.to_path_buf() } else { files::absolute(path) };
        whole.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The same path as it is typed where people stand: in what they are told, and in the commands that are suggested.
    pub fn here(&self, path: &Path) -> String {
        let name = self.name(path);
        if Path::new(&name).is_absolute() { name } else { self.way_up() + &name }
    }

    /// What leads from the working directory to the root; empty where that is the same.
    pub fn way_up(&self) -> String {
        files::way_up(&self.root)
    }

    /// The right to change the project; to be held before anything that the change depends on is read.
    ///
    /// # Errors
    /// Another program has it; an earlier one was interrupted.
    pub fn alone(&self) -> Result<Alone, Failure> {
        Alone::at(&self.staging())
    }

    /// Where a changeset is laid out.
    pub fn staging(&self) -> PathBuf {
        self.proposals.join(STAGING)
    }

    /// Reads a file under the name that people know it by.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(&self, path: &Path) -> Result<Arc<Source>, Failure> {
        let source = files::read_small(&path.to_string_lossy())?;
        match self.root.as_os_str().is_empty() {
            true => Ok(source),
            false => Ok(Arc::new(Source { name: self.name(path), ..(*source).clone() })),
        }
    }
}

/// Paths below a folder as names: with `/`, without their ending.
pub(super) fn names(paths: Vec<PathBuf>, ending: &str) -> Vec<String> {
    let name = |path: PathBuf| {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let name = parts.join("/");
        name.strip_suffix(ending).map(str::to_owned).unwrap_or(name)
    };
    let mut names: Vec<String> = paths.into_iter().map(name).collect();
    names.sort();
    names
}

/// All values, or all failures as one, with the first command that one of them names.
pub(super) fn gather<T>(results: Vec<Result<T, Failure>>) -> Result<Vec<T>, Failure> {
    let mut values = Vec::with_capacity(results.len());
    let (mut reports, mut next): (Vec<Report>, Option<Command>) = (Vec::new(), None);
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(Failure::Reports { reports: more, next: its }) => {
                reports.extend(more);
                next = next.or(its);
            }
            Err(other) => return Err(other),
        }
    }
    if reports.is_empty() { Ok(values) } else { Err(Failure::Reports { reports, next }) }
}
