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
//!
//! The playbook and the time are arguments, so that a machine is nothing but its state: it can be cloned, compared and
//! hashed.

use std::collections::BTreeSet;

use super::calls::{CallSlab, CallState, Phase};
use super::gate::Gate;
use super::io::{Input, OutputBuffer};
use super::purse::Purse;
use super::shared::{PurseKey, Shared, SharedPurse, SpentBy};
use super::transition::Transition;
use crate::event::{Decision, Outcome, Status, ValidNext};
use crate::ids::{ActionId, CallId, KeyId, RetryBudgetId, RunId, ServerId, TokenId};
use crate::playbook::Playbook;
use crate::time::{Duration, Instant};

/// One dispatcher: its calls share what the playbook lets them share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Machine {
    pub(super) calls: CallSlab,
    /// Tokens that were sent for redemption; a token is sent once, whatever the answer.
    pub(super) redeemed: BTreeSet<TokenId>,
    /// None if the playbook shares nothing else.
    pub(super) shared: Option<Box<Shared>>,
}

impl Machine {
    /// Takes what happened at `now`, and writes events and outputs to `out`.
    pub fn handle_input(&mut self, playbook: &Playbook, now: Instant, input: Input, out: &mut OutputBuffer) {
        match input {
            Input::Call(call, facts) if self.calls.is_free(call) => {
                if playbook.shares_state() {
                    self.shared.get_or_insert_default();
                }
                self.calls.insert(call, CallState::new(facts));
                let mut call = Transition { machine: self, playbook, now, call, out };
                match facts.step {
                    None => call.admit(),
                    Some(of) => call.begin_as_step(of),
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

    /// Records a token that a call of another machine sent for redemption.
    pub fn note_redeemed(&mut self, token: TokenId) {
        self.redeemed.insert(token);
    }

    /// Whether a token was sent for redemption.
    pub fn is_redeemed(&self, token: TokenId) -> bool {
        self.redeemed.contains(&token)
    }

    /// The id of the next call: the lowest free slot.
    pub fn next_call(&self) -> CallId {
        self.calls.next()
    }

    /// The outcome of a call that has ended, and removes the call: its id is free again. The caller must have no more
    /// inputs for it.
    pub fn take_outcome(&mut self, call: CallId) -> Option<Outcome> {
        let outcome = self.outcome(call)?;
        self.calls.remove(call);
        Some(outcome)
    }

    /// The outcome of a call that has ended.
    pub fn outcome(&self, call: CallId) -> Option<Outcome> {
        match self.phase(call) {
            Some(Phase::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// Whether a call has ended.
    pub fn has_ended(&self, call: CallId) -> bool {
        self.calls.get(call).is_some_and(|state| matches!(state.phase, Phase::Done(_)))
    }

    /// Removes every call and keeps the allocations.
    pub fn clear(&mut self) {
        self.calls.clear();
        if !self.redeemed.is_empty() {
            self.redeemed.clear(); // to clear an empty map is slow
        }
        self.shared = None;
    }

    /// Whether a key is in flight or kept.
    pub fn knows_key(&self, key: KeyId) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.keys.knows(key))
    }

    /// The keys to which actions are bound, because a call with the key may still be at work.
    pub fn bound_keys(&self) -> BTreeSet<KeyId> {
        self.shared.iter().flat_map(|shared| shared.gate.bound_keys()).collect()
    }

    /// Whether the success of a call is what is kept for a key.
    pub fn keeps_success_of(&self, key: KeyId, call: CallId) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.keys.kept_by(key) == Some(call))
    }

    /// The action that a call withholds, because an attempt of it may still be at work.
    pub fn withheld_by(&self, call: CallId) -> Option<ActionId> {
        self.calls.get(call)?.withholds
    }

    /// Whether something is kept of a run that its next calls depend on.
    pub fn needs_run(&self, run: RunId) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.budget.knows(run) || shared.gate.knows(run))
    }

    /// The clock of a call stood still for so long: its limits count from later.
    pub fn hold(&mut self, call: CallId, held: Duration) {
        if let Some(state) = self.calls.get_mut(call) {
            state.facts.at = state.facts.at.plus(held);
        }
    }

    /// Whether nothing is kept that a later call could depend on.
    pub fn is_idle(&self) -> bool {
        let is_empty = |shared: &Shared| *shared == Shared::default();
        self.redeemed.is_empty() && self.shared.as_deref().is_none_or(is_empty)
    }

    /// Forgets what a run has used: it makes no more calls.
    pub fn forget_run(&mut self, run: RunId) {
        if let Some(shared) = &mut self.shared {
            shared.budget.forget(run);
            shared.gate.forget(run);
        }
    }

    /// What a retry budget has left for calls of `server`; full before its first call.
    pub fn purse(&self, playbook: &Playbook, budget: RetryBudgetId, server: ServerId) -> Purse {
        let scope = (budget, playbook.retry_budget(budget).scope(server));
        let shared = self.shared.as_ref().and_then(|shared| shared.purses.get(&scope));
        shared.map_or_else(Purse::default, |shared| shared.purse.clone())
    }

    /// What the retry budgets that were used have left.
    pub fn purses(&self) -> impl Iterator<Item = (PurseKey, &Purse)> {
        self.shared.iter().flat_map(|shared| &shared.purses).map(|(key, shared)| (*key, &shared.purse))
    }

    /// Whether a call took the last of a retry budget at a moment.
    pub fn has_spent(&self, budget: PurseKey, call: CallId, at: Instant) -> bool {
        let purse = self.shared.as_ref().and_then(|shared| shared.purses.get(&budget));
        purse.is_some_and(|purse| purse.spent_by == Some(SpentBy { call, at }))
    }

    /// Begins a retry budget with what another dispatcher has left.
    pub fn set_purse(&mut self, playbook: &Playbook, budget: RetryBudgetId, server: ServerId, purse: Purse) {
        let scope = (budget, playbook.retry_budget(budget).scope(server));
        let purse = SharedPurse { purse, spent_by: None };
        self.shared.get_or_insert_default().purses.insert(scope, purse);
    }

    /// What is valid in a run now; none: the playbook has no graph.
    pub fn valid_next(&self, playbook: &Playbook, run: RunId) -> Option<ValidNext> {
        let graph = playbook.graph.as_ref()?;
        Some(match &self.shared {
            Some(shared) => shared.gate.valid_next(graph, run),
            None => Gate::default().valid_next(graph, run),
        })
    }

    pub(super) fn phase(&self, call: CallId) -> Option<Phase> {
        self.calls.get(call).map(|state| state.phase)
    }
}
