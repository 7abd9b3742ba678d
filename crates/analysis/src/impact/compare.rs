//! Compares one call under two playbooks: the first different decision and its consequences. Times do not
//! count: a decision that only comes later is the same.

use super::blame::{Blame, blame};
use super::call_run::{CallRun, doubled};
use super::cause::{CauseKey, ChangeKind, Changes, Direction};
use super::pairing::Pairing;
use playproof_engine::event::{
    Decision, DecisionEvent, DeprecationReason, EventKind, FieldKey, FieldValue, NameId, Outcome, OutcomeKind, Status,
    Told,
};
use playproof_engine::ids::{CallId, ErrorId};
use playproof_engine::playbook::Access;
use playproof_engine::upstream::NetEffects;

/// How a call differs under the two playbooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallDifference {
    pub cause: CauseKey,
    /// Whether it lies in what calls share: it then follows from an earlier call of the dispatcher that differs.
    pub is_shared: bool,
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
    let told_differs = || sides.told_differs().then(|| base.events().len().saturating_sub(1));
    let at = sides.first_difference().or_else(told_differs)?;
    let changes = sides.changes();
    if changes.is_empty() {
        return None;
    }
    let Blame { cause, is_shared } = blame(pairing, base, candidate, at);
    Some(CallDifference { cause, is_shared, direction: direction(base, candidate), changes })
}

impl Sides<'_> {
    /// The place of the first decision that differs.
    fn first_difference(&self) -> Option<usize> {
        let (base, candidate) = (self.base.events(), self.candidate.events());
        let differs = |(mine, theirs): (&DecisionEvent, &DecisionEvent)| !self.same(&mine.what, &theirs.what);
        let common = base.len().min(candidate.len());
        base.iter().zip(candidate).position(differs).or_else(|| (base.len() != candidate.len()).then_some(common))
    }

    /// Whether the agent is told another class, or something else about another try.
    fn told_differs(&self) -> bool {
        let said = |told: &Told| (told.class, told.boundary, told.retriable);
        self.base.told().map(said) != self.candidate.told().map(said)
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
        let same = |((key, mine), (_, theirs))| is_left_out(key) || self.same_value(mine, theirs);
        base.kind() == candidate.kind() && base.fields().zip(candidate.fields()).all(same)
    }

    fn same_value(&self, base: FieldValue, candidate: FieldValue) -> bool {
        match (base, candidate) {
            (FieldValue::Name(mine), FieldValue::Name(theirs)) => self.same_name(mine, theirs),
            (FieldValue::Status(mine), FieldValue::Status(theirs)) => self.same_status(mine, theirs),
            (mine, theirs) => mine == theirs,
        }
    }

    fn same_name(&self, base: NameId, candidate: NameId) -> bool {
        match (base, candidate) {
            (NameId::Verdict(mine), NameId::Verdict(theirs)) => self.pairing.same_verdict(mine, theirs),
            (NameId::Queue(mine), NameId::Queue(theirs)) => self.pairing.same_queue(mine, theirs),
            (NameId::Reason(mine), NameId::Reason(theirs)) => self.pairing.same_reason(mine, theirs),
            (NameId::Action(mine), NameId::Action(theirs)) => self.pairing.same_action(mine, theirs),
            (NameId::Step(mine, step), NameId::Step(theirs, other)) => {
                self.pairing.same_step((mine, step), (theirs, other))
            }
            (NameId::GivenUp(mine), NameId::GivenUp(theirs)) => self.same_why(mine, theirs),
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
                ran.events().iter().map(|event| event.what).filter(|what| is(what.kind())).collect()
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
        let [doubles, would_double] = doubled(&base, &candidate);
        let booked = |ran: CallRun<'_>, doubles: bool| {
            let NetEffects { effects, unobserved, .. } =
                ran.record.ledger.net_by_call().get(&call).copied().unwrap_or_default();
            // The number of unobserved attempts is not an effect.
            (ran.outcome.claim, effects, unobserved > 0, doubles)
        };
        changes.set(ChangeKind::Effect, booked(base, doubles) != booked(candidate, would_double));
        changes.set(ChangeKind::Upstream, base.tally.sends != candidate.tally.sends);
        changes.set(ChangeKind::Delay, base.tally.added_delay != candidate.tally.added_delay);
        changes.set(ChangeKind::Told, self.told_differs());
        changes
    }
}

/// More writes or more reversals are widening, whatever else decreases; so is an agent that is told that it may try again,
/// and a call that the gate newly lets through, or a step that is newly sent.
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
    let may = |ran: CallRun<'_>| ran.told().map(|told| told.retriable);
    let invites = may(base) == Some(false) && may(candidate) == Some(true);
    if theirs > mine || would_take_back > taken_back || invites {
        Direction::Widening
    } else if theirs < mine || would_take_back < taken_back {
        Direction::Narrowing
    } else {
        Direction::Neutral
    }
}
