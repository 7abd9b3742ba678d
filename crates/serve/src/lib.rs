//! The dispatch protocol: lines in, lines out, over the dispatcher with names. Without clock, threads and I/O.

mod again;
pub mod conform;
pub mod journal;
#[cfg(test)]
mod journal_tests;
pub mod server;
pub mod session;
mod shadow;
mod shown;
#[cfg(test)]
mod storm_tests;
#[cfg(test)]
mod tests;
pub mod trace;

pub use again::decided_again;
pub use playproof_protocol::{chain, decider, error, protocol, said};

use playproof_protocol::{answered, driver_lines, entry, mentioned, object};
