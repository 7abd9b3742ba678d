//! `playproof explain TRACE --call REF|ID`: one call, in sentences.

mod advice;
mod case;
mod otherwise;
mod run;
mod story;

pub use run::{Args, run};
