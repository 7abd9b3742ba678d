//! Tries proposals: each on the playbook that it changes, against the fixtures and goldens of the project.
//! Writes nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use super::stored::{self, Stored};
use crate::exit::Failure;
use crate::files;
use crate::workspace::{Used, Workspace};
use playproof_analysis::check::{Id, map, row_changes};
use playproof_analysis::proposal::{Applied, FixtureDiff, Judged, Tried, apply, before_and_after, judge, touched};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Lock;
use playproof_formats::shell::Command;

/// The project, read once for all proposals.
pub struct Desk<'a> {
    /// Where its files lie.
    pub workspace: &'a Workspace,
    /// Threads.
    pub jobs: NonZeroUsize,
    /// Its fixtures by name.
    pub fixtures: Vec<(String, Fixture)>,
    /// The approved rows, where there are any.
    pub lock: Option<Lock>,
    /// The rows that each proposal changes, by id; none for one that cannot be used.
    pub touched: BTreeMap<String, (String, Vec<String>)>,
}

/// A proposal that has been tried, with what accepting it needs.
pub struct Tryout {
    /// What is to be shown.
    pub judged: Judged,
    /// The playbook as it is.
    pub used: Used,
    /// The playbook as proposed.
    pub applied: Applied,
    /// The goldens of the project's fixtures under the playbook.
    pub goldens: BTreeMap<Id, Option<Arc<Source>>>,
}

impl<'a> Desk<'a> {
    /// Reads the project.
    ///
    /// # Errors
    /// Fixtures or a lock that cannot be used.
    pub fn open(workspace: &'a Workspace, jobs: NonZeroUsize) -> Result<Desk<'a>, Failure> {
        let fixtures = workspace.load_fixtures(&workspace.fixture_names()?, jobs)?;
        let lock = workspace.read_lock()?;
        let mut desk = Desk { workspace, jobs, fixtures, lock, touched: BTreeMap::new() };
        for id in stored::ids(workspace)? {
            // One that cannot be used is told of where it is meant itself.
            let Ok(stored) = stored::load(workspace, &id) else { continue };
            let Ok((name, _, applied)) = desk.apply(&stored) else { continue };
            desk.touched.insert(id, (name, touched(&applied.rows).map(str::to_owned).collect()));
        }
        Ok(desk)
    }

    /// The playbook that a proposal changes, by name, and as proposed.
    ///
    /// # Errors
    /// A playbook that cannot be used or is not the project's own; a proposal that does not fit it.
    pub fn apply(&self, stored: &Stored) -> Result<(String, Used, Applied), Failure> {
        let (name, used) = playbook_of(self.workspace, stored)?;
        let applied = apply(&used.loaded.places.source, &stored.proposal).map_err(|report| {
            let file = self.workspace.here(&stored.folder.join("proposal.yaml"));
            let failure = Failure::from(report).and_help(&format!("mend {file}"));
            failure.next(Command::new("playproof propose check").name(&stored.id))
        })?;
        Ok((name, used, applied))
    }

    /// Holds the verdicts that fixtures, its own too, say are not given against the playbook as proposed: it may add
    /// them, and it may take them away.
    fn hold_verdicts(&self, stored: &Stored, playbook: &str, applied: &Applied) -> Result<(), Failure> {
        let own = stored
            .fixtures
            .iter()
            .map(|(name, fixture, _)| (stored.folder.join("fixtures").join(format!("{name}.yaml")), fixture));
        let others = self.fixtures.iter().map(|(name, fixture)| (self.workspace.fixture_path(name), fixture));
        for (path, fixture) in own.chain(others) {
            let Some(expect) = fixture.expect.get(playbook) else { continue };
            self.workspace
                .hold_verdicts_of(&path, (playbook, expect), &applied.loaded.playbook)
                .map_err(|failure| failure.next(Command::new("playproof propose check").name(&stored.id)))?;
        }
        Ok(())
    }

    /// Tries a proposal.
    ///
    /// # Errors
    /// As [`Desk::apply`]; goldens that cannot be read.
    pub fn try_out(&self, stored: &Stored) -> Result<Tryout, Failure> {
        let (name, used, applied) = self.apply(stored)?;
        self.hold_verdicts(stored, &name, &applied)?;
        let plan = Plan::new(applied.loaded.playbook.clone(), self.workspace.tools());
        let mut goldens = BTreeMap::new();
        let mut cases: Vec<(Id, &Fixture, bool)> = Vec::new();
        let runs = |fixture: &Fixture| self.workspace.playbooks_of(fixture).contains(&name.as_str());
        for (fixture_name, fixture, _) in stored.fixtures.iter().filter(|(_, fixture, _)| runs(fixture)) {
            cases.push((Id { playbook: name.clone(), fixture: fixture_name.clone() }, fixture, true));
        }
        for (fixture_name, fixture) in self.fixtures.iter().filter(|(_, fixture)| runs(fixture)) {
            let id = Id { playbook: name.clone(), fixture: fixture_name.clone() };
            goldens.insert(id.clone(), self.workspace.read_golden(&id)?);
            cases.push((id, fixture, false));
        }
        let work = |simulator: &mut Simulator, (id, fixture, is_new): &(Id, &Fixture, bool)| {
            before_and_after(simulator, id, fixture, [&used.plan, &plan], *is_new)
        };
        let diffs: Vec<FixtureDiff> = map(&cases, self.jobs, Simulator::new, work, |_| false);
        let mut gates = judge(&Tried {
            id: &stored.id,
            folder: &self.workspace.here(&stored.folder),
            fixtures: &self.workspace.fixtures_here(),
            proposal: &stored.proposal,
            before: &used.loaded,
            applied: &applied,
            diffs: &diffs,
            goldens: &goldens,
            adr: stored.adr.as_ref(),
            unapproved: &self.unapproved(&name, &used),
            shared: &self.shared(&stored.id, &name, &applied),
            taken: &self.taken(stored),
        });
        for report in gates.iter_mut().filter_map(|gate| gate.report.as_mut()) {
            let source = &report.source;
            let name = self.workspace.here(&self.workspace.root().join(&source.name));
            report.source = Arc::new(Source { name, ..(**source).clone() });
        }
        let rows = applied.rows.clone();
        let judged = Judged { id: stored.id.clone(), playbook: name, rows, diffs, gates };
        Ok(Tryout { judged, used, applied, goldens })
    }

    fn unapproved(&self, name: &str, used: &Used) -> Vec<playproof_formats::golden::RowChange> {
        let playbooks = BTreeMap::from([(name.to_owned(), &used.loaded.playbook)]);
        let changed = row_changes(self.lock.as_ref(), &playbooks, false);
        changed.into_iter().flat_map(|rows| rows.changes).collect()
    }

    /// The rows that other proposals change too.
    fn shared(&self, id: &str, playbook: &str, applied: &Applied) -> Vec<(String, String)> {
        let mine: Vec<&str> = touched(&applied.rows).collect();
        let others = self.touched.iter().filter(|(other, (name, _))| *other != id && name == playbook);
        others
            .flat_map(|(other, (_, rows))| {
                rows.iter().filter(|row| mine.contains(&row.as_str())).map(|row| (other.clone(), row.clone()))
            })
            .collect()
    }

    fn taken(&self, stored: &Stored) -> Vec<String> {
        let names = stored.fixtures.iter().map(|(name, ..)| name);
        names.filter(|name| self.fixtures.iter().any(|(taken, _)| taken == *name)).cloned().collect()
    }
}

/// The playbook that a proposal names, from wherever in the project it is asked.
///
/// # Errors
/// As [`own_playbook`].
pub fn playbook_of(workspace: &Workspace, stored: &Stored) -> Result<(String, Used), Failure> {
    own(workspace, workspace.lasting_playbook(&stored.proposal.playbook.text)?)
}

/// A playbook that the project can change: one that lies in it, where its fixtures find it by its name.
///
/// # Errors
/// A playbook that cannot be used, that Playproof carries, that lies elsewhere.
pub fn own_playbook(workspace: &Workspace, asked: Option<&str>) -> Result<(String, Used), Failure> {
    own(workspace, workspace.playbook(asked)?)
}

fn own(workspace: &Workspace, (name, used): (String, Used)) -> Result<(String, Used), Failure> {
    let Some(path) = &used.path else {
        let said = format!("`{name}` is carried by playproof: a project changes its own playbooks alone");
        let other = workspace.playbook(None).ok().filter(|(other, used)| is_own(workspace, other, used));
        return Err(match other {
            Some((other, _)) => Failure::said(said).help(format!("the project's own is `{other}`")).next(
                Command::new("playproof propose new VERDICT").flag("--playbook", &workspace.playbook_argument(&other)),
            ),
            None => Failure::said(said)
                .help(format!("`playproof init` makes a project with one; or put your own at `playbooks/{name}.yaml`"))
                .next("playproof init"),
        });
    };
    if !is_own(workspace, &name, &used) {
        let said = format!("`{}` is not what this project's fixtures call `{name}`", workspace.here(path));
        return Err(Failure::said(said)
            .help("a project changes the playbooks below its folder `playbooks`, and the one that playproof.yaml names")
            .next("playproof propose new VERDICT --playbook playbooks/NAME.yaml"));
    }
    Ok((name, used))
}

/// Whether a proposal can change the playbook that is asked for, or else that of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It can.
    Own,
    /// It cannot, but it can change the project's.
    AnotherIsOwn,
    /// There is none that it could change.
    NoneIsOwn,
}

/// How the playbook that is asked for, by name or path, stands to the project of the working directory.
pub fn stand(asked: Option<&str>) -> Stand {
    let Ok(workspace) = Workspace::open() else { return Stand::NoneIsOwn };
    match (own_playbook(&workspace, asked).is_ok(), own_playbook(&workspace, None).is_ok()) {
        (true, _) => Stand::Own,
        (false, true) => Stand::AnotherIsOwn,
        (false, false) => Stand::NoneIsOwn,
    }
}

/// Whether the playbook lies in the project, and is the one that its fixtures know by `name`.
pub fn is_own(workspace: &Workspace, name: &str, used: &Used) -> bool {
    let Some(path) = &used.path else { return false };
    let root = if workspace.root().as_os_str().is_empty() { Path::new(".") } else { workspace.root() };
    let known = workspace.playbook(Some(name)).ok().and_then(|(_, known)| files::real(&known.path?));
    match (files::real(path), files::real(root)) {
        (Some(path), Some(root)) => path.starts_with(root) && known == Some(path),
        _ => false,
    }
}
