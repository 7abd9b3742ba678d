//! The fixtures of a project: their files, and the playbooks that each is run under.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::playbooks::Used;
use super::root::{A_FIXTURE, Workspace, gather, names, taken_for};
use crate::exit::Failure;
use crate::input_kind::{self, InputKind, reject_conflict_markers};
use crate::project::{self, Project};
use crate::threads::Threads;
use crate::{files, folders, playbooks};
use playproof_analysis::check::map;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Playbook;
use playproof_formats::diagnostic::{Report, Source, counted};
use playproof_formats::fixture;
use playproof_formats::playbook::Loaded;

impl Workspace {
    /// The path of a fixture's file, which need not exist.
    pub fn fixture_path(&self, fixture: &str) -> PathBuf {
        self.fixtures.join(format!("{fixture}.yaml"))
    }

    /// Refuses a file for a new fixture that is there already, or that the project would read as something else.
    ///
    /// # Errors
    /// It is such a file.
    pub fn refuse_new_fixture(&self, path: &Path) -> Result<(), Failure> {
        let here = self.here(path);
        if files::exists(&path.to_string_lossy()) {
            return Err(Failure::new(format!("`{here}` is there already: it would be overwritten"))
                .help("nothing was written; move the file away, or name another folder"));
        }
        let there = files::destination(&path.to_string_lossy());
        match there.and_then(|there| taken_for(self.root(), &there)).filter(|what| *what != A_FIXTURE) {
            None => Ok(()),
            Some(what) => Err(Failure::new(format!("`{here}` would be read as {what}"))
                .help("nothing was written; name the folder of the fixtures, or one of your own")),
        }
    }

    /// The name of a fixture's file in messages.
    pub fn fixture_name(&self, fixture: &str) -> String {
        self.name(&self.fixture_path(fixture))
    }

    /// The folder of fixtures, relative to the working directory.
    pub fn fixtures_here(&self) -> String {
        let here = self.here(&self.fixtures);
        if here.is_empty() { ".".to_owned() } else { here }
    }

    /// The name of the folder of fixtures in messages.
    pub fn fixtures_name(&self) -> String {
        let name = self.name(&self.fixtures);
        if name.is_empty() { ".".to_owned() } else { name }
    }

    /// The names of all fixtures, sorted.
    ///
    /// # Errors
    /// A folder that cannot be read; a file in it that ends in `.yml`.
    pub fn fixture_names(&self) -> Result<Vec<String>, Failure> {
        Ok(names(folders::yaml_under(&self.fixtures)?, ".yaml"))
    }

    /// Refuses a project without fixtures and recordings.
    ///
    /// # Errors
    /// There is neither.
    pub fn refuse_empty(&self) -> Result<(), Failure> {
        let is_empty = self.fixture_names()?.is_empty() && self.recorded_runs(Threads::default())?.is_empty();
        if is_empty { Err(self.empty()) } else { Ok(()) }
    }

    /// The failure of a project without fixtures, or without a project.
    pub fn empty(&self) -> Failure {
        let folder = self.fixtures_name();
        let none = format!("there are no fixtures in `{folder}`");
        let said = match files::upwards(project::FILE) {
            Some(_) => none,
            None => format!("this is no project: there is no `{}` here or above, and {none}", project::FILE),
        };
        Failure::new(said)
            .help(format!("`playproof init` makes a project with three fixtures (files `{folder}/NAME.yaml`)"))
            .next("playproof init")
    }

    /// The fixtures that run under the playbook of this name, with their names, in their order.
    ///
    /// # Errors
    /// Everything that is wrong in any fixture; no fixture runs under it.
    pub fn fixtures_of(&self, playbook: &str, jobs: NonZeroUsize) -> Result<Vec<(String, Fixture)>, Failure> {
        let mut fixtures = self.load_fixtures(&self.fixture_names()?, jobs)?;
        let unnamed = fixtures.iter().filter(|(_, fixture)| fixture.playbooks.is_empty()).count();
        fixtures.retain(|(_, fixture)| self.playbooks_of(fixture).contains(&playbook));
        if fixtures.is_empty() {
            self.refuse_empty()?;
            let said = Failure::new(format!("no fixture in `{}` runs under `{playbook}`", self.fixtures_name()));
            let mut help =
                format!("write `playbooks: [{playbook}]` in a fixture, or name the folder with `--fixtures`");
            if unnamed > 0 {
                let names = counted(unnamed as u64, "fixture names", "fixtures name");
                help += &format!("; {names} no playbook, so they run under the project's");
            }
            return Err(said.help(help).next("playproof schema fixture"));
        }
        Ok(fixtures)
    }

    /// Reads fixtures, in the order of `names`.
    ///
    /// # Errors
    /// Everything that is wrong in any of them.
    pub fn load_fixtures(&self, names: &[String], jobs: NonZeroUsize) -> Result<Vec<(String, Fixture)>, Failure> {
        let read = |name: &String| -> Result<(String, Fixture), Failure> {
            Ok((name.clone(), self.parse_fixture(self.read(&self.fixture_path(name))?)?))
        };
        gather(map(names, jobs, || (), |(), name| read(name), |_| false))
    }

    /// Parses a fixture of this project.
    ///
    /// # Errors
    /// Everything that is wrong in it; expectations for a playbook that does not run it.
    pub fn parse_fixture(&self, source: Arc<Source>) -> Result<Fixture, Report> {
        parse(source, Some(self.usual_playbook()))
    }

    /// Checks that the playbooks of fixtures have what the fixtures name of them.
    ///
    /// # Errors
    /// Every name that no playbook has.
    pub fn check_names<'f>(
        &self,
        fixtures: impl IntoIterator<Item = (&'f str, &'f Fixture)>,
        used: &BTreeMap<String, Used>,
    ) -> Result<(), Failure> {
        let hold = |(name, fixture): (&str, &Fixture)| {
            let playbooks = self.playbooks_of(fixture).into_iter();
            let playbooks: Vec<_> =
                playbooks.filter_map(|name| Some((name, &used.get(name)?.loaded.playbook))).collect();
            fixture::check_names(fixture, || self.read(&self.fixture_path(name)), &playbooks)
        };
        gather(fixtures.into_iter().map(hold).collect()).map(drop)
    }

    /// The playbook of fixtures that name none.
    pub fn usual_playbook(&self) -> &str {
        &self.default.name
    }

    /// The playbooks that a fixture is run under, by name.
    pub fn playbooks_of<'a>(&'a self, fixture: &'a Fixture) -> Vec<&'a str> {
        match fixture.playbooks.as_slice() {
            [] => vec![&self.default.name],
            named => named.iter().map(String::as_str).collect(),
        }
    }
}

/// Loads a fixture from any path.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load_fixture(path: &str) -> Result<Fixture, Failure> {
    load_fixture_with_source(path).map(|(fixture, _)| fixture)
}

/// The same, with its text.
///
/// # Errors
/// As [`load_fixture`].
pub fn load_fixture_with_source(path: &str) -> Result<(Fixture, Arc<Source>), Failure> {
    let source = files::read_small(path)?;
    input_kind::expect(InputKind::Fixture, path, source.text.as_bytes())?;
    input_kind::refuse_list(path, &source.text)?;
    let root = project::root();
    let is_ours = files::real(Path::new(path)).is_some_and(|there| taken_for(&root, &there) == Some(A_FIXTURE));
    let default = if is_ours { Some(playbooks::usual(&root, &Project::find()?).name) } else { None };
    let fixture = parse(Arc::clone(&source), default.as_deref());
    Ok((fixture.map_err(|report| Failure::from(report).next("playproof schema fixture"))?, source))
}

/// Checks that the playbooks that run a fixture, or its own ones, have what it names of them. Own playbooks that cannot be
/// loaded may have anything.
///
/// # Errors
/// Every name that none of them has.
pub fn check_names(
    (fixture, source): (&Fixture, Arc<Source>),
    run_by: &[&Playbook],
    project: &Project,
) -> Result<(), Failure> {
    let own = playbooks::names(&fixture.playbooks, project);
    let Ok(own) = own.iter().map(|name| playbooks::load(name)).collect::<Result<Vec<Loaded>, Failure>>() else {
        return Ok(());
    };
    let is_other = |one: &&Playbook| run_by.iter().all(|other| other.name != one.name);
    let own = own.iter().map(|one| &one.playbook).filter(is_other);
    let all: Vec<_> = run_by.iter().copied().chain(own).map(|one| (&*one.name, one)).collect();
    fixture::check_names(fixture, || Ok(source), &all)
}

/// Parses a fixture; `default` is the playbook that runs it if it names none, where that is known.
fn parse(source: Arc<Source>, default: Option<&str>) -> Result<Fixture, Report> {
    reject_conflict_markers(&source)?;
    let fixture = fixture::parse(Arc::clone(&source))?;
    // The parser compares the expectations with the playbooks that the fixture names.
    if let Some(default) = default.filter(|_| fixture.playbooks.is_empty())
        && fixture.expect.keys().any(|name| name != default)
    {
        fixture::check_expected_playbooks(source, &[default])?;
    }
    Ok(fixture)
}
