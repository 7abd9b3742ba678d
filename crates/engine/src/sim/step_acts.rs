//! Steps that have acted, or may have, beside what a playbook makes of their action: recorded calls of steps that it skips,
//! recorded answers that it does not use, and the steps of an identical action before. Changes no decision.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::active_call::ActiveCall;
use super::acts::StepAct;
use super::record::SimulationRecord;
use crate::call::{AnswerTo, RecordedCall, Reply};
use crate::classify::Classification;
use crate::event::{Decision, EffectClaim, StepsEnd};
use crate::ids::{AttemptNo, CallId};
use crate::plan::{DrivenCall, Plan, steps_of};
use crate::playbook::{Access, ToolFacts};

/// A recorded call that names the call of an action as its parent.
#[derive(Debug)]
pub(super) struct StepCall {
    call: Arc<RecordedCall>,
    facts: ToolFacts,
    name: String,
}

impl StepCall {
    pub(super) fn of(call: &ActiveCall) -> StepCall {
        StepCall { call: Arc::clone(&call.call), facts: call.facts, name: call.name.clone() }
    }

    /// What it has done, or may have; none: nothing.
    pub(super) fn act(&self, plan: &Plan) -> Option<StepAct> {
        let claim = recorded_claim(plan, &self.call, self.facts);
        let (_, step) = self.call.step()?;
        (claim != EffectClaim::NotApplied).then(|| StepAct {
            call: CallId(0), // the record's only call
            step: step.to_owned(),
            by: Some(self.name.clone()),
            before: None,
            is_proved: claim == EffectClaim::Applied,
            acts_again: !self.facts.idempotent && !self.has_key(),
        })
    }

    /// Whether its upstream can tell by its key that it was made before.
    pub(super) fn has_key(&self) -> bool {
        self.call.is_keyed() && !self.facts.ignores_keys
    }

    /// Whether a second one does no more than the first, whatever its key.
    pub(super) fn is_idempotent(&self) -> bool {
        self.facts.idempotent
    }
}

/// What the recorded answers of a call claim together, also those that a playbook does not use. A reversal counts for
/// nothing: it may have found nothing to take back.
fn recorded_claim(plan: &Plan, call: &RecordedCall, facts: ToolFacts) -> EffectClaim {
    if facts.access == Access::Read {
        return EffectClaim::NotApplied;
    }
    let (mut claim, mut next) = (None, AttemptNo::FIRST);
    for answer in call.answers.iter().filter(|answer| matches!(answer.to, AnswerTo::Attempt | AnswerTo::Late)) {
        let number = answer.attempt.map_or(next, AttemptNo::new);
        let is_gap = answer.to == AnswerTo::Attempt && number > next;
        next = if answer.to == AnswerTo::Attempt { number.next() } else { next };
        let said = match &answer.reply {
            _ if is_gap => EffectClaim::Unknown, // an attempt before it has no answer
            Reply::Ok => EffectClaim::Applied,
            Reply::Suspected(_) | Reply::Unfinished(_) => EffectClaim::Unknown,
            Reply::Failed(_) => match plan.recorded_verdict(call, facts, answer, number) {
                Some(Classification { verdict, rule }) => {
                    plan.playbook.claimed((verdict, rule), call.key_history, claim)
                }
                None => EffectClaim::NotApplied,
            },
        };
        claim = Some(claim.map_or(said, |claim: EffectClaim| claim.and(said)));
    }
    match claim {
        Some(claim) if call.is_unanswered() => claim.and(EffectClaim::Unknown),
        Some(claim) => claim,
        // A dispatcher of ours notes the end of a step that it did not send.
        None if call.was_unsent() => EffectClaim::NotApplied,
        None => EffectClaim::Unknown,
    }
}

/// The steps that may have acted although nothing is known of them: the one that an action asked for in vain, and those
/// after it. Only those that act again if they are made again.
pub fn unknown_steps<'p>(plan: &'p Plan, end: &StepsEnd) -> impl Iterator<Item = &'p str> {
    let action = plan.playbook.actions.get(end.action.index());
    let steps = end.failed.iter().chain(&end.skipped).copied().collect::<Vec<_>>();
    let steps = steps.into_iter().filter(|_| end.is_unknown).filter_map(move |id| action?.steps.get(id.index()));
    steps.filter(move |step| step.facts(plan.facts(&step.tool)).adds_effects()).map(|step| &*step.name)
}

/// Adds the acts of steps to the record of an action, the only call of it: what its steps have done or may have done is
/// part of what it claims, whether or not the playbook has them made.
pub(super) fn add(plan: &Plan, acts: Vec<StepAct>, record: &mut SimulationRecord) {
    let counts = |act: &StepAct| {
        act.before.is_none()
            && record.events.iter().any(|event| match event.what {
                Decision::StepEnded { action, step, claim, .. } => {
                    claim != EffectClaim::NotApplied && *plan.names.step(action, step) == *act.step
                }
                _ => false,
            })
    };
    let acts: Vec<StepAct> = acts.into_iter().filter(|act| !counts(act)).collect();
    if acts.iter().any(|act| act.before.is_none()) {
        let raise = |claim: &mut EffectClaim| *claim = claim.and(EffectClaim::Unknown);
        record.outcomes.iter_mut().for_each(|outcome| raise(&mut outcome.claim));
        for event in &mut record.events {
            if let Decision::Outcome(outcome) = &mut event.what {
                raise(&mut outcome.claim);
            }
        }
    }
    record.step_acts = acts;
}

/// The steps of identical actions before, of all actions of a scenario.
pub(super) fn of_scenario(plan: &Plan, calls: &[DrivenCall<'_>], record: &mut SimulationRecord) {
    record.step_acts.clear();
    if !plan.has_steps {
        return;
    }
    let mut acted: BTreeMap<_, (&DrivenCall<'_>, &DrivenCall<'_>, EffectClaim)> = BTreeMap::new();
    let first = |n: usize| record.first_event(CallId::at(n)).map_or(usize::MAX, |(place, _)| place);
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&n| first(n));
    let made = order.into_iter().filter_map(|n| Some((n, calls.get(n)?)));
    for (n, call) in made.filter(|(_, call)| call.has_steps(plan)) {
        let id = CallId::at(n);
        let request = (call.run_of_request(), call.tool, call.args);
        if let Some((action, step, claim)) = acted.get(&request) {
            let is_same_request = call.key.is_some() && action.key == call.key && step.honoured_key().is_some();
            record.step_acts.extend((!is_same_request).then(|| StepAct {
                call: id,
                step: step.name.rsplit('/').next().unwrap_or_default().to_owned(),
                by: Some(step.name.to_owned()),
                before: Some(action.name.to_owned()),
                is_proved: *claim == EffectClaim::Applied,
                acts_again: true,
            }));
            continue;
        }
        let steps = steps_of(calls, id).map(|(_, step)| step.index());
        let claims = steps.filter_map(|place| Some((calls.get(place)?, record.outcomes.get(place)?.claim)));
        let act = claims.into_iter().find(|(step, claim)| {
            let may_repeat = step.facts.adds_effects();
            may_repeat && *claim != EffectClaim::NotApplied
        });
        if let Some((step, claim)) = act {
            acted.insert(request, (call, step, claim));
        }
    }
}
