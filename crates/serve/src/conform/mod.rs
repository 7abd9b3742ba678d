//! Drives a dispatcher, or plain code, over fixtures by the protocol, and compares what it does with what a playbook does.

mod compared;
mod driver;
mod ends;
mod lines;
#[cfg(test)]
pub(crate) mod live_tests;
mod plain;
#[cfg(test)]
mod plain_tests;
#[cfg(test)]
mod tests;

pub use compared::{Compared, Comparison, Difference, compare};
pub use driver::Broken;
pub use ends::Uncompared;
pub use plain::{Askable, Asked, Harm, askable, asked};
