//! From lines to calls with their answers, and the account of what became of each line.

mod account;
mod assembler;
mod closed;
mod joined;
mod labels;
mod open;
mod runs;
#[cfg(test)]
mod tests;

pub use account::InputLedger;
pub use assembler::{AssembleOptions, Assembler, Writes};
pub use closed::{ClosedCall, Story, TracedCall};
