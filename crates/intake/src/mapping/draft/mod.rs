//! Drafts a mapping file for unmapped rows: guesses from names and values, each marked as a guess.

mod doubt;
mod failures;
mod fields;
mod guess;
mod names;
mod row_roles;
mod survey;
#[cfg(test)]
mod tests;
mod text;

pub use doubt::{DraftDoubt, doubt};
pub use guess::{MappingDraft, Unmapped, draft};
