//! Synthetic failures by verdict, and the path to a later attempt: failures after which the call is sent again.

use std::collections::BTreeMap;

use super::stand_in::may_have;
use crate::shape::CallShape;
use crate::synthesize::{self, SyntheticFailure};
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Compensation, GuardMode};
use playproof_engine::sim::Plan;

/// Generates failures under one playbook.
pub(super) struct Generator<'a> {
    pub plan: &'a Plan,
    pub made: Vec<SyntheticFailure>,
    /// Indexes into `made`, by expected verdict.
    by_verdict: BTreeMap<VerdictId, Vec<usize>>,
    /// The verdicts that send a call again; first those whose effect claim is `not_applied`.
    resending: Vec<VerdictId>,
}

/// The retries and refreshes of a call so far.
#[derive(Default)]
struct UsedBudget {
    retries: BTreeMap<VerdictId, u32>,
    refreshes: u32,
}

impl<'a> Generator<'a> {
    pub fn new(plan: &'a Plan) -> Generator<'a> {
        let made = synthesize::of_playbook(&plan.playbook);
        let mut by_verdict: BTreeMap<VerdictId, Vec<usize>> = BTreeMap::new();
        for (n, one) in made.iter().enumerate() {
            by_verdict.entry(one.verdict).or_default().push(n);
        }
        let mut resending: Vec<VerdictId> =
            by_verdict.keys().copied().filter(|&id| plan.playbook.verdict(id).then.sends_again()).collect();
        resending.sort_by_key(|&id| plan.playbook.verdict(id).effect != EffectClaim::NotApplied);
        Generator { plan, made, by_verdict, resending }
    }

    /// A failure that gets this verdict on this attempt of a call of this shape, of this tool where one is given.
    pub fn failure(
        &self,
        verdict: VerdictId,
        shape: CallShape,
        attempt: u32,
        tool: Option<&str>,
    ) -> Option<&SyntheticFailure> {
        let made = self.by_verdict.get(&verdict)?.iter().filter_map(|&n| self.made.get(n));
        made.filter(|made| made.fits(shape)).find(|made| {
            let tool_of = made.tool_for(shape);
            tool.is_none_or(|tool| made.tool.is_none() || tool == tool_of)
                && may_have(self.plan, tool.unwrap_or(tool_of), shape)
                && made.attempt(attempt) == Some(attempt)
                && made.classified_at(self.plan, shape, attempt, tool.unwrap_or(tool_of)).verdict == verdict
        })
    }

    /// Whether a call of this shape is sent again after this verdict, limits aside.
    pub fn sends_again(&self, verdict: VerdictId, shape: CallShape) -> bool {
        let playbook = &self.plan.playbook;
        let effect = playbook.verdict(verdict).effect;
        playbook.verdict(verdict).then.sends_again()
            && (playbook.retry_guard() == GuardMode::Off
                || shape.is_safe_to_resend()
                || effect == EffectClaim::NotApplied)
    }

    /// Failures after which attempt number `attempt` starts, with other verdicts than `avoid` if possible; none if no
    /// path was found.
    pub fn path_to(
        &self,
        attempt: u32,
        shape: CallShape,
        tool: &str,
        avoid: Option<VerdictId>,
    ) -> Option<Vec<&SyntheticFailure>> {
        let mut spent = UsedBudget::default();
        let mut path = Vec::new();
        for at in 1..attempt {
            let (verdict, made) = self.step(at, shape, tool, avoid, &spent, path.is_empty())?;
            spent.count(verdict, &self.plan.playbook.verdict(verdict).then);
            path.push(made);
        }
        Some(path)
    }

    /// Failures that use up every retry and refresh, until a limit ends the call; at most `most`.
    pub fn longest_path(&self, most: u32, shape: CallShape, tool: &str) -> Vec<&SyntheticFailure> {
        let mut spent = UsedBudget::default();
        let mut path = Vec::new();
        for at in 1..=most {
            let Some((verdict, made)) = self.step(at, shape, tool, None, &spent, path.is_empty()) else { break };
            spent.count(verdict, &self.plan.playbook.verdict(verdict).then);
            path.push(made);
        }
        path
    }

    fn step(
        &self,
        at: u32,
        shape: CallShape,
        tool: &str,
        avoid: Option<VerdictId>,
        spent: &UsedBudget,
        is_first: bool,
    ) -> Option<(VerdictId, &SyntheticFailure)> {
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

impl UsedBudget {
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
