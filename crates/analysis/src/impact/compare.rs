//! Compares one call under two playbooks: the first different decision, its cause and its consequences. Times do not
//! count: a decision that only comes later is the same.

use super::cause::{CauseKey, ChangeKind, Changes, Direction, RuleVerdict};
use super::pairing::Pairing;
use playproof_engine::event::{
    AdmissionRefusal, Decision, DecisionEvent, DeprecationReason, EventKind, FieldKey, FieldValue, FindingBy,
    FindingId, GuardKind, Outcome, OutcomeKind, Status, StopReason,
};
use playproof_engine::ids::{CallId, ErrorId};
use playproof_engine::playbook::{Access, LimitKind, ToolFacts};
use playproof_engine::sim::{CallTally, SimulationRecord};
use playproof_engine::upstream::NetEffects;

/// One call under one playbook.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRun<'a> {
    pub record: &'a SimulationRecord,
    pub outcome: &'a Outcome,
    pub tally: CallTally,
    pub facts: ToolFacts,
}

impl<'a> CallRun<'a> {
    /// None for an empty simulation.
    pub fn of(record: &'a SimulationRecord, facts: ToolFacts) -> Option<CallRun<'a>> {
        Some(CallRun { record, outcome: record.outcomes.first()?, tally: *record.tallies.first()?, facts })
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

    /// Whether the gate refuses the call.
    fn is_refused_at_gate(&self) -> bool {
        let refuses = |event: &DecisionEvent| matches!(event.what, Decision::Refused { why, .. } if why.is_of_gate());
        self.outcome.attempts == 0 && self.events().iter().any(refuses)
    }

    /// Redemptions of the reversal token that reach the upstream.
    fn reversals(&self) -> usize {
        self.events().iter().filter(|event| event.what.sent_reversal()).count()
    }
}

/// How a call differs under the two playbooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallDifference {
    pub cause: CauseKey,
    pub direction: Direction,
    /// Each is 0 or 1.
    pub changes: Changes,
}

/// Both runs of a call. Each has its own numbers for verdicts, queues, reasons and errors.
#[derive(Clone, Copy)]
struct Sides<'a> {
    pairing: &'a Pairing,
    base: CallRun<'a>,
    candidate: CallRun<'a>,
}

/// The difference; none if decisions, end and effects are the same.
pub(super) fn compare(pairing: &Pairing, base: CallRun<'_>, candidate: CallRun<'_>) -> Option<CallDifference> {
    let sides = Sides { pairing, base, candidate };
    let at = sides.first_difference()?;
    let changes = sides.changes();
    if changes.is_empty() {
        return None;
    }
    Some(CallDifference { cause: cause(pairing, base, candidate, at), direction: direction(base, candidate), changes })
}

impl Sides<'_> {
    /// The place of the first decision that differs.
    fn first_difference(&self) -> Option<usize> {
        let (base, candidate) = (self.base.events(), self.candidate.events());
        let differs = |(mine, theirs): (&DecisionEvent, &DecisionEvent)| !self.same(&mine.what, &theirs.what);
        let common = base.len().min(candidate.len());
        base.iter().zip(candidate).position(differs).or_else(|| (base.len() != candidate.len()).then_some(common))
    }

    fn same(&self, base: &Decision, candidate: &Decision) -> bool {
        self.same_but_for(base, candidate, |key| {
            matches!(
                key,
                FieldKey::Rule
                    | FieldKey::Latency
                    | FieldKey::OverTimeout
                    | FieldKey::Due
                    | FieldKey::Draw
                    | FieldKey::Told
            )
        })
    }

    /// As `same`, but waits do not count.
    fn same_compensation(&self, base: &Decision, candidate: &Decision) -> bool {
        self.same_but_for(base, candidate, |key| {
            matches!(key, FieldKey::Delay | FieldKey::Due | FieldKey::Draw | FieldKey::Told)
        })
    }

    fn same_but_for(&self, base: &Decision, candidate: &Decision, is_left_out: impl Fn(FieldKey) -> bool) -> bool {
        if let (Decision::Outcome(mine), Decision::Outcome(theirs)) = (base, candidate) {
            return self.same_outcome(mine, theirs);
        }
        let (mine, theirs) = (base.describe(), candidate.describe());
        mine.kind == theirs.kind
            && mine
                .all()
                .zip(theirs.all())
                .all(|((key, mine), (_, theirs))| is_left_out(key) || self.same_value(mine, theirs))
    }

    fn same_value(&self, base: FieldValue, candidate: FieldValue) -> bool {
        match (base, candidate) {
            (FieldValue::Verdict(mine), FieldValue::Verdict(theirs)) => self.pairing.same_verdict(mine, theirs),
            (FieldValue::Queue(mine), FieldValue::Queue(theirs)) => self.pairing.same_queue(mine, theirs),
            (FieldValue::Reason(mine), FieldValue::Reason(theirs)) => self.pairing.same_reason(mine, theirs),
            (FieldValue::Action(mine), FieldValue::Action(theirs)) => self.pairing.same_action(mine, theirs),
            (FieldValue::Step(mine, step), FieldValue::Step(theirs, other)) => {
                self.pairing.same_step((mine, step), (theirs, other))
            }
            (FieldValue::GivenUp(mine), FieldValue::GivenUp(theirs)) => self.same_why(mine, theirs),
            (FieldValue::Status(mine), FieldValue::Status(theirs)) => self.same_status(mine, theirs),
            (mine, theirs) => mine == theirs,
        }
    }

    fn same_why(&self, base: DeprecationReason, candidate: DeprecationReason) -> bool {
        match (base, candidate) {
            (DeprecationReason::Stated(mine), DeprecationReason::Stated(theirs)) => {
                self.pairing.same_reason(mine, theirs)
            }
            (mine, theirs) => mine == theirs,
        }
    }

    fn same_status(&self, base: Status, candidate: Status) -> bool {
        match (base, candidate) {
            (Status::Failed(mine), Status::Failed(theirs)) => self.same_error(mine, theirs),
            (mine, theirs) => mine == theirs,
        }
    }

    fn same_error(&self, base: Option<ErrorId>, candidate: Option<ErrorId>) -> bool {
        let mine = base.and_then(|id| self.base.record.error(id));
        mine == candidate.and_then(|id| self.candidate.record.error(id))
    }

    fn same_outcome(&self, base: &Outcome, candidate: &Outcome) -> bool {
        self.same_kind(base.kind, candidate.kind)
            && (base.claim, base.attempts) == (candidate.claim, candidate.attempts)
            && self.same_error(base.last_error, candidate.last_error)
    }

    fn same_kind(&self, base: OutcomeKind, candidate: OutcomeKind) -> bool {
        match (base, candidate) {
            (OutcomeKind::Escalated(mine), OutcomeKind::Escalated(theirs)) => self.pairing.same_queue(mine, theirs),
            (OutcomeKind::Deprecated(mine), OutcomeKind::Deprecated(theirs)) => self.same_why(mine, theirs),
            (OutcomeKind::Reversed(mine), OutcomeKind::Reversed(theirs)) => self.pairing.same_reason(mine, theirs),
            (mine, theirs) => mine == theirs,
        }
    }

    fn changes(&self) -> Changes {
        let Sides { base, candidate, .. } = *self;
        let mut changes = Changes::default();
        let differ = |is: fn(EventKind) -> bool, same: &dyn Fn(&Decision, &Decision) -> bool| {
            let of = |ran: CallRun<'_>| -> Vec<Decision> {
                ran.events().iter().map(|event| event.what).filter(|what| is(what.describe().kind)).collect()
            };
            let (mine, theirs) = (of(base), of(candidate));
            mine.len() != theirs.len() || mine.iter().zip(&theirs).any(|(mine, theirs)| !same(mine, theirs))
        };
        changes.set(
            ChangeKind::Verdict,
            differ(|kind| kind == EventKind::FailureClassified, &|mine, theirs| self.same(mine, theirs)),
        );
        changes.set(
            ChangeKind::Compensation,
            differ(EventKind::is_compensation, &|mine, theirs| self.same_compensation(mine, theirs)),
        );
        let ends_alike = self.same_kind(base.outcome.kind, candidate.outcome.kind)
            && self.same_error(base.outcome.last_error, candidate.outcome.last_error);
        changes.set(ChangeKind::Outcome, !ends_alike);
        let call = CallId(0); // the only one of its simulation
        let booked = |ran: CallRun<'_>| {
            let NetEffects { effects, unobserved, .. } =
                ran.record.ledger.net_by_call().get(&call).copied().unwrap_or_default();
            // The number of unobserved attempts is not an effect.
            (ran.outcome.claim, effects, unobserved > 0, ran.may_double())
        };
        changes.set(ChangeKind::Effect, booked(base) != booked(candidate));
        changes.set(ChangeKind::Upstream, base.tally.sends != candidate.tally.sends);
        changes.set(ChangeKind::Delay, base.tally.added_delay != candidate.tally.added_delay);
        changes
    }
}

/// More writes or more reversals are widening, whatever else decreases; so is a call that the gate newly lets through.
fn direction(base: CallRun<'_>, candidate: CallRun<'_>) -> Direction {
    match (base.is_refused_at_gate(), candidate.is_refused_at_gate()) {
        (true, false) => return Direction::Widening,
        (false, true) => return Direction::Narrowing,
        _ => {}
    }
    let writes = base.facts.access == Access::Write || candidate.facts.access == Access::Write;
    let attempts = |ran: CallRun<'_>| if writes { ran.outcome.attempts } else { 0 };
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

/// The cause of the difference at `at`.
fn cause(pairing: &Pairing, base: CallRun<'_>, candidate: CallRun<'_>, at: usize) -> CauseKey {
    let decision = |ran: CallRun<'_>| ran.events().get(at).map(|event| event.what);
    let (mine, theirs) = (decision(base), decision(candidate));
    if let (
        Some(Decision::FailureClassified { verdict: left, rule: by, .. }),
        Some(Decision::FailureClassified { verdict: right, rule: other, .. }),
    ) = (mine, theirs)
        && !pairing.same_verdict(left, right)
    {
        let candidate = RuleVerdict { rule: other, verdict: right };
        return CauseKey::Classified { base: RuleVerdict { rule: by, verdict: left }, candidate };
    }
    let by_gate = [(0, base, mine), (1, candidate, theirs)].into_iter().find_map(|(side, ran, what)| match what? {
        Decision::Refused { why, .. } if why.is_of_gate() => {
            let position = ran.record.valid_next.first().and_then(|valid| valid.position);
            pairing.gate_row(side, why, position)
        }
        _ => None,
    });
    if let Some(row) = by_gate {
        return CauseKey::Row(row);
    }
    if let Some(row) = [mine, theirs].into_iter().flatten().find_map(sharing_row) {
        let row = row.and_then(|row| pairing.row(row));
        return row.map_or(CauseKey::ToolFacts, CauseKey::Row);
    }
    let facts = |ran: CallRun<'_>| (ran.facts.access, ran.facts.idempotent, ran.facts.repeatable);
    let other_facts = facts(base) != facts(candidate);
    if let Some(guard) = guard(mine, theirs) {
        if other_facts {
            return CauseKey::ToolFacts;
        }
        if let Some(row) = pairing.row(guard) {
            return CauseKey::Row(row);
        }
    }
    let limit = [mine, theirs].into_iter().flatten().find_map(|what| limit_row(pairing, &what));
    match limit.or_else(|| verdict_row(pairing, base, at)) {
        Some(row) => CauseKey::Row(row),
        None if other_facts => CauseKey::ToolFacts,
        None => elsewhere(pairing).map_or(CauseKey::Several, CauseKey::Row),
    }
}

/// The row of a playbook by which admission refuses a call; none: by the facts of its tool, or by a breaker of its server.
const fn admission_row(why: AdmissionRefusal) -> Option<&'static str> {
    match why {
        AdmissionRefusal::NotFound => Some("registry"),
        AdmissionRefusal::KeyLength | AdmissionRefusal::KeyReused | AdmissionRefusal::KeyInFlight => Some("dedupe"),
        AdmissionRefusal::BudgetExceeded => Some("budget"),
        AdmissionRefusal::QueueFull => Some("permits"),
        AdmissionRefusal::CircuitOpen => Some("breaker default"),
        AdmissionRefusal::UnknownAction
        | AdmissionRefusal::InvalidTransition
        | AdmissionRefusal::ValidationFailed
        | AdmissionRefusal::Schema
        | AdmissionRefusal::KeyMissing
        | AdmissionRefusal::Unsettled => None,
    }
}

/// The row of what calls share that made a decision; `Some(None)`: tool facts did.
const fn sharing_row(what: Decision) -> Option<Option<&'static str>> {
    match what {
        Decision::Refused { why, .. } => Some(admission_row(why)),
        Decision::Joined { .. } | Decision::ServedFromCache { .. } | Decision::TookOver { .. } => Some(Some("dedupe")),
        Decision::Queued { behind: None, .. } => Some(Some("permits")),
        Decision::Circuit { .. } => Some(Some("breaker default")),
        _ => None,
    }
}

/// The switch of the guard that stopped only one side.
fn guard(base: Option<Decision>, candidate: Option<Decision>) -> Option<&'static str> {
    let spoke = |what: Decision| match what {
        Decision::EvidenceRefreshed { .. } => Some((GuardKind::Retry, false)),
        what => what.guard(),
    };
    match (spoke(base?)?, spoke(candidate?)?) {
        ((mine, stops), (theirs, passes)) if mine == theirs && stops != passes => Some(match mine {
            GuardKind::Retry => "study retry_guard",
            GuardKind::Token => "study token_guard",
        }),
        _ => None,
    }
}

/// The row of the limit that ended the call, if it differs.
fn limit_row(pairing: &Pairing, what: &Decision) -> Option<usize> {
    let Decision::Outcome(outcome) = what else { return None };
    match outcome.kind {
        OutcomeKind::Exhausted(StopReason::MaxAttempts) => pairing.row("limit max_attempts"),
        OutcomeKind::Exhausted(StopReason::Deadline) => pairing.row("limit deadline_ms"),
        OutcomeKind::Exhausted(StopReason::CallTimeout) => pairing.row("limit call_timeout_ms"),
        _ => None,
    }
}

/// The row of the last verdict before the difference whose row differs.
fn verdict_row(pairing: &Pairing, base: CallRun<'_>, at: usize) -> Option<usize> {
    let before = base.events().get(..at).unwrap_or_default();
    before.iter().rev().find_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => pairing.verdict_row(verdict),
        _ => None,
    })
}

/// Another row that can change a decision.
fn elsewhere(pairing: &Pairing) -> Option<usize> {
    let limit = || LimitKind::ALL.into_iter().find_map(|kind| pairing.row(&format!("limit {}", kind.as_str())));
    pairing.study_row().or_else(limit).or_else(|| pairing.row("default_queue"))
}
