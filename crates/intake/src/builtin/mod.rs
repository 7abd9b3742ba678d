//! The formats that are read without a mapping of the user: each is a mapping file that comes with the program, or is built in.

pub(crate) mod beginning;
mod format;

#[cfg(test)]
mod tests;

pub use crate::import::FormatOptions;
pub use format::{BuiltinFormat, FORMATS, detect, find, foreign, nearest};
