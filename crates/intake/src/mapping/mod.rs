//! Mapping files: they tell how the rows of a foreign log become lines in our own trace format.

mod apply;
mod condition;
mod conversation;
mod documents;
mod draft;
mod found;
mod hint;
mod lower;
mod lower_condition;
mod marks;
mod misspelt;
mod model;
mod overrides;
mod pairing;
mod path;
mod requests;
mod results;
mod row;
mod schema;
#[cfg(test)]
mod tests;
mod time;
mod unseen;
mod values;

pub use apply::{Applier, apply};
pub use draft::{DraftDoubt, MappingDraft, Unmapped, doubt, draft};
pub use found::{FoundRow, FoundValue, first_rows};
pub use lower::{parse, unchanging};
pub(crate) use marks::has_mark;
pub use model::Mapping;
pub(crate) use row::stem;
#[cfg(test)]
pub(crate) use schema::MAPPING;
pub use schema::SCHEMA;
