//! `playproof explain TRACE --call REF|ID`: one call, in sentences.

mod advice;
mod case;
mod find;
mod otherwise;
mod run;
mod story;
#[cfg(test)]
mod tests;

pub use case::Case;
pub use run::{Args, page, run};
