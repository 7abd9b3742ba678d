//! Reads a project and its proposals, and tries them. Writes nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::playbooks::playbook_of;
use super::stored::{self, Stored};
use crate::exit::Failure;
use crate::workspace::{Used, Workspace};
use playproof_analysis::check::CaseId;
use playproof_analysis::proposal::{Applied, ProposalContext, ProposalReport, TrialInput, apply, touched};
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::golden::MERGE_CONFLICT;
use playproof_formats::shell::Command;

/// A project in which proposals are tried.
pub struct Trials<'a> {
    /// Its files.
    pub workspace: &'a Workspace,
    /// What was read of it.
    pub context: ProposalContext,
    jobs: NonZeroUsize,
}

/// A proposal that has been tried, with what accepting it needs.
pub struct TrialResult {
    /// What is to be shown.
    pub judged: ProposalReport,
    /// The playbook as it is.
    pub used: Used,
    /// The playbook as proposed.
    pub applied: Applied,
    /// The goldens of the project's fixtures under the playbook.
    pub goldens: BTreeMap<CaseId, Option<Arc<Source>>>,
}

impl<'a> Trials<'a> {
    /// Reads the project.
    ///
    /// # Errors
    /// Fixtures or a lock that cannot be used.
    pub fn open(workspace: &'a Workspace, jobs: NonZeroUsize) -> Result<Trials<'a>, Failure> {
        let fixtures = workspace.load_fixtures(&workspace.fixture_names()?, jobs)?;
        let lock = workspace.read_lock()?;
        let mut touches = BTreeMap::new();
        for id in stored::ids(workspace)? {
            // One that cannot be used is told of where it is meant itself.
            let Ok(stored) = stored::load(workspace, &id) else { continue };
            let Ok((name, _, applied)) = applied(workspace, &stored) else { continue };
            touches.insert(id, (name, touched(&applied.rows).map(str::to_owned).collect()));
        }
        let (usual, fixtures_folder) = (workspace.usual_playbook().to_owned(), workspace.fixtures_here());
        let context = ProposalContext { fixtures, fixtures_folder, usual, lock, touched: touches };
        Ok(Trials { workspace, context, jobs })
    }

    /// Tries a proposal.
    ///
    /// # Errors
    /// A playbook that cannot be used or is not the project's own; a proposal that does not fit it; goldens that cannot
    /// be read.
    pub fn try_out(&self, stored: &Stored) -> Result<TrialResult, Failure> {
        let (name, used, applied) = applied(self.workspace, stored)?;
        self.check_expected_names(stored, &name, &applied)?;
        let plan = Plan::new(applied.loaded.playbook.clone(), self.workspace.tools());
        let mut goldens = BTreeMap::new();
        for (id, _) in self.context.runs(&self.context.fixtures, &name) {
            let golden = self.workspace.read_golden(&id)?;
            goldens.insert(id, golden);
        }
        let candidate = TrialInput {
            id: &stored.id,
            folder: &self.workspace.here(&stored.folder),
            proposal: &stored.proposal,
            fixtures: &stored.fixtures,
            adr: stored.adr.as_ref(),
            playbook: &name,
            before: &used.loaded,
            applied: &applied,
            plans: [&used.plan, &plan],
            goldens: &goldens,
        };
        let mut judged = self.context.try_out(&candidate, self.jobs);
        for report in judged.gates.iter_mut().filter_map(|gate| gate.report.as_mut()) {
            let source = &report.source;
            let name = self.workspace.here(&self.workspace.root().join(&source.name));
            report.source = Arc::new(Source { name, ..(**source).clone() });
        }
        Ok(TrialResult { judged, used, applied, goldens })
    }

    /// Checks what fixtures, its own too, expect by name under the playbook as proposed: it may add verdicts, queues and
    /// actions, and it may take them away.
    fn check_expected_names(&self, stored: &Stored, playbook: &str, applied: &Applied) -> Result<(), Failure> {
        let own = stored
            .fixtures
            .iter()
            .map(|(name, fixture)| (stored.folder.join("fixtures").join(format!("{name}.yaml")), fixture));
        let others = &self.context.fixtures;
        let others = others.iter().map(|(name, fixture)| (self.workspace.fixture_path(name), fixture));
        for (path, fixture) in own.chain(others) {
            let Some(expect) = fixture.expect.get(playbook) else { continue };
            fixture::check_expected_names(expect, self.workspace.read(&path)?, playbook, &applied.loaded.playbook)
                .map_err(|report| {
                    Failure::from(report).next(Command::new("playproof propose check").name(&stored.id))
                })?;
        }
        Ok(())
    }
}

/// The playbook that a proposal changes, by name, and as proposed.
fn applied(workspace: &Workspace, stored: &Stored) -> Result<(String, Used, Applied), Failure> {
    let (name, used) = playbook_of(workspace, stored)?;
    let applied = apply(&used.loaded, &stored.proposal).map_err(|report| {
        let is_behind = report.diagnostics.iter().any(|said| said.id == MERGE_CONFLICT);
        let next = if is_behind { "playproof propose rebase" } else { "playproof propose check" };
        Failure::from(report).next(Command::new(next).name(&stored.id))
    })?;
    Ok((name, used, applied))
}
