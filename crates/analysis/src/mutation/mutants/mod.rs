//! The mutants of a playbook, row by row.

mod all;
mod limits;
mod rules;
mod tools;
mod verdicts;

pub(super) use all::slug;
pub use all::{Mutant, mutants};
