//! Playbooks: from text to a model in which nothing is invalid.

mod embedded;
mod facts;
mod fingerprint;
pub mod lint;
mod lower;
pub mod model;
mod overlap;
pub mod pattern;
mod places;
#[cfg(test)]
pub(crate) mod sample;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
pub mod tools;
mod when;
pub mod words;

pub use embedded::{EMBEDDED, KNOWN_KINDS, embedded};
pub use fingerprint::{Fingerprint, Row, fingerprint, fingerprint_of, rows};
pub use places::{Loaded, Places, parse};
pub use schema::{SCHEMA, TOOLS_SCHEMA};
