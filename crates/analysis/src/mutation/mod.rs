//! Would the fixtures notice? A playbook changed one row at a time, and what its fixtures make of each change.

mod accepted;
mod body;
mod judge;
mod mutants;
mod runs;
#[cfg(test)]
mod tests;

pub use accepted::{Accepted, Entry, Section};
pub use judge::{Judged, Judgement, MutationReport, Shown, Stale, judge};
pub use mutants::{Mutant, mutants};
