//! Imports foreign recordings: converts them into lines in our own trace format.

mod cassette;
mod chat_lines;
mod form;
mod format;
mod message_reader;
mod messages;
mod names;
mod openai;
mod run;
mod tau;
#[cfg(test)]
mod tests;
mod whole;
mod yaml_text;

pub(crate) use cassette::{begins_yaml, is_cassette};
pub(crate) use chat_lines::ChatLines;
pub(crate) use format::detect;
pub use format::{FormatOptions, SourceFormat, foreign_flag, is_own_format, looks_like_a_trace, without_own_lines};
pub(crate) use openai::{is_chat_with_calls, is_other_chat};
#[cfg(test)]
pub(crate) use whole::import_whole;
pub use whole::{import, import_with};
