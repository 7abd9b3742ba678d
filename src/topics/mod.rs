//! The texts of `playproof help ID`.

mod catalogue;
mod divergences;
mod failures;
mod findings;
mod words;

pub use catalogue::{Topic, all};
