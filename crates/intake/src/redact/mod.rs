//! Redaction: removes what must not be shown of a trace.

mod call;
mod json;
mod lines;
mod rules;
mod text;

pub use rules::{BadRule, NameKind, REDACTED, RedactionRules};
