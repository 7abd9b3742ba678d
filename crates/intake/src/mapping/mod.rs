//! Mapping files: they tell how the rows of a foreign log become lines in our own trace format.

mod apply;
mod call_reader;
mod condition;
mod conversation;
mod document_reader;
mod documents;
mod draft;
mod found;
mod hint;
mod known;
mod lower;
mod lower_condition;
mod marks;
mod misspelt;
mod model;
mod overrides;
mod pairing;
mod path;
mod requests;
mod result_reader;
mod results;
mod row;
mod row_reader;
mod schema;
#[cfg(test)]
mod tests;
mod time;
mod unseen;
mod values;

#[cfg(test)]
pub(crate) use apply::apply_whole;
pub use apply::{Applier, apply, apply_on};
pub use draft::{DraftDoubt, MappingDraft, Unmapped, doubt, draft};
pub use found::{FoundRow, FoundValue, first_rows};
pub use lower::{parse, unchanging};
pub(crate) use marks::has_mark;
pub use model::Mapping;
pub(crate) use overrides::OwnRules;
pub(crate) use pairing::CalledTools;
pub(crate) use row::stem;
#[cfg(test)]
pub(crate) use schema::MAPPING;
pub use schema::SCHEMA;
