//! The files of a project: fixtures, their playbooks, goldens, the lock, proposals, history and feedback; where each
//! lies, what it is called, what stands in it. Decides nothing about them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changeset::Alone;
use super::exit::Failure;
use super::playbooks::Named;
use super::project::{self, Project};
use super::{files, folders, playbooks};
use crate::check::{Id, map};
use crate::diagnostic::{Report, Source, did_you_mean};
use crate::fixture::{self, model::Fixture};
use crate::golden::{Lock, merge_conflict};
use crate::history::{self, Entry, History};
use crate::playbook::model::Tools;
use crate::playbook::{self, EMBEDDED, Loaded, embedded};
use crate::sim::Plan;

/// The folder below the proposals in which changesets are laid out.
pub const STAGING: &str = ".accepting";

/// Where a project's files lie.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    fixtures: PathBuf,
    goldens: PathBuf,
    proposals: PathBuf,
    /// The playbook of fixtures that name none.
    default: Named,
    tools: Tools,
}

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

/// The files of a golden.
#[derive(Clone, Debug)]
pub struct GoldenPaths {
    /// What was accepted.
    pub accepted: PathBuf,
    /// What waits for review.
    pub pending: PathBuf,
}

impl Workspace {
    /// The project of the working directory.
    ///
    /// # Errors
    /// A project file or tool facts that cannot be used.
    pub fn open() -> Result<Workspace, Failure> {
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
        let folder = |named: &Option<String>, usual: &str| {
            named.as_ref().map_or_else(|| root.join(usual), |named| PathBuf::from(named.trim_end_matches('/')))
        };
        Ok(Workspace {
            fixtures: folder(&project.fixtures, "fixtures"),
            goldens: folder(&project.goldens, "goldens"),
            proposals: folder(&project.proposals, "proposals"),
            default: playbooks::usual(&root, project),
            tools: playbooks::facts(None, project)?,
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

    /// Where the file of a fixture lies, or will.
    pub fn fixture_path(&self, fixture: &str) -> PathBuf {
        self.fixtures.join(format!("{fixture}.yaml"))
    }

    /// The tool facts that win over every playbook's own.
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

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
        let lint =
            format!("playproof lint {}", asked.map_or_else(|| self.playbook_argument(&meant.name), str::to_owned));
        let loaded = parsed(source).map_err(|report| Failure::from(report).next(lint))?;
        let plan = Plan::new(loaded.playbook.clone(), &self.tools);
        Ok((meant.name, Used { loaded, plan, path }))
    }

    /// Refuses a folder that is no project yet: one without a single fixture.
    ///
    /// # Errors
    /// There is none; what makes one.
    pub fn refuse_empty(&self) -> Result<(), Failure> {
        if !self.fixture_names()?.is_empty() {
            return Ok(());
        }
        let folder = self.fixtures_name();
        Err(Failure::said(format!("there are no fixtures in `{folder}`"))
            .help(format!("`playproof init` makes a project with three; a fixture is a file `{folder}/NAME.yaml`"))
            .next("playproof init"))
    }

    /// The fixtures that run under the playbook of this name, with their names, in their order.
    ///
    /// # Errors
    /// Everything that is wrong in any fixture; that none runs under it.
    pub fn fixtures_of(&self, playbook: &str, jobs: NonZeroUsize) -> Result<Vec<(String, Fixture)>, Failure> {
        let mut fixtures = self.load_fixtures(&self.fixture_names()?, jobs)?;
        fixtures.retain(|(_, fixture)| self.playbooks_of(fixture).contains(&playbook));
        if fixtures.is_empty() {
            self.refuse_empty()?;
            let said = Failure::said(format!("no fixture in `{}` runs under `{playbook}`", self.fixtures_name()));
            let help = format!("write `playbooks: [{playbook}]` in a fixture, or name the folder with `--fixtures`");
            return Err(said.help(help).next("playproof schema fixture"));
        }
        Ok(fixtures)
    }

    /// A path as people know it: below the project's root.
    pub fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
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

    /// The project's root; empty for the working directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where fixtures lie, as people know it.
    pub fn fixtures_name(&self) -> String {
        self.name(&self.fixtures)
    }

    /// The file of a fixture, as people know it.
    pub fn fixture_name(&self, fixture: &str) -> String {
        self.name(&self.fixtures.join(format!("{fixture}.yaml")))
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

    /// The names of all fixtures, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn fixture_names(&self) -> Result<Vec<String>, Failure> {
        Ok(names(folders::files_under(&self.fixtures, ".yaml")?, ".yaml"))
    }

    /// Reads fixtures, in the order of `names`.
    ///
    /// # Errors
    /// Everything that is wrong in any of them.
    pub fn load_fixtures(&self, names: &[String], jobs: NonZeroUsize) -> Result<Vec<(String, Fixture)>, Failure> {
        let read = |name: &String| -> Result<(String, Fixture), Failure> {
            let source = self.read(&self.fixtures.join(format!("{name}.yaml")))?;
            Ok((name.clone(), fixture::parse(source)?))
        };
        gather(map(names, jobs, || (), |(), name| read(name), |_| false))
    }

    /// The playbooks that a fixture is run under, by name.
    pub fn playbooks_of<'a>(&'a self, fixture: &'a Fixture) -> Vec<&'a str> {
        match fixture.playbooks.as_slice() {
            [] => vec![&self.default.name],
            named => named.iter().map(String::as_str).collect(),
        }
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

    fn load_playbook(&self, name: &str, user: &str) -> Result<Used, Failure> {
        let path = self.playbook_path(name);
        let source = match (&path, embedded(name)) {
            (Some(path), _) => self.read(path)?,
            (None, Some(text)) => Source::whole(format!("<embedded>/{name}"), text),
            (None, None) => return Err(self.no_playbook(name, user)),
        };
        let loaded = parsed(source)?;
        let plan = Plan::new(loaded.playbook.clone(), &self.tools);
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

    /// The files of a golden.
    pub fn golden(&self, id: &Id) -> GoldenPaths {
        let file = |ending: &str| self.goldens.join(&id.playbook).join(format!("{}.{ending}", id.fixture));
        GoldenPaths { accepted: file("snap"), pending: file("snap.new") }
    }

    /// Reads the golden of `id`, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_golden(&self, id: &Id) -> Result<Option<Arc<Source>>, Failure> {
        let path = self.golden(id).accepted;
        if folders::has_file(&path) { self.read(&path).map(Some) } else { Ok(None) }
    }

    /// The goldens under the goldens' folder whose names end in `ending`, by playbook and fixture, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn goldens_that_end_in(&self, ending: &str, playbooks: &[&str]) -> Result<Vec<Id>, Failure> {
        let found = names(folders::files_under(&self.goldens, ending)?, ending);
        let mut ids: Vec<Id> = found.iter().map(|name| id_of(name, playbooks)).collect();
        ids.sort();
        Ok(ids)
    }

    /// The lock's file.
    pub fn lock_path(&self) -> PathBuf {
        self.goldens.join("playbook.lock")
    }

    /// Reads the lock, if there is one.
    ///
    /// # Errors
    /// A lock that cannot be used.
    pub fn read_lock(&self) -> Result<Option<Lock>, Failure> {
        Ok(self.read_lock_with_source()?.map(|(lock, _)| lock))
    }

    /// Reads the lock, if there is one, and keeps the text that its places point into.
    ///
    /// # Errors
    /// A lock that cannot be used.
    pub fn read_lock_with_source(&self) -> Result<Option<(Lock, Arc<Source>)>, Failure> {
        let path = self.lock_path();
        if !folders::has_file(&path) {
            return Ok(None);
        }
        let source = self.read(&path)?;
        Ok(Some((Lock::parse(Arc::clone(&source))?, source)))
    }

    /// Where a record of the history lies.
    pub fn record_path(&self, name: &str) -> PathBuf {
        self.proposals.join("history").join(name)
    }

    /// The file of a feedback (`yaml`), or its slice (`jsonl`).
    pub fn feedback_path(&self, id: &str, ending: &str) -> PathBuf {
        self.proposals.join("feedback").join(format!("{id}.{ending}"))
    }

    /// The ids of all feedback, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn feedback_ids(&self) -> Result<Vec<String>, Failure> {
        let found = names(folders::files_under(&self.proposals.join("feedback"), ".yaml")?, ".yaml");
        Ok(found.into_iter().filter(|name| !name.contains('/')).collect())
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

    /// Reads the history; it is empty where there is none.
    ///
    /// # Errors
    /// Everything that is wrong in any record; a file whose name is not one of a record.
    pub fn read_history(&self) -> Result<History, Failure> {
        let found = names(folders::files_under(&self.record_path(""), ".yaml")?, "");
        let read = |name: &String| -> Result<Entry, Failure> {
            let path = self.record_path(name);
            let number = history::number_of(name).ok_or_else(|| misnamed(&self.name(&path)))?;
            let source = self.read(&path)?;
            let (record, places) = history::parse(Arc::clone(&source))?;
            Ok(Entry { number, name: name.clone(), record, places, source })
        };
        let folder = self.name(&self.record_path(""));
        let next = |failure: Failure| failure.next(format!("git log --oneline -- {folder}"));
        Ok(History::new(gather(found.iter().map(read).collect()).map_err(next)?))
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

/// Reads a playbook; what git could not merge is told as that.
fn parsed(source: Arc<Source>) -> Result<Loaded, Report> {
    match merge_conflict(&source.text) {
        Some(said) => Err(Report::one(source, said.help("decide which side is meant; nothing was changed"))),
        None => playbook::parse(source),
    }
}

fn misnamed(path: &str) -> Failure {
    Failure::source(path, "bad_name", "this is not the name of a record")
        .help("a record is called `NNNN-words.yaml`: four digits, which say its place in the order, and a few words")
}

/// Paths below a folder as names: with `/`, without their ending.
fn names(paths: Vec<PathBuf>, ending: &str) -> Vec<String> {
    let name = |path: PathBuf| {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let name = parts.join("/");
        name.strip_suffix(ending).map(str::to_owned).unwrap_or(name)
    };
    let mut names: Vec<String> = paths.into_iter().map(name).collect();
    names.sort();
    names
}

/// `study/old/refund` is the fixture `refund` under `study/old`, unless a known playbook says where its name ends.
fn id_of(name: &str, playbooks: &[&str]) -> Id {
    let known = playbooks.iter().filter_map(|playbook| {
        let fixture = name.strip_prefix(*playbook)?.strip_prefix('/')?;
        Some((*playbook, fixture))
    });
    let longest = known.max_by_key(|(playbook, _)| playbook.len());
    let (playbook, fixture) = longest.or_else(|| name.rsplit_once('/')).unwrap_or(("", name));
    Id { playbook: playbook.to_owned(), fixture: fixture.to_owned() }
}

/// All values, or all failures as one.
fn gather<T>(results: Vec<Result<T, Failure>>) -> Result<Vec<T>, Failure> {
    let mut values = Vec::with_capacity(results.len());
    let mut reports: Vec<Report> = Vec::new();
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(Failure::Reports { reports: more, .. }) => reports.extend(more),
            Err(other) => return Err(other),
        }
    }
    if reports.is_empty() { Ok(values) } else { Err(Failure::Reports { reports, next: None }) }
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
