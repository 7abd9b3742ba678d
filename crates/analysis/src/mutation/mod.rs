//! Mutation testing of a playbook: changes it one row at a time and checks whether its fixtures notice.

mod accepted;
mod body;
mod judge;
mod mutants;
mod runs;
#[cfg(test)]
mod tests;

pub use accepted::{Accepted, AcceptedMutant, Section};
pub use judge::{Judgement, MutantResult, MutationReport, RevealingFixture, Stale, judge};
pub use mutants::{Mutant, Mutants, mutants};
