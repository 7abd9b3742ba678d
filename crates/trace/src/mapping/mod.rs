//! Mapping files: they tell how the rows of a foreign log become lines in our own trace format.

mod apply;
mod condition;
mod documents;
mod draft;
mod hint;
mod lower;
mod model;
mod path;
mod schema;
#[cfg(test)]
mod tests;
mod time;

pub use apply::{Applier, apply};
pub use draft::{MappingDraft, Unmapped, draft};
pub use lower::parse;
pub use model::Mapping;
pub use schema::SCHEMA;
