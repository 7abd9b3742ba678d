//! What must not be shown of a trace, and what stands in its place.

mod call;
mod json;
mod lines;
mod names;
mod report;
mod rules;
mod text;

pub use names::Name;
pub use rules::{BadRule, REDACTED, RedactionRules};
