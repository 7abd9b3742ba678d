//! Mined clusters, as a page and as JSON.

mod json;
mod page;

pub use json::json;
pub use page::{MiningPage, page};
