//! What a call shares with others of its server: the breaker, and the retry budgets.

use super::Transition;
use crate::dispatch::breaker::{Blocked, MarkedAnswer};
use crate::dispatch::calls::PaidRetry;
use crate::dispatch::io::{Response, ResponseMeta};
use crate::dispatch::retry_balance::RetryBalance;
use crate::dispatch::shared::{Server, SharedBalance, SpentBy};
use crate::event::{CircuitChange, TokensLeft};
use crate::ids::{BreakerId, CallId, RetryBudgetId, ServerId};
use crate::playbook::{BreakerMark, OnEmptyBudget, Retry, RetryBudget, RetryBudgetKind};
use crate::time::Instant;

impl Transition<'_> {
    /// Why the breaker of the call's server would let no request pass at a moment; none: it would.
    pub(super) fn breaker_blocks(&mut self, at: Instant) -> Option<Blocked> {
        let (server, breaker) = self.breaker()?;
        let rules = self.playbook.breaker_rules(breaker);
        self.server_state(server).breaker.may_pass(rules, at).err()
    }

    /// Lets an attempt pass that starts now, perhaps as a probe.
    pub(super) fn pass_breaker(&mut self) -> Result<(), Blocked> {
        let Some((server, breaker)) = self.breaker() else { return Ok(()) };
        let (now, rules) = (self.now, self.playbook.breaker_rules(breaker));
        let mut changes = Vec::new();
        let passed = self.server_state(server).breaker.pass(rules, now, &mut changes);
        self.emit_changes(server, &changes);
        passed.map(|probe| self.state().probe = probe)
    }

    /// Counts the answer to an attempt; only verdicts that say so count.
    pub(super) fn record_in_breaker(&mut self, response: Response, meta: ResponseMeta) {
        let Some((server, breaker)) = self.breaker() else { return };
        let mark = match response {
            Response::Ok => BreakerMark::Success,
            Response::Failed(failure) => self.playbook.verdict(failure.verdict).breaker,
            _ => BreakerMark::Ignored, // nobody knows how it ended
        };
        let probe = self.state().probe.take();
        let answer = MarkedAnswer { mark, took: meta.latency.unwrap_or_default(), probe };
        let (now, rules) = (self.now, self.playbook.breaker_rules(breaker));
        let mut changes = Vec::new();
        self.server_state(server).breaker.record(rules, now, answer, &mut changes);
        self.emit_changes(server, &changes);
    }

    /// Frees the probe of an attempt that gets no answer.
    pub(super) fn release_probe(&mut self) {
        let Some((server, _)) = self.breaker() else { return };
        if let Some(probe) = self.state().probe.take() {
            self.server_state(server).breaker.release(probe);
        }
    }

    fn breaker(&mut self) -> Option<(ServerId, BreakerId)> {
        let facts = &self.state().facts;
        Some((facts.server, facts.breaker?))
    }

    fn emit_changes(&mut self, server: ServerId, changes: &[CircuitChange]) {
        for &change in changes {
            if let CircuitChange::Opened { .. } = change {
                self.server_state(server).opened_by = Some(self.call);
            }
            self.emit(change.event(server));
        }
    }

    /// The call that opened the breaker of the call's server last.
    pub(super) fn opened_by(&mut self) -> Option<CallId> {
        let server = self.state().facts.server;
        self.shared().servers.get(&server)?.opened_by
    }

    /// What the calls of a server share.
    fn server_state(&mut self, server: ServerId) -> &mut Server {
        self.shared().servers.entry(server).or_default()
    }

    /// A call starts, for every budget that counts calls.
    pub(super) fn enter_retry_budgets(&mut self) {
        self.each_balance(|now, balance, budget, _| balance.on_call(&budget.kind, now));
        self.state().is_counted = true;
    }

    /// The answer to an attempt came: its retry is over, and a success gives back.
    pub(super) fn answer_retry_budgets(&mut self, is_ok: bool) {
        if self.playbook.retry_budgets.is_empty() {
            return;
        }
        let paid = self.state().paid;
        if let Some(PaidRetry { budget, is_open: true, .. }) = paid {
            self.balance(budget).on_retry_end();
            self.state().paid = paid.map(|paid| PaidRetry { is_open: false, ..paid });
        }
        if is_ok {
            self.each_balance(|now, balance, budget, id| match paid {
                Some(paid) if paid.budget != id => {} // another budget has paid
                _ => balance.on_success(&budget.kind, now, paid.map(|paid| paid.cost)),
            });
        }
    }

    /// The call ends, for every budget that counts calls; a retry that was never sent gives its cost back.
    pub(super) fn leave_retry_budgets(&mut self) {
        if let Some(PaidRetry { budget, cost, is_open: true, is_sent }) = self.state().paid {
            match is_sent {
                true => self.balance(budget).on_retry_end(), // its caller went away
                false => self.balance(budget).give_back(cost),
            }
        }
        if std::mem::take(&mut self.state().is_counted) {
            self.each_balance(|_, balance, _, _| balance.on_call_end());
        }
    }

    /// A failure of a verdict that retries by a throttle.
    pub(super) fn charge_throttle(&mut self, retry: &Retry) {
        if let Some(id) = retry.retry_budget {
            let (now, call, kind) = (self.now, self.call, &self.playbook.retry_budget(id).kind);
            let shared = self.shared_balance(id);
            let could_retry = shared.balance.may_retry(kind, now, None);
            shared.balance.on_failure(kind);
            if could_retry && !shared.balance.may_retry(kind, now, None) {
                shared.spent_by = Some(SpentBy { call, at: now });
            }
        }
    }

    /// Pays for a retry.
    ///
    /// # Errors
    /// What an empty budget does, and the call that took the last of it.
    pub(super) fn pay_retry(&mut self, retry: &Retry) -> Result<(), (OnEmptyBudget, Option<CallId>)> {
        let Some(id) = retry.retry_budget.filter(|_| !retry.uncounted) else { return Ok(()) };
        let (now, call, budget) = (self.now, self.call, self.playbook.retry_budget(id));
        let shared = self.shared_balance(id);
        let Some(cost) = shared.balance.take(&budget.kind, now, retry.cost) else {
            return Err((budget.on_empty, shared.spent_by.map(|spent| spent.call)));
        };
        if !matches!(budget.kind, RetryBudgetKind::Throttle { .. }) {
            shared.spent_by = Some(SpentBy { call, at: now }); // failures empty a throttle, and no retry
        }
        self.state().paid = Some(PaidRetry { budget: id, cost, is_open: true, is_sent: false });
        Ok(())
    }

    /// What the budget of a retry that was just paid for has left; none: it has no tokens, or nobody pays.
    pub(super) fn left_of(&mut self, retry: &Retry) -> Option<TokensLeft> {
        let id = retry.retry_budget.filter(|_| !retry.uncounted)?;
        let (now, kind) = (self.now, &self.playbook.retry_budget(id).kind);
        kind.has_tokens().then(|| TokensLeft::from_thousandths(self.balance(id).left(kind, now).thousandths()))
    }

    /// The call's balance of a budget.
    fn balance(&mut self, id: RetryBudgetId) -> &mut RetryBalance {
        &mut self.shared_balance(id).balance
    }

    fn shared_balance(&mut self, id: RetryBudgetId) -> &mut SharedBalance {
        let server = self.state().facts.server;
        let scope = self.playbook.retry_budget(id).scope(server);
        self.shared().balances.entry((id, scope)).or_default()
    }

    fn each_balance(&mut self, mut change: impl FnMut(Instant, &mut RetryBalance, &RetryBudget, RetryBudgetId)) {
        let (now, playbook) = (self.now, self.playbook);
        for (id, (_, budget)) in (0..).map(RetryBudgetId).zip(&playbook.retry_budgets) {
            change(now, self.balance(id), budget, id);
        }
    }
}
