//! Every transition of the dispatcher. Theory of operation:
//!
//! ```text
//! input                 state          -> what happens                                   next state
//! Call                  (none)            admission runs its checks:
//!                                         . a gated call of its run has not ended: waits  AtGate
//!                                         . none refuses: attempt 1 starts                InFlight | Queued
//!                                         . the same, of an action with steps: it asks    Stepping
//!                                           for its first step
//!                                         . its key is in flight: it follows that call    Following
//!                                         . one refuses, or its result is kept: outcome   Done
//! Answered ok           InFlight          outcome                                         Done
//! Answered failed       InFlight          classified, then the verdict's compensation:
//!                                         . retry passes guard and limits: scheduled      Backoff
//!                                         . refresh passes guard and limits: requested    Refreshing
//!                                         . reversal passes the token guard: requested    Redeeming
//!                                         . escalate, deprecate, a limit hit: outcome     Done
//! Woken                 Backoff           the next attempt starts                         InFlight | Queued
//! Woken                 AtGate, Queued,   too late: outcome                               Done
//!                       Following
//! (the gate is free)    AtGate            admission runs its checks                       as after Call
//! (a permit is free)    Queued            the next attempt starts                         InFlight
//! (its leader ended)    Following         outcome as the leader's, or it leads now        Done | InFlight | Queued
//! Woken                 Following         its leader is silent, it is safe: it leads now  InFlight | Queued | Done
//! Call of a step        (none)            its turn: as after the gate                     InFlight | Queued | ...
//!                                         not its turn: outcome `skipped`                 Done
//! (its step succeeded)  Stepping          asks for the next step, or outcome              Stepping | Done
//! (its step failed)     Stepping          outcome of the step                             Done
//! NoStep                Stepping          outcome `undetermined`                          Done
//! Cancelled             any               outcome `cancelled`                             Done
//! Answered ok           Refreshing        the next attempt starts with the new evidence   InFlight | Done
//! Answered ok           Redeeming         outcome `reversed`                              Done
//! Answered, other       Refreshing,       outcome                                         Done
//!                       Redeeming
//! Answered unanswered   any               outcome `undetermined`                          Done
//! anything else         any               ignored: an unexpected answer decides nothing
//! ```

use super::calls::CallState;
use super::io::{Input, OutputBuffer};
use super::machine::Machine;
use super::transition::Transition;
use crate::event::{Decision, Status};
use crate::playbook::Playbook;
use crate::time::Instant;

impl Machine {
    /// Takes what happened at `now`, and writes events and outputs to `out`.
    pub fn handle_input(&mut self, playbook: &Playbook, now: Instant, input: Input, out: &mut OutputBuffer) {
        match input {
            Input::Call(call, facts) if self.calls.is_free(call) => {
                if playbook.shares_state() || facts.transaction.is_some() {
                    self.shared.get_or_insert_default();
                }
                self.calls.insert(call, CallState::new(facts));
                let mut call = Transition { machine: self, playbook, now, call, out };
                if facts.transaction.is_some() && facts.act.is_none() {
                    call.enter_transaction();
                }
                match (facts.act, facts.step) {
                    (Some(act), _) => call.act(act),
                    (None, None) => call.admit(),
                    (None, Some(of)) => call.begin_as_step(of),
                }
            }
            Input::Call(..) => {} // the id is taken: that is no call
            Input::Answered { call, asked, response, meta } => {
                if let Some(phase) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.on_answered(phase, asked, response, meta);
                }
            }
            Input::Woken(call) => {
                if let Some(phase) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.on_woken(phase);
                }
            }
            Input::NoStep(call) => {
                if let Some(phase) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.on_no_step(phase);
                }
            }
            Input::Cancelled(call) => {
                if let Some(phase) = self.phase(call) {
                    Transition { machine: self, playbook, now, call, out }.on_cancelled(phase);
                }
            }
            Input::Late { call, attempt, failed, proves_end } => {
                let status = failed.map_or(Status::Ok, Status::Failed);
                out.emit(now, call, Decision::LateAnswer { attempt, status });
                if failed.is_some() && proves_end && self.phase(call).is_some() {
                    Transition { machine: self, playbook, now, call, out }.release_action(attempt);
                }
            }
            Input::Resolved { call, applied } => {
                if self.phase(call).is_some() {
                    Transition { machine: self, playbook, now, call, out }.on_resolved(applied);
                }
            }
        }
        if self.shared.is_some() {
            self.settle(playbook, now, out);
        }
    }

    /// Passes on what calls that ended leave to others: their result to followers, their permits to the queue.
    fn settle(&mut self, playbook: &Playbook, now: Instant, out: &mut OutputBuffer) {
        while let Some(shared) = &mut self.shared {
            if let Some(call) = shared.ended.pop() {
                if let Some(outcome) = self.outcome(call) {
                    Transition { machine: self, playbook, now, call, out }.pass_on(outcome);
                }
                continue;
            }
            if let Some(call) = shared.gate.next_in_line() {
                Transition { machine: self, playbook, now, call, out }.on_gate_free();
                continue;
            }
            let permits = playbook.sharing.permits;
            let Some(call) = permits.and_then(|limits| shared.permits.grant_next(limits)) else { return };
            Transition { machine: self, playbook, now, call, out }.on_granted();
        }
    }
}
