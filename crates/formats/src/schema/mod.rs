//! JSON Schemas, compiled: of the files that are read by them, they are the only place of keys, words, bounds and defaults.
//! [`read()`] checks a file against one, and [`At`] reads what was checked. Knows no format.

mod at;
mod compile;
mod inline;
mod part;
mod read;
#[cfg(test)]
mod tests;
mod validate;
mod vary;

pub use at::At;
pub use compile::Schema;
pub use inline::{MAPPING_SCHEMA, PLAYBOOK_SCHEMA, inlined};
pub(crate) use read::unvalidated;
pub use read::{check, read};
pub(crate) use validate::check_late;
pub use vary::{Change, What, changes};
