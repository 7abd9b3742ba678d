//! Would the fixtures notice? A playbook changed one row at a time, and what its fixtures make of each change.

mod accepted;
mod body;
mod judge;
mod mutants;
mod runs;
#[cfg(test)]
mod tests;

pub use accepted::{Accepted, AcceptedMutant, Section};
pub use judge::{Judgement, MutantResult, MutationReport, RevealingFixture, Stale, judge};
pub use mutants::{Mutant, mutants};
