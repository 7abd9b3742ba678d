//! Diagnostics, drawn for people.

mod draw;
#[cfg(test)]
mod tests;

pub use draw::{render, tally};
