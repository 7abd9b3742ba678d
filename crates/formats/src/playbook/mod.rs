//! Playbooks: from text to a validated model.

mod breaker;
mod embedded;
mod ends;
pub mod example_texts;
mod extends;
mod fingerprint;
pub mod lint;
mod lower;
mod overlap;
mod places;
mod retry_budget;
mod syntax;
mod tell;
#[cfg(test)]
mod tests;
pub mod tools;
mod waiting;

pub use embedded::{EMBEDDED, KNOWN_KINDS, embedded};
pub use extends::{replaced, whole};
pub use fingerprint::{Fingerprint, PlaybookRow, fingerprint, fingerprint_of, rows};
pub use lower::{changes, of_tree, parse};
pub(crate) use lower::{refuse_repeatable, same_if};
pub use places::{Loaded, PlaybookPlaces};
pub use syntax::{SCHEMA, TOOLS_SCHEMA};
