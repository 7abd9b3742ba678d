//! Decides whether a result failed, and names the kind of its failure, from what a source gives. Knows no source format.

mod alternatives;
mod assess;
mod body;
mod command_end;
mod content;
mod deeds;
mod details;
mod excerpt;
mod exit;
mod failure_cache;
mod field_names;
mod frame;
mod kinds;
mod markup;
mod message;
mod nothing;
mod parts;
mod pattern_search;
mod patterns;
mod printed;
mod proof;
mod retry_after;
mod states;
mod table;
#[cfg(test)]
mod tests;
mod tool_name;
mod validation_report;
mod vendor_body;
mod word_list;
mod words;

pub(crate) use assess::{Assessment, Failure, ToolResult, assess, failure_of};
pub use deeds::tells_of_something_done;
pub(crate) use failure_cache::FailureCache;
pub(crate) use nothing::names_no_error;
pub use proof::is_plain_refusal;
pub use table::{FAILURE_WORDS, WordTable};
