//! The playbooks of a project, by name or path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::root::{Workspace, gather};
use crate::exit::Failure;
use crate::files;
use crate::files::STDIN;
use crate::input_kind;
use crate::input_kind::InputKind;
use crate::playbooks;
use crate::playbooks::NamedPlaybook;
use crate::project;
use crate::project::is_path;
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{Loaded, embedded};

/// A playbook that fixtures use.
#[derive(Debug)]
pub struct Used {
    /// The playbook as written, with places.
    pub loaded: Loaded,
    /// The playbook, ready to run.
    pub plan: Plan,
    /// Its file below the project's root; none for an embedded one.
    pub path: Option<PathBuf>,
}

impl Workspace {
    /// The requested playbook, or the default one, with its name in fixtures and goldens.
    ///
    /// # Errors
    /// An unknown name, a file that cannot be read, everything that is wrong in it.
    pub fn playbook(&self, asked: Option<&str>) -> Result<(String, Used), Failure> {
        let meant = match asked {
            Some(asked) => NamedPlaybook::new(&self.root, asked),
            None => self.default.clone(),
        };
        let path = match asked {
            Some(asked) if is_path(asked) => Some(PathBuf::from(asked)),
            _ => self.playbook_path(&meant.name),
        };
        let source = match &path {
            Some(path) if asked.is_some_and(is_path) => playbook(path, self.read_typed(path)?)?,
            Some(path) => self.read_playbook(path)?,
            None => playbooks::source(&meant.name)?,
        };
        if let Some(path) = path.as_deref().filter(|_| asked.is_some()) {
            self.refuse_another_s(path)?;
        }
        let argument = asked.map_or_else(|| self.playbook_argument(&meant.name), str::to_owned);
        Ok((meant.name, self.used(source, path, &argument)?))
    }

    /// Every playbook that one of the fixtures uses, by name.
    ///
    /// # Errors
    /// Everything that is wrong in any of them; an unknown name.
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
            (Some(path), _) => self.read_playbook(path)?,
            (None, Some(_)) => playbooks::source(name)?,
            (None, None) => {
                playbooks::refuse_other_ending(&self.root, name)?;
                return Err(self.no_playbook(name, user));
            }
        };
        self.used(source, path, &self.playbook_argument(name))
    }

    /// Refuses a playbook of another project: the fixtures, goldens and tool facts of this one do not belong to it.
    fn refuse_another_s(&self, path: &Path) -> Result<(), Failure> {
        let theirs = files::above(path, project::FILE);
        let ours = files::real(&self.root.join(project::FILE));
        match theirs.filter(|theirs| files::real(theirs) != ours) {
            None => Ok(()),
            Some(theirs) => {
                let said = format!("`{}` belongs to another project, that of `{}`", path.display(), theirs.display());
                Err(Failure::new(said).help("run this there, or copy the playbook into this project's `playbooks`"))
            }
        }
    }

    fn read_playbook(&self, path: &Path) -> Result<Arc<Source>, Failure> {
        playbook(path, self.read(path)?)
    }

    /// A playbook from its text; suggested commands name it by `argument`.
    fn used(&self, source: Arc<Source>, path: Option<PathBuf>, argument: &str) -> Result<Used, Failure> {
        let loaded = playbooks::loaded(source, argument)?;
        let plan = Plan::new(loaded.playbook.clone(), self.tools());
        Ok(Used { loaded, plan, path })
    }

    fn no_playbook(&self, name: &str, user: &str) -> Failure {
        let fixture = self.fixture_name(user);
        let failure = Failure::new(format!("`{fixture}` names the playbook `{name}`, which does not exist"));
        let what = || format!("a playbook is a file such as `playbooks/{name}.yaml`, or an embedded one");
        failure.help(playbooks::near(name, &self.root).map_or_else(what, |near| format!("did you mean `{near}`?")))
    }

    /// The argument for a playbook of fixtures in suggested commands, relative to the working directory.
    pub fn playbook_argument(&self, name: &str) -> String {
        self.playbook_path(name).map_or_else(|| name.to_owned(), |path| self.here(&path))
    }

    /// The same, relative to the project's root.
    pub fn playbook_name(&self, name: &str) -> String {
        self.playbook_path(name).map_or_else(|| name.to_owned(), |path| self.name(&path))
    }

    /// The file of a playbook that fixtures use; none for an embedded one.
    fn playbook_path(&self, name: &str) -> Option<PathBuf> {
        playbooks::file_of(&self.root, &self.default, name)
    }

    /// The playbook that `asked` names, by its name or its file, as fixtures know it; none if there is no such playbook.
    pub fn playbook_named(&self, asked: &str) -> Option<String> {
        let known = self.known_name(asked);
        let name = known.strip_prefix("playbooks/").unwrap_or(&known);
        (self.playbook_path(name).is_some() || embedded(name).is_some()).then(|| name.to_owned())
    }

    /// The name in fixtures of a requested playbook; any other path is returned as given.
    pub fn known_name(&self, asked: &str) -> String {
        let named = NamedPlaybook::new(&self.root, asked);
        if named.path.is_none() || named == self.default { named.name } else { asked.to_owned() }
    }

    /// The name of a requested playbook for files, valid anywhere in the project: its name, or its path below the root if
    /// it lies apart from the others.
    ///
    /// # Errors
    /// A playbook outside the project, or from standard input.
    pub fn lasting_name(&self, name: &str, used: &Used) -> Result<String, Failure> {
        let Some(path) = &used.path else { return Ok(name.to_owned()) };
        if path.as_os_str() == STDIN {
            let said = "a playbook from standard input cannot be found again later";
            return Err(Failure::new(said).help("put it into the folder `playbooks`"));
        }
        let Some(path) = NamedPlaybook::new(&self.root, &path.to_string_lossy()).path else {
            return Ok(name.to_owned());
        };
        let below = playbooks::below(&path, &self.root).ok_or_else(|| {
            let said = format!("`{}` lies outside this project, so others cannot find it", path.display());
            Failure::new(said).help("put it into the folder `playbooks`")
        })?;
        Ok(below.to_string_lossy().into_owned())
    }

    /// The playbook of a name from [`Workspace::lasting_name`].
    ///
    /// # Errors
    /// As [`Workspace::playbook`].
    pub fn lasting_playbook(&self, lasting: &str) -> Result<(String, Used), Failure> {
        match is_path(lasting) {
            true => {
                let path = self.root.join(lasting);
                self.refuse_outside(&path)?;
                self.playbook(Some(&path.to_string_lossy()))
            }
            false => self.playbook(Some(lasting)),
        }
    }
}

/// The source, if it is a playbook's.
fn playbook(path: &Path, source: Arc<Source>) -> Result<Arc<Source>, Failure> {
    input_kind::expect(InputKind::Playbook, &path.to_string_lossy(), source.text.as_bytes())?;
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

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
