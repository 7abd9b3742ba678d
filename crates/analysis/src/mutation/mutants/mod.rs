//! The mutants of a playbook, row by row.

mod all;
mod limits;
mod mutant;
mod rules;
mod verdicts;
mod waits;

pub use all::mutants;
pub use mutant::Mutant;
pub(super) use mutant::slug;
