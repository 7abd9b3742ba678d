//! Playbooks by name or path, ready to run. Parses nothing itself.
//!
//! What a name means is the same for every command: what ends like a file is a path; any other name is the project's own
//! playbook of that name, if it has one (the one that `playproof.yaml` names, or `playbooks/NAME.yaml`), else the
//! embedded one.

use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::files;
use super::folders;
use super::kinds::{self, Kind};
use super::project::{self, Project};
use super::workspace::refuse_half_written;
use crate::diagnostic::{Source, did_you_mean};
use crate::playbook::model::Tools;
use crate::playbook::{self, EMBEDDED, Loaded, embedded, tools};

/// Where the project's own playbooks lie, below its root.
const FOLDER: &str = "playbooks";

/// A playbook by the name that fixtures and goldens know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Its file, where that lies apart from the other playbooks.
    pub path: Option<PathBuf>,
}

impl Named {
    /// What people call `named` in the project in `root`: below the folder of playbooks, the name of a file is its path
    /// there.
    pub fn new(root: &Path, named: &str) -> Named {
        if !is_path(named) {
            return Named { name: named.to_owned(), path: None };
        }
        let path = Path::new(named);
        let text = |path: &Path| path.with_extension("").to_string_lossy().into_owned();
        match path.strip_prefix(root.join(FOLDER)) {
            Ok(below) => Named { name: text(below), path: None },
            Err(_) => {
                let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                Named { name, path: Some(path.to_path_buf()) }
            }
        }
    }
}

/// The playbook that the project in `root` uses where none is named.
pub fn usual(root: &Path, project: &Project) -> Named {
    let usual = EMBEDDED.first().copied().unwrap_or_default();
    Named::new(root, project.playbook.as_deref().unwrap_or(usual))
}

/// The project's file for the playbook called `name`; none: an embedded one is meant.
pub fn file_of(root: &Path, usual: &Named, name: &str) -> Option<PathBuf> {
    let apart = usual.path.as_ref().filter(|_| usual.name == name);
    let own = || root.join(FOLDER).join(format!("{name}.yaml"));
    Some(apart.cloned().unwrap_or_else(own)).filter(|path| folders::has_file(path))
}

/// Whether a playbook is named by its path.
pub fn is_path(name: &str) -> bool {
    name == files::STDIN || [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// The names that are meant: those of the command line, else the project's, else the default.
pub fn names(asked: &[String], project: &Project) -> Vec<String> {
    match (asked, &project.playbook) {
        ([], Some(name)) => vec![name.clone()],
        ([], None) => EMBEDDED.first().map(|name| (*name).to_owned()).into_iter().collect(),
        (asked, _) => asked.to_vec(),
    }
}

/// The text of a playbook.
///
/// # Errors
/// A path that cannot be read, a name that nothing answers to; a change of the project that was interrupted.
pub fn source(name: &str) -> Result<std::sync::Arc<Source>, Failure> {
    let (root, project) = (project::root(), Project::find()?);
    refuse_half_written(&root, &project)?;
    if is_path(name) {
        return read(name);
    }
    match (file_of(&root, &usual(&root, &project), name), embedded(name)) {
        (Some(path), _) => read(&path.to_string_lossy()),
        (None, Some(text)) => Ok(Source::whole(format!("<embedded>/{name}"), text)),
        (None, None) if files::exists(name) => read(name),
        (None, None) => Err(unknown(name, &root)),
    }
}

fn read(path: &str) -> Result<std::sync::Arc<Source>, Failure> {
    let source = files::read_small(path)?;
    kinds::expect(Kind::Playbook, path, source.text.as_bytes())?;
    Ok(source)
}

/// Loads a playbook.
///
/// # Errors
/// As [`source`], and everything that is wrong in it.
pub fn load(name: &str) -> Result<Loaded, Failure> {
    playbook::parse(source(name)?).map_err(|report| Failure::from(report).next(format!("playproof lint {name}")))
}

/// The tool facts of the command line, else of the project; none at all where neither names any.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn facts(asked: Option<&str>, project: &Project) -> Result<Tools, Failure> {
    match asked.or(project.tools.as_deref()) {
        Some(path) => {
            let source = files::read_small(path)?;
            kinds::expect(Kind::ToolFacts, path, source.text.as_bytes())?;
            Ok(tools::parse(source)?)
        }
        None => Ok(Tools::default()),
    }
}

fn unknown(name: &str, root: &Path) -> Failure {
    let path = format!("{name}.yaml");
    let failure = Failure::said(format!("there is no playbook `{name}`, neither of this project nor embedded"));
    if files::size(&path).is_some() {
        return failure.help(format!("there is a file of that name: did you mean `{path}`?"));
    }
    let own = folders::files_under(&root.join(FOLDER), ".yaml").unwrap_or_default();
    let own: Vec<String> = own.iter().map(|path| path.with_extension("").to_string_lossy().into_owned()).collect();
    match did_you_mean(name, own.iter().map(String::as_str).chain(EMBEDDED.iter().copied())) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!(
            "embedded are {}; one of the project's own lies in `{FOLDER}/{name}.yaml`, and a path ends in `.yaml`",
            EMBEDDED.join(", ")
        )),
    }
}
