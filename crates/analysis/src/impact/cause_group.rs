//! The calls that one cause changes: how many, what that changes, and the smallest example.

use super::call_run::{CallRun, doubled};
use super::cause::Changes;
use super::compare::CallDifference;
use crate::replay::{Counts, ShownCall};
use playproof_engine::call::Place;
use playproof_engine::event::{EffectClaim, Outcome, OutcomeKind};
use playproof_engine::ids::CallId;
use playproof_engine::time::Duration;

/// The additional and the saved load of differing calls: upstream calls, waiting, people, effects and claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Load {
    /// Upstream calls that only the candidate makes.
    pub upstream_more: u64,
    /// Upstream calls that only the base makes.
    pub upstream_fewer: u64,
    /// Waiting that the candidate adds to what the base adds.
    pub delay_more: Duration,
    /// Waiting that the base adds to what the candidate adds.
    pub delay_fewer: Duration,
    /// Calls that wait for people under the candidate only.
    pub people_more: u64,
    /// Calls that wait for people under the base only.
    pub people_fewer: u64,
    /// Calls that make an effect twice, or may, under the candidate only.
    pub doubled_more: u64,
    /// The same under the base only.
    pub doubled_fewer: u64,
    /// Effects that only the candidate makes.
    pub effects_more: u64,
    /// Effects that only the base makes.
    pub effects_fewer: u64,
    /// Calls with a claim under the candidate only, by [`EffectClaim::ALL`].
    pub claims_more: [u64; EffectClaim::ALL.len()],
    /// The same under the base only.
    pub claims_fewer: [u64; EffectClaim::ALL.len()],
}

impl Load {
    pub(super) fn between(base: CallRun<'_>, candidate: CallRun<'_>) -> Load {
        let queued = |ran: CallRun<'_>| matches!(ran.outcome.kind, OutcomeKind::Escalated(_));
        let [doubles, would_double] = doubled(&base, &candidate);
        let (mine, theirs) = (base.tally, candidate.tally);
        let claims = |ran: CallRun<'_>, claim: EffectClaim| ran.outcome.claim == claim;
        let [made, would_make] =
            [base, candidate].map(|ran| ran.record.ledger.net_by_call().get(&CallId(0)).map_or(0, |net| net.effects));
        let more = |first: u32, second: u32| u64::from(first.saturating_sub(second));
        let only = |first: bool, second: bool| u64::from(first && !second);
        Load {
            upstream_more: more(theirs.sends, mine.sends),
            upstream_fewer: more(mine.sends, theirs.sends),
            delay_more: less(theirs.added_delay, mine.added_delay),
            delay_fewer: less(mine.added_delay, theirs.added_delay),
            people_more: only(queued(candidate), queued(base)),
            people_fewer: only(queued(base), queued(candidate)),
            doubled_more: only(would_double, doubles),
            doubled_fewer: only(doubles, would_double),
            effects_more: more(would_make, made),
            effects_fewer: more(made, would_make),
            claims_more: EffectClaim::ALL.map(|claim| only(claims(candidate, claim), claims(base, claim))),
            claims_fewer: EffectClaim::ALL.map(|claim| only(claims(base, claim), claims(candidate, claim))),
        }
    }

    pub(super) fn merge(&mut self, later: &Load) {
        self.upstream_more += later.upstream_more;
        self.upstream_fewer += later.upstream_fewer;
        self.delay_more = self.delay_more.plus(later.delay_more);
        self.delay_fewer = self.delay_fewer.plus(later.delay_fewer);
        self.people_more += later.people_more;
        self.people_fewer += later.people_fewer;
        self.doubled_more += later.doubled_more;
        self.doubled_fewer += later.doubled_fewer;
        self.effects_more += later.effects_more;
        self.effects_fewer += later.effects_fewer;
        for (mine, later) in
            [(&mut self.claims_more, &later.claims_more), (&mut self.claims_fewer, &later.claims_fewer)]
        {
            mine.iter_mut().zip(later).for_each(|(mine, later)| *mine += later);
        }
    }
}

/// Calls that differ for one cause and in one direction.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct CauseGroup {
    pub calls: u64,
    /// Calls that differ because an earlier call of their dispatcher does.
    pub following: u64,
    pub undetermined: u64,
    pub changes: Changes,
    pub load: Load,
    pub tools: Counts,
    pub example: Option<SmallestCall>,
}

/// The smallest call of a group.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct SmallestCall {
    /// Whether it follows from an earlier call; then decisions under both playbooks; then the length of its arguments.
    size: (bool, usize, usize),
    pub place: Place,
    pub reference: String,
    pub tool: String,
    pub base: Outcome,
    pub candidate: Outcome,
}

impl CauseGroup {
    /// Adds a call.
    pub fn add(&mut self, call: ShownCall<'_>, [base, candidate]: [CallRun<'_>; 2], difference: &CallDifference) {
        self.calls += 1;
        self.undetermined += u64::from(is_undetermined(base) || is_undetermined(candidate));
        self.changes.merge(&difference.changes);
        self.load.merge(&Load::between(base, candidate));
        self.tools.add(call.tool(), 1);
        let decisions = base.record.events.len() + candidate.record.events.len();
        let size = (false, decisions, call.raw().args().map_or(0, str::len));
        if self.example.as_ref().is_none_or(|known| size < known.size) {
            self.example = Some(SmallestCall {
                size,
                place: call.place,
                reference: call.reference(),
                tool: call.tool().to_owned(),
                base: *base.outcome,
                candidate: *candidate.outcome,
            });
        }
    }

    /// The same calls, all of which follow from an earlier one.
    #[must_use]
    pub fn that_follow(mut self) -> CauseGroup {
        self.following = self.calls;
        if let Some(example) = &mut self.example {
            example.size.0 = true;
        }
        self
    }

    /// Adds later calls.
    pub fn merge(&mut self, later: CauseGroup) {
        self.calls += later.calls;
        self.following += later.following;
        self.undetermined += later.undetermined;
        self.changes.merge(&later.changes);
        self.load.merge(&later.load);
        self.tools.merge(&later.tools);
        let smaller = |new: &SmallestCall| self.example.as_ref().is_none_or(|known| new.size < known.size);
        if let Some(new) = later.example.filter(smaller) {
            self.example = Some(new);
        }
    }
}

pub(super) fn is_undetermined(ran: CallRun<'_>) -> bool {
    matches!(ran.outcome.kind, OutcomeKind::Undetermined(_))
}

/// `a` without `b`, never below zero.
fn less(a: Duration, b: Duration) -> Duration {
    Duration::from_micros(a.as_micros().saturating_sub(b.as_micros()))
}
