//! Arguments by meaning: one hash and one text for JSON that says the same, whatever its key order, spacing,
//! escapes and spelling of numbers. Knows no calls.

#[cfg(test)]
mod tests;
mod text;
mod value;

pub use text::text_of;
pub use value::{hash_of, hash_value};
