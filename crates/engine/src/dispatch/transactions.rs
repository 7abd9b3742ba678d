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
    /// The requests that are not known to be done, each with its last call.
    pub undone: BTreeMap<Request, CallId>,
    /// Whether state of it was lost in a crash.
    pub has_lost: bool,
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

    /// The staged state of all transactions is gone.
    pub(super) fn lose(&mut self) -> impl Iterator<Item = CallId> {
        self.known.values_mut().flat_map(|known| {
            known.has_lost |= !known.staged.is_empty();
            std::mem::take(&mut known.staged)
        })
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
