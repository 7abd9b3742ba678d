//! Arguments by meaning: JSON values that are equal have one hash and one text, whatever their key order, white space,
//! escapes and spelling of numbers. Knows no calls.

#[cfg(test)]
mod tests;
mod text;
mod value;

pub use text::text_of;
pub use value::{EMPTY_OBJECT, hash_and_note, hash_of};
