//! Tries a proposal: runs its own and the project's fixtures under the current and the proposed playbook. Reads
//! nothing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::copy::{Applied, Proposal};
use super::diff::before_and_after;
use super::gates::{TrialFacts, judge, lost, touched};
use super::lints::lints;
use super::report::ProposalReport;
use crate::check::{CaseId, map, row_changes};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Simulator};
use playproof_explore::guarantees;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::{Lock, RowChange};
use playproof_formats::playbook::Loaded;

/// The project of the proposals, as read.
#[derive(Debug)]
pub struct ProposalContext {
    /// Its fixtures by name.
    pub fixtures: Vec<(String, Fixture)>,
    /// The folder of its fixtures, as shown to people.
    pub fixtures_folder: String,
    /// The playbook of fixtures that name none.
    pub usual: String,
    /// The approved rows, if any.
    pub lock: Option<Lock>,
    /// The playbook and the rows of it that each proposal changes, by id; none for one that cannot be used.
    pub touched: BTreeMap<String, (String, Vec<String>)>,
}

/// A proposal to try.
#[derive(Clone, Copy, Debug)]
pub struct TrialInput<'a> {
    /// Its id: the name of its folder.
    pub id: &'a str,
    /// Its folder, as shown to people.
    pub folder: &'a str,
    /// Its content.
    pub proposal: &'a Proposal,
    /// Its own fixtures by name.
    pub fixtures: &'a [(String, Fixture)],
    /// Its decision record, if there is one.
    pub adr: Option<&'a Arc<Source>>,
    /// The playbook's name in fixtures.
    pub playbook: &'a str,
    /// The current playbook.
    pub before: &'a Loaded,
    /// The proposed playbook.
    pub applied: &'a Applied,
    /// Both, ready to run.
    pub plans: [&'a Plan; 2],
    /// The goldens of the project's fixtures under the playbook.
    pub goldens: &'a BTreeMap<CaseId, Option<Arc<Source>>>,
}

impl ProposalContext {
    /// The fixtures that are run under a playbook.
    pub fn runs<'f>(
        &self,
        fixtures: &'f [(String, Fixture)],
        playbook: &str,
    ) -> impl Iterator<Item = (CaseId, &'f Fixture)> {
        fixtures.iter().filter(|(_, fixture)| self.is_run(fixture, playbook)).map(|(name, fixture)| {
            let id = CaseId { playbook: playbook.to_owned(), fixture: name.clone() };
            (id, fixture)
        })
    }

    /// Whether a fixture is run under a playbook.
    pub(super) fn is_run(&self, fixture: &Fixture, playbook: &str) -> bool {
        match fixture.playbooks.as_slice() {
            [] => self.usual == playbook,
            named => named.iter().any(|name| name == playbook),
        }
    }

    /// Tries a proposal: its differences and its gates.
    pub fn try_out(&self, candidate: &TrialInput<'_>, jobs: NonZeroUsize) -> ProposalReport {
        let TrialInput { id, folder, proposal, fixtures, adr, playbook, before, applied, plans, goldens } = *candidate;
        let own = self.runs(fixtures, playbook).map(|(id, fixture)| (id, fixture, true));
        let all = self.runs(&self.fixtures, playbook).map(|(id, fixture)| (id, fixture, false));
        let cases: Vec<(CaseId, &Fixture, bool)> = own.chain(all).collect();
        let work = |simulator: &mut Simulator, (id, fixture, is_new): &(CaseId, &Fixture, bool)| {
            before_and_after(simulator, id, fixture, plans, *is_new)
        };
        let diffs = map(&cases, jobs, Simulator::new, work, |_| false);
        let (unapproved, taken) = (self.unapproved(playbook, before), self.taken(fixtures));
        let shared = self.shared(id, playbook, applied);
        let facts = TrialFacts {
            id,
            folder,
            fixtures: &self.fixtures_folder,
            proposal,
            before,
            applied,
            diffs: &diffs,
            goldens,
            adr,
            unapproved: &unapproved,
            shared: &shared,
            taken: &taken,
        };
        let mut gates = judge(&facts);
        gates.extend(lints(&facts, plans, jobs));
        let [before, after] = plans;
        let rows = applied.rows.iter().map(|row| row.name.as_str());
        let guarantees = guarantees(playbook, rows, (Some(before), after), jobs);
        gates.extend(lost(&facts, &guarantees));
        gates.sort_by_key(|gate| gate.kind); // stable
        ProposalReport {
            id: id.to_owned(),
            playbook: playbook.to_owned(),
            rows: applied.rows.clone(),
            diffs,
            guarantees: Some(guarantees),
            gates,
        }
    }

    fn unapproved(&self, name: &str, loaded: &Loaded) -> Vec<RowChange> {
        let playbooks = BTreeMap::from([(name.to_owned(), &loaded.playbook)]);
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

    /// The names that fixtures of the project have already.
    fn taken(&self, fixtures: &[(String, Fixture)]) -> Vec<String> {
        let names = fixtures.iter().map(|(name, _)| name);
        names.filter(|name| self.fixtures.iter().any(|(taken, _)| taken == *name)).cloned().collect()
    }
}
