//! One call under one playbook.

use playproof_engine::event::{Decision, DecisionEvent, Finding, FindingBy, FindingId, Outcome, OutcomeKind, Told};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{CallTally, Plan, SimulationRecord};

/// The findings that say that an effect is made twice, or may be.
const DOUBLES: [FindingId; 6] = [
    FindingId::DuplicateEffect,
    FindingId::PossibleDuplicateEffect,
    FindingId::RetriedAfterConflict,
    FindingId::UnsafeRetry,
    FindingId::ResentUnderNewKey,
    FindingId::SentWhileRunning,
];

/// One call under one playbook.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRun<'a> {
    pub plan: &'a Plan,
    pub tool: &'a str,
    pub record: &'a SimulationRecord,
    pub outcome: &'a Outcome,
    pub tally: CallTally,
    pub facts: ToolFacts,
    /// The findings of the recording for this call, whatever the plan.
    pub recorded: &'a [Finding],
}

impl<'a> CallRun<'a> {
    /// None for an empty simulation.
    pub fn of(
        plan: &'a Plan,
        tool: &'a str,
        record: &'a SimulationRecord,
        facts: ToolFacts,
        recorded: &'a [Finding],
    ) -> Option<CallRun<'a>> {
        let (outcome, tally) = (record.outcomes.first()?, *record.tallies.first()?);
        Some(CallRun { plan, tool, record, outcome, tally, facts, recorded })
    }

    /// What its agent is told; none unless it failed.
    pub fn told(&self) -> Option<&'a Told> {
        self.record.told.first() // the only call of its simulation
    }

    /// What was decided.
    pub fn events(&self) -> &'a [DecisionEvent] {
        &self.record.events
    }

    /// Whether the dispatcher makes an effect twice, or sends a write again that may have acted, or has.
    pub fn may_double(&self) -> bool {
        let by_playbook = |finding: &Finding| finding.by == FindingBy::Playbook && DOUBLES.contains(&finding.id);
        self.facts.adds_effects() && self.record.findings.iter().any(by_playbook)
    }

    /// The findings of the recording that come true under this plan only, because the other one does not send the call: a
    /// gate, a kept result or a budget alone keeps an agent from making an effect twice.
    pub fn sent_here_alone<'b>(&'b self, other: &CallRun<'_>) -> impl Iterator<Item = &'a Finding> + use<'a, 'b> {
        let alone = self.outcome.attempts > 0 && other.holds_back() && self.facts.adds_effects();
        self.recorded.iter().filter(move |finding| alone && DOUBLES.contains(&finding.id))
    }

    /// Whether the call ends without being sent. One that is undetermined might be sent.
    pub fn holds_back(&self) -> bool {
        self.outcome.attempts == 0
            && !matches!(self.outcome.kind, OutcomeKind::Undetermined(_) | OutcomeKind::Cancelled)
    }

    /// Whether the gate refuses the call, or it is a step that is skipped.
    pub fn is_refused_at_gate(&self) -> bool {
        let refuses = |event: &DecisionEvent| matches!(event.what, Decision::Refused { why, .. } if why.is_of_gate());
        let is_skipped = self.outcome.kind == OutcomeKind::Skipped;
        self.outcome.attempts == 0 && (is_skipped || self.events().iter().any(refuses))
    }

    /// Redemptions of the reversal token that reach the upstream.
    pub fn reversals(&self) -> usize {
        self.events().iter().filter(|event| event.what.sent_reversal()).count()
    }
}

/// Whether each side makes an effect twice, or may: by itself, or because it sends what the other one holds back.
pub(super) fn doubled(base: &CallRun<'_>, candidate: &CallRun<'_>) -> [bool; 2] {
    let doubles =
        |ran: &CallRun<'_>, other: &CallRun<'_>| ran.may_double() || ran.sent_here_alone(other).next().is_some();
    [doubles(base, candidate), doubles(candidate, base)]
}
