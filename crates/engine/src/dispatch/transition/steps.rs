//! The steps of an action, one after the other. Each is a call of its own, with its tool's facts and guards; the action's
//! call is sent nowhere. The first step that does not succeed ends the action. No step is undone.

use super::Transition;
use super::gate::is_done;
use crate::dispatch::calls::Phase;
use crate::dispatch::io::{GateFacts, Output, StepOf};
use crate::event::{Decision, EffectClaim, Outcome, OutcomeKind, OutcomeWord, RequestKind};
use crate::ids::{ActionId, AttemptNo, CallId, StepId};
use crate::playbook::Access;

impl Transition<'_> {
    /// Asks the driver for a step.
    pub(super) fn next_step(&mut self, step: StepId) {
        let action = self.call;
        self.state().phase = Phase::Stepping { step, call: None };
        self.out.outputs.push(Output::Step { action, step });
    }

    /// The call is a step: it begins if its action waits for it, and is skipped otherwise.
    pub(in crate::dispatch) fn begin_as_step(&mut self, of: StepOf) {
        let (call, StepOf { action, step }) = (self.call, of);
        let waits = Some(Phase::Stepping { step, call: None });
        let Some(action) = action.filter(|action| self.machine.phase(*action) == waits) else {
            let facts = &mut self.state().facts;
            facts.step = Some(StepOf { action: None, step });
            return self.finish(OutcomeKind::Skipped);
        };
        self.for_call(action).state().phase = Phase::Stepping { step, call: Some(call) };
        self.check_request();
    }

    /// The call that is a step has ended: its action goes on, or ends as it did.
    pub(super) fn end_step(&mut self, action: CallId, step: StepId, outcome: &Outcome) {
        let state = self.state();
        let (facts, verdict, first_verdict) = (state.facts, state.last_verdict, state.first_verdict);
        let may_have_acted = facts.access == Access::Write && outcome.claim != EffectClaim::NotApplied;
        let (ended, claim) = (outcome.kind.own_or_joined(), outcome.claim);
        if self.machine.phase(action) != Some(Phase::Stepping { step, call: Some(self.call) }) {
            return; // it has ended without it
        }
        let mut action = self.for_call(action);
        let acts_again = may_have_acted && !facts.is_safe_to_resend();
        let Some(id) = action.action() else { return };
        let attempts = outcome.attempts;
        action.emit(Decision::StepEnded { action: id, step, ended, claim, attempts, verdict, acts_again });
        let total = action.state();
        total.attempts = total.attempts.saturating_add(outcome.attempts);
        total.add_claim(claim);
        total.note_error(outcome.first_error);
        total.note_error(outcome.last_error);
        total.first_verdict = total.first_verdict.or(first_verdict);
        total.last_verdict = verdict;
        total.is_undone |= !is_done(facts.access, outcome);
        let next = StepId(step.0 + 1); // an action has few steps
        match ended.completes_step() {
            true if next.0 < total.facts.steps => action.next_step(next),
            true => action.succeed(),
            false => action.end_steps(next, outcome.kind),
        }
    }

    /// Nothing is known of the step that the action asked for.
    pub(in crate::dispatch) fn on_no_step(&mut self, phase: Phase) {
        let (Phase::Stepping { step, call: None }, Some(action)) = (phase, self.action()) else { return };
        let ended = OutcomeWord::Undetermined;
        let claim = EffectClaim::Unknown;
        self.emit(Decision::StepEnded { action, step, ended, claim, attempts: 0, verdict: None, acts_again: false });
        let state = self.state();
        state.is_undone = true;
        state.add_claim(claim);
        self.end_steps(StepId(step.0 + 1), OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::FIRST)));
    }

    /// The caller of an action goes away: so does that of its step.
    pub(super) fn cancel_steps(&mut self, phase: Phase) {
        let Phase::Stepping { step, call } = phase else { return };
        self.emit(Decision::Cancelled);
        match call.and_then(|call| Some((call, self.machine.phase(call)?))) {
            Some((call, phase)) => self.for_call(call).on_cancelled(phase),
            None => {
                self.state().is_undone = true;
                self.end_steps(step, OutcomeKind::Cancelled);
            }
        }
    }

    /// Ends the action; the steps from `rest` on are skipped.
    fn end_steps(&mut self, rest: StepId, kind: OutcomeKind) {
        let steps = self.state().facts.steps;
        if let Some(action) = self.action() {
            for step in (rest.0..steps).map(StepId) {
                self.state().is_undone = true;
                self.emit(Decision::StepSkipped { action, step });
            }
        }
        self.finish(kind);
    }

    /// The action that the call does, or is a step of.
    pub(super) fn action(&mut self) -> Option<ActionId> {
        let facts = self.state().facts;
        let gate = match facts.step {
            None => facts.gate,
            Some(StepOf { action, .. }) => self.machine.calls.get(action?)?.facts.gate,
        };
        match gate {
            GateFacts::Action { id, .. } => Some(id),
            GateFacts::Free | GateFacts::Unknown(_) => None,
        }
    }
}
