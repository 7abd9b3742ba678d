//! The state of a dispatcher: its calls and what they share. The playbook and the time are arguments, so that a machine is
//! nothing but its state: it can be cloned, compared and
//! hashed.

use std::collections::BTreeSet;

use super::calls::{CallSlab, Phase};
use super::gate::Gate;
use super::io::OutputBuffer;
use super::retry_balance::RetryBalance;
use super::shared::{RetryBalanceKey, Shared, SharedBalance, SpentBy};
use crate::event::{Became, Decision, Outcome, ValidNext};
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
        let facts = self.calls.get(call)?.facts;
        if let (Some(id), Some(shared)) = (facts.transaction, &mut self.shared) {
            shared.transactions.leave(id, call, (facts.tool, facts.key, facts.args));
        }
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

    /// The dispatcher is there again after it died: state that was not committed is gone, and its transactions begin again
    /// before they commit. The writes of state that are lost, as far as their calls have not left; none: nothing was lost.
    pub fn lose_state(&mut self, now: Instant, out: &mut OutputBuffer) -> Option<Vec<CallId>> {
        let lost = self.shared.as_mut()?.transactions.lose()?;
        for &call in &lost {
            out.emit(now, call, Decision::Transaction { became: Became::Discarded, by: None });
        }
        Some(lost)
    }

    /// Forgets everything but how calls have ended, and gives those that had not.
    pub fn forget(&mut self) -> Vec<CallId> {
        let open: Vec<CallId> = self.calls.open().collect();
        open.iter().for_each(|call| self.calls.remove(*call));
        self.redeemed.clear();
        self.shared = None;
        open
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
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.budget.knows(run) || shared.gate.knows(run) || shared.transactions.knows(run))
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
            for transaction in shared.transactions.forget(run) {
                shared.keys.forget_within(transaction);
            }
            shared.budget.forget(run);
            shared.gate.forget(run);
        }
    }

    /// What a retry budget has left for calls of `server`; full before its first call.
    pub fn balance(&self, playbook: &Playbook, budget: RetryBudgetId, server: ServerId) -> RetryBalance {
        let scope = (budget, playbook.retry_budget(budget).scope(server));
        let shared = self.shared.as_ref().and_then(|shared| shared.balances.get(&scope));
        shared.map_or_else(RetryBalance::default, |shared| shared.balance.clone())
    }

    /// What the retry budgets that were used have left.
    pub fn balances(&self) -> impl Iterator<Item = (RetryBalanceKey, &RetryBalance)> {
        self.shared.iter().flat_map(|shared| &shared.balances).map(|(key, shared)| (*key, &shared.balance))
    }

    /// Whether a call took the last of a retry budget at a moment.
    pub fn has_spent(&self, budget: RetryBalanceKey, call: CallId, at: Instant) -> bool {
        let balance = self.shared.as_ref().and_then(|shared| shared.balances.get(&budget));
        balance.is_some_and(|balance| balance.spent_by == Some(SpentBy { call, at }))
    }

    /// Begins a retry budget with what another dispatcher has left.
    pub fn set_retry_balance(
        &mut self,
        playbook: &Playbook,
        budget: RetryBudgetId,
        server: ServerId,
        balance: RetryBalance,
    ) {
        let scope = (budget, playbook.retry_budget(budget).scope(server));
        let balance = SharedBalance { balance, spent_by: None };
        self.shared.get_or_insert_default().balances.insert(scope, balance);
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
