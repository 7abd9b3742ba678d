//! A first mapping file for rows that nobody has mapped yet: guesses from names and values, each marked as one.

mod failures;
mod guess;
mod look;
mod names;
mod shape;
mod survey;
#[cfg(test)]
mod tests;
mod text;

pub use guess::{Draft, Unmapped, draft};
