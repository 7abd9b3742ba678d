//! What a run changes in its golden: aligned, classified, worst first.

mod align;
mod ends;
mod events;
mod guards;
mod result;
#[cfg(test)]
mod tests;

pub use result::{Comparison, Divergence, DivergencePlace, EventPair, FirstChange, PrecedingVerdict, compare};
