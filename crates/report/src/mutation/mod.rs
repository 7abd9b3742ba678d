//! What fixtures make of a playbook's mutants: a page, and JSON.

mod json;
mod page;

pub use json::json;
pub use page::{page, stale};
