//! Drives a dispatcher over fixtures by the protocol, and compares what it does with what a playbook does.

mod compared;
mod driver;
mod ends;
mod lines;
#[cfg(test)]
pub(crate) mod live_tests;
#[cfg(test)]
mod tests;

pub use compared::{Compared, Comparison, Difference, compare};
pub use driver::Broken;
pub use ends::Uncompared;
