//! What holds of a playbook whatever an upstream answers: pages for people, and JSON.

mod json;
mod page;
mod story;

pub use json::json;
pub use page::{Shown, counterexamples, guarantees, page, pages};
