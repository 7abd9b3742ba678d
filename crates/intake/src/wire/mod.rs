//! One line of a trace: from its text to its meaning. The reader uses [`LineParser`] for lines in a row, and [`parse_line`]
//! for a single line.

mod decision;
mod error;
mod error_cache;
mod fields;
mod line;
mod lower;
mod names;
mod parser;
mod step;
#[cfg(test)]
mod tests;
mod unknown_names;

pub use line::{
    AnswerLine, CallLine, DispatchLine, DispatchWhat, LineError, Listener, NonTrace, ParsedLine, TraceLine, is_field,
};
pub use lower::hash_of_line;
pub use names::SCHEMA;
pub use parser::{LineParser, parse_line};
pub(crate) use unknown_names::is_type;
pub use unknown_names::{UnknownName, unknown_field, unknown_type};
