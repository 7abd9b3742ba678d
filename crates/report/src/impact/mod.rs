//! What a change of playbook changes, as pages and as JSON.

mod json;
mod markdown;
mod page;
pub(crate) mod words;

pub use json::json;
pub use markdown::markdown;
pub use page::page;
pub(crate) use page::{TotalsLine, left_out, lines};
pub use words::ImpactPage;
