//! A chain over lines of JSON: each has the hash of the one before it (`prev`) and its own (`hash`), so that a line that was
//! altered, moved or removed is found. Knows no files.

mod canonical;
mod hash;
mod links;
mod verify;
#[cfg(test)]
mod verify_tests;

pub use hash::Hash;
pub use links::{Chain, bare};
pub use verify::{Cause, NoChain, Problem, Verified, Wanted, verify};
