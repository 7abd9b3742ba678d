//! Made-up failures by verdict, and the way to a later attempt: failures after which the call is sent again.

use std::collections::BTreeMap;

use super::madeup::{self, MadeUp};
use super::shape::Shape;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{AfterRefresh, Compensation, GuardMode};
use playproof_engine::sim::Plan;

/// The failures that can be made up under one playbook.
pub(super) struct Kit<'a> {
    pub plan: &'a Plan,
    pub made: Vec<MadeUp>,
    /// Places in `made`, by the verdict that they are made for.
    by_verdict: BTreeMap<VerdictId, Vec<usize>>,
    /// The verdicts that send a call again, those that say that nothing happened first.
    resending: Vec<VerdictId>,
}

/// How often a call may still be sent again.
#[derive(Default)]
struct Spent {
    retries: BTreeMap<VerdictId, u32>,
    refreshes: u32,
}

impl<'a> Kit<'a> {
    pub fn new(plan: &'a Plan) -> Kit<'a> {
        let made = madeup::of_playbook(&plan.playbook);
        let mut by_verdict: BTreeMap<VerdictId, Vec<usize>> = BTreeMap::new();
        for (n, one) in made.iter().enumerate() {
            by_verdict.entry(one.verdict).or_default().push(n);
        }
        let mut resending: Vec<VerdictId> =
            by_verdict.keys().copied().filter(|&id| resends(&plan.playbook.verdict(id).then)).collect();
        resending.sort_by_key(|&id| plan.playbook.verdict(id).effect != EffectClaim::NotApplied);
        Kit { plan, made, by_verdict, resending }
    }

    /// A failure that gets this verdict on this attempt of a call of this shape, of this tool where one is given.
    pub fn failure(&self, verdict: VerdictId, shape: Shape, attempt: u32, tool: Option<&str>) -> Option<&MadeUp> {
        let made = self.by_verdict.get(&verdict)?.iter().filter_map(|&n| self.made.get(n));
        made.filter(|made| made.fits(shape)).find(|made| {
            let tool_of = made.tool_for(shape);
            tool.is_none_or(|tool| made.tool.is_none() || tool == tool_of)
                && made.attempt(attempt) == Some(attempt)
                && made.classified_at(self.plan, shape, attempt, tool.unwrap_or(tool_of)).verdict == verdict
        })
    }

    /// Whether a call of this shape is sent again after this verdict, were there no limits.
    pub fn sends_again(&self, verdict: VerdictId, shape: Shape) -> bool {
        let playbook = &self.plan.playbook;
        let effect = playbook.verdict(verdict).effect;
        resends(&playbook.verdict(verdict).then)
            && (playbook.retry_guard() == GuardMode::Off
                || shape.is_safe_to_resend()
                || effect == EffectClaim::NotApplied)
    }

    /// Failures after which attempt number `attempt` starts, of other verdicts than `avoid` where there are any;
    /// none where no way was found.
    pub fn way_to(&self, attempt: u32, shape: Shape, tool: &str, avoid: Option<VerdictId>) -> Option<Vec<&MadeUp>> {
        let mut spent = Spent::default();
        let mut way = Vec::new();
        for at in 1..attempt {
            let (verdict, made) = self.step(at, shape, tool, avoid, &spent, way.is_empty())?;
            spent.count(verdict, &self.plan.playbook.verdict(verdict).then);
            way.push(made);
        }
        Some(way)
    }

    /// Failures until a limit ends the call, every budget used up; at most `most`.
    pub fn longest_way(&self, most: u32, shape: Shape, tool: &str) -> Vec<&MadeUp> {
        let mut spent = Spent::default();
        let mut way = Vec::new();
        for at in 1..=most {
            let Some((verdict, made)) = self.step(at, shape, tool, None, &spent, way.is_empty()) else { break };
            spent.count(verdict, &self.plan.playbook.verdict(verdict).then);
            way.push(made);
        }
        way
    }

    fn step(
        &self,
        at: u32,
        shape: Shape,
        tool: &str,
        avoid: Option<VerdictId>,
        spent: &Spent,
        is_first: bool,
    ) -> Option<(VerdictId, &MadeUp)> {
        let one_decides = self.plan.playbook.obeys_first_failure_only() && !is_first;
        let mut able: Vec<VerdictId> = self.resending.clone();
        able.sort_by_key(|&id| Some(id) == avoid);
        let mut able = able.into_iter().filter(|&id| {
            let decided = !one_decides || spent.retries.contains_key(&id);
            decided && self.sends_again(id, shape) && spent.leaves(id, &self.plan.playbook.verdict(id).then)
        });
        able.find_map(|id| Some((id, self.failure(id, shape, at, Some(tool))?)))
    }
}

impl Spent {
    fn leaves(&self, verdict: VerdictId, then: &Compensation) -> bool {
        match then {
            Compensation::RetryWithBackoff(retry) => {
                self.retries.get(&verdict).is_none_or(|spent| *spent < retry.max_retries)
            }
            Compensation::RefreshEvidence(refresh) => self.refreshes < refresh.max_refreshes,
            _ => false,
        }
    }

    fn count(&mut self, verdict: VerdictId, then: &Compensation) {
        *self.retries.entry(verdict).or_default() += 1;
        self.refreshes += u32::from(matches!(then, Compensation::RefreshEvidence(_)));
    }
}

/// Whether a compensation sends the call again, where its guard lets it.
pub(super) fn resends(then: &Compensation) -> bool {
    match then {
        Compensation::RetryWithBackoff(_) => true,
        Compensation::RefreshEvidence(refresh) => refresh.then == AfterRefresh::Retry,
        _ => false,
    }
}
