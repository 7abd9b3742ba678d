//! The dispatcher: a state machine without I/O, clock or randomness. It takes inputs and gives outputs;
//! replay, the checker and a live shell drive this same code.

mod calls;
mod io;
mod keys;
mod machine;
mod permits;
mod shared;
#[cfg(test)]
mod sharing_tests;
#[cfg(test)]
mod tests;
mod transition;
mod wait;

pub use io::{CallFacts, ClassifiedFailure, Input, Output, OutputBuffer, RequestCheck, Response, ResponseMeta};
pub use machine::Machine;
pub use wait::wait_range;
