//! What fixtures exercise: a page, the playbook's lines marked, JSON.

mod grid;
mod json;
mod lines;
mod page;

pub use json::json;
pub use lines::lines;
pub use page::{page, percent};
