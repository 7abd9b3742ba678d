//! The playbooks of a project: by name or path, and how its fixtures call them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::root::{Workspace, gather, names};
use crate::cli::exit::Failure;
use crate::cli::folders;
use crate::cli::playbooks::{self, Named};
use crate::diagnostic::{Report, Source, did_you_mean};
use crate::fixture::model::Fixture;
use crate::golden::merge_conflict;
use crate::playbook::{self, EMBEDDED, Loaded, embedded};
use crate::report::text::shell_word;
use crate::sim::Plan;

/// A playbook that fixtures use.
#[derive(Debug)]
pub struct Used {
    /// As read, with places.
    pub loaded: Loaded,
    /// Ready to run.
    pub plan: Plan,
    /// Its file below the project's root; none for an embedded one.
    pub path: Option<PathBuf>,
}

impl Workspace {
    /// The playbook that is asked for by name or path, or else the default one, with the name that fixtures and
    /// goldens know it by.
    ///
    /// # Errors
    /// A name that nothing answers to, a file that cannot be read, everything that is wrong in it.
    pub fn playbook(&self, asked: Option<&str>) -> Result<(String, Used), Failure> {
        let meant = match asked {
            Some(asked) => Named::new(&self.root, asked),
            None => self.default.clone(),
        };
        let path = match asked {
            Some(asked) if playbooks::is_path(asked) => Some(PathBuf::from(asked)),
            _ => self.playbook_path(&meant.name),
        };
        let source = match &path {
            Some(path) => self.read(path)?,
            None => playbooks::source(&meant.name)?,
        };
        let argument = asked.map_or_else(|| self.playbook_argument(&meant.name), str::to_owned);
        Ok((meant.name, self.used(source, path, &argument)?))
    }

    /// Every playbook that one of the fixtures uses, by name.
    ///
    /// # Errors
    /// Everything that is wrong in any of them; a name that nothing answers to.
    pub fn load_playbooks(&self, fixtures: &[(String, Fixture)]) -> Result<BTreeMap<String, Used>, Failure> {
        let mut users: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, fixture) in fixtures {
            for playbook in self.playbooks_of(fixture) {
                users.entry(playbook).or_insert(name);
            }
        }
        let load = |(playbook, user): (&str, &str)| Ok((playbook.to_owned(), self.load_playbook(playbook, user)?));
        Ok(gather(users.into_iter().map(load).collect())?.into_iter().collect())
    }

    /// The playbook that the fixture `user` names.
    fn load_playbook(&self, name: &str, user: &str) -> Result<Used, Failure> {
        let path = self.playbook_path(name);
        let source = match (&path, embedded(name)) {
            (Some(path), _) => self.read(path)?,
            (None, Some(_)) => playbooks::source(name)?,
            (None, None) => return Err(self.no_playbook(name, user)),
        };
        self.used(source, path, &self.playbook_argument(name))
    }

    /// A playbook that was read; `argument` is how other commands are told of it.
    fn used(&self, source: Arc<Source>, path: Option<PathBuf>, argument: &str) -> Result<Used, Failure> {
        let lint = || format!("playproof lint {}", shell_word(argument));
        let loaded = parsed(source).map_err(|report| Failure::from(report).next(lint()))?;
        let plan = Plan::new(loaded.playbook.clone(), self.tools());
        Ok(Used { loaded, plan, path })
    }

    fn no_playbook(&self, name: &str, user: &str) -> Failure {
        let fixture = self.fixture_name(user);
        let failure = Failure::said(format!("`{fixture}` names the playbook `{name}`, which does not exist"));
        let own = folders::files_under(&self.root.join("playbooks"), ".yaml").unwrap_or_default();
        let own = names(own, ".yaml");
        let known = own.iter().map(String::as_str).chain(EMBEDDED.iter().copied());
        match did_you_mean(name, known) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(format!("a playbook is a file such as `playbooks/{name}.yaml`, or an embedded one")),
        }
    }

    /// How other commands are told of a playbook that fixtures use.
    pub fn playbook_argument(&self, name: &str) -> String {
        match self.playbook_path(name) {
            Some(path) => self.name(&path),
            None => name.to_owned(),
        }
    }

    /// The file of a playbook that fixtures use; none for an embedded one.
    fn playbook_path(&self, name: &str) -> Option<PathBuf> {
        playbooks::file_of(&self.root, &self.default, name)
    }

    /// How files name a playbook that was asked for, so that it is found again from anywhere in the project: by its
    /// name, or by its path below the root where it lies apart from the others.
    ///
    /// # Errors
    /// A playbook that lies outside the project.
    pub fn lasting_name(&self, name: &str, used: &Used) -> Result<String, Failure> {
        let Some(path) = &used.path else { return Ok(name.to_owned()) };
        let path = path.strip_prefix(".").unwrap_or(path);
        if let Ok(below) = path.strip_prefix(self.root.join("playbooks")) {
            return Ok(below.with_extension("").to_string_lossy().into_owned());
        }
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        if below.is_absolute() || below.starts_with("..") {
            let said = format!("`{}` lies outside this project, where nobody else would find it", path.display());
            return Err(Failure::said(said).help("put it into the folder `playbooks`"));
        }
        Ok(below.to_string_lossy().into_owned())
    }

    /// The playbook that a file names, as [`Workspace::lasting_name`] gave it.
    ///
    /// # Errors
    /// As [`Workspace::playbook`].
    pub fn lasting_playbook(&self, lasting: &str) -> Result<(String, Used), Failure> {
        match playbooks::is_path(lasting) {
            true => self.playbook(Some(&self.root.join(lasting).to_string_lossy())),
            false => self.playbook(Some(lasting)),
        }
    }
}

/// Reads a playbook; what git could not merge is told as that.
fn parsed(source: Arc<Source>) -> Result<Loaded, Report> {
    match merge_conflict(&source.text) {
        Some(said) => Err(Report::one(source, said.help("keep the side that is meant, or both; nothing was changed"))),
        None => playbook::parse(source),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::project::Project;

    #[test]
    fn a_default_playbook_given_by_its_path_is_known_by_its_name() {
        let project = |playbook: &str| Project { playbook: Some(playbook.to_owned()), ..Project::default() };
        let name = |root: &str, playbook: &str| playbooks::usual(Path::new(root), &project(playbook)).name;
        assert_eq!(name("", "playbooks/study/mine.yaml"), "study/mine");
        assert_eq!(name("/p", "/p/playbooks/mine.yaml"), "mine");
        assert_eq!(name("", "standard"), "standard");
        assert_eq!(playbooks::usual(Path::new(""), &Project::default()).name, "standard");
        let apart = playbooks::usual(Path::new(""), &project("books/mine.yaml"));
        assert_eq!((&*apart.name, apart.path), ("mine", Some(PathBuf::from("books/mine.yaml"))));
    }
}
