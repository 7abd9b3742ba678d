//! Several files written and removed as one: all, or none. Decides nothing about what is written.
//!
//! Each new text is staged in a folder of its own, then the journal is put beside them: from there on the change is
//! decided. Then each file is put in its place, and the journal goes. Whoever finds a journal finishes its change before
//! reading anything else of the project. One program at a time: the others wait for a moment, and are then refused.

mod apply;
mod change;
mod disk;
mod journal;
mod project_lock;
#[cfg(test)]
mod tests;

pub use change::Change;
pub use journal::Journal;
pub use project_lock::{ProjectLock, finish, has_journal};
