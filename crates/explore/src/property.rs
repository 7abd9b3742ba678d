//! The properties that are asked of a playbook: findings that no answer of an upstream may bring about.

use std::collections::BTreeSet;

use playproof_engine::event::{Decision, FindingId};
use playproof_engine::sim::SimulationRecord;

use crate::calls::CallKind;

/// The properties, worst first.
pub const PROPERTIES: [FindingId; 9] = [
    FindingId::DuplicateEffect,
    FindingId::UntruthfulOutcome,
    FindingId::RetriedAfterDenial,
    FindingId::RetriedAfterConflict,
    FindingId::UnsafeRetry,
    FindingId::DenialNotEscalated,
    FindingId::StaleEvidenceResent,
    FindingId::RefusalUnseen,
    FindingId::UnboundedWait,
];

/// The properties that a run asks: their condition came up, so that it could have been met badly.
pub(crate) fn asked(kind: &CallKind, record: &SimulationRecord) -> BTreeSet<FindingId> {
    let adds = kind.facts.adds_effects();
    let mut asked = BTreeSet::new();
    for event in &record.events {
        match event.what {
            Decision::FailureClassified { .. } => {
                asked.extend([FindingId::RetriedAfterDenial, FindingId::DenialNotEscalated]);
                asked.insert(FindingId::StaleEvidenceResent);
                asked.extend(kind.writes().then_some(FindingId::UntruthfulOutcome));
                asked.extend(adds.then_some(FindingId::DuplicateEffect));
                asked.extend((adds && !kind.shape.keyed).then_some(FindingId::UnsafeRetry));
                asked.extend(kind.shape.keyed.then_some(FindingId::RetriedAfterConflict));
            }
            Decision::RetryScheduled { told: Some(_), .. } => {
                asked.insert(FindingId::UnboundedWait);
            }
            Decision::ReversalRefused { .. } => {
                asked.insert(FindingId::RefusalUnseen);
            }
            _ => {}
        }
    }
    asked
}
