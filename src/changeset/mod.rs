//! Writes and removes several files as one change: all, or none.
//!
//! Every new text is staged in a folder of its own. Then the journal is written beside them, which commits the change.
//! Then each file is moved to its place, and the journal is removed. A command that finds a journal finishes its change
//! before it reads the project. One program changes a project at a time: others wait for a moment, and are then refused.

mod apply;
mod change;
mod disk;
mod journal;
mod project_lock;
mod staging;
#[cfg(test)]
mod tests;

pub use change::Change;
pub use journal::Journal;
pub use project_lock::{ProjectLock, finish};
pub use staging::has_journal;
