//! The dispatcher: a state machine without I/O, clock or randomness. It takes inputs and gives outputs;
//! replay, the checker and a live shell drive this same code.

mod admission;
mod calls;
mod io;
mod machine;
#[cfg(test)]
mod tests;
mod wait;

pub use io::{CallFacts, ClassifiedFailure, Input, Output, OutputBuffer, RequestCheck, Response, ResponseMeta};
pub use machine::Machine;
pub use wait::wait_range;
