//! From lines to calls with their answers, and the account of every line.

mod account;
mod answers;
mod assembler;
mod dispatched;
mod early;
mod ids;
mod keys;
mod open;
mod options;
mod runs;
#[cfg(test)]
mod tests;
mod timed_writes;
mod transactions;
mod writes;

pub use account::InputLedger;
pub use assembler::Assembler;
pub use keys::FirstUses;
pub use options::{AssembleOptions, Writes};
