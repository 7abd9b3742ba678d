//! Playbooks: from text to a model in which nothing is invalid.

mod embedded;
mod fingerprint;
pub mod lint;
mod lower;
mod overlap;
mod places;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
pub mod tools;
pub mod words;

pub use embedded::{EMBEDDED, KNOWN_KINDS, embedded};
pub use fingerprint::{Fingerprint, PlaybookRow, fingerprint, fingerprint_of, rows};
pub use places::{Loaded, PlaybookPlaces, parse};
pub use schema::{SCHEMA, TOOLS_SCHEMA};
