//! What a check found, drawn for people and written for programs.

mod changes;
mod json;
mod page;

pub use changes::{events, rows};
pub use json::json;
pub use page::{Shown, page, result};
