//! `playproof explain TRACE --call REF|ID`: one call, in sentences.

mod advice;
mod case;
mod find;
mod names;
mod otherwise;
mod proof;
mod recorded;
mod run;
mod story;
#[cfg(test)]
mod tests;
mod truth;

pub use case::Case;
pub use find::{Search, find};
pub use run::{Args, page, run};
