//! What a change of playbook changes, as a page and as JSON.

mod json;
mod page;
mod words;

pub use json::json;
pub use page::page;
pub use words::ImpactPage;
