//! The comparison of a run with its golden: aligned, classified, worst first.

mod align;
mod comparison;
mod divergence;
mod ends;
mod events;
#[cfg(test)]
mod tests;

pub use comparison::{Comparison, compare};
pub use divergence::{Divergence, DivergencePlace, EventPair, FirstChange, PrecedingVerdict};
