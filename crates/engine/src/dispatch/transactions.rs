//! The transactions of a machine: state that waits for their commit, and the requests of which it is not known that they are
//! done. Only a label is known of state; the program has it.

use std::collections::BTreeMap;

use crate::ids::{ArgsId, CallId, KeyId, RunId, ToolId, TransactionId};

/// What a call asks for, within its transaction.
pub(super) type Request = (ToolId, Option<KeyId>, ArgsId);

/// The transactions in which something has happened since their last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Transactions {
    known: BTreeMap<TransactionId, Transaction>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Transaction {
    /// The runs whose calls it has.
    runs: Vec<RunId>,
    pub is_begun: bool,
    /// The writes of state that wait for the commit.
    pub staged: Vec<CallId>,
    /// Whether others do whose calls have left.
    staged_before: bool,
    /// The requests that are not known to be done, each with its last call; none: it has left.
    pub undone: BTreeMap<Request, Option<CallId>>,
    /// Whether state of it was lost in a crash.
    pub has_lost: bool,
}

impl Transaction {
    /// Takes the writes of state that wait for the commit: they wait no more.
    pub(super) fn take_staged(&mut self) -> Vec<CallId> {
        self.staged_before = false;
        std::mem::take(&mut self.staged)
    }
}

impl Transactions {
    /// A transaction, of which something happens in a run.
    pub(super) fn of(&mut self, id: TransactionId, run: RunId) -> &mut Transaction {
        let known = self.known.entry(id).or_default();
        if !known.runs.contains(&run) {
            known.runs.push(run);
        }
        known
    }

    /// A transaction is committed: nothing of it is left.
    pub(super) fn end(&mut self, id: TransactionId) {
        self.known.remove(&id);
    }

    /// The staged state of all transactions is gone; none: there is none.
    pub(super) fn lose(&mut self) -> Option<Vec<CallId>> {
        let has_staged = |known: &&mut Transaction| known.staged_before || !known.staged.is_empty();
        let mut lost = None;
        for known in self.known.values_mut().filter(has_staged) {
            known.has_lost = true;
            lost.get_or_insert_with(Vec::new).extend(known.take_staged());
        }
        lost
    }

    /// A call of a transaction has left: its id is free.
    pub(super) fn leave(&mut self, id: TransactionId, call: CallId, request: Request) {
        let Some(known) = self.known.get_mut(&id) else { return };
        if let Some(place) = known.staged.iter().position(|state| *state == call) {
            known.staged.remove(place);
            known.staged_before = true;
        }
        if let Some(by) = known.undone.get_mut(&request).filter(|by| **by == Some(call)) {
            *by = None;
        }
    }

    /// Whether a transaction of a run is known.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.known.values().any(|known| known.runs.contains(&run))
    }

    /// Forgets the transactions of a run, and gives them.
    pub(super) fn forget(&mut self, run: RunId) -> Vec<TransactionId> {
        let of_run = self.known.extract_if(.., |_, known| known.runs.contains(&run));
        of_run.map(|(id, _)| id).collect()
    }
}
