//! What a change of playbook changes, as pages and as JSON.

mod json;
mod markdown;
mod page;
mod words;

pub use json::json;
pub use markdown::markdown;
pub use page::page;
pub use words::ImpactPage;
