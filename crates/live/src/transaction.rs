//! Transactions: a program's own state, of which the dispatcher says what becomes. It keeps none of it.

use std::fmt;

use playproof_engine::drive::NewCall;
use playproof_engine::event::{Act, OutcomeKind};

use crate::dispatcher::Dispatcher;
use crate::request::LostState;

/// A transaction that has begun. It is rolled back when it is dropped. Its state is the program's own.
pub struct Transaction<'d, T: Clone> {
    dispatcher: &'d Dispatcher<T>,
    run: String,
    label: String,
    is_over: bool,
}

/// A commit that was refused: a call of the transaction is not known to be done, or its state was lost with the program that had
/// it. None of its state is there; what was done upstream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolledBack;

impl<T: Clone> fmt::Debug for Transaction<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("run", &self.run).field("label", &self.label).finish_non_exhaustive()
    }
}

impl fmt::Display for RolledBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the transaction was rolled back: none of its state is committed, and nothing upstream is undone")
    }
}

impl std::error::Error for RolledBack {}

impl<T: Clone> Dispatcher<T> {
    /// Begins a transaction of a run, perhaps again: its state so far is gone.
    pub fn begin(&self, run: &str, label: &str) -> Transaction<'_, T> {
        let begun = Transaction { dispatcher: self, run: run.to_owned(), label: label.to_owned(), is_over: false };
        begun.act(Act::Begin, None);
        begun
    }

    /// The state that was lost with the program that had this journal before.
    pub fn lost_state(&self) -> Vec<LostState> {
        self.with(|core| core.lost.clone())
    }
}

impl<T: Clone> Transaction<'_, T> {
    /// The call, made in this transaction.
    pub fn within(&self, new: NewCall) -> NewCall {
        NewCall { run: self.run.clone(), transaction: Some(self.label.clone()), ..new }
    }

    /// State is written: its name, and its value as JSON. It waits for the commit.
    pub fn state(&self, name: &str, value: &str) {
        self.act(Act::State, Some((name, value)));
    }

    /// Commits the state as one.
    ///
    /// # Errors
    /// The commit was refused.
    pub fn commit(mut self) -> Result<(), RolledBack> {
        self.is_over = true;
        match self.act(Act::Commit, None) {
            OutcomeKind::Succeeded => Ok(()),
            _ => Err(RolledBack),
        }
    }

    fn act(&self, act: Act, state: Option<(&str, &str)>) -> OutcomeKind {
        let (tool, args) = state.unwrap_or((act.as_str(), "{}"));
        let new = NewCall { act: Some(act), tool: tool.to_owned(), args: args.to_owned(), ..NewCall::default() };
        self.dispatcher.with(|core| core.act(self.within(new)))
    }
}

impl<T: Clone> Drop for Transaction<'_, T> {
    fn drop(&mut self) {
        if !self.is_over {
            self.act(Act::Rollback, None);
        }
    }
}
