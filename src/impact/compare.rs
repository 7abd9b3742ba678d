//! One call under two playbooks: the first decision that differs, why, and what follows from it.
//! The clock does not count: a decision that only comes later is the same decision.

use super::cause::{Cause, Change, Changes, Direction, Said};
use super::pairing::Pairing;
use crate::event::{Decision, DecisionEvent, DeprecatedWhy, FindingBy, FindingId, Outcome, OutcomeKind, StopReason};
use crate::ids::CallId;
use crate::playbook::model::{Access, ToolFacts};
use crate::sim::{Record, Tally};

/// One call under one playbook.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran<'a> {
    pub record: &'a Record,
    pub outcome: &'a Outcome,
    pub tally: Tally,
    pub facts: ToolFacts,
}

impl<'a> Ran<'a> {
    /// None only for a simulation that ran nothing.
    pub fn of(record: &'a Record, facts: ToolFacts) -> Option<Ran<'a>> {
        Some(Ran { record, outcome: record.outcomes.first()?, tally: *record.tallies.first()?, facts })
    }

    fn events(&self) -> &'a [DecisionEvent] {
        &self.record.events
    }

    /// Whether the dispatcher makes an effect twice, or sends a write again that may have acted, or has.
    pub fn may_double(&self) -> bool {
        use FindingId::{DuplicateEffect, PossibleDuplicateEffect, RetriedAfterConflict, UnsafeRetry};
        if self.facts.access == Access::Read || self.facts.idempotent {
            return false;
        }
        let doubles = [DuplicateEffect, PossibleDuplicateEffect, RetriedAfterConflict, UnsafeRetry];
        self.record.findings.iter().any(|finding| finding.by == FindingBy::Playbook && doubles.contains(&finding.id))
    }

    /// Redemptions of the reversal token that reach the upstream.
    fn reversals(&self) -> usize {
        self.events().iter().filter(|event| event.what.sent_reversal()).count()
    }
}

/// How a call differs under the two playbooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub cause: Cause,
    pub direction: Direction,
    /// Each is 0 or 1.
    pub changes: Changes,
}

/// How the call differs; none if both decide the same, end the same and do the same upstream.
pub(super) fn compare(pairing: &Pairing, base: Ran<'_>, candidate: Ran<'_>) -> Option<Difference> {
    let at = first_difference(pairing, base.events(), candidate.events())?;
    let changes = changes(pairing, base, candidate);
    if changes.is_empty() {
        return None;
    }
    Some(Difference { cause: cause(pairing, base, candidate, at), direction: direction(base, candidate), changes })
}

/// The place of the first decision that differs.
fn first_difference(pairing: &Pairing, base: &[DecisionEvent], candidate: &[DecisionEvent]) -> Option<usize> {
    let differs = |(mine, theirs): (&DecisionEvent, &DecisionEvent)| !same(pairing, &mine.what, &theirs.what);
    let common = base.len().min(candidate.len());
    base.iter().zip(candidate).position(differs).or_else(|| (base.len() != candidate.len()).then_some(common))
}

fn same(pairing: &Pairing, base: &Decision, candidate: &Decision) -> bool {
    use Decision::{AttemptFinished, FailureClassified, RetryScheduled};
    match (*base, *candidate) {
        (
            FailureClassified { verdict: mine, ignored: left, .. },
            FailureClassified { verdict: theirs, ignored: right, .. },
        ) => pairing.same_verdict(mine, theirs) && left == right,
        (
            AttemptFinished { attempt: mine, status: left, provenance: from, .. },
            AttemptFinished { attempt: theirs, status: right, provenance: other, .. },
        ) => (mine, left, from) == (theirs, right, other),
        (RetryScheduled { attempt: mine, delay: left, .. }, RetryScheduled { attempt: theirs, delay: right, .. }) => {
            (mine, left) == (theirs, right)
        }
        (mine, theirs) => same_compensation(pairing, &mine, &theirs),
    }
}

/// As `same`, but waits do not count.
fn same_compensation(pairing: &Pairing, base: &Decision, candidate: &Decision) -> bool {
    use Decision::{Deprecated, Escalated, RetryScheduled, ReversalRedeemed};
    match (*base, *candidate) {
        (RetryScheduled { attempt: mine, .. }, RetryScheduled { attempt: theirs, .. }) => mine == theirs,
        (Escalated { queue: mine }, Escalated { queue: theirs }) => pairing.same_queue(mine, theirs),
        (Deprecated { why: mine }, Deprecated { why: theirs }) => same_why(pairing, mine, theirs),
        (
            ReversalRedeemed { reason: mine, provenance: left },
            ReversalRedeemed { reason: theirs, provenance: right },
        ) => pairing.same_reason(mine, theirs) && left == right,
        (Decision::Outcome(mine), Decision::Outcome(theirs)) => same_outcome(pairing, &mine, &theirs),
        (mine, theirs) => mine == theirs,
    }
}

fn same_why(pairing: &Pairing, base: DeprecatedWhy, candidate: DeprecatedWhy) -> bool {
    match (base, candidate) {
        (DeprecatedWhy::Stated(mine), DeprecatedWhy::Stated(theirs)) => pairing.same_reason(mine, theirs),
        (mine, theirs) => mine == theirs,
    }
}

fn same_outcome(pairing: &Pairing, base: &Outcome, candidate: &Outcome) -> bool {
    same_kind(pairing, base.kind, candidate.kind)
        && (base.claim, base.attempts, base.last_error) == (candidate.claim, candidate.attempts, candidate.last_error)
}

fn same_kind(pairing: &Pairing, base: OutcomeKind, candidate: OutcomeKind) -> bool {
    match (base, candidate) {
        (OutcomeKind::Escalated(mine), OutcomeKind::Escalated(theirs)) => pairing.same_queue(mine, theirs),
        (OutcomeKind::Deprecated(mine), OutcomeKind::Deprecated(theirs)) => same_why(pairing, mine, theirs),
        (OutcomeKind::Reversed(mine), OutcomeKind::Reversed(theirs)) => pairing.same_reason(mine, theirs),
        (mine, theirs) => mine == theirs,
    }
}

fn changes(pairing: &Pairing, base: Ran<'_>, candidate: Ran<'_>) -> Changes {
    let mut changes = Changes::default();
    let differ = |is: fn(&Decision) -> bool, same: &dyn Fn(&Decision, &Decision) -> bool| {
        let of = |ran: Ran<'_>| -> Vec<Decision> { ran.events().iter().map(|event| event.what).filter(is).collect() };
        let (mine, theirs) = (of(base), of(candidate));
        mine.len() != theirs.len() || mine.iter().zip(&theirs).any(|(mine, theirs)| !same(mine, theirs))
    };
    changes.set(Change::Verdict, differ(is_verdict, &|mine, theirs| same(pairing, mine, theirs)));
    changes
        .set(Change::Compensation, differ(is_compensation, &|mine, theirs| same_compensation(pairing, mine, theirs)));
    let ends_alike = same_kind(pairing, base.outcome.kind, candidate.outcome.kind)
        && base.outcome.last_error == candidate.outcome.last_error;
    changes.set(Change::Outcome, !ends_alike);
    let call = CallId(0); // the only one of its simulation
    let booked = |ran: Ran<'_>| (ran.outcome.claim, ran.record.ledger.net_of_call(call), ran.may_double());
    changes.set(Change::Effect, booked(base) != booked(candidate));
    changes.set(Change::Upstream, base.tally.sends != candidate.tally.sends);
    changes.set(Change::Delay, base.tally.added_delay != candidate.tally.added_delay);
    changes
}

const fn is_verdict(what: &Decision) -> bool {
    matches!(what, Decision::FailureClassified { .. })
}

const fn is_compensation(what: &Decision) -> bool {
    matches!(
        what,
        Decision::RetryScheduled { .. }
            | Decision::RetrySuppressed { .. }
            | Decision::EvidenceRefreshed { .. }
            | Decision::Escalated { .. }
            | Decision::ReversalRefused { .. }
            | Decision::ReversalRedeemed { .. }
            | Decision::Deprecated { .. }
    )
}

/// More writes, or more reversals, is widening, whatever else the call does less.
fn direction(base: Ran<'_>, candidate: Ran<'_>) -> Direction {
    let writes = base.facts.access == Access::Write || candidate.facts.access == Access::Write;
    let attempts = |ran: Ran<'_>| if writes { ran.outcome.attempts } else { 0 };
    let (mine, theirs) = (attempts(base), attempts(candidate));
    let (taken_back, would_take_back) = (base.reversals(), candidate.reversals());
    if theirs > mine || would_take_back > taken_back {
        Direction::Widening
    } else if theirs < mine || would_take_back < taken_back {
        Direction::Narrowing
    } else {
        Direction::Neutral
    }
}

/// What made the decision at `at` differ.
fn cause(pairing: &Pairing, base: Ran<'_>, candidate: Ran<'_>, at: usize) -> Cause {
    let decision = |ran: Ran<'_>| ran.events().get(at).map(|event| event.what);
    let (mine, theirs) = (decision(base), decision(candidate));
    if let (
        Some(Decision::FailureClassified { verdict: left, rule: by, .. }),
        Some(Decision::FailureClassified { verdict: right, rule: other, .. }),
    ) = (mine, theirs)
        && !pairing.same_verdict(left, right)
    {
        let candidate = Said { rule: other, verdict: right };
        return Cause::Classified { base: Said { rule: by, verdict: left }, candidate };
    }
    let facts = |ran: Ran<'_>| (ran.facts.access, ran.facts.idempotent, ran.facts.repeatable);
    let other_facts = facts(base) != facts(candidate);
    if let Some(guard) = guard(mine, theirs) {
        if other_facts {
            return Cause::ToolFacts;
        }
        if let Some(row) = pairing.row(guard) {
            return Cause::Row(row);
        }
    }
    let limit = [mine, theirs].into_iter().flatten().find_map(|what| limit_row(pairing, &what));
    match limit.or_else(|| verdict_row(pairing, base, at)) {
        Some(row) => Cause::Row(row),
        None if other_facts => Cause::ToolFacts,
        None => elsewhere(pairing).map_or(Cause::Several, Cause::Row),
    }
}

/// The switch of the guard that stopped one side and let the other pass.
fn guard(base: Option<Decision>, candidate: Option<Decision>) -> Option<&'static str> {
    use Decision::{EvidenceRefreshed, RetryScheduled, RetrySuppressed, ReversalRedeemed, ReversalRefused};
    match (base?, candidate?) {
        (RetrySuppressed { .. }, RetryScheduled { .. } | EvidenceRefreshed { .. })
        | (RetryScheduled { .. } | EvidenceRefreshed { .. }, RetrySuppressed { .. }) => Some("study retry_guard"),
        (ReversalRefused { .. }, ReversalRedeemed { .. }) | (ReversalRedeemed { .. }, ReversalRefused { .. }) => {
            Some("study token_guard")
        }
        _ => None,
    }
}

/// A limit ended the call, and the playbooks do not agree on it.
fn limit_row(pairing: &Pairing, what: &Decision) -> Option<usize> {
    let Decision::Outcome(outcome) = what else { return None };
    match outcome.kind {
        OutcomeKind::Exhausted(StopReason::MaxAttempts) => pairing.row("limit max_attempts"),
        OutcomeKind::Exhausted(StopReason::Deadline) => pairing.row("limit deadline_ms"),
        _ => None,
    }
}

/// The last verdict before the difference whose row is not the same; both sides had the same verdicts until then.
fn verdict_row(pairing: &Pairing, base: Ran<'_>, at: usize) -> Option<usize> {
    let before = base.events().get(..at).unwrap_or_default();
    before.iter().rev().find_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => pairing.verdict_row(verdict),
        _ => None,
    })
}

/// What can change a decision without being a verdict, a limit that was hit, or a tool's facts.
fn elsewhere(pairing: &Pairing) -> Option<usize> {
    let limits = ["limit max_attempts", "limit deadline_ms", "default_queue"];
    pairing.study_row().or_else(|| limits.into_iter().find_map(|name| pairing.row(name)))
}
