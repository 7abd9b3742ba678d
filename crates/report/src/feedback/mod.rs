//! Kept feedback: as a list, one in full, and as JSON.

mod json;
mod page;

pub use json::{json, json_of};
pub use page::{expectation, head, page};
