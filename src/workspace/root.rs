//! A project's root and folders, the names of its files, and the right to change them. Parses no file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boundary::Boundary;
use crate::changeset;
use crate::changeset::ProjectLock;
use crate::exit::Failure;
use crate::playbooks;
use crate::playbooks::NamedPlaybook;
use crate::project;
use crate::project::Project;
use crate::{files, folders};
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::playbook::tools;
use playproof_formats::playbook::tools::LoadedTools;
use playproof_formats::shell::Command;

/// The folder of kept calls, below the root.
pub(super) const KEPT: &str = "kept";

/// The staging folder of changesets, below the proposals.
pub const STAGING: &str = ".accepting";

/// The paths of a project.
#[derive(Debug)]
pub struct Workspace {
    pub(super) root: PathBuf,
    pub(super) fixtures: PathBuf,
    pub(super) goldens: PathBuf,
    proposals: PathBuf,
    /// The playbook of fixtures that name none.
    pub(super) default: NamedPlaybook,
    boundary: Boundary,
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

/// The staging folder of the project in `root`.
pub fn staging(root: &Path, project: &Project) -> PathBuf {
    proposals(root, project).join(STAGING)
}

pub(super) const A_FIXTURE: &str = "a fixture";

/// What the project in `root` would read a file as; `there` is its real path. None if no command looks for it.
pub fn taken_for(root: &Path, there: &Path) -> Option<&'static str> {
    let file = root.join(project::FILE);
    // The reader of an unusable project reports it.
    let project = if folders::has_file(&file) { Project::read(&file).unwrap_or_default() } else { Project::default() };
    let is_yaml = there.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let folders = [
        (folder(root, project.goldens.as_ref(), "goldens"), true, "a golden"),
        (proposals(root, &project), true, "a file of a proposal"),
        (folder(root, project.fixtures.as_ref(), "fixtures"), is_yaml, A_FIXTURE),
        (root.join(playbooks::FOLDER), is_yaml, "a playbook"),
        (root.join(KEPT), true, "a kept call"),
    ];
    let holds =
        |folder: &Path| files::destination(&folder.to_string_lossy()).is_some_and(|folder| there.starts_with(folder));
    folders.iter().find(|(folder, is_read, _)| *is_read && holds(folder)).map(|(.., what)| *what)
}

/// Runs [`begin`] for the project of the working directory, and first for one that a killed command was making in a
/// nearer folder.
///
/// # Errors
/// As [`begin`].
pub fn begin_here(allow_outside: bool, again: impl Fn() -> Command) -> Result<(), Failure> {
    let begun = files::folder_upwards(&format!("proposals/{STAGING}"));
    let begun = begun.and_then(|staging| Some(staging.ancestors().nth(2)?.to_path_buf()));
    // Above the project, or without one, a staging folder may come from anywhere.
    let root = files::absolute(&Path::new(".").join(project::root()));
    let is_new = |begun: &PathBuf| begun.starts_with(&root) && !folders::has_file(&begun.join(project::FILE));
    if let Some(begun) = begun.filter(is_new) {
        begin(&begun, allow_outside, &again)?;
    }
    // A folder, a pipe or a broken link of this name is an error, not a project without settings.
    if let Some(file) = files::upwards(project::FILE).filter(|file| !folders::has_file(file)) {
        Project::read(&file)?;
    }
    begin(&project::root(), allow_outside, again)
}

/// Runs before a command reads the project in `root`: refuses paths that lead out of it, unless that is allowed, and
/// finishes the change of a killed command. `again` is the command with `--allow-outside`.
///
/// # Errors
/// An unusable `playproof.yaml`; a change that cannot be finished here, or that another program is making.
pub fn begin(root: &Path, allow_outside: bool, again: impl Fn() -> Command) -> Result<(), Failure> {
    let file = root.join(project::FILE);
    let is_project = folders::has_file(&file);
    if is_project && !allow_outside {
        Boundary::new(root, []).readable(&file)?;
    }
    let project = if is_project { Project::read(&file) } else { Ok(Project::default()) };
    let project = match project {
        Ok(project) => project,
        // An unfinished change comes first, even if the file is unusable.
        Err(failure) => {
            let usual = Project::default();
            changeset::finish(&usual.boundary(root), &staging(root, &usual), false)?;
            return Err(failure);
        }
    };
    project.refuse_outside(root, allow_outside).map_err(|failure| failure.next(again()))?;
    let staging = staging(root, &project);
    changeset::finish(&project.boundary(root), &staging, is_project || changeset::has_journal(&staging))
}

impl Workspace {
    /// The project of the working directory.
    ///
    /// # Errors
    /// A project file or tool facts that cannot be used.
    pub fn open() -> Result<Workspace, Failure> {
        let project = Project::find()?;
        Workspace::rooted(project::root(), &project)
    }

    /// The project whose file is in `root`.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn at(root: &Path) -> Result<Workspace, Failure> {
        Workspace::rooted(root.to_path_buf(), &Project::read(&root.join(project::FILE))?)
    }

    fn rooted(root: PathBuf, project: &Project) -> Result<Workspace, Failure> {
        Ok(Workspace {
            fixtures: folder(&root, project.fixtures.as_ref(), "fixtures"),
            goldens: folder(&root, project.goldens.as_ref(), "goldens"),
            proposals: proposals(&root, project),
            boundary: project.boundary(&root),
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

    /// What the settings of the project resolve to: its playbook (by name, if it comes with the program) and its folders.
    pub fn resolved(&self) -> Vec<(&'static str, String)> {
        vec![
            ("playbook", self.playbook_name(&self.default.name)),
            ("fixtures", self.name(&self.fixtures)),
            ("goldens", self.name(&self.goldens)),
            ("proposals", self.name(&self.proposals)),
        ]
    }

    /// The folder of proposals.
    pub fn proposals(&self) -> &Path {
        &self.proposals
    }

    /// The tool facts that win over every playbook's own.
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The tool facts file with its places, read again; none if the project names none.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub fn tools_file(&self) -> Result<Option<LoadedTools>, Failure> {
        let source = self.tools_path.as_ref().map(|path| self.read(path)).transpose()?;
        Ok(source.map(tools::load).transpose()?)
    }

    /// Prints a note about unconfirmed guesses in the tool facts.
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

    /// A path relative to the root, for the project's files and reports.
    pub fn name(&self, path: &Path) -> String {
        let whole = if self.root.as_os_str().is_empty() { path.to_path_buf() } else { files::absolute(path) };
        whole.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The same path relative to the working directory, for messages and suggested commands.
    pub fn here(&self, path: &Path) -> String {
        let name = self.name(path);
        if Path::new(&name).is_absolute() { name } else { self.way_up() + &name }
    }

    /// The path from the working directory up to the root; empty if they are the same.
    pub fn way_up(&self) -> String {
        files::way_up(&self.root)
    }

    /// Takes the lock that a change of the project needs. Take it before you read what the change depends on.
    ///
    /// # Errors
    /// Another program holds it; a folder that cannot be written.
    pub fn project_lock(&self) -> Result<ProjectLock, Failure> {
        ProjectLock::at(&self.boundary, &self.proposals.join(STAGING))
    }

    /// Refuses a path that a link leads out of the project.
    ///
    /// # Errors
    /// The path leads out.
    pub(super) fn refuse_outside(&self, path: &Path) -> Result<(), Failure> {
        self.boundary.readable(path)
    }

    /// Reads a file of the project; messages name it relative to the working directory.
    ///
    /// # Errors
    /// A file that cannot be read; one that a link leads out of the project to.
    pub fn read(&self, path: &Path) -> Result<Arc<Source>, Failure> {
        self.refuse_outside(path)?;
        self.read_typed(path)
    }

    /// Reads a file that people name, in any folder.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_typed(&self, path: &Path) -> Result<Arc<Source>, Failure> {
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
