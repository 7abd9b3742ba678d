//! What a program does with its transactions. Nothing upstream is ever undone: a transaction is about the program's own state.

use super::Transition;
use crate::dispatch::transactions::Transaction;
use crate::event::{Act, AdmissionRefusal, Became, Decision, EffectClaim, Outcome, OutcomeKind};
use crate::ids::CallId;

impl Transition<'_> {
    /// The call begins or ends its transaction, or writes state in it.
    pub(in crate::dispatch) fn act(&mut self, act: Act) {
        let call = self.call;
        let Some(of) = self.transaction() else { return self.finish(OutcomeKind::Succeeded) };
        match act {
            Act::Begin => {
                let became = if of.is_begun { Became::BegunAgain } else { Became::Begun };
                (of.is_begun, of.has_lost) = (true, false);
                of.undone.clear();
                self.discard();
                self.emit_became(call, became, None);
            }
            Act::State => {
                of.staged.push(call);
                self.emit_became(call, Became::Staged, None);
            }
            Act::Rollback => {
                self.discard();
                self.emit_became(call, Became::RolledBack, None);
            }
            Act::Commit => {
                let by = of.undone.values().next().copied();
                if by.is_some() || of.has_lost {
                    let by = by.flatten();
                    self.discard();
                    self.emit_became(call, Became::RolledBack, by);
                    return self.refuse(AdmissionRefusal::RolledBack, None);
                }
                for state in of.take_staged() {
                    self.emit_became(state, Became::Committed, None);
                }
                self.emit_became(call, Became::Committed, None);
                if let Some(id) = self.state().facts.transaction {
                    let shared = self.shared();
                    shared.transactions.end(id);
                    shared.keys.forget_within(id);
                }
            }
        }
        self.finish(OutcomeKind::Succeeded);
    }

    /// The call is made: until it ends, its request is not known to be done.
    pub(in crate::dispatch) fn enter_transaction(&mut self) {
        let (call, facts) = (self.call, self.state().facts);
        if let Some(of) = self.transaction() {
            of.undone.entry((facts.tool, facts.key, facts.args)).or_insert(Some(call));
        }
    }

    /// Nothing was asked for by the call.
    fn forget_request(&mut self) {
        let (call, facts) = (self.call, self.state().facts);
        if let Some(of) = self.transaction() {
            of.undone
                .extract_if(.., |request, by| (*request, *by) == ((facts.tool, facts.key, facts.args), Some(call)))
                .count();
        }
    }

    /// The call has ended: its request is done, or fails its transaction. What was refused was not asked for.
    pub(super) fn leave_transaction(&mut self, outcome: &Outcome) {
        let facts = self.state().facts;
        if facts.transaction.is_none() || facts.act.is_some() {
            return;
        }
        let is_done = match outcome.kind {
            OutcomeKind::Refused(_) | OutcomeKind::Skipped => return self.forget_request(),
            OutcomeKind::Joined { ended, .. } => ended.completes_step(),
            OutcomeKind::Cached { .. } => true,
            kind => kind.is_success() || outcome.claim == EffectClaim::Applied,
        };
        let (call, request) = (self.call, (facts.tool, facts.key, facts.args));
        let Some(of) = self.transaction() else { return };
        if is_done {
            of.undone.remove(&request);
        } else {
            of.undone.insert(request, Some(call));
        }
    }

    /// The state that waits for the commit is gone.
    fn discard(&mut self) {
        let staged = self.transaction().map(Transaction::take_staged).unwrap_or_default();
        for state in staged {
            self.emit_became(state, Became::Discarded, None);
        }
    }

    fn emit_became(&mut self, call: CallId, became: Became, by: Option<CallId>) {
        self.out.emit(self.now, call, Decision::Transaction { became, by });
    }

    fn transaction(&mut self) -> Option<&mut Transaction> {
        let facts = self.state().facts;
        let id = facts.transaction?;
        Some(self.shared().transactions.of(id, facts.run))
    }
}
