//! Decides whether a result failed, and names the kind of its failure, from what a source gives. Knows no source format.

mod agents;
mod already;
mod assess;
mod body;
mod claims;
mod clause;
mod coded;
mod command_end;
mod content;
mod counted;
mod deeds;
mod details;
mod excerpt;
mod exit;
mod failure_cache;
mod field_names;
mod frame;
mod heading;
mod held;
mod kinds;
mod laid_out;
mod markup;
mod message;
#[cfg(test)]
mod needed;
mod nothing;
mod other_languages;
mod own_name;
mod parts;
mod patterns;
mod plain_refusal;
mod printed;
mod program;
mod program_error;
mod prose;
mod quoted;
mod raised;
mod refused_values;
mod retry_after;
mod searched;
mod sentence;
mod stated;
mod states;
#[cfg(test)]
mod tests;
mod text;
mod text_kinds;
mod tool_name;
mod undone;
mod validation_report;
mod vendor_body;

pub(crate) use assess::{Assessment, Failure, ToolResult, assess, failure_of};
pub use deeds::tells_of_something_done;
pub(crate) use failure_cache::FailureCache;
pub(crate) use nothing::names_no_error;
pub use plain_refusal::is_plain_refusal;
