//! Plans the files of a project and tells which of them exist. Goldens, lock and history are made in memory. Reads and
//! writes no disk.

use std::sync::Arc;

use super::recordings::Recordings;
use super::starter::{self, PLAYBOOK, PLAYBOOK_FILE};
use crate::check::{Case, CaseId, check_one};
use crate::confirm::{AnswerFile, FACTS, MAPPING};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::fixture;
use playproof_formats::golden::{Lock, changes};
use playproof_formats::history::{Record, RecordKind, next_number};
use playproof_formats::playbook;
use playproof_formats::playbook::{Loaded, rows, tools};

/// The file with the defaults of commands.
const CONFIG: &str = "playproof.yaml";
const LOCK: &str = "goldens/playbook.lock";
const WORKFLOW: &str = ".github/workflows/playproof.yml";

/// The folder of the history.
pub const HISTORY: &str = "proposals/history";

/// Why the first rows are approved.
const WHY: &str = "the beginning";

/// The folder of the project before setup. Paths are relative to it.
pub trait ProjectFolder {
    /// The error of reading.
    type Error;

    /// The file at a path, if any.
    ///
    /// # Errors
    /// A file that cannot be read; something else at the path.
    fn file(&self, path: &str) -> Result<Option<Arc<Source>>, Self::Error>;

    /// Refuses files that are not fixtures of Playproof: every check would fail.
    ///
    /// # Errors
    /// There are such.
    fn refuse_other_fixtures(&self) -> Result<(), Self::Error>;

    /// The tool facts that its own settings name.
    ///
    /// # Errors
    /// Facts that cannot be used.
    fn tools(&self) -> Result<Tools, Self::Error>;

    /// Whether it has a history.
    ///
    /// # Errors
    /// A folder that cannot be read.
    fn has_history(&self) -> Result<bool, Self::Error>;

    /// Whether it has a golden: something of it was accepted, even if the history is gone.
    ///
    /// # Errors
    /// A folder that cannot be read.
    fn has_goldens(&self) -> Result<bool, Self::Error>;

    /// Its own settings.
    fn settings(&self) -> Settings;

    /// Whether its own settings name this file of tool facts.
    fn names_tools(&self, path: &str) -> bool;

    /// Its path in its repository, if not at the root.
    fn below_repository(&self) -> Option<String>;
}

/// The existing settings of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// None.
    None,
    /// Those of a new project.
    Usual,
    /// Settings with other paths than those of a new project.
    Elsewhere,
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Purpose {
    Config,
    Playbook,
    Tools,
    Mapping,
    EffectProved,
    RetryGuard,
    OwnFailure,
    Denial,
    Golden,
    Lock,
    History,
    Attributes,
    Ignored,
    Workflow,
}

/// A file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path below the project's root.
    pub path: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Its text: as planned, or as it is there.
    pub source: Arc<Source>,
    /// Whether it existed before.
    pub kept: bool,
}

/// What is left to do by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByHand {
    /// Name this file of tool facts in the existing settings.
    NameTools(String),
    /// Note that no playbook, fixtures and goldens were added: the settings name others.
    OwnLayout,
    /// Move this file to the root of the repository.
    MoveWorkflow(String),
}

/// The files of the project, and what people should know of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// In the order in which they are shown.
    pub files: Vec<ProjectFile>,
    /// What is left to do by hand.
    pub by_hand: Vec<ByHand>,
    /// Whether it is the whole project; otherwise the folder had its own layout.
    pub is_whole: bool,
}

/// Why a project cannot be set up.
#[derive(Debug)]
pub enum NoPlan<E> {
    /// The folder cannot be used.
    Folder(E),
    /// An existing playbook has errors.
    Playbook(Report),
    /// Another existing file has errors.
    File(Report),
}

/// The files for a folder, with its recordings, and the path and text of tool facts drafted from them. Tool facts and a
/// mapping that were confirmed in the folder stand instead of drafts.
///
/// # Errors
/// An existing file that cannot be used; something else at a path.
pub fn plan<F: ProjectFolder>(
    folder: &F,
    recordings: &Recordings,
    drafted_tools: Option<(String, String)>,
) -> Result<ProjectFiles, NoPlan<F::Error>> {
    let is_whole = folder.settings() != Settings::Elsewhere;
    let mut planner = Planner { folder, planned: ProjectFiles { is_whole, ..ProjectFiles::default() } };
    let is_new = folder.settings() == Settings::None;
    let confirmed = |of: AnswerFile| -> Result<Option<(String, String)>, NoPlan<F::Error>> {
        let source = folder.file(of.path).map_err(NoPlan::Folder)?;
        let source = source.filter(|source| of.is_of(&source.text) && (is_new || folder.names_tools(of.path)));
        Ok(source.map(|source| (of.path.to_owned(), source.text.clone())))
    };
    let tools = confirmed(FACTS)?.or(drafted_tools);
    let tools_path = tools.as_ref().map(|(path, _)| path.clone());
    let own_map = confirmed(MAPPING)?;
    // One mapping can be for all recordings that are not recognised. Which of several, people know.
    let map = match recordings.mappings.as_slice() {
        [one] => Some(one.path()),
        [] => own_map.as_ref().map(|(path, _)| path.clone()),
        _ => None,
    };
    planner.add(CONFIG, Purpose::Config, starter::config(tools_path.as_deref(), map.as_deref()))?;
    if is_whole {
        planner.add(PLAYBOOK_FILE, Purpose::Playbook, starter::PLAYBOOK_TEXT.to_owned())?;
    }
    if let Some((path, text)) = tools {
        planner.add(&path, Purpose::Tools, text)?;
    }
    if let Some((path, text)) = own_map {
        planner.add(&path, Purpose::Mapping, text)?;
    }
    for mapping in &recordings.mappings {
        planner.add(&mapping.path(), Purpose::Mapping, mapping.text.clone())?;
    }
    if is_whole {
        planner.add_checked(recordings, tools_path.as_deref())?;
    }
    let below = folder.below_repository();
    let has_history = planner.has_history()?;
    planner.add(WORKFLOW, Purpose::Workflow, starter::workflow(below.as_deref(), has_history))?;
    planner.say_what_is_left(tools_path, below.is_some());
    Ok(planner.planned)
}

struct Planner<'a, F> {
    folder: &'a F,
    planned: ProjectFiles,
}

impl<F: ProjectFolder> Planner<'_, F> {
    fn add(&mut self, path: &str, purpose: Purpose, text: String) -> Result<Arc<Source>, NoPlan<F::Error>> {
        let there = self.folder.file(path).map_err(NoPlan::Folder)?;
        let kept = there.is_some();
        let source = there.unwrap_or_else(|| Source::whole(path, text));
        self.planned.files.push(ProjectFile { path: path.to_owned(), purpose, source: Arc::clone(&source), kept });
        Ok(source)
    }

    /// Adds what people accept, and the fixtures of it. In a project with a history or goldens only people can accept it
    /// again, so there a missing file stays missing, and `check` says so.
    fn add_accepted(
        &mut self,
        path: &str,
        purpose: Purpose,
        text: String,
    ) -> Result<Option<Arc<Source>>, NoPlan<F::Error>> {
        let is_there = self.folder.file(path).map_err(NoPlan::Folder)?.is_some();
        let was_accepted = || Ok(self.folder.has_history()? || self.folder.has_goldens()?);
        match is_there || !was_accepted().map_err(NoPlan::Folder)? {
            true => self.add(path, purpose, text).map(Some),
            false => Ok(None),
        }
    }

    fn file(&self, path: &str) -> Option<&ProjectFile> {
        self.planned.files.iter().find(|file| file.path == path)
    }

    /// Fixtures, goldens and lock.
    fn add_checked(&mut self, recordings: &Recordings, tools_path: Option<&str>) -> Result<(), NoPlan<F::Error>> {
        if self.folder.settings() == Settings::None {
            self.folder.refuse_other_fixtures().map_err(NoPlan::Folder)?;
        }
        let Some(playbook) = self.file(PLAYBOOK_FILE) else { return Ok(()) };
        let loaded = playbook::parse(Arc::clone(&playbook.source)).map_err(NoPlan::Playbook)?;
        let plan = Plan::new(loaded.playbook.clone(), &self.tools(tools_path)?);
        let mut fixtures = starter::fixtures();
        let own = recordings.fixture(&plan);
        let third = if own.is_some() { Purpose::OwnFailure } else { Purpose::Denial };
        fixtures.push(own.unwrap_or_else(starter::denial));
        let purposes = [Purpose::EffectProved, Purpose::RetryGuard, third];
        let mut sources = Vec::new();
        for ((name, text), purpose) in fixtures.into_iter().zip(purposes) {
            let source = self.add_accepted(&format!("fixtures/{name}.yaml"), purpose, text)?;
            sources.extend(source.map(|source| (name, source)));
        }
        for (name, text) in goldens(&plan, &sources).map_err(NoPlan::File)? {
            self.add_accepted(&format!("goldens/{PLAYBOOK}/{name}.snap"), Purpose::Golden, text)?;
        }
        self.add_accepted(LOCK, Purpose::Lock, lock(&loaded))?;
        if self.file(LOCK).is_some_and(|lock| !lock.kept) {
            let (name, text) = record(&loaded);
            self.add(&format!("{HISTORY}/{name}"), Purpose::History, text)?;
        }
        self.add("goldens/.gitattributes", Purpose::Attributes, starter::ATTRIBUTES.to_owned())?;
        self.add("goldens/.gitignore", Purpose::Ignored, starter::IGNORED.to_owned())?;
        Ok(())
    }

    /// Whether the project will have a history.
    fn has_history(&self) -> Result<bool, NoPlan<F::Error>> {
        let is_planned = self.planned.files.iter().any(|file| file.purpose == Purpose::History);
        Ok(is_planned || self.folder.has_history().map_err(NoPlan::Folder)?)
    }

    /// The tool facts that the project will have.
    fn tools(&self, drawn: Option<&str>) -> Result<Tools, NoPlan<F::Error>> {
        let is_used = |path: &&str| self.folder.settings() == Settings::None || self.folder.names_tools(path);
        match drawn.filter(is_used).and_then(|path| self.file(path)) {
            Some(file) => Ok(tools::parse(Arc::clone(&file.source)).map_err(NoPlan::File)?.tools),
            None => self.folder.tools().map_err(NoPlan::Folder),
        }
    }

    fn say_what_is_left(&mut self, tools_path: Option<String>, is_below_repository: bool) {
        let has_settings = self.folder.settings() != Settings::None;
        let unnamed = tools_path.filter(|path| has_settings && !self.folder.names_tools(path));
        let workflow = self.file(WORKFLOW).filter(|file| !file.kept && is_below_repository);
        let moved = workflow.map(|file| file.path.clone());
        let by_hand = &mut self.planned.by_hand;
        by_hand.extend(unnamed.map(ByHand::NameTools));
        by_hand.extend((!self.planned.is_whole).then_some(ByHand::OwnLayout));
        by_hand.extend(moved.map(ByHand::MoveWorkflow));
    }
}

/// The golden of each fixture (its name, its file) under the playbook, with the fixture's name; none for a fixture that
/// runs under others alone, or that the playbook contradicts.
fn goldens(plan: &Plan, fixtures: &[(String, Arc<Source>)]) -> Result<Vec<(String, String)>, Report> {
    let mut simulator = Simulator::new();
    let mut goldens = Vec::new();
    for (name, source) in fixtures {
        let fixture = fixture::parse(Arc::clone(source))?;
        if !fixture.playbooks.is_empty() && !fixture.playbooks.iter().any(|one| one == PLAYBOOK) {
            continue;
        }
        let id = CaseId { playbook: PLAYBOOK.to_owned(), fixture: name.clone() };
        let result = check_one(&mut simulator, &Case { id, fixture: &fixture, plan, golden: None });
        goldens.extend(result.pending_golden().map(|golden| (name.clone(), golden.render())));
    }
    Ok(goldens)
}

/// The lock in which every row of the playbook is approved.
fn lock(loaded: &Loaded) -> String {
    let mut lock = Lock::default();
    let rows = rows(&loaded.playbook);
    lock.approve(PLAYBOOK, rows.iter().map(|row| (&*row.name, &*row.text)), WHY);
    lock.render()
}

/// The record of that approval, with the name of its file, for a history that is empty.
fn record(loaded: &Loaded) -> (String, String) {
    let rows = rows(&loaded.playbook);
    let rows = changes(None, rows.iter().map(|row| (&*row.name, &*row.text)));
    let record = Record { kind: RecordKind::Approval, playbook: PLAYBOOK.to_owned(), reason: WHY.to_owned(), rows };
    (record.file_name(next_number([])), record.render())
}
