//! One line of a trace (DESIGN.md section 3). [`parse_line`] is all that the reader needs of it.

mod fields;
mod line;
mod lower;
#[cfg(test)]
mod tests;
mod unfamiliar;

pub use line::{AnswerLine, CallLine, Line, LineError, Parsed};
pub use lower::parse_line;
pub use unfamiliar::{Unfamiliar, unfamiliar_field, unfamiliar_type};
