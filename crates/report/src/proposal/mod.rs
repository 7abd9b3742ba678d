//! A proposal, what it changes and what speaks against it, as a page, as Markdown and as JSON.

mod json;
mod markdown;
mod page;
mod row;

pub use json::json;
pub use markdown::{MARKER, markdown};
pub use page::page;
