//! Transactions: what a program does with one, and what becomes of it and of its state. The state itself is the program's.

use crate::words;

words! {
    /// What a program does with a transaction.
    pub enum Act {
        /// It begins, perhaps again.
        Begin = "begin",
        /// A piece of state is written in it.
        State = "state",
        /// All of its state is committed as one.
        Commit = "commit",
        /// None of it is.
        Rollback = "rollback",
    }
}

words! {
    /// What became of a transaction, or of a write of state in it.
    pub enum Became {
        /// It began.
        Begun = "begun",
        /// It began once more.
        BegunAgain = "begun_again",
        /// The write waits for the commit.
        Staged = "staged",
        /// It is there for good.
        Committed = "committed",
        /// The write is gone.
        Discarded = "discarded",
        /// No state of it is there.
        RolledBack = "rolled_back",
    }
}
