//! The texts of `playproof help ID`.

mod catalogue;
mod divergences;
mod ends;
mod failures;
mod findings;
mod keys;
mod kinds;
mod terms;
mod words;

pub use catalogue::{Topic, all};
pub use keys::of_files;
