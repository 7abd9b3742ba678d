//! What a project consists of: which files are to be there, and which of them are there already. Writes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::starter::{self, PLAYBOOK, PLAYBOOK_FILE};
use super::traces::Drawn;
use super::{accepted, recorded};
use crate::exit::Failure;
use crate::folders;
use crate::folders::{Taken, taken};
use crate::project;
use crate::project::Project;
use crate::{files, playbooks, workspace};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook::tools;
use playproof_formats::shell::Command;
use playproof_trace::redact::RedactionRules;

const LOCK: &str = "goldens/playbook.lock";
const HISTORY: &str = "proposals/history";

/// A file of the project.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its path below the project's root.
    pub path: String,
    /// What it is for.
    pub about: String,
    /// Its text: as planned, or as it is there.
    pub source: Arc<Source>,
    /// Whether it was there already.
    pub kept: bool,
}

/// The files of the project, and what people should know of them.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// In the order in which they are shown.
    pub parts: Vec<Part>,
    /// What is left to do by hand.
    pub notes: Vec<String>,
    /// Whether it is the whole project; else the folder had one of its own already.
    pub is_whole: bool,
}

/// What the folder was before.
#[derive(Debug)]
pub struct Before {
    root: PathBuf,
    /// What its `playproof.yaml` says, if it has one.
    project: Option<Project>,
}

impl Before {
    /// Looks at the folder.
    ///
    /// # Errors
    /// A file where the folder should be; a `playproof.yaml` in which something is wrong.
    pub fn of(root: &Path) -> Result<Before, Failure> {
        if !root.as_os_str().is_empty() && taken(root)? == Taken::File {
            let said = format!("`{}` is a file; a project needs a folder", root.display());
            return Err(Failure::said(said).next("playproof init"));
        }
        let file = root.join(project::FILE);
        let project = match taken(&file)? {
            Taken::File => Some(Project::read(&file)?),
            _ => None,
        };
        Ok(Before { root: root.to_path_buf(), project })
    }

    /// The project's own settings.
    pub fn project(&self) -> Project {
        self.project.clone().unwrap_or_default()
    }

    /// What must not be shown of recordings: as the project says, else the one that is here already.
    ///
    /// # Errors
    /// A `playproof.yaml` that cannot be used.
    pub fn redaction(&self) -> Result<RedactionRules, Failure> {
        match &self.project {
            Some(project) => Ok(project.redaction.clone()),
            None => {
                let around = files::upwards(project::FILE).filter(|file| folders::has_file(file));
                Ok(around.map(|file| Project::read(&file)).transpose()?.unwrap_or_default().redaction)
            }
        }
    }

    /// Where the files are laid out before they are written: where every other command finds them.
    pub fn staging(&self) -> PathBuf {
        workspace::staging(&self.root, &self.project())
    }

    /// Whether the folder's project keeps its playbook, fixtures and goldens elsewhere than a new one does.
    fn is_another(&self) -> bool {
        let Some(project) = &self.project else { return false };
        let at = |path: &str| files::from_here(&self.root.join(path));
        let moved = |named: &Option<String>, usual: &str| {
            named.as_ref().is_some_and(|named| named.trim_end_matches('/') != at(usual))
        };
        project.playbook.as_deref() != Some(&*at(PLAYBOOK_FILE))
            || moved(&project.fixtures, "fixtures")
            || moved(&project.goldens, "goldens")
            || moved(&project.proposals, "proposals")
    }
}

/// The set for a folder, with what was drawn from traces.
///
/// # Errors
/// Something in the way of a file; a file that is there and cannot be used.
pub fn plan(before: &Before, drawn: &Drawn) -> Result<Set, Failure> {
    let mut set = Set { is_whole: !before.is_another(), ..Set::default() };
    let root = &before.root;
    let tools_path = drawn.tools.as_ref().map(|(stem, _)| format!("tools/{stem}.yaml"));
    let about_config = "what commands use by default";
    set.add(root, project::FILE, starter::config(tools_path.as_deref()), about_config)?;
    if set.is_whole {
        set.add(root, PLAYBOOK_FILE, starter::playbook(), "what failures mean, and what follows")?;
    }
    if let (Some(path), Some((_, text))) = (&tools_path, &drawn.tools) {
        set.add(root, path, text.clone(), "your tools: confirm the guesses")?;
    }
    for mapping in &drawn.mappings {
        set.add(root, &mapping.path(), mapping.text.clone(), "your log: confirm the guesses")?;
    }
    if set.is_whole {
        set.add_checked(before, drawn, tools_path.as_deref())?;
    }
    let below = folders::below_repository(root);
    set.add(root, ".github/workflows/playproof.yml", starter::workflow(below.as_deref()), "checks every change in CI")?;
    set.note(before, tools_path.as_deref(), below.as_deref());
    Ok(set)
}

impl Set {
    fn add(&mut self, root: &Path, path: &str, text: String, about: &str) -> Result<(), Failure> {
        let place = root.join(path);
        let there = match taken(&place)? {
            Taken::Free => None,
            Taken::File => Some(files::read_small(&place.to_string_lossy())?),
            Taken::Folder => {
                let said = format!("`{}` is a folder, and a file of this name is needed", place.display());
                return Err(Failure::said(said).help("move it away, or name another folder"));
            }
        };
        let kept = there.is_some();
        let source = there.unwrap_or_else(|| Source::whole(path, text));
        self.parts.push(Part { path: path.to_owned(), about: about.to_owned(), source, kept });
        Ok(())
    }

    fn part(&self, path: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.path == path)
    }

    /// Fixtures, goldens and lock.
    fn add_checked(&mut self, before: &Before, drawn: &Drawn, tools_path: Option<&str>) -> Result<(), Failure> {
        let root = &before.root;
        if before.project.is_none() {
            refuse_other_fixtures(root)?;
        }
        let Some(playbook) = self.part(PLAYBOOK_FILE) else { return Ok(()) };
        let loaded = accepted::load(Arc::clone(&playbook.source))?;
        let plan = Plan::new(loaded.playbook.clone(), &self.tools(before, tools_path)?);
        let mut fixtures = starter::fixtures();
        let own = recorded::fixture(&plan, &drawn.failing);
        let about_third = if own.is_some() { "a failure from your recording" } else { "a denial is not retried" };
        fixtures.push(own.unwrap_or_else(starter::denial));
        let abouts = ["an effect is proved by a conflict", "the retry guard at work", about_third];
        let mut sources = Vec::new();
        for ((name, text), about) in fixtures.into_iter().zip(abouts) {
            let path = format!("fixtures/{name}.yaml");
            self.add(root, &path, text, about)?;
            sources.extend(self.part(&path).map(|part| (name, Arc::clone(&part.source))));
        }
        for (name, text) in accepted::goldens(&plan, &sources)? {
            self.add(root, &format!("goldens/{PLAYBOOK}/{name}.snap"), text, "every decision, accepted")?;
        }
        self.add(root, LOCK, accepted::lock(&loaded), "the playbook's rows, as approved")?;
        let recorded = folders::files_under(&root.join(HISTORY), ".yaml")?;
        if recorded.is_empty() && self.part(LOCK).is_some_and(|lock| !lock.kept) {
            let (name, text) = accepted::record(&loaded);
            self.add(root, &format!("{HISTORY}/{name}"), text, "that they were approved, and why")?;
        }
        self.add(root, "goldens/.gitattributes", starter::ATTRIBUTES.to_owned(), "git merges the lock row by row")?;
        self.add(root, "goldens/.gitignore", starter::IGNORED.to_owned(), "what waits is not committed")
    }

    /// The tool facts that the project will have.
    fn tools(&self, before: &Before, drawn: Option<&str>) -> Result<Tools, Failure> {
        let project = before.project();
        let planned = drawn.filter(|path| {
            let named = project.tools.as_deref();
            before.project.is_none() || named == Some(&*files::from_here(&before.root.join(path)))
        });
        match planned.and_then(|path| self.part(path)) {
            Some(part) => Ok(tools::parse(Arc::clone(&part.source))?.tools),
            None => playbooks::facts(None, &project),
        }
    }

    fn note(&mut self, before: &Before, tools_path: Option<&str>, below: Option<&str>) {
        let named = |path: &str| before.project().tools == Some(files::from_here(&before.root.join(path)));
        if let Some(path) = tools_path.filter(|path| before.project.is_some() && !named(path)) {
            self.notes.push(format!("write `tools: {path}` into `playproof.yaml`, so that commands use it"));
        }
        if !self.is_whole {
            self.notes.push(
                "`playproof.yaml` names a playbook, fixtures or goldens of its own, so none were added".to_owned(),
            );
        }
        let workflow = self.parts.last().filter(|part| !part.kept).map(|part| part.path.clone());
        let Some(workflow) = workflow else { return };
        self.notes.push(format!("say in `{workflow}` where CI gets Playproof from: PLAYPROOF_GIT, PLAYPROOF_REV"));
        if below.is_some() {
            self.notes.push(format!("GitHub reads `{workflow}` at the root of the repository alone: move it there"));
        }
    }
}

/// A folder `fixtures` with files that are none of ours would make every check fail.
fn refuse_other_fixtures(root: &Path) -> Result<(), Failure> {
    let folder = root.join("fixtures");
    taken(&folder.join("NAME.yaml"))?;
    for name in [folders::files_under(&folder, ".yml")?, folders::files_under(&folder, ".yaml")?].concat() {
        let path = folder.join(name);
        if fixture::parse(files::read_small(&path.to_string_lossy())?).is_err() {
            let said = format!("`{}` is no fixture of Playproof, and `check` reads all of that folder", path.display());
            let inside = root.join("playproof");
            return Err(Failure::said(said)
                .help("make the project in a folder of its own")
                .next(Command::new("playproof init").path(&inside.to_string_lossy())));
        }
    }
    folders::yaml_under(&folder).map(drop)
}
