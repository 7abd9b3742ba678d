//! One line of a trace (DESIGN.md section 3). [`Lines`] is all that the reader needs of it,
//! and [`parse_line`], which is the same for one line alone.

mod errors;
mod fields;
mod line;
mod lines;
mod lower;
mod names;
#[cfg(test)]
mod tests;
mod unfamiliar;

pub use line::{AnswerLine, CallLine, Line, LineError, Listener, OtherJson, Parsed, is_field};
pub use lines::{Lines, parse_line};
pub use lower::hash_of_line;
pub use names::SCHEMA;
pub use unfamiliar::{Unfamiliar, unfamiliar_field, unfamiliar_type};
