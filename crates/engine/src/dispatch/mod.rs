//! The dispatcher: a state machine without I/O, clock or randomness. It takes inputs and gives outputs;
//! replay, the checker and a live shell drive this same code.

mod admission;
mod alphabet;
mod backoff;
mod call;
mod calls;
mod machine;
#[cfg(test)]
mod tests;

pub use alphabet::{CallFacts, Failure, Input, Outputs, Reaction, Seen, Want};
pub use machine::Machine;
