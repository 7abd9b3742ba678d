//! The first check of admission: the graph. A gated call waits for the one before it; then it is refused, or admitted and
//! alone in its run until it ends.

use super::Transition;
use crate::dispatch::calls::Phase;
use crate::dispatch::io::{GateFacts, Output, StepOf};
use crate::dispatch::wait;
use crate::event::{AdmissionRefusal, Decision, EffectClaim, Outcome, OutcomeKind, OutcomeWord};
use crate::ids::{ActionId, AttemptNo, CallId, ErrorId, StepId};
use crate::playbook::{Access, Stuck};

/// Why the gate refuses a call.
struct GateRefusal {
    why: AdmissionRefusal,
    /// What its caller gets.
    error: Option<ErrorId>,
    /// The call that withholds its action.
    by: Option<CallId>,
}

impl Transition<'_> {
    /// Admits the call, refuses it, or lets it wait.
    pub(in crate::dispatch) fn admit(&mut self) {
        let facts = self.state().facts;
        if self.playbook.graph.is_none() || facts.gate == GateFacts::Free {
            return self.pass_gate();
        }
        let (call, run) = (self.call, facts.run);
        let Some(waits) = self.shared().gate.arrive(run, call) else { return self.pass_gate() };
        self.state().phase = Phase::AtGate;
        self.emit(Decision::Queued { place: waits.place, behind: Some(waits.behind) });
        if let Some(at) = wait::too_late_at(&self.limits(), facts.at) {
            self.out.outputs.push(Output::Wake { call, at });
        }
    }

    /// The call before it has ended.
    pub(in crate::dispatch) fn on_gate_free(&mut self) {
        let since = self.state().facts.at;
        match wait::starts_in_time(&self.limits(), since, self.now) {
            Ok(()) => self.pass_gate(),
            Err(stop) => self.finish(OutcomeKind::Exhausted(stop)),
        }
    }

    fn pass_gate(&mut self) {
        match self.gate_refusal() {
            Some(refusal) => self.refuse_at_gate(refusal),
            None => {
                let (call, facts) = (self.call, self.state().facts);
                if self.playbook.graph.is_some() && facts.gate != GateFacts::Free {
                    self.shared().gate.admit(facts.run, call);
                }
                match facts.steps {
                    0 => self.check_request(),
                    _ => self.next_step(StepId(0)),
                }
            }
        }
    }

    /// Why the gate refuses the call; none: it is admitted.
    fn gate_refusal(&mut self) -> Option<GateRefusal> {
        let with_error = |why, error| GateRefusal { why, error: Some(error), by: None };
        let facts = self.state().facts;
        match (facts.gate, &self.playbook.graph) {
            (GateFacts::Free, _) => None,
            (GateFacts::Unknown(error), _) => Some(with_error(AdmissionRefusal::UnknownAction, error)),
            (GateFacts::Action { id, fault }, graph) => {
                if let Some(graph) = graph
                    && let Err(by) = self.shared().gate.check(graph, facts.run, (id, facts.key))
                {
                    return Some(GateRefusal { why: AdmissionRefusal::InvalidTransition, error: None, by });
                }
                fault.map(|error| with_error(AdmissionRefusal::ValidationFailed, error))
            }
        }
    }

    /// Refuses the call; one that was refused too often in a row goes to people.
    fn refuse_at_gate(&mut self, GateRefusal { why, error, by }: GateRefusal) {
        let facts = self.state().facts;
        self.emit(Decision::Refused { why, error, by, retry_after: None });
        self.state().note_error(error);
        if let Some(Stuck { after, queue }) = self.playbook.graph.as_ref().and_then(|graph| graph.stuck)
            && self.shared().gate.note_refusal(facts.run, (facts.tool, facts.args)) >= after
        {
            self.emit(Decision::Escalated { queue });
            return self.finish(OutcomeKind::Escalated(queue));
        }
        self.finish(OutcomeKind::Refused(why));
    }

    /// The call ends: its run is where it brought it, and an action that may still be at work is withheld.
    pub(super) fn leave_gate(&mut self, outcome: &Outcome) {
        let Some(graph) = &self.playbook.graph else { return };
        let (call, facts) = (self.call, self.state().facts);
        let state = self.state();
        let is_at_work = outcome.attempts > 0 && !state.at_work.is_empty();
        if let Some(id) = self.action().filter(|_| is_at_work) {
            self.withhold(id);
        }
        if let GateFacts::Action { id, .. } = facts.gate {
            let done = if facts.steps == 0 { is_done(facts.access, outcome) } else { !self.state().is_undone };
            self.shared().gate.note_end(facts.run, call, (id, facts.key), done);
        }
        if facts.step.is_none() {
            let gate = &self.machine.shared.get_or_insert_default().gate;
            let valid = gate.valid_next(graph, facts.run);
            self.out.bound.extend(gate.bound_in(facts.run).map(|(action, key)| (call, action, key)));
            self.out.valid_next.push((call, valid)); // of a step, its action says it
        }
    }

    /// An attempt of the call may still be at work: its action is withheld, or bound to the key of the action's call. The key
    /// of a step is made of that one, so that only a call of the action with the same key repeats the step safely.
    fn withhold(&mut self, action: ActionId) {
        let (call, facts) = (self.call, self.state().facts);
        let is_repeatable = self.retry_guard().is_none();
        if is_repeatable && (facts.access == Access::Read || facts.idempotent) {
            return;
        }
        let key = match facts.step {
            None => facts.key,
            Some(StepOf { action, .. }) => action.and_then(|action| self.machine.calls.get(action)?.facts.key),
        };
        let key = key.filter(|_| is_repeatable);
        self.shared().gate.withhold(facts.run, call, (action, key));
        self.state().withholds = Some(action);
        if key.is_none() {
            self.emit(Decision::ActionWithheld { action });
        }
    }

    /// A person says what the call did: none of its attempts is at work any more, and its run is where it brought it.
    pub(in crate::dispatch) fn on_resolved(&mut self, applied: bool) {
        let facts = self.state().facts;
        if applied && let (Some(graph), GateFacts::Action { id, .. }) = (&self.playbook.graph, facts.gate) {
            self.shared().gate.note_done(graph, facts.run, id);
        }
        for attempt in self.state().at_work.clone() {
            self.release_action(attempt);
        }
    }

    /// A late answer proves that an attempt is not at work any more. The action stays withheld while another one may be.
    pub(in crate::dispatch) fn release_action(&mut self, attempt: AttemptNo) {
        let call = self.call;
        let state = self.state();
        let run = state.facts.run;
        state.at_work.retain(|at_work| *at_work != attempt);
        if !state.at_work.is_empty() {
            return;
        }
        if let Some(action) = state.withholds.take()
            && self.shared().gate.release(run, call, action)
        {
            self.emit(Decision::ActionReleased { action });
        }
    }
}

/// Whether a call that ended so did what it is there for: its effect is applied, or, of a read, it succeeded.
pub(super) fn is_done(access: Access, outcome: &Outcome) -> bool {
    let succeeded = match outcome.kind {
        OutcomeKind::Joined { ended, .. } => {
            matches!(ended, OutcomeWord::Succeeded | OutcomeWord::SucceededAfterCompensation)
        }
        OutcomeKind::Cached { .. } => true,
        kind => kind.is_success(),
    };
    match access {
        Access::Write => outcome.claim == EffectClaim::Applied,
        Access::Read => succeeded,
    }
}
