//! The dispatcher: a state machine without I/O, clock or randomness. It takes inputs and gives outputs;
//! replay, the checker and a live shell drive this same code.

mod breaker;
mod calls;
#[cfg(test)]
mod driver;
mod gate;
#[cfg(test)]
mod gate_tests;
mod guard;
mod inputs;
mod io;
mod keys;
mod machine;
mod permits;
mod retry_balance;
#[cfg(test)]
mod server_tests;
mod shared;
#[cfg(test)]
mod sharing_tests;
#[cfg(test)]
mod steps_tests;
#[cfg(test)]
mod tests;
mod transactions;
mod transition;
mod wait;
mod window;

pub use breaker::{Blocked, Breaker, BreakerState, Generation, MarkedAnswer};
pub use guard::retry_guard;
pub use io::{
    CallFacts, ClassifiedFailure, GateFacts, Input, Output, OutputBuffer, RequestCheck, Response, ResponseMeta, StepOf,
};
pub use machine::Machine;
pub use retry_balance::{RetryBalance, RetryLoad};
pub use shared::RetryBalanceKey;
pub use wait::{first_retry_fits, own_wait, wait_range};
pub use window::{CountedCall, Tally, Window};
