//! What fixtures exercise: a page, the playbook's lines marked, JSON.

mod grid;
mod json;
mod lines;
mod page;

pub(crate) use grid::rows;
pub use json::json;
pub use lines::lines;
pub(crate) use lines::{LineMark, marks};
pub(crate) use page::{REVIEW, adds, is_cell, totals_rows};
pub use page::{page, percent};
