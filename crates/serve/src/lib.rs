//! The dispatch protocol: lines in, lines out, over the dispatcher with names. Without clock, threads and I/O.

mod again;
pub mod conform;
pub mod decider;
pub mod error;
mod events;
pub mod journal;
#[cfg(test)]
mod journal_tests;
mod object;
pub mod protocol;
pub mod said;
pub mod server;
pub mod session;
mod shadow;
mod shown;
#[cfg(test)]
mod tests;
pub mod trace;

pub use again::decided_again;
