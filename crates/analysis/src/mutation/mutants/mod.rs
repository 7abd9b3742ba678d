//! The mutants of a playbook, row by row.

mod all;
mod breakers;
mod graph;
mod limits;
mod mutant;
mod retry_budgets;
mod rules;
mod sharing;
mod tells;
mod verdicts;
mod waits;

pub use all::mutants;
pub use mutant::Mutant;
pub(super) use mutant::slug;
