//! What was recorded of the failures that a draft is for. Reads no recording and decides nothing.

use crate::feedback::{CameFrom, Kept};
use crate::mining::{Cluster, FailureExample, Mined, MinedPart};
use playproof_engine::call::RecordedCall;
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::Playbook;
use playproof_engine::sim::Plan;

/// Other failures that are tried as look-alikes.
const TRIED: usize = 20;

/// What was recorded.
#[derive(Clone, Debug)]
pub struct DraftEvidence {
    /// The failures that the draft is for, with the others beside them.
    pub cluster: Cluster,
    /// Where they were found.
    pub origin: EvidenceSource,
    /// What the playbook does about them today; none where it does nothing.
    pub compensation: Option<&'static str>,
}

/// Where failures were found.
#[derive(Clone, Debug)]
pub enum EvidenceSource {
    /// In these traces, among so many recorded failures.
    Mined {
        /// As people named them.
        traces: Vec<String>,
        /// Recorded attempts that failed.
        failures: u64,
    },
    /// In a call that was kept.
    Kept {
        /// The feedback.
        id: String,
        /// Where the call was.
        came_from: CameFrom,
        /// What was wrong, in the words of whoever saw it.
        note: String,
        /// The call, as it is shown.
        call: Box<RecordedCall>,
        /// Whether nothing was looked at but feedback.
        is_alone: bool,
    },
}

/// Why there is no such cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCluster {
    /// No recorded attempt failed.
    NothingFailed,
    /// The playbook has a use for every failure.
    AllHandled(String),
    /// There are only so many.
    Only(usize),
}

impl DraftEvidence {
    /// What the cluster of this number, from 1, holds.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn of_cluster(
        mined: &Mined,
        number: usize,
        traces: &[String],
        playbook: &Playbook,
    ) -> Result<DraftEvidence, NoCluster> {
        let Some(cluster) = number.checked_sub(1).and_then(|at| mined.shown.get(at)) else {
            return Err(match mined.clusters {
                0 if mined.failures == 0 => NoCluster::NothingFailed,
                0 => NoCluster::AllHandled(mined.playbook.clone()),
                clusters => NoCluster::Only(clusters),
            });
        };
        let origin = EvidenceSource::Mined { traces: traces.to_vec(), failures: mined.failures };
        Ok(DraftEvidence::new(cluster.clone(), origin, playbook))
    }

    /// What a feedback holds, with all that was `mined` beside it; none where nothing failed in its call.
    pub fn of_feedback(kept: &Kept, mined: MinedPart, plan: &Plan, is_alone: bool) -> Option<DraftEvidence> {
        let (call, failed) = kept.call().zip(kept.feedback.before.failed.as_ref())?;
        let both = (call, kept.recorded().unwrap_or(call));
        let cluster = mined.around(plan, both, AttemptNo::new(failed.attempt))?;
        let origin = EvidenceSource::Kept {
            id: kept.id.clone(),
            came_from: kept.feedback.came_from.clone(),
            note: kept.feedback.note.clone(),
            call: Box::new(call.clone()),
            is_alone,
        };
        Some(DraftEvidence::new(cluster, origin, &plan.playbook))
    }

    fn new(cluster: Cluster, origin: EvidenceSource, playbook: &Playbook) -> DraftEvidence {
        let verdict = playbook.verdicts.iter().find(|verdict| *verdict.name == *cluster.verdict);
        DraftEvidence { origin, compensation: verdict.map(|verdict| verdict.then.as_str()), cluster }
    }

    /// The recorded failures whose calls are needed for the fixtures of a draft.
    pub fn wanted(&self, has_rule: bool) -> Vec<&FailureExample> {
        let own: &[FailureExample] = match self.origin {
            EvidenceSource::Mined { .. } => &self.cluster.examples,
            EvidenceSource::Kept { .. } => &[],
        };
        own.iter().chain(self.others().iter().filter(|_| has_rule)).collect()
    }

    /// The failures that are tried as look-alikes, the nearest first.
    pub(super) fn others(&self) -> &[FailureExample] {
        let others = &self.cluster.others;
        others.get(..TRIED.min(others.len())).unwrap_or_default()
    }
}
