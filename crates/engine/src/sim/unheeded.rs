//! What a call was told and its dispatcher did not heed: a denial or a refused reversal that reaches no person, evidence
//! that the upstream had refused as stale, and a wish to wait that nothing bounds. `findings` has all other findings.

use crate::classify::{reads_as_denial, reads_as_stale};
use crate::event::{Decision, DecisionEvent, ErrorFacts, Finding, FindingBy, FindingId, OutcomeKind, Status};
use crate::ids::{CallId, ErrorId, EvidenceId, VerdictId};
use crate::plan::Plan;
use crate::playbook::Compensation;
use crate::time::Duration;

use super::record::SimulationRecord;

/// The longest wait that needs no bound: an agent that is told to come back later than this has gone away.
const LONG_WAIT: Duration = Duration::from_millis(3_600_000);

/// The findings of one call that is sent to the upstream itself.
pub(super) fn of_call(plan: &Plan, id: CallId, record: &SimulationRecord) -> impl Iterator<Item = Finding> {
    let mut seen = Unheeded::default();
    for event in record.events_of(id) {
        seen.note(plan, record, event);
    }
    let counts = [
        (FindingId::DenialNotEscalated, if seen.escalated { 0 } else { seen.denials }),
        (FindingId::StaleEvidenceResent, seen.resent),
        (FindingId::RefusalUnseen, u32::from(seen.refused && !seen.escalated)),
        (FindingId::UnboundedWait, seen.unbounded),
    ];
    let found = move |(finding, count)| (count > 0).then(|| Finding::new(finding, FindingBy::Playbook, id, count));
    counts.into_iter().filter_map(found)
}

/// What the events of one call show.
#[derive(Default)]
struct Unheeded {
    denials: u32,
    resent: u32,
    unbounded: u32,
    refused: bool,
    /// Whether a person has the call, or how it goes on is unknown.
    escalated: bool,
    evidence: Option<EvidenceId>,
    /// The evidence of an attempt that was refused for it.
    stale: Option<EvidenceId>,
    verdict: Option<VerdictId>,
    error: Option<ErrorId>,
}

impl Unheeded {
    fn note(&mut self, plan: &Plan, record: &SimulationRecord, event: &DecisionEvent) {
        match event.what {
            Decision::AttemptStarted { evidence, .. } => {
                self.resent += u32::from(self.stale == Some(evidence));
                self.evidence = Some(evidence);
            }
            Decision::AttemptFinished { status, .. } => {
                self.error = if let Status::Failed(error) = status { error } else { None };
            }
            Decision::FailureClassified { verdict, .. } => {
                let error = self.error.and_then(|error| record.error(error));
                let denies = error.is_some_and(|error| reads_as_denial(error) && !is_by_a_person(error));
                self.denials += u32::from(denies || plan.reserved.denied == Some(verdict));
                let refreshes = matches!(plan.playbook.verdict(verdict).then, Compensation::RefreshEvidence(_));
                if refreshes || error.is_some_and(reads_as_stale) {
                    self.stale = self.evidence;
                }
                self.verdict = Some(verdict);
            }
            Decision::RetryScheduled { delay, told: Some(_), .. } if delay > LONG_WAIT => {
                self.unbounded += u32::from(!self.is_bounded(plan));
            }
            Decision::ReversalRefused { .. } => self.refused = true,
            Decision::Outcome(outcome) => {
                use OutcomeKind::{Cancelled, Escalated, Suspected, Undetermined, Unfinished};
                let kind = outcome.kind;
                self.escalated =
                    matches!(kind, Escalated(_) | Cancelled | Suspected(_) | Undetermined(_) | Unfinished(_));
            }
            _ => {}
        }
    }

    /// Whether the playbook bounds the wait that follows the last verdict.
    fn is_bounded(&self, plan: &Plan) -> bool {
        let limits = &plan.playbook.limits;
        let retry = self.verdict.and_then(|verdict| plan.playbook.verdict(verdict).then.retry());
        limits.deadline.is_some()
            || limits.call_timeout.is_some()
            || retry.is_some_and(|retry| retry.server_delay.max.is_some())
    }
}

/// Whether somebody was asked and said no: a person knows of it.
fn is_by_a_person(error: &ErrorFacts) -> bool {
    error.kind.as_deref() == Some("user_rejected")
}
