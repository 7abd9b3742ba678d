//! What one run shows of the claims of verdicts: whether the ledger contradicts them, and whether a guard stopped a retry.

use playproof_engine::event::{Decision, EffectClaim, FindingId, LedgerKind, SuppressionReason};
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::sim::{Plan, SimulationRecord};

/// The verdicts of a run that claim what the ledger contradicts, where a finding tells of it.
pub(crate) fn contradicted(plan: &Plan, record: &SimulationRecord) -> Vec<VerdictId> {
    let tells = |id| matches!(id, FindingId::DuplicateEffect | FindingId::UntruthfulOutcome);
    if !record.findings.iter().any(|finding| tells(finding.id)) {
        return Vec::new();
    }
    let applied: Vec<Option<AttemptNo>> = {
        let entries = record.ledger.entries().iter();
        entries.filter(|entry| entry.kind == LedgerKind::Applied).map(|entry| entry.attempt).collect()
    };
    let is_contradicted =
        |(attempt, verdict): &(Option<AttemptNo>, VerdictId)| match plan.playbook.verdict(*verdict).effect {
            EffectClaim::NotApplied => applied.contains(attempt),
            EffectClaim::Applied => applied.is_empty(),
            EffectClaim::Unknown => false,
        };
    failures(record).filter(is_contradicted).map(|(_, verdict)| verdict).collect()
}

/// The verdicts of a run whose retry the guard stopped.
pub(crate) fn guarded(record: &SimulationRecord) -> Vec<VerdictId> {
    let is_stopped = record
        .events
        .iter()
        .any(|event| matches!(event.what, Decision::RetrySuppressed { why } if why != SuppressionReason::Never));
    failures(record).last().filter(|_| is_stopped).map(|(_, verdict)| verdict).into_iter().collect()
}

/// The failures of a run: the attempt and its verdict.
fn failures(record: &SimulationRecord) -> impl Iterator<Item = (Option<AttemptNo>, VerdictId)> {
    let mut last = None;
    record.events.iter().filter_map(move |event| match event.what {
        Decision::AttemptFinished { attempt, .. } => {
            last = Some(attempt);
            None
        }
        Decision::FailureClassified { verdict, .. } => Some((last, verdict)),
        _ => None,
    })
}
