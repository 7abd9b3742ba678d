//! Several files written and removed as one: all, or none. What an interruption leaves behind is found by the next run
//! and taken back. Decides nothing about what is written.
//!
//! Everything is laid out in a folder of its own first: each new text, and a copy of each file that it replaces; then a
//! journal, from which alone the way back is known; only then does the first file change. The journal goes when the
//! last file is in its place: from there on the change has happened. One program at a time: the others wait for a
//! moment, and are then refused.

mod alone;
mod back;
mod change;
mod forth;
mod journal;
#[cfg(test)]
mod tests;

pub use alone::{Alone, refuse_interrupted};
pub use back::recover;
pub use change::Change;
