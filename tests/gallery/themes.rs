//! Which page of the gallery a fixture is on: decided by what its first playbook does, never by its name.

use playproof_engine::event::{
    AdmissionRefusal, Decision, EffectClaim, FindingBy, FindingId, OutcomeKind, OutcomeWord, StopReason,
};
use playproof_engine::ids::VerdictId;
use playproof_engine::sim::SimulationRecord;

/// A page of the gallery.
pub struct Theme {
    pub file: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Whether a run may be on the page.
    holds: fn(&SimulationRecord) -> bool,
}

/// From what is common to what is special: of several themes that hold a run, the last one has it.
#[rustfmt::skip]
pub const THEMES: [Theme; 18] = [
    Theme { file: "success", title: "Calls that succeed", about: "No attempt fails.", holds: |run| ends_with(run, OutcomeWord::Succeeded) },
    Theme { file: "retries", title: "Sent again until it works", about: "A later attempt succeeds.", holds: |run| ends_with(run, OutcomeWord::SucceededAfterCompensation) },
    Theme { file: "jitter", title: "Waits with a random part", about: "A later attempt succeeds, and a draw decides how long each wait is.", holds: |run| ends_with(run, OutcomeWord::SucceededAfterCompensation) && any(run, |what| matches!(what, Decision::RetryScheduled { draw: Some(_), .. })) },
    Theme { file: "limits", title: "Stopped by a limit", about: "Attempts, waits and deadlines are bounded.", holds: |run| ends_with(run, OutcomeWord::Exhausted) },
    Theme { file: "planner", title: "Back to the planner", about: "Sending the same call again would not help: it is given up, and the planner goes on from what is known.", holds: |run| ends_with(run, OutcomeWord::Deprecated) },
    Theme { file: "people", title: "Given to people", about: "People decide what happens next.", holds: |run| ends_with(run, OutcomeWord::Escalated) },
    Theme { file: "unknown-effects", title: "Effects that stay unknown", about: "The call may have acted. It is not sent again: people find out what it did.", holds: |run| ends_with(run, OutcomeWord::Escalated) && stays_unknown(run) },
    Theme { file: "evidence", title: "Stale evidence", about: "The call is sent again with new evidence.", holds: |run| any(run, |what| matches!(what, Decision::EvidenceRefreshed { .. })) },
    Theme { file: "reversals", title: "Reversals", about: "A token takes the effect back, once.", holds: |run| any(run, |what| matches!(what, Decision::ReversalRedeemed { .. } | Decision::ReversalRefused { .. })) },
    Theme { file: "cancelled", title: "Callers that go away", about: "A call is cancelled while it may be at work.", holds: |run| any(run, |what| matches!(what, Decision::Cancelled)) },
    Theme { file: "agent", title: "What the agent does", about: "The agent makes a call again that failed, that acted, or that may have.", holds: is_of_the_agent },
    Theme { file: "admission", title: "Refused before anything is sent", about: "Unknown tools, and arguments that do not fit.", holds: |run| any(run, |what| matches!(what, Decision::Refused { .. })) },
    Theme { file: "permits", title: "Permits and queues", about: "A server has so many attempts at once; the others wait.", holds: |run| any(run, |what| matches!(what, Decision::Queued { behind: None, .. })) },
    Theme { file: "keys", title: "Calls that share a key", about: "A call follows another one with its key, gets its result, or is refused.", holds: shares_a_key },
    Theme { file: "budgets", title: "Budgets", about: "The calls of a run, and the retries of several calls, are limited together.", holds: spends_a_budget },
    Theme { file: "breakers", title: "Breakers", about: "A server that does not work is asked by probes only.", holds: |run| any(run, |what| what.circuit().is_some()) },
    Theme { file: "graph", title: "The order of actions", about: "A graph says which action may follow which.", holds: |run| !run.valid_next.is_empty() },
    Theme { file: "steps", title: "Actions of several steps", about: "The first step that fails ends the action, and nothing is undone.", holds: |run| any(run, |what| matches!(what, Decision::StepEnded { .. } | Decision::StepSkipped { .. })) },
];

/// The place of the run's theme in `THEMES`.
pub fn of(run: &SimulationRecord) -> Option<usize> {
    THEMES.iter().rposition(|theme| (theme.holds)(run))
}

/// The verdict that failures got most often, the first of several.
pub fn verdict(run: &SimulationRecord) -> Option<VerdictId> {
    most_frequent(run.events.iter().filter_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(verdict),
        _ => None,
    }))
}

fn any(run: &SimulationRecord, is: fn(Decision) -> bool) -> bool {
    run.events.iter().any(|event| is(event.what))
}

/// Whether most calls that did not succeed at once ended so.
fn ends_with(run: &SimulationRecord, word: OutcomeWord) -> bool {
    let ends = run.outcomes.iter().map(|outcome| outcome.kind.word());
    most_frequent(ends.filter(|end| *end != OutcomeWord::Succeeded)).unwrap_or(OutcomeWord::Succeeded) == word
}

fn stays_unknown(run: &SimulationRecord) -> bool {
    let claims = run.outcomes.iter().filter(|outcome| outcome.kind.word() == OutcomeWord::Escalated);
    most_frequent(claims.map(|outcome| outcome.claim)) == Some(EffectClaim::Unknown)
}

fn is_of_the_agent(run: &SimulationRecord) -> bool {
    let mut findings = run.findings.iter().filter(|finding| finding.by == FindingBy::Recorded);
    findings.any(|finding| !matches!(finding.id, FindingId::Unclassified | FindingId::Abandoned))
}

fn shares_a_key(run: &SimulationRecord) -> bool {
    any(run, |what| match what {
        Decision::Joined { .. } | Decision::ServedFromCache { .. } | Decision::TookOver { .. } => true,
        Decision::Refused { why, .. } => matches!(
            why,
            AdmissionRefusal::KeyReused
                | AdmissionRefusal::KeyInFlight
                | AdmissionRefusal::Unsettled
                | AdmissionRefusal::KeyMissing
                | AdmissionRefusal::KeyLength
        ),
        _ => false,
    })
}

fn spends_a_budget(run: &SimulationRecord) -> bool {
    let stopped = |kind| matches!(kind, OutcomeKind::Exhausted(StopReason::Budget | StopReason::RetryBudget));
    run.outcomes.iter().any(|outcome| stopped(outcome.kind))
        || any(run, |what| matches!(what, Decision::Refused { why: AdmissionRefusal::BudgetExceeded, .. }))
}

/// The most frequent one, the first of several.
fn most_frequent<T: PartialEq + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, u32)> = Vec::new();
    for one in all {
        match counts.iter_mut().find(|(known, _)| *known == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(one, _)| one)
}

#[test]
fn the_most_frequent_one_is_the_first_of_several() {
    assert_eq!(most_frequent([3, 1, 2, 1].into_iter()), Some(1));
    assert_eq!(most_frequent([3, 1, 1, 3].into_iter()), Some(3));
    assert_eq!(most_frequent([0; 0].into_iter()), None);
}
