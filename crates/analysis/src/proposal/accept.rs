//! Accepting a proposal: its goldens and its history record. Writes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::copy::Applied;
use super::diff::FixtureDiff;
use super::report::ProposalReport;
use super::trial::ProposalContext;
use crate::check::{Case, CaseId, check_one};
use playproof_engine::event::FindingId;
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Contradiction, Plan, Simulator};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::{Class, GoldenFile, Reason};
use playproof_formats::history::{AcceptedProposal, History, Record, RecordKind};
use playproof_formats::playbook::{Loaded, rows};

/// Why a proposal cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// A golden that cannot be read.
    Golden(Report),
    /// A new fixture runs under a playbook without approved rows.
    PlaybookNotApproved(CaseId),
    /// A new fixture contradicts its `expect` under another playbook.
    Contradicted(CaseId, Box<Contradiction>),
    /// A new fixture shows harm under another playbook that its `expect` does not name.
    Harmful(CaseId, Vec<FindingId>),
    /// The history does not explain so many rows of the current playbook, first this one.
    NotRecorded(usize, String),
    /// It changes no row; such a record could not be read back.
    NoRow,
}

/// The goldens under the playbook: those that change, and those of the new fixtures. `old` are the accepted ones.
///
/// # Errors
/// One that cannot be read.
pub fn accepted_goldens(
    judged: &ProposalReport,
    old: &BTreeMap<CaseId, Option<Arc<Source>>>,
    reason: &str,
) -> Result<Vec<(CaseId, GoldenFile)>, NotAccepted> {
    let golden = |diff: &FixtureDiff| {
        let CaseId { playbook, fixture } = &diff.id;
        let body = diff.body.render();
        let Some(source) = old.get(&diff.id).and_then(Option::as_ref) else {
            return Ok((diff.id.clone(), GoldenFile::new(fixture, playbook, &body)));
        };
        let mut golden = GoldenFile::parse(source).map_err(NotAccepted::Golden)?.with_body(&body);
        if let Some(class) = diff.class().filter(|class| class.requires_reason()) {
            golden.reasons.push(Reason { class: class.words().to_owned(), why: reason.to_owned() });
        }
        Ok((diff.id.clone(), golden))
    };
    changed(judged).map(golden).collect()
}

/// New and changed fixtures.
fn changed(judged: &ProposalReport) -> impl Iterator<Item = &FixtureDiff> {
    judged.diffs.iter().filter(|diff| diff.has_new_golden())
}

/// The goldens of the new fixtures under the other playbooks that they name.
///
/// # Errors
/// A playbook of which no row is approved; a fixture that does not show what it is meant to show.
pub fn goldens_elsewhere(
    context: &ProposalContext,
    fixtures: &[(String, Fixture)],
    plans: &BTreeMap<&str, &Plan>,
) -> Result<Vec<(CaseId, GoldenFile)>, NotAccepted> {
    let mut goldens = Vec::new();
    let mut simulator = Simulator::new();
    for (name, fixture) in fixtures {
        for (playbook, plan) in plans.iter().filter(|(playbook, _)| context.is_run(fixture, playbook)) {
            let id = CaseId { playbook: (*playbook).to_owned(), fixture: name.clone() };
            if context.lock.as_ref().is_none_or(|lock| !lock.playbooks.contains_key(*playbook)) {
                return Err(NotAccepted::PlaybookNotApproved(id));
            }
            let result = check_one(&mut simulator, &Case { id: id.clone(), fixture, plan, golden: None });
            if let Some(first) = result.contradictions.into_iter().next() {
                return Err(NotAccepted::Contradicted(id, Box::new(first)));
            }
            if !result.unexpected_harm.is_empty() {
                return Err(NotAccepted::Harmful(id, result.unexpected_harm));
            }
            goldens.push((id, GoldenFile::new(name, playbook, &result.body.render())));
        }
    }
    Ok(goldens)
}

/// The history record of a proposal; `adr` is the path of its decision record below the project's root.
///
/// # Errors
/// Rows of the playbook as it is that the history does not explain; no row that changes.
pub fn record(
    history: &History,
    judged: &ProposalReport,
    (before, applied): (&Loaded, &Applied),
    fixtures: &[(String, Fixture)],
    adr: &str,
    reason: &str,
) -> Result<Record, NotAccepted> {
    let changes = |loaded: &Loaded| {
        let rows = rows(&loaded.playbook);
        history.changes(&judged.playbook, rows.iter().map(|row| (&*row.name, &*row.text)))
    };
    let unrecorded = changes(before);
    if let Some(first) = unrecorded.first() {
        return Err(NotAccepted::NotRecorded(unrecorded.len(), first.name.clone()));
    }
    let rows = changes(&applied.loaded);
    if rows.is_empty() {
        return Err(NotAccepted::NoRow);
    }
    let explained = changed(judged).filter(|diff| !diff.is_new && diff.class().is_some_and(Class::requires_reason));
    let kind = RecordKind::Proposal(AcceptedProposal {
        id: judged.id.clone(),
        adr: adr.replace('\\', "/"),
        fixtures: fixtures.iter().map(|(name, _)| name.clone()).collect(),
        goldens: changed(judged).map(|diff| diff.id.to_string()).collect(),
        explained: explained.map(|diff| diff.id.to_string()).collect(),
    });
    Ok(Record { kind, playbook: judged.playbook.clone(), reason: reason.to_owned(), rows })
}
