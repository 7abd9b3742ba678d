//! What `playproof help ID` explains.

mod catalogue;
mod divergences;
mod findings;
mod words;

pub use catalogue::{Topic, all};
