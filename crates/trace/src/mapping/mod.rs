//! Mapping files: how the rows of a foreign log become lines of our own trace format.

mod apply;
mod condition;
mod documents;
mod draft;
mod hint;
mod lower;
mod model;
mod path;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod time;

pub use crate::foreign::{Imported, LossReport};
pub use apply::{Applier, apply};
pub use draft::{Draft, Unmapped, draft};
pub use lower::parse;
pub use model::Mapping;
pub use schema::SCHEMA;
