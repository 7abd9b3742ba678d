//! The recorded failures behind a draft. Reads no recording and decides nothing.

use crate::kept::{CameFrom, Kept};
use crate::mining::{Cluster, FailureExample, Mined, MinedPart};
use playproof_engine::call::RecordedCall;
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::Playbook;
use playproof_engine::sim::Plan;

/// The most failures that are tried as look-alikes.
const TRIED: usize = 20;

/// The recorded failures behind a draft.
#[derive(Clone, Debug)]
pub struct DraftEvidence {
    /// The cluster that the draft is for, with other failures.
    pub cluster: Cluster,
    /// Their source.
    pub origin: EvidenceSource,
    /// Their current compensation, if any.
    pub compensation: Option<&'static str>,
}

/// The source of failures.
#[derive(Clone, Debug)]
pub enum EvidenceSource {
    /// Mined from traces.
    Mined {
        /// The paths of the traces, as given.
        traces: Vec<String>,
        /// Recorded attempts that failed.
        failures: u64,
    },
    /// A kept call.
    Kept {
        /// Its id.
        id: String,
        /// Where the call was.
        came_from: CameFrom,
        /// What was wrong, in words.
        note: String,
        /// The call as shown.
        call: Box<RecordedCall>,
        /// Whether only kept calls were searched.
        is_alone: bool,
    },
}

/// Why there is no cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCluster {
    /// No recorded attempt failed.
    NothingFailed,
    /// The playbook handles every failure.
    AllHandled(String),
    /// There are only so many.
    Only(usize),
}

impl DraftEvidence {
    /// The evidence of the cluster with this number, from 1.
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

    /// The evidence of a kept call, with the failures `mined` besides; none if the attempt did not fail.
    pub fn of_kept(kept: &Kept, mined: MinedPart, plan: &Plan, is_alone: bool) -> Option<DraftEvidence> {
        let call = kept.call()?;
        let both = (call, kept.recorded().unwrap_or(call));
        let cluster = mined.around(plan, both, AttemptNo::new(kept.file.attempt))?;
        let origin = EvidenceSource::Kept {
            id: kept.id.clone(),
            came_from: kept.file.came_from.clone(),
            note: kept.file.note.clone(),
            call: Box::new(call.clone()),
            is_alone,
        };
        Some(DraftEvidence::new(cluster, origin, &plan.playbook))
    }

    fn new(cluster: Cluster, origin: EvidenceSource, playbook: &Playbook) -> DraftEvidence {
        let verdict = playbook.verdicts.iter().find(|verdict| *verdict.name == *cluster.verdict);
        DraftEvidence { origin, compensation: verdict.map(|verdict| verdict.then.as_str()), cluster }
    }

    /// The failures whose calls the fixtures of a draft need.
    pub fn wanted(&self, has_rule: bool) -> Vec<&FailureExample> {
        let own: &[FailureExample] = match self.origin {
            EvidenceSource::Mined { .. } => &self.cluster.examples,
            EvidenceSource::Kept { .. } => &[],
        };
        own.iter().chain(self.others().iter().filter(|_| has_rule)).collect()
    }

    /// The failures to try as look-alikes, the nearest first.
    pub(super) fn others(&self) -> &[FailureExample] {
        let others = &self.cluster.others;
        others.get(..TRIED.min(others.len())).unwrap_or_default()
    }
}
